//===- Lowering.cpp - What the conversions from shard to comm share -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace braid;
using namespace braid::spmd;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value Lowering::getIndex(OpFoldResult number) {
  return getValueOrCreateConstantIndexOp(*this, getLoc(), number);
}

/// Applies an op of arith, or `fold` to two constants.
template <typename OpTy>
static OpFoldResult
combine(Lowering &b, OpFoldResult lhs, OpFoldResult rhs,
        function_ref<std::optional<int64_t>(int64_t, int64_t)> fold) {
  std::optional<int64_t> left = getConstantIntValue(lhs);
  std::optional<int64_t> right = getConstantIntValue(rhs);
  if (left && right)
    if (std::optional<int64_t> folded = fold(*left, *right))
      return b.getIndexAttr(*folded);
  return OpTy::create(b, b.getIndex(lhs), b.getIndex(rhs)).getResult();
}

OpFoldResult Lowering::add(OpFoldResult lhs, OpFoldResult rhs) {
  if (isZeroInteger(rhs))
    return lhs;
  if (isZeroInteger(lhs))
    return rhs;
  return combine<arith::AddIOp>(*this, lhs, rhs, llvm::checkedAdd<int64_t>);
}

OpFoldResult Lowering::subtract(OpFoldResult lhs, OpFoldResult rhs) {
  if (isZeroInteger(rhs))
    return lhs;
  return combine<arith::SubIOp>(*this, lhs, rhs, llvm::checkedSub<int64_t>);
}

OpFoldResult Lowering::multiply(OpFoldResult lhs, OpFoldResult rhs) {
  if (isOneInteger(rhs))
    return lhs;
  return combine<arith::MulIOp>(*this, lhs, rhs, llvm::checkedMul<int64_t>);
}

OpFoldResult Lowering::divide(OpFoldResult lhs, OpFoldResult rhs) {
  if (isOneInteger(rhs))
    return lhs;
  return combine<arith::DivSIOp>(
      *this, lhs, rhs,
      [](int64_t left, int64_t right) -> std::optional<int64_t> {
        if (right <= 0)
          return std::nullopt;
        return left / right;
      });
}

OpFoldResult Lowering::linearize(ArrayRef<OpFoldResult> coordinates,
                                 ArrayRef<int64_t> sizes) {
  OpFoldResult position = getIndexAttr(0);
  for (auto [coordinate, size] : llvm::zip_equal(coordinates, sizes)) {
    if (!isZeroInteger(position))
      position = multiply(position, getIndexAttr(size));
    position = add(position, coordinate);
  }
  return position;
}

FailureOr<SmallVector<OpFoldResult>>
Lowering::getMultiIndex(ArrayRef<int64_t> sizes, ArrayRef<int64_t> statics,
                        ValueRange dynamics, StringRef role) {
  if (statics.size() != sizes.size())
    return op->emitOpError()
           << "has a " << role << " of " << statics.size()
           << " indices, expected " << sizes.size() << ", one for each axis";
  size_t numDynamic = llvm::count(statics, ShapedType::kDynamic);
  if (numDynamic != dynamics.size())
    return op->emitOpError()
           << "has " << dynamics.size() << " index values in its " << role
           << ", expected " << numDynamic;
  for (auto [index, size] : llvm::zip_equal(statics, sizes))
    if (ShapedType::isStatic(index) && (index < 0 || index >= size))
      return op->emitOpError() << "has index " << index << " in its " << role
                               << ", expected one from 0 to " << size - 1;
  return getMixedValues(statics, dynamics, getContext());
}

FailureOr<OpFoldResult> Lowering::getMember(const AxisGroup &group,
                                            ArrayRef<int64_t> statics,
                                            ValueRange dynamics,
                                            StringRef role) {
  FailureOr<SmallVector<OpFoldResult>> indices =
      getMultiIndex(group.sizes, statics, dynamics, role);
  if (failed(indices))
    return failure();
  return linearize(*indices, group.sizes);
}

Value Lowering::getRank(const AxisGroup &group) {
  if (!group.symbol)
    return getIndex(getIndexAttr(0));
  return comm::RankOp::create(*this, group.symbol);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value Lowering::await(Operation *start) {
  return comm::WaitOp::create(*this, start->getResult(0)).getValue();
}

Value Lowering::copyToTensor(Value buffer) {
  // Later writes to the buffer do not change the tensor, so that schedulers
  // need not know of them.
  auto type = mlir::cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes =
      decomposeMixedValues(memref::getMixedSizes(*this, getLoc(), buffer))
          .second;
  Value copy = memref::AllocOp::create(
      *this, MemRefType::get(type.getShape(), type.getElementType()), sizes);
  memref::CopyOp::create(*this, buffer, copy);
  return bufferization::ToTensorOp::create(
      *this, memref::getTensorTypeFromMemRefType(copy.getType()), copy,
      /*restrict=*/true, /*writable=*/true);
}

Value Lowering::cast(Value tensor, Type type) {
  return tensor.getType() == type ? tensor
                                  : tensor::CastOp::create(*this, type, tensor);
}

FailureOr<Value> Lowering::convertElements(Value tensor, Type elementType) {
  auto type = mlir::cast<RankedTensorType>(tensor.getType());
  Type from = type.getElementType();
  if (from == elementType)
    return tensor;
  Type result = type.clone(elementType);
  auto fromInteger = dyn_cast<IntegerType>(from);
  auto toInteger = dyn_cast<IntegerType>(elementType);
  // Signless integers are signed, except i1, which is 0 or 1.
  bool isBool = from.isInteger(1);
  if (isa<FloatType>(from) && isa<FloatType>(elementType)) {
    unsigned fromWidth = from.getIntOrFloatBitWidth();
    unsigned toWidth = elementType.getIntOrFloatBitWidth();
    if (fromWidth < toWidth)
      return arith::ExtFOp::create(*this, result, tensor).getResult();
    if (fromWidth > toWidth)
      return arith::TruncFOp::create(*this, result, tensor).getResult();
    // Between two formats of one width, f32 has the values of both.
    if (fromWidth < 32) {
      FailureOr<Value> wide = convertElements(tensor, getF32Type());
      return convertElements(*wide, elementType);
    }
  }
  if (fromInteger && toInteger && fromInteger.isSignless() &&
      toInteger.isSignless()) {
    if (fromInteger.getWidth() > toInteger.getWidth())
      return arith::TruncIOp::create(*this, result, tensor).getResult();
    if (isBool)
      return arith::ExtUIOp::create(*this, result, tensor).getResult();
    return arith::ExtSIOp::create(*this, result, tensor).getResult();
  }
  if (fromInteger && fromInteger.isSignless() && isa<FloatType>(elementType)) {
    if (isBool)
      return arith::UIToFPOp::create(*this, result, tensor).getResult();
    return arith::SIToFPOp::create(*this, result, tensor).getResult();
  }
  if (isa<FloatType>(from) && toInteger && toInteger.isSignless())
    return arith::FPToSIOp::create(*this, result, tensor).getResult();
  return op->emitOpError() << "converts elements of type " << from << " to "
                           << elementType
                           << ", expected floats or signless integers";
}

SmallVector<int64_t> braid::spmd::getOrderWithFirst(int64_t rank, int64_t dim) {
  SmallVector<int64_t> order = {dim};
  for (int64_t other = 0; other < rank; ++other)
    if (other != dim)
      order.push_back(other);
  return order;
}

Value Lowering::transpose(Value tensor, ArrayRef<int64_t> order) {
  if (isIdentityPermutation(order))
    return tensor;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(*this, getLoc(), tensor);
  applyPermutationToVector(sizes, order);
  Value empty = tensor::EmptyOp::create(*this, sizes,
                                        getElementTypeOrSelf(tensor.getType()));
  return linalg::TransposeOp::create(*this, tensor, empty, order)
      .getResult()[0];
}

Value Lowering::select(Value condition, Value yes, Value no) {
  SmallVector<Value> tensors;
  for (Value value : {yes, no})
    if (isa<RankedTensorType>(value.getType()))
      tensors.push_back(value);
  auto type = mlir::cast<RankedTensorType>(tensors.front().getType());
  Value empty = tensor::EmptyOp::create(
      *this, tensor::getMixedSizes(*this, getLoc(), tensors.front()),
      type.getElementType());
  SmallVector<AffineMap> maps(tensors.size(),
                              getMultiDimIdentityMap(type.getRank()));
  return createParallel(
      *this, getLoc(), empty, tensors, maps,
      [&](ImplicitLocOpBuilder &b, ValueRange arguments) -> Value {
        bool isTensor = isa<RankedTensorType>(yes.getType());
        Value first = isTensor ? arguments[0] : yes;
        Value second = isa<RankedTensorType>(no.getType())
                           ? arguments[isTensor ? 1 : 0]
                           : no;
        return arith::SelectOp::create(b, condition, first, second);
      });
}
