//===- RankContents.cpp - One rank on one path: contents of buffers -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The known contents of small buffers: numbers that a rank has stored, until
// something else may overwrite them. Only buffers that the program allocates
// are tracked, because all other accesses to them are visible: views, and ops
// to which the program passes the buffer.
//
//===----------------------------------------------------------------------===//

#include "RankExecution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

/// The bytes at which the elements of `buffer` begin, row-major; empty if
/// they are unknown, none or too many.
static SmallVector<int64_t> getAddresses(const PathBuffer &buffer) {
  constexpr int64_t mostElements = 64;
  if (!buffer.box || buffer.isUnknownPart)
    return {};
  SmallVector<int64_t> addresses{buffer.box->begin};
  for (const BufferBox::Dim &dim : buffer.box->dims) {
    if (dim.size < 1 || dim.size > mostElements)
      return {};
    SmallVector<int64_t> next;
    for (int64_t address : addresses)
      for (int64_t i = 0; i != dim.size; ++i)
        next.push_back(
            addSaturating(address, multiplySaturating(i, dim.stride)));
    if (static_cast<int64_t>(next.size()) > mostElements)
      return {};
    addresses = std::move(next);
  }
  return addresses;
}

void RankExecution::trackContents(Operation *alloc, const PathBuffer &buffer) {
  if (isa<memref::AllocOp, memref::AllocaOp>(alloc))
    contents.try_emplace(buffer.root);
}

void RankExecution::forgetContents(const PathBuffer &buffer) {
  auto it = contents.find(buffer.root);
  if (it == contents.end())
    return;
  SmallVector<int64_t> addresses = getAddresses(buffer);
  if (addresses.empty())
    it->second.clear();
  // An element of another type may overlap these.
  int64_t bytes = addresses.empty() ? 0 : buffer.box->elementBytes;
  for (int64_t address : addresses)
    it->second.erase(it->second.lower_bound(address - mostElementBytes + 1),
                     it->second.lower_bound(addSaturating(address, bytes)));
}

void RankExecution::setContents(const PathBuffer &buffer,
                                ArrayRef<PathValue> elements) {
  forgetContents(buffer);
  auto it = contents.find(buffer.root);
  SmallVector<int64_t> addresses = getAddresses(buffer);
  if (it == contents.end() || addresses.size() != elements.size())
    return;
  for (auto [address, element] : llvm::zip_equal(addresses, elements))
    if (element.scalar && buffer.box->elementBytes <= mostElementBytes)
      it->second[address] = element;
}

PathValue RankExecution::getContents(Value value, Frame &frame) {
  PathValue found = get(value, frame);
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type || !found.buffer || !hasKnownElements(type))
    return found;
  auto it = contents.find(found.buffer->root);
  SmallVector<int64_t> addresses = getAddresses(*found.buffer);
  if (it == contents.end() || it->second.empty() ||
      static_cast<int64_t>(addresses.size()) != type.getNumElements())
    return found;
  std::vector<PathValue> elements;
  bool isKnown = false;
  for (auto [i, address] : llvm::enumerate(addresses)) {
    auto cell = it->second.find(address);
    bool has = cell != it->second.end() &&
               cell->second.scalar->type == type.getElementType();
    isKnown |= has;
    elements.push_back(
        has ? cell->second
            : getUnknownScalar(value, type.getElementType(),
                               llvm::hash_combine(
                                   found.id, versions[found.buffer->root], i)));
  }
  if (isKnown)
    found.elements =
        std::make_shared<const std::vector<PathValue>>(std::move(elements));
  return found;
}

bool RankExecution::bindLoad(Operation *op, Frame &frame) {
  auto load = dyn_cast<memref::LoadOp>(op);
  if (!load)
    return false;
  std::shared_ptr<const PathBuffer> buffer =
      get(load.getMemRef(), frame).buffer;
  if (!buffer)
    return false;
  auto it = contents.find(buffer->root);
  if (it == contents.end() || it->second.empty())
    return false;
  SmallVector<std::optional<int64_t>> indices;
  for (Value index : load.getIndices())
    indices.push_back(getKnown(index, frame));
  std::shared_ptr<const PathBuffer> element =
      getAccessedElement(*buffer, indices);
  if (element->isUnknownPart)
    return false;
  auto cell = it->second.find(element->box->begin);
  if (cell == it->second.end() || cell->second.scalar->type != load.getType())
    return false;
  frame[load.getResult()] = cell->second;
  return true;
}

void RankExecution::writeContents(Operation *op, Frame &frame) {
  if (contents.empty())
    return;
  if (auto fill = dyn_cast<linalg::FillOp>(op);
      fill && isa<MemRefType>(fill.getOutputs().front().getType())) {
    const PathValue &output = get(fill.getOutputs().front(), frame);
    PathValue number = get(fill.getInputs().front(), frame);
    if (output.buffer)
      setContents(
          *output.buffer,
          std::vector<PathValue>(getAddresses(*output.buffer).size(), number));
  } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    PathValue source = getContents(copy.getSource(), frame);
    const PathValue &target = get(copy.getTarget(), frame);
    if (target.buffer && source.elements)
      setContents(*target.buffer, *source.elements);
  }
}

void RankExecution::releaseContents(Operation *op, Frame &frame) {
  if (contents.empty() || isa<ViewLikeOpInterface, memref::TransposeOp,
                              memref::DimOp, arith::SelectOp>(op))
    return;
  bool accessesOnly =
      isa<MemoryEffectOpInterface>(op) &&
      (isMemoryEffectFree(op) ? op->getNumResults() == 0
                              : llvm::none_of(op->getResultTypes(),
                                              llvm::IsaPred<BaseMemRefType>));
  if (accessesOnly)
    return;
  for (Value operand : op->getOperands())
    if (isa<BaseMemRefType>(operand.getType()))
      if (const auto &buffer = get(operand, frame).buffer)
        contents.erase(buffer->root);
}

bool RankExecution::usesNumbers(Operation *op, Frame &frame) {
  if (contents.empty())
    return false;
  return op
      ->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands()) {
          if (!isa<MemRefType>(operand.getType()) ||
              !hasKnownElements(operand.getType()))
            continue;
          auto it = frame.find(operand);
          if (it != frame.end() && it->second.buffer &&
              contents.contains(it->second.buffer->root))
            return WalkResult::interrupt();
        }
        return WalkResult::advance();
      })
      .wasInterrupted();
}

void RankExecution::forgetNested(Operation *op, Frame &frame) {
  if (contents.empty())
    return;
  op->walk([&](Operation *nested) {
    if (isa<CallOpInterface>(nested) && nested != op)
      for (auto &[root, cells] : contents)
        cells.clear();
    for (Value operand : nested->getOperands()) {
      if (!isa<BaseMemRefType>(operand.getType()))
        continue;
      auto it = frame.find(operand);
      if (it != frame.end() && it->second.buffer)
        if (auto cells = contents.find(it->second.buffer->root);
            cells != contents.end())
          cells->second.clear();
    }
  });
}
