//===- RankMemory.cpp - One rank on one path: memory ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankExecution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// A new buffer with `sizes` for the dynamic dimensions of `value`.
std::shared_ptr<PathBuffer>
RankExecution::makeRoot(Value value, uint64_t id,
                        ArrayRef<std::optional<int64_t>> sizes) {
  auto buffer = std::make_shared<PathBuffer>();
  buffer->root = versions.size();
  versions.push_back(0);
  buffer->id = id;
  buffer->isWhole = true;
  auto type = dyn_cast<MemRefType>(value.getType());
  std::optional<int64_t> bytes =
      type ? getFixedElementBytes(type.getElementType()) : std::nullopt;
  if (!bytes || !type.getLayout().isIdentity())
    return buffer;
  SmallVector<int64_t> known;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size)) {
      if (sizes.empty() || !sizes.front())
        return buffer;
      size = *sizes.front();
      sizes = sizes.drop_front();
    }
    known.push_back(size);
  }
  buffer->box = getRowMajorBox(known, *bytes);
  return buffer;
}

/// The elements of a view whose sizes are static and contiguous, from `begin`.
static std::optional<BufferBox> getStaticBox(MemRefType type, int64_t begin) {
  std::optional<int64_t> bytes = getFixedElementBytes(type.getElementType());
  if (!bytes || !type.hasStaticShape() || !comm::isContiguous(type))
    return std::nullopt;
  BufferBox box = getRowMajorBox(type.getShape(), *bytes);
  box.begin = begin;
  return box;
}

std::shared_ptr<PathBuffer>
RankExecution::makeView(Operation *op, const PathBuffer &source, Frame &frame) {
  auto view = std::make_shared<PathBuffer>(source);
  // Casts and reshapes name the same elements.
  if (isa<memref::CastOp, memref::AssumeAlignmentOp, memref::MemorySpaceCastOp>(
          op))
    return view;
  auto type = dyn_cast<MemRefType>(op->getResult(0).getType());
  if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op)) {
    bool isContiguous = view->box && view->box->isContiguous();
    int64_t begin = isContiguous ? view->box->begin : 0;
    view->box = isContiguous ? getStaticBox(type, begin) : std::nullopt;
    return view;
  }
  // All others are told apart by their operands.
  view->isWhole = false;
  view->box.reset();
  view->id = llvm::hash_combine(op->getName().getAsOpaquePointer(),
                                op->getAttrDictionary().getAsOpaquePointer());
  for (Value operand : op->getOperands())
    view->id = llvm::hash_combine(view->id, operand == op->getOperand(0)
                                                ? source.id
                                                : get(operand, frame).id);
  if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
    view->isWhole = source.isWhole;
    if (source.box) {
      view->box = source.box;
      for (auto [i, expr] :
           llvm::enumerate(transpose.getPermutation().getResults()))
        view->box->dims[i] =
            source.box->dims[cast<AffineDimExpr>(expr).getPosition()];
    }
  } else if (auto shifted = dyn_cast<memref::ViewOp>(op)) {
    std::optional<int64_t> shift = getKnown(shifted.getByteShift(), frame);
    if (source.box && shift)
      view->box = getStaticBox(type, source.box->begin + *shift);
  } else if (auto subview = dyn_cast<memref::SubViewOp>(op);
             subview && source.box) {
    BufferBox box = *source.box;
    llvm::SmallBitVector dropped = subview.getDroppedDims();
    SmallVector<BufferBox::Dim, 2> dims;
    for (auto [i, offset, size, stride] :
         llvm::enumerate(subview.getMixedOffsets(), subview.getMixedSizes(),
                         subview.getMixedStrides())) {
      std::optional<int64_t> knownOffset = getKnown(offset, frame);
      std::optional<int64_t> knownSize = getKnown(size, frame);
      std::optional<int64_t> knownStride = getKnown(stride, frame);
      if (!knownOffset || !knownSize || !knownStride)
        return view;
      box.begin = addSaturating(
          box.begin, multiplySaturating(*knownOffset, box.dims[i].stride));
      if (!dropped.test(i))
        dims.push_back(
            {*knownSize, multiplySaturating(box.dims[i].stride, *knownStride)});
    }
    box.dims = std::move(dims);
    view->box = std::move(box);
  }
  return view;
}

/// What the first result of `op` is a view of; null if `op` is no view.
static Value getViewSource(Operation *op) {
  // The op lacks the interface.
  if (auto transpose = dyn_cast<memref::TransposeOp>(op))
    return transpose.getIn();
  auto view = dyn_cast<ViewLikeOpInterface>(op);
  return view && view.getViewDest() == op->getResult(0) ? view.getViewSource()
                                                        : Value();
}

bool RankExecution::bindBuffer(Operation *op, Frame &frame) {
  if (op->getNumResults() == 0)
    return false;
  Value result = op->getResult(0);
  PathValue value;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (!isa<BaseMemRefType, comm::TokenType>(result.getType()))
      return false;
    bool holds = *scalars.evaluate(get(select.getCondition(), frame)) != 0;
    value = get(holds ? select.getTrueValue() : select.getFalseValue(), frame);
  } else if (!isa<BaseMemRefType>(result.getType())) {
    return false;
  } else if (Value source = getViewSource(op);
             source && get(source, frame).buffer) {
    std::shared_ptr<PathBuffer> piece =
        makeView(op, *get(source, frame).buffer, frame);
    value.id = piece->id;
    value.buffer = std::move(piece);
  } else if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
    auto [it, isNew] = globals.try_emplace(global.getNameAttr(), 0);
    std::shared_ptr<PathBuffer> buffer = makeRoot(
        result, llvm::hash_combine(global.getNameAttr().getAsOpaquePointer()),
        {});
    if (isNew)
      it->second = buffer->root;
    buffer->root = it->second;
    value.id = buffer->id;
    value.buffer = std::move(buffer);
  } else {
    SmallVector<std::optional<int64_t>> sizes;
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      for (Value size : alloc.getDynamicSizes())
        sizes.push_back(scalars.evaluateKnown(get(size, frame)));
    value.id = llvm::hash_combine(op, countRun(op));
    value.buffer = makeRoot(result, value.id, sizes);
    trackContents(op, *value.buffer);
  }
  frame[result] = value;
  if (op->getNumResults() > 1)
    return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void RankExecution::access(Operation *op, Value value, BufferAccessKind kind,
                           Frame &frame) {
  const std::shared_ptr<const PathBuffer> &buffer = get(value, frame).buffer;
  if (!buffer)
    return;
  if (kind == BufferAccessKind::Write)
    ++versions[buffer->root];
  if (kind != BufferAccessKind::Read)
    forgetContents(*buffer);
  if (!buffers.isEmpty())
    buffers.access(op, buffer, kind);
}

std::shared_ptr<const PathBuffer>
braid::getAccessedElement(const PathBuffer &buffer,
                          ArrayRef<std::optional<int64_t>> indices) {
  auto element = std::make_shared<PathBuffer>(buffer);
  if (!buffer.box || llvm::is_contained(indices, std::nullopt)) {
    element->isUnknownPart = true;
    return element;
  }
  element->id = llvm::hash_combine(buffer.id, 5);
  element->isWhole = false;
  for (auto [dim, index] : llvm::zip_equal(buffer.box->dims, indices))
    element->box->begin = addSaturating(element->box->begin,
                                        multiplySaturating(*index, dim.stride));
  element->box->dims.clear();
  return element;
}

void RankExecution::accessMemory(Operation *op, Frame &frame) {
  using Access = BufferAccessKind;
  if (llvm::none_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>) &&
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
    return;
  if (isa<memref::LoadOp, memref::StoreOp>(op)) {
    auto load = dyn_cast<memref::LoadOp>(op);
    auto store = dyn_cast<memref::StoreOp>(op);
    Value memref = load ? load.getMemRef() : store.getMemRef();
    std::shared_ptr<const PathBuffer> buffer = get(memref, frame).buffer;
    if (!buffer)
      return;
    if (store)
      ++versions[buffer->root];
    bool isKept = store && contents.contains(buffer->root);
    if (buffers.isEmpty() && !isKept)
      return;
    SmallVector<std::optional<int64_t>> indices;
    for (Value index : load ? load.getIndices() : store.getIndices())
      indices.push_back(getKnown(index, frame));
    std::shared_ptr<const PathBuffer> element =
        getAccessedElement(*buffer, indices);
    if (isKept)
      setContents(*element, get(store.getValueToStore(), frame));
    if (!buffers.isEmpty())
      buffers.access(op, element, load ? Access::Read : Access::Write);
    return;
  }
  auto accessOperands = [&]() {
    for (Value operand : op->getOperands()) {
      if (!isa<BaseMemRefType>(operand.getType()))
        continue;
      access(op, operand, Access::Read, frame);
      access(op, operand, Access::Write, frame);
    }
  };
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
    for (auto [index, operand] : llvm::enumerate(launch.getKernelOperands())) {
      if (!isa<BaseMemRefType>(operand.getType()))
        continue;
      KernelAccesses::Access accesses = query.getKernelAccess(launch, index);
      if (accesses.isRead)
        access(op, operand, Access::Read, frame);
      if (accesses.isWritten)
        access(op, operand, Access::Write, frame);
      else if (const auto &buffer = get(operand, frame).buffer)
        // Of a kernel without a body nothing is known.
        forgetContents(*buffer);
    }
    return;
  }
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
      !isa<MemoryEffectOpInterface>(op))
    return accessOperands();
  for (const BufferAccess &effect : getBufferAccesses(op))
    access(op, effect.buffer, effect.kind, frame);
}
