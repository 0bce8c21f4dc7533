//===- BufferRange.cpp - The memory that a value points to ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferRange.h"

#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;
using namespace braid;

bool BufferResolver::isAllocation(Value value) {
  auto op = value.getDefiningOp<MemoryEffectOpInterface>();
  return op && op.getEffectOnValue<MemoryEffects::Allocate>(value).has_value();
}

/// Bytes between neighbouring elements of `type` within `scope`; none if it is
/// of no fixed size.
static std::optional<int64_t> getElementBytes(Type type, Operation *scope) {
  if (type.isIndex())
    return DataLayout::closest(scope).getTypeSize(type).getFixedValue();
  if (type.isIntOrFloat())
    return llvm::PowerOf2Ceil(
        llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  if (auto complex = dyn_cast<ComplexType>(type)) {
    std::optional<int64_t> part =
        getElementBytes(complex.getElementType(), scope);
    return part ? std::optional<int64_t>(2 * *part) : std::nullopt;
  }
  if (auto vector = dyn_cast<VectorType>(type);
      vector && !vector.isScalable()) {
    std::optional<int64_t> part =
        getElementBytes(vector.getElementType(), scope);
    return part ? std::optional<int64_t>(
                      llvm::PowerOf2Ceil(*part * vector.getNumElements()))
                : std::nullopt;
  }
  return std::nullopt;
}

/// The bytes that a memref of `type` spans, counted from the pointer that its
/// offset counts from; none unless all is static.
static std::optional<std::pair<int64_t, int64_t>> getSpan(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  SmallVector<int64_t> strides;
  int64_t offset;
  std::optional<int64_t> elementBytes = getElementBytes(
      type.getElementType(), value.getParentBlock()->getParentOp());
  if (!elementBytes || failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  if (type.getNumElements() == 0)
    return std::make_pair(int64_t(0), int64_t(0));
  int64_t first = offset, last = offset;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
    int64_t extent;
    if (llvm::MulOverflow(size - 1, stride, extent) ||
        llvm::AddOverflow(extent < 0 ? first : last, extent,
                          extent < 0 ? first : last))
      return std::nullopt;
  }
  int64_t begin, end;
  if (llvm::AddOverflow(last, int64_t(1), last) ||
      llvm::MulOverflow(first, *elementBytes, begin) ||
      llvm::MulOverflow(last, *elementBytes, end))
    return std::nullopt;
  return std::make_pair(begin, end);
}

unsigned BufferResolver::getNumber(const void *key) {
  return numbers.try_emplace(key, numbers.size()).first->second;
}

const BufferRange &BufferResolver::resolve(Value value) {
  // Views form chains; resolving the source first keeps the recursion short.
  SmallVector<Value> chain;
  for (Value next = value; next && !ranges.contains(next);) {
    chain.push_back(next);
    next = getSource(next);
  }
  for (Value next : llvm::reverse(chain)) {
    BufferRange range = compute(next);
    ranges[next] = range;
  }
  return ranges[value];
}

Value BufferResolver::getSource(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // The region of a `comm.compute` sees its operands.
    auto compute =
        dyn_cast_or_null<comm::ComputeOp>(argument.getOwner()->getParentOp());
    return compute ? compute.getInputs()[argument.getArgNumber()] : Value();
  }
  auto view = value.getDefiningOp<ViewLikeOpInterface>();
  if (!view || view.getViewDest() != value ||
      !isa<BaseMemRefType>(value.getType()))
    return Value();
  return view.getViewSource();
}

/// Sets the bytes of `range`, whose root is `value`.
static void setRootSpan(Value value, BufferRange &range) {
  range.hasOrigin = true;
  if (auto span = getSpan(value))
    std::tie(range.rootBegin, range.rootEnd) = *span;
  if (range.rootStartsBuffer)
    std::tie(range.begin, range.end) = std::tie(range.rootBegin, range.rootEnd);
}

BufferRange BufferResolver::compute(Value value) {
  if (Value source = getSource(value)) {
    BufferRange range = ranges.lookup(source);
    if (isa<BlockArgument>(value))
      return range;
    narrowToView(value, range);
    return range;
  }

  BufferRange range;
  const void *key = nullptr;
  bool startsAtZero = true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_or_null<FunctionOpInterface>(
        argument.getOwner()->getParentOp());
    if (!function || !argument.getOwner()->isEntryBlock())
      return range;
    range.root = value;
    // All that comes into a private function is one buffer: which piece of it a
    // value is, is not known.
    startsAtZero = function.isPublic();
    key = startsAtZero ? value.getAsOpaquePointer() : &numbers;
  } else if (isAllocation(value)) {
    range.root = value;
    key = value.getAsOpaquePointer();
  } else if (auto global = value.getDefiningOp<memref::GetGlobalOp>()) {
    range.root = value;
    auto function = global->getParentOfType<FunctionOpInterface>();
    startsAtZero = function && function.isPublic();
    key = startsAtZero ? global.getNameAttr().getAsOpaquePointer() : &numbers;
  } else if (isa<BaseMemRefType>(value.getType())) {
    // Its views still compare with each other.
    range.root = value;
    setRootSpan(value, range);
    return range;
  } else {
    return range;
  }
  range.buffer = getNumber(key);
  range.rootStartsBuffer = startsAtZero;
  setRootSpan(value, range);
  return range;
}

void BufferResolver::narrowToView(Value view, BufferRange &range) {
  if (!range.root)
    return;
  Operation *op = view.getDefiningOp();
  // The offset of a memref counts from the pointer of what it is a view of;
  // `memref.view` alone moves that pointer. `memref.reinterpret_cast`, and what
  // we know nothing of, may reach beyond the piece that it is a view of.
  bool isPiece = isa<memref::SubViewOp, memref::CastOp, memref::ExpandShapeOp,
                     memref::CollapseShapeOp, memref::TransposeOp,
                     memref::AssumeAlignmentOp, memref::ViewOp>(op);
  if (!isPiece) {
    range.begin = range.rootBegin = BufferRange().begin;
    range.end = range.rootEnd = BufferRange().end;
    range.hasOrigin &= isa<memref::ReinterpretCastOp>(op);
  }
  if (auto shifted = dyn_cast<memref::ViewOp>(op)) {
    APInt shift;
    if (matchPattern(shifted.getByteShift(), m_ConstantInt(&shift)))
      range.origin += shift.getSExtValue();
    else
      range.hasOrigin = false;
  }
  std::optional<std::pair<int64_t, int64_t>> span = getSpan(view);
  int64_t begin, end;
  if (!range.hasOrigin || !span ||
      llvm::AddOverflow(span->first, range.origin, begin) ||
      llvm::AddOverflow(span->second, range.origin, end))
    return;
  // A cast may know less than its source.
  range.rootBegin = std::max(range.rootBegin, begin);
  range.rootEnd = std::min(range.rootEnd, end);
  if (range.rootStartsBuffer)
    std::tie(range.begin, range.end) = std::tie(range.rootBegin, range.rootEnd);
}
