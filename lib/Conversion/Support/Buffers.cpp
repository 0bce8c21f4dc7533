//===- Buffers.cpp - Copies, addresses and sizes of buffers ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace braid;

/// A new buffer that can be cast to `type`, whose sizes are known and whose
/// strides skip elements: a view of as many elements as they span.
static Value createStridedBuffer(OpBuilder &builder, Location loc,
                                 MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  if (ShapedType::isDynamic(offset))
    offset = 0;
  int64_t span = 1;
  for (auto [size, stride] :
       llvm::reverse(llvm::zip(type.getShape(), strides))) {
    if (ShapedType::isDynamic(stride))
      stride = span;
    span += std::max<int64_t>(size - 1, 0) * stride;
  }
  MemRefLayoutAttrInterface rowMajor;
  auto elements = MemRefType::get(offset + span, type.getElementType(),
                                  rowMajor, type.getMemorySpace());
  auto layout = StridedLayoutAttr::get(type.getContext(), offset, strides);
  auto view = MemRefType::get(type.getShape(), type.getElementType(), layout,
                              type.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      builder, loc, view, memref::AllocOp::create(builder, loc, elements),
      offset, type.getShape(), strides);
}

Value braid::createCopy(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  MemRefLayoutAttrInterface rowMajor;
  auto contiguous = MemRefType::get(type.getShape(), type.getElementType(),
                                    rowMajor, type.getMemorySpace());
  bool canCast = memref::CastOp::areCastCompatible(contiguous, type);
  Value copy;
  if (canCast || !type.hasStaticShape()) {
    SmallVector<int64_t> shape;
    SmallVector<Value> sizes;
    dispatchIndexOpFoldResults(memref::getMixedSizes(builder, loc, buffer),
                               sizes, shape);
    copy = memref::AllocOp::create(builder, loc, canCast ? contiguous : type,
                                   sizes);
  } else {
    copy = createStridedBuffer(builder, loc, type);
  }
  memref::CopyOp::create(builder, loc, buffer, copy);
  if (copy.getType() != type)
    copy = memref::CastOp::create(builder, loc, type, copy);
  return copy;
}

Value braid::toI64(OpBuilder &builder, Location loc, Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

Value braid::getElementAddress(OpBuilder &builder, Location loc, Value buffer,
                               Value offset, RuntimeCallBuilder &calls) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  Value base = LLVM::IntToPtrOp::create(builder, loc, calls.getPointer(),
                                        toI64(builder, loc, address));
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = LLVM::LLVMStructType::getLiteral(
        builder.getContext(),
        {complex.getElementType(), complex.getElementType()});
  else if (isa<IndexType>(element))
    element = builder.getI64Type();
  else if (isa<Float8E4M3FNType, Float8E5M2Type>(element))
    element = builder.getI8Type();
  return LLVM::GEPOp::create(
      builder, loc, calls.getPointer(), element, base,
      ArrayRef<LLVM::GEPArg>{toI64(builder, loc, offset)});
}

int64_t braid::getElementBytes(MemRefType type) {
  Type element = type.getElementType();
  int64_t count = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    count = 2;
  }
  if (isa<IndexType>(element))
    return 8;
  return count * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

std::optional<int64_t> braid::getTotalBytes(MemRefType type) {
  // Addresses have 48 bits. With this limit sums of sizes do not overflow.
  constexpr int64_t most = int64_t(1) << 47;
  std::optional<int64_t> bytes = getElementBytes(type);
  // A size of 0 may follow sizes whose product overflows.
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  for (int64_t size : type.getShape()) {
    bytes = llvm::checkedMul(*bytes, size);
    if (!bytes || *bytes > most)
      return std::nullopt;
  }
  return bytes;
}
