//===- TensorRewrites.cpp - Ops on whole tensors --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorRewrites.h"
#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace braid::comm;

RankedTensorType braid::comm::getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

Value braid::comm::map(
    ImplicitLocOpBuilder &b, Value input, Type element,
    function_ref<Value(ImplicitLocOpBuilder &, Value)> body) {
  Value empty = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), input), element);
  return braid::createElementwise(
      b, b.getLoc(), empty, input,
      [&](ImplicitLocOpBuilder &inner, ValueRange arguments) {
        return body(inner, arguments[0]);
      });
}

/// The size of dimension `dim` of `input`.
static OpFoldResult getSize(ImplicitLocOpBuilder &b, Value input, int64_t dim) {
  return tensor::getMixedSize(b, b.getLoc(), input, dim);
}

Value braid::comm::splitDim(ImplicitLocOpBuilder &b, Value input, int64_t dim,
                            OpFoldResult count) {
  RankedTensorType type = getTensorType(input);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), input);
  AffineExpr whole = b.getAffineSymbolExpr(0), parts = b.getAffineSymbolExpr(1);
  sizes[dim] = affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), whole.floorDiv(parts), {sizes[dim], count});
  sizes.insert(sizes.begin() + dim, count);
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  // tensor.expand_shape rejects a static size with parts of dynamic size.
  if (!type.isDynamicDim(dim) &&
      llvm::is_contained(ArrayRef(shape).slice(dim, 2), ShapedType::kDynamic)) {
    SmallVector<int64_t> unknown(type.getShape());
    unknown[dim] = ShapedType::kDynamic;
    input = tensor::CastOp::create(
        b, RankedTensorType::get(unknown, type.getElementType()), input);
  }
  SmallVector<ReassociationIndices> groups;
  for (int64_t index = 0, next = 0; index < type.getRank(); ++index) {
    groups.push_back({next++});
    if (index == dim)
      groups.back().push_back(next++);
  }
  return tensor::ExpandShapeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), input, groups,
      sizes);
}

Value braid::comm::joinDims(ImplicitLocOpBuilder &b, Value input, int64_t dim) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t index = 0; index < getTensorType(input).getRank(); ++index)
    if (index == dim + 1)
      groups.back().push_back(index);
    else
      groups.push_back({index});
  return tensor::CollapseShapeOp::create(b, input, groups);
}

Value braid::comm::moveDim(ImplicitLocOpBuilder &b, Value input, int64_t from,
                           int64_t to) {
  RankedTensorType type = getTensorType(input);
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : permutation)
    sizes.push_back(getSize(b, input, dim));
  Value empty = tensor::EmptyOp::create(b, sizes, type.getElementType());
  return linalg::TransposeOp::create(b, input, empty, permutation)
      ->getResult(0);
}

/// An empty tensor with the shape of `input` without dimension 0.
static Value createPartOf(ImplicitLocOpBuilder &b, Value input, Type element) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), input);
  return tensor::EmptyOp::create(b, ArrayRef(sizes).drop_front(), element);
}

Value braid::comm::unpackBits(ImplicitLocOpBuilder &b, Value input) {
  RankedTensorType type = getTensorType(input);
  Type element = type.getElementType(), byte = b.getI8Type();
  unsigned width = type.getElementTypeBitWidth();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), input);
  sizes.insert(sizes.begin(), b.getIndexAttr(width));
  Value empty = tensor::EmptyOp::create(b, sizes, byte);
  AffineMap all = b.getMultiDimIdentityMap(sizes.size());
  return braid::createParallel(
      b, b.getLoc(), empty, input, all.dropResult(0),
      [&](ImplicitLocOpBuilder &inner, ValueRange arguments) -> Value {
        Value place = linalg::IndexOp::create(inner, 0);
        place = arith::IndexCastOp::create(inner, element, place);
        Value bit = arith::ShRUIOp::create(inner, arguments[0], place);
        if (width > 1)
          bit = arith::TruncIOp::create(inner, inner.getI1Type(), bit);
        return arith::ExtUIOp::create(inner, byte, bit);
      });
}

Value braid::comm::packBits(ImplicitLocOpBuilder &b, Value input,
                            IntegerType element) {
  RankedTensorType type = getTensorType(input);
  Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(element, 0));
  Value empty = createPartOf(b, input, element);
  Value init = linalg::FillOp::create(b, zero, empty).getResult(0);
  AffineMap all = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  return braid::createGeneric(
      b, b.getLoc(), init, input, {all, all.dropResult(0)}, iterators,
      [&](ImplicitLocOpBuilder &inner, ValueRange arguments) -> Value {
        Value bit =
            arith::TruncIOp::create(inner, inner.getI1Type(), arguments[0]);
        if (element.getWidth() > 1)
          bit = arith::ExtUIOp::create(inner, element, bit);
        Value place = linalg::IndexOp::create(inner, 0);
        place = arith::IndexCastOp::create(inner, element, place);
        bit = arith::ShLIOp::create(inner, bit, place);
        return arith::OrIOp::create(inner, arguments[1], bit);
      });
}

Value braid::comm::reduceBits(ImplicitLocOpBuilder &b, Value input,
                              ReductionKind kind) {
  RankedTensorType type = getTensorType(input);
  auto element = cast<IntegerType>(type.getElementType());
  APInt neutral = kind == ReductionKind::band
                      ? APInt::getAllOnes(element.getWidth())
                      : APInt::getZero(element.getWidth());
  Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(element, neutral));
  Value empty = createPartOf(b, input, element);
  Value init = linalg::FillOp::create(b, zero, empty).getResult(0);
  return linalg::ReduceOp::create(
             b, input, init, ArrayRef<int64_t>{0},
             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
               Value x = arguments[1], y = arguments[0], result;
               if (kind == ReductionKind::band)
                 result = arith::AndIOp::create(builder, loc, x, y);
               else if (kind == ReductionKind::bor)
                 result = arith::OrIOp::create(builder, loc, x, y);
               else
                 result = arith::XOrIOp::create(builder, loc, x, y);
               linalg::YieldOp::create(builder, loc, result);
             })
      ->getResult(0);
}
