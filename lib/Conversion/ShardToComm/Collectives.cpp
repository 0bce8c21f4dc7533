//===- Collectives.cpp - Collectives of shard to starts and waits ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using namespace braid::spmd;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static comm::TokenType getToken(Type value) {
  return comm::TokenType::get(value);
}

/// Verifies that `axis` is a dimension of `tensor`, and gives it.
static FailureOr<int64_t> getDim(Lowering &b, const APInt &axis, Value tensor,
                                 StringRef role) {
  int64_t rank = cast<ShapedType>(tensor.getType()).getRank();
  if (axis.sge(rank) || axis.isNegative())
    return b.op->emitOpError()
           << "has " << role << " " << axis.getSExtValue()
           << ", expected a dimension of its operand, from 0 to " << rank - 1;
  return axis.getSExtValue();
}

static FailureOr<comm::ReductionKind>
getReduction(Operation *op, mlir::shard::ReductionKind kind) {
  switch (kind) {
  case mlir::shard::ReductionKind::Sum:
    return comm::ReductionKind::sum;
  case mlir::shard::ReductionKind::Max:
    return comm::ReductionKind::max;
  case mlir::shard::ReductionKind::Min:
    return comm::ReductionKind::min;
  case mlir::shard::ReductionKind::Product:
    return comm::ReductionKind::product;
  case mlir::shard::ReductionKind::Average:
    return comm::ReductionKind::avg;
  case mlir::shard::ReductionKind::BitwiseAnd:
    return comm::ReductionKind::band;
  case mlir::shard::ReductionKind::BitwiseOr:
    return comm::ReductionKind::bor;
  case mlir::shard::ReductionKind::BitwiseXor:
    return comm::ReductionKind::bxor;
  case mlir::shard::ReductionKind::Generic:
    break;
  }
  return op->emitOpError()
         << "has reduction 'generic', expected one that names "
            "its function, such as 'sum'";
}

static Value allReduce(Lowering &b, const AxisGroup &group,
                       comm::ReductionKind kind, Value input) {
  auto reduction = comm::ReductionKindAttr::get(b.getContext(), kind);
  return b.await(comm::AllReduceOp::create(b, reduction, Value(), input,
                                           ValueRange(), group.symbol));
}

/// The type `type` with the dimensions in the order `order`.
static RankedTensorType permuteType(RankedTensorType type,
                                    ArrayRef<int64_t> order) {
  return type.clone(applyPermutation(type.getShape(), order));
}

//===----------------------------------------------------------------------===//
// Roots that are values
//===----------------------------------------------------------------------===//

/// The operand on the root, and the neutral element of `getMaskedKind` on every
/// other rank. The roots of comm are constants. A reduction of operands that
/// are neutral on all ranks but one moves the operand of this one rank, and
/// schedulers can move the reduction, which they cannot do in a branch for each
/// root.
static Value maskOperand(Lowering &b, const AxisGroup &group, OpFoldResult root,
                         Value input) {
  Type elementType = getElementTypeOrSelf(input.getType());
  // x + -0.0 is x for every x, 0.0 and -0.0 included.
  auto getNegativeZero = [&](Type type) {
    auto format = cast<FloatType>(type);
    return b.getFloatAttr(format, APFloat::getZero(format.getFloatSemantics(),
                                                   /*Negative=*/true));
  };
  Value neutral;
  if (auto complexType = dyn_cast<ComplexType>(elementType)) {
    Attribute zero = getNegativeZero(complexType.getElementType());
    neutral = complex::ConstantOp::create(b, complexType,
                                          b.getArrayAttr({zero, zero}));
  } else if (isa<FloatType>(elementType)) {
    neutral = arith::ConstantOp::create(b, getNegativeZero(elementType));
  } else {
    neutral = arith::ConstantOp::create(b, b.getZeroAttr(elementType));
  }
  Value isRoot = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       b.getRank(group), b.getIndex(root));
  return b.select(isRoot, input, neutral);
}

/// The reduction of masked operands; i1 has no sum.
static comm::ReductionKind getMaskedKind(Value input) {
  return getElementTypeOrSelf(input.getType()).isInteger(1)
             ? comm::ReductionKind::bor
             : comm::ReductionKind::sum;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The operand of a reduction, with elements of the type of the result.
template <typename OpTy>
static FailureOr<Value> getWidened(Lowering &b, OpTy op) {
  return b.convertElements(op.getInput(),
                           getElementTypeOrSelf(op.getResult().getType()));
}

static FailureOr<Value> lowerOnGroup(Lowering &b, mlir::shard::AllReduceOp op,
                                     const AxisGroup &group) {
  FailureOr<comm::ReductionKind> kind = getReduction(op, op.getReduction());
  if (failed(kind))
    return failure();
  Value input = op.getInput();
  Type elementType = getElementTypeOrSelf(op.getResult().getType());
  bool isBuffer = isa<MemRefType>(input.getType());
  if (isBuffer != isa<MemRefType>(op.getResult().getType()))
    return op.emitOpError()
           << "has an operand of type " << input.getType()
           << " and a result of type " << op.getResult().getType()
           << ", expected two tensors or two buffers";
  if (isBuffer)
    input = b.copyToTensor(input);
  FailureOr<Value> widened = b.convertElements(input, elementType);
  if (failed(widened))
    return failure();
  Value result = group.symbol ? allReduce(b, group, *kind, *widened) : *widened;
  if (!isBuffer)
    return result;
  Type resultType = op.getResult().getType();
  result = b.cast(result, memref::getTensorTypeFromMemRefType(resultType));
  return Value(bufferization::ToBufferOp::create(b, resultType, result));
}

static FailureOr<Value> lowerOnGroup(Lowering &b, mlir::shard::ReduceOp op,
                                     const AxisGroup &group) {
  FailureOr<comm::ReductionKind> kind = getReduction(op, op.getReduction());
  FailureOr<OpFoldResult> root =
      b.getMember(group, op.getRoot(), op.getRootDynamic(), "root");
  FailureOr<Value> input = getWidened(b, op);
  if (failed(kind) || failed(root) || failed(input))
    return failure();
  Value result = *input;
  if (!group.symbol) {
    // The rank alone has the result already.
  } else if (std::optional<int64_t> constant = getConstantIntValue(*root)) {
    auto reduction = comm::ReductionKindAttr::get(b.getContext(), *kind);
    result = b.await(comm::ReduceOp::create(b, reduction, Value(), *input,
                                            ValueRange(), group.symbol,
                                            b.getI64IntegerAttr(*constant)));
  } else {
    // The result of ranks other than the root is undefined.
    result = allReduce(b, group, *kind, *input);
  }
  return result;
}

static FailureOr<Value> lowerOnGroup(Lowering &b,
                                     mlir::shard::ReduceScatterOp op,
                                     const AxisGroup &group) {
  FailureOr<comm::ReductionKind> kind = getReduction(op, op.getReduction());
  FailureOr<int64_t> dim =
      getDim(b, op.getScatterAxis(), op.getInput(), "scatter_axis");
  FailureOr<Value> input = getWidened(b, op);
  if (failed(kind) || failed(dim) || failed(input))
    return failure();
  if (!group.symbol)
    return *input;
  auto reduction = comm::ReductionKindAttr::get(b.getContext(), *kind);
  return b.await(comm::ReduceScatterOp::create(
      b, getToken(op.getType()), reduction, Value(), *input, ValueRange(),
      group.symbol, b.getI64IntegerAttr(*dim)));
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

static Value allGather(Lowering &b, const AxisGroup &group, Value input,
                       int64_t dim, Type type) {
  if (!group.symbol)
    return b.cast(input, type);
  return b.await(comm::AllGatherOp::create(b, getToken(type), input,
                                           ValueRange(), group.symbol,
                                           b.getI64IntegerAttr(dim)));
}

static FailureOr<Value> lowerOnGroup(Lowering &b, mlir::shard::AllGatherOp op,
                                     const AxisGroup &group) {
  FailureOr<int64_t> dim =
      getDim(b, op.getGatherAxis(), op.getInput(), "gather_axis");
  if (failed(dim))
    return failure();
  return allGather(b, group, op.getInput(), *dim, op.getType());
}

static FailureOr<Value> lowerOnGroup(Lowering &b, mlir::shard::GatherOp op,
                                     const AxisGroup &group) {
  FailureOr<int64_t> dim =
      getDim(b, op.getGatherAxis(), op.getInput(), "gather_axis");
  FailureOr<OpFoldResult> root =
      b.getMember(group, op.getRoot(), op.getRootDynamic(), "root");
  if (failed(dim) || failed(root))
    return failure();
  auto type = cast<RankedTensorType>(op.getType());
  std::optional<int64_t> constant = getConstantIntValue(*root);
  // The result of ranks other than the root is undefined.
  if (!group.symbol || !constant)
    return allGather(b, group, op.getInput(), *dim, type);
  SmallVector<int64_t> order = getOrderWithFirst(type.getRank(), *dim);
  Value gathered = b.await(comm::GatherOp::create(
      b, getToken(permuteType(type, order)), b.transpose(op.getInput(), order),
      ValueRange(), group.symbol, b.getI64IntegerAttr(*constant)));
  return b.transpose(gathered, invertPermutationVector(order));
}

static FailureOr<Value> lowerOnGroup(Lowering &b, mlir::shard::ScatterOp op,
                                     const AxisGroup &group) {
  Value input = op.getInput();
  FailureOr<int64_t> dim =
      getDim(b, op.getScatterAxis(), input, "scatter_axis");
  FailureOr<OpFoldResult> root =
      b.getMember(group, op.getRoot(), op.getRootDynamic(), "root");
  if (failed(dim) || failed(root))
    return failure();
  auto type = cast<RankedTensorType>(op.getType());
  if (!group.symbol)
    return input;
  std::optional<int64_t> constant = getConstantIntValue(*root);
  if (!constant) {
    auto reduction =
        comm::ReductionKindAttr::get(b.getContext(), getMaskedKind(input));
    return b.await(comm::ReduceScatterOp::create(
        b, getToken(type), reduction, Value(),
        maskOperand(b, group, *root, input), ValueRange(), group.symbol,
        b.getI64IntegerAttr(*dim)));
  }
  SmallVector<int64_t> order = getOrderWithFirst(type.getRank(), *dim);
  Value part = b.await(comm::ScatterOp::create(
      b, getToken(permuteType(type, order)), b.transpose(input, order),
      ValueRange(), group.symbol, b.getI64IntegerAttr(*constant)));
  return b.transpose(part, invertPermutationVector(order));
}

static FailureOr<Value> lowerOnGroup(Lowering &b, mlir::shard::BroadcastOp op,
                                     const AxisGroup &group) {
  Value input = op.getInput();
  FailureOr<OpFoldResult> root =
      b.getMember(group, op.getRoot(), op.getRootDynamic(), "root");
  if (failed(root))
    return failure();
  Value result = input;
  if (!group.symbol) {
    // The rank alone is the root.
  } else if (std::optional<int64_t> constant = getConstantIntValue(*root)) {
    result = b.await(comm::BroadcastOp::create(
        b, input, ValueRange(), group.symbol, b.getI64IntegerAttr(*constant)));
  } else {
    result = allReduce(b, group, getMaskedKind(input),
                       maskOperand(b, group, *root, input));
  }
  return result;
}

static FailureOr<Value> lowerOnGroup(Lowering &b, mlir::shard::AllSliceOp op,
                                     const AxisGroup &group) {
  Value input = op.getInput();
  FailureOr<int64_t> dim = getDim(b, op.getSliceAxis(), input, "slice_axis");
  if (failed(dim))
    return failure();
  if (!group.symbol)
    return input;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), input);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  sizes[*dim] = b.divide(sizes[*dim], b.getIndexAttr(group.size));
  offsets[*dim] = b.multiply(b.getRank(group), sizes[*dim]);
  Value slice =
      tensor::ExtractSliceOp::create(b, input, offsets, sizes, strides);
  return slice;
}

/// comm.all_to_all splits and joins dimension 0.
static FailureOr<Value> lowerOnGroup(Lowering &b, mlir::shard::AllToAllOp op,
                                     const AxisGroup &group) {
  Value input = op.getInput();
  FailureOr<int64_t> split = getDim(b, op.getSplitAxis(), input, "split_axis");
  FailureOr<int64_t> concat =
      getDim(b, op.getConcatAxis(), input, "concat_axis");
  if (failed(split) || failed(concat))
    return failure();
  if (!group.symbol)
    return input;
  auto type = cast<RankedTensorType>(input.getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> order = getOrderWithFirst(rank, *split);
  Value moved = b.transpose(input, order);
  Value exchanged = b.await(comm::AllToAllOp::create(
      b, getToken(moved.getType()), moved, ValueRange(), group.symbol,
      ValueRange(), ValueRange(), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
      ArrayAttr()));
  SmallVector<int64_t> inverse = invertPermutationVector(order);
  if (*split == *concat)
    return b.transpose(exchanged, inverse);

  // Dimension 0 has the parts of all members. It becomes two dimensions, of
  // which the first, the member, goes in front of dimension `concat`.
  auto movedType = cast<RankedTensorType>(moved.getType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), exchanged);
  sizes[0] = b.divide(sizes[0], b.getIndexAttr(group.size));
  sizes.insert(sizes.begin(), b.getIndexAttr(group.size));
  SmallVector<int64_t> shape(movedType.getShape());
  if (ShapedType::isStatic(shape[0]))
    shape[0] /= group.size;
  shape.insert(shape.begin(), group.size);
  SmallVector<ReassociationIndices> outer = {{0, 1}};
  for (int64_t dim = 1; dim < rank; ++dim)
    outer.push_back({dim + 1});
  Value expanded = tensor::ExpandShapeOp::create(b, movedType.clone(shape),
                                                 exchanged, outer, sizes);
  SmallVector<int64_t> back;
  SmallVector<ReassociationIndices> joined;
  for (int64_t dim = 0; dim < rank; ++dim) {
    ReassociationIndices &indices = joined.emplace_back();
    if (dim == *concat) {
      indices.push_back(back.size());
      back.push_back(0);
    }
    indices.push_back(back.size());
    back.push_back(inverse[dim] + 1);
  }
  Value ordered = b.transpose(expanded, back);
  Value result = tensor::CollapseShapeOp::create(b, ordered, joined);
  return result;
}

/// `line` is the group along the shift axis, the only one along which data
/// move.
static FailureOr<Value> lowerOnGroup(Lowering &b, mlir::shard::ShiftOp op,
                                     const AxisGroup &line) {
  Value input = op.getInput();
  int64_t size = line.size, offset = static_cast<int64_t>(op.getOffset());
  // An offset by the whole axis or more leaves no source.
  bool isOutside = offset >= size || offset <= -size;
  SmallVector<Attribute> pairs;
  for (int64_t source = 0; source < size; ++source) {
    int64_t target = source + offset % size;
    if (op.getRotate())
      target = (target + size) % size;
    else if (isOutside || target < 0 || target >= size)
      continue;
    if (target != source || !op.getRotate())
      pairs.push_back(b.getDenseI64ArrayAttr({source, target}));
  }
  // Without a source the result is undefined.
  if (offset == 0 || pairs.empty())
    return input;
  Value shifted = b.await(comm::PermuteOp::create(
      b, input, ValueRange(), line.symbol, b.getArrayAttr(pairs)));
  return shifted;
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

/// The axes along which data move.
template <typename OpTy> static SmallVector<int16_t> getAxes(OpTy op) {
  if constexpr (std::is_same_v<OpTy, mlir::shard::ShiftOp>)
    return {static_cast<int16_t>(op.getShiftAxis().getSExtValue())};
  else
    return llvm::to_vector(op.getGridAxes());
}

bool braid::spmd::isCollective(Operation *op) {
  using namespace mlir::shard;
  return isa<AllGatherOp, AllReduceOp, AllSliceOp, AllToAllOp, BroadcastOp,
             GatherOp, ReduceOp, ReduceScatterOp, ScatterOp, ShiftOp>(op);
}

Replacement braid::spmd::lowerCollective(Lowering &b) {
  using namespace mlir::shard;
  return llvm::TypeSwitch<Operation *, Replacement>(b.op)
      .Case<AllGatherOp, AllReduceOp, AllSliceOp, AllToAllOp, BroadcastOp,
            GatherOp, ReduceOp, ReduceScatterOp, ScatterOp, ShiftOp>(
          [&](auto op) -> Replacement {
            FailureOr<AxisGroup> group =
                b.groups.getGroup(op, op.getGridAttr(), getAxes(op));
            if (failed(group))
              return failure();
            FailureOr<Value> result = lowerOnGroup(b, op, *group);
            if (failed(result))
              return failure();
            return SmallVector<Value>{
                b.cast(*result, op.getResult().getType())};
          });
}
