//===- CommOps.cpp - Ops of the comm dialect ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommAssembly.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace braid::comm;

#define GET_OP_CLASSES
#include "braid/Dialect/Comm/IR/CommOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

SmallVector<ArrayRef<int64_t>> GroupOp::getRankLists() {
  SmallVector<ArrayRef<int64_t>> lists;
  if (std::optional<ArrayAttr> ranks = getRanks())
    for (auto list : ranks->getAsRange<DenseI64ArrayAttr>())
      lists.push_back(list.asArrayRef());
  return lists;
}

std::optional<int64_t> GroupOp::getStaticSize() {
  SmallVector<ArrayRef<int64_t>> lists = getRankLists();
  if (lists.empty())
    return std::nullopt;
  for (ArrayRef<int64_t> list : lists)
    if (list.size() != lists.front().size())
      return std::nullopt;
  return lists.front().size();
}

std::optional<int64_t> GroupOp::getMinimumSize() {
  std::optional<int64_t> minimum;
  for (ArrayRef<int64_t> list : getRankLists())
    minimum = std::min<int64_t>(minimum.value_or(list.size()), list.size());
  return minimum;
}

bool GroupOp::mayContain(int64_t rank) {
  return isAll() || llvm::any_of(getRankLists(), [&](ArrayRef<int64_t> list) {
           return llvm::is_contained(list, rank);
         });
}

void RankOp::getAsmResultNames(function_ref<void(Value, StringRef)> setName) {
  setName(getResult(), "rank");
}

void SizeOp::getAsmResultNames(function_ref<void(Value, StringRef)> setName) {
  setName(getResult(), "size");
}

//===----------------------------------------------------------------------===//
// Methods that all starts answer alike
//===----------------------------------------------------------------------===//

/// The lane of a group's point-to-point operations.
static Attribute getPointToPointLane(FlatSymbolRefAttr group) {
  return ArrayAttr::get(group.getContext(),
                        {group, StringAttr::get(group.getContext(), "p2p")});
}

/// The value of `size` times, or divided by, the size of `group`.
static OpFoldResult scaleByGroupSize(OpBuilder &builder, Location loc,
                                     OpFoldResult size, FlatSymbolRefAttr group,
                                     bool divide) {
  Value groupSize = SizeOp::create(builder, loc, builder.getIndexType(), group);
  Value value = getValueOrCreateConstantIndexOp(builder, loc, size);
  if (divide)
    return arith::DivUIOp::create(builder, loc, value, groupSize).getResult();
  return arith::MulIOp::create(builder, loc, value, groupSize).getResult();
}

/// The shape of the value of token `index` of `op`: static sizes from its type,
/// others from the destination, or from the source with dimension `splitDim`
/// multiplied (or divided) by the size of the group.
template <typename OpTy>
static LogicalResult
reifyFromOperands(OpTy op, OpBuilder &builder, unsigned index,
                  SmallVectorImpl<OpFoldResult> &shape,
                  std::optional<int64_t> splitDim = std::nullopt,
                  bool divide = false) {
  auto type = dyn_cast_or_null<RankedTensorType>(
      cast<TokenType>(op.getTokens()[index].getType()).getValueType());
  if (!type)
    return failure();
  bool hasDestination = !op.getOutputs().empty();
  Value from = hasDestination ? op.getOutputs()[index] : op.getInputs()[index];
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, op.getLoc(), from);
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isStatic(size))
      shape.push_back(builder.getIndexAttr(size));
    else if (!hasDestination && splitDim == static_cast<int64_t>(dim))
      shape.push_back(scaleByGroupSize(
          builder, op.getLoc(),
          dim < sizes.size() ? sizes[dim] : builder.getIndexAttr(1),
          op.getGroupAttr(), divide));
    else
      shape.push_back(sizes[dim]);
  }
  return success();
}

#define BRAID_COALESCABLE_OP(OpTy, kind, inPlace)                              \
  MutableArrayRef<OpOperand> OpTy::getSourceOperands() {                       \
    return getInputsMutable();                                                 \
  }                                                                            \
  MutableArrayRef<OpOperand> OpTy::getDestinationOperands() {                  \
    return getOutputsMutable();                                                \
  }                                                                            \
  void OpTy::setDestinations(ValueRange destinations) {                        \
    getOutputsMutable().assign(destinations);                                  \
  }                                                                            \
  Attribute OpTy::getLane() { return getGroupAttr(); }                         \
  bool OpTy::canRunInPlace() { return inPlace; }                               \
  CollectiveKind OpTy::getCollectiveKind() { return CollectiveKind::kind; }    \
  void OpTy::getAsmResultNames(function_ref<void(Value, StringRef)> setName) { \
    if (!getTokens().empty())                                                  \
      setName(getTokens().front(), getOperationName().drop_front(5));          \
  }

BRAID_COALESCABLE_OP(AllReduceOp, all_reduce, true)
BRAID_COALESCABLE_OP(ReduceOp, reduce, true)
BRAID_COALESCABLE_OP(BroadcastOp, broadcast, true)
BRAID_COALESCABLE_OP(AllGatherOp, all_gather, false)
BRAID_COALESCABLE_OP(ReduceScatterOp, reduce_scatter, false)
BRAID_COALESCABLE_OP(AllToAllOp, all_to_all, false)
BRAID_COALESCABLE_OP(GatherOp, gather, false)
BRAID_COALESCABLE_OP(ScatterOp, scatter, false)
BRAID_COALESCABLE_OP(PermuteOp, permute, false)
#undef BRAID_COALESCABLE_OP

/// Ops whose values have the types of their operands.
#define BRAID_SAME_SHAPE_OP(OpTy)                                              \
  LogicalResult OpTy::inferReturnTypes(                                        \
      MLIRContext *context, std::optional<Location>, Adaptor adaptor,          \
      SmallVectorImpl<Type> &types) {                                          \
    for (Value input : adaptor.getInputs())                                    \
      types.push_back(isa<RankedTensorType>(input.getType())                   \
                          ? TokenType::get(input.getType())                    \
                          : TokenType::get(context));                          \
    return success();                                                          \
  }                                                                            \
  LogicalResult OpTy::reifyValueShape(OpBuilder &builder, unsigned index,      \
                                      SmallVectorImpl<OpFoldResult> &shape) {  \
    return reifyFromOperands(*this, builder, index, shape);                    \
  }

BRAID_SAME_SHAPE_OP(AllReduceOp)
BRAID_SAME_SHAPE_OP(ReduceOp)
BRAID_SAME_SHAPE_OP(BroadcastOp)
BRAID_SAME_SHAPE_OP(PermuteOp)
#undef BRAID_SAME_SHAPE_OP

std::optional<ReductionKind> AllReduceOp::getReductionKind() {
  return getReduction();
}
std::optional<ReductionKind> ReduceOp::getReductionKind() {
  return getReduction();
}
std::optional<ReductionKind> ReduceScatterOp::getReductionKind() {
  return getReduction();
}

std::optional<int64_t> ReduceOp::getRootIndex() { return getRoot(); }
std::optional<int64_t> BroadcastOp::getRootIndex() { return getRoot(); }
std::optional<int64_t> GatherOp::getRootIndex() { return getRoot(); }
std::optional<int64_t> ScatterOp::getRootIndex() { return getRoot(); }

int64_t AllGatherOp::getSplitDim() { return getDim(); }
int64_t ReduceScatterOp::getSplitDim() { return getDim(); }

LogicalResult
AllGatherOp::reifyValueShape(OpBuilder &builder, unsigned index,
                             SmallVectorImpl<OpFoldResult> &shape) {
  return reifyFromOperands(*this, builder, index, shape, getDim());
}

LogicalResult GatherOp::reifyValueShape(OpBuilder &builder, unsigned index,
                                        SmallVectorImpl<OpFoldResult> &shape) {
  return reifyFromOperands(*this, builder, index, shape, /*splitDim=*/0);
}

LogicalResult
ReduceScatterOp::reifyValueShape(OpBuilder &builder, unsigned index,
                                 SmallVectorImpl<OpFoldResult> &shape) {
  return reifyFromOperands(*this, builder, index, shape, getDim(),
                           /*divide=*/true);
}

LogicalResult ScatterOp::reifyValueShape(OpBuilder &builder, unsigned index,
                                         SmallVectorImpl<OpFoldResult> &shape) {
  return reifyFromOperands(*this, builder, index, shape, /*splitDim=*/0,
                           /*divide=*/true);
}

//===----------------------------------------------------------------------===//
// AllToAllOp
//===----------------------------------------------------------------------===//

SmallVector<OpFoldResult> AllToAllOp::getMixedSendSizes() {
  if (!getStaticSendSizes())
    return {};
  return getMixedValues(*getStaticSendSizes(), getSendSizes(), getContext());
}

SmallVector<OpFoldResult> AllToAllOp::getMixedReceiveSizes() {
  if (!getStaticReceiveSizes())
    return {};
  return getMixedValues(*getStaticReceiveSizes(), getReceiveSizes(),
                        getContext());
}

/// What this member receives in all under the split matrix of `op`: the sum of
/// its column, chosen by its rank.
static Value getReceivedByMatrix(OpBuilder &builder, AllToAllOp op) {
  Location loc = op.getLoc();
  SmallVector<ArrayRef<int64_t>> rows = llvm::map_to_vector(
      op.getSplitMatrixAttr().getAsRange<DenseI64ArrayAttr>(),
      [](DenseI64ArrayAttr row) { return row.asArrayRef(); });
  Value rank =
      RankOp::create(builder, loc, builder.getIndexType(), op.getGroupAttr());
  Value size;
  for (size_t column = 0; column < rows.size(); ++column) {
    int64_t sum = 0;
    for (ArrayRef<int64_t> row : rows)
      sum += row[column];
    Value total = arith::ConstantIndexOp::create(builder, loc, sum);
    if (!size) {
      size = total;
      continue;
    }
    Value member = arith::ConstantIndexOp::create(builder, loc, column);
    Value isMember = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, rank, member);
    size = arith::SelectOp::create(builder, loc, isMember, total, size);
  }
  return size;
}

LogicalResult
AllToAllOp::reifyValueShape(OpBuilder &builder, unsigned index,
                            SmallVectorImpl<OpFoldResult> &shape) {
  if (failed(reifyFromOperands(*this, builder, index, shape)))
    return failure();
  // With parts of sizes of their own, a dynamic dimension 0 of the value is not
  // the source's.
  auto type = cast<ShapedType>(
      cast<AsyncStartOpInterface>(getOperation()).getInFlightType(index));
  if (!hasSplits() || !getOutputs().empty() || !type.isDynamicDim(0))
    return success();
  if (getSplitMatrix()) {
    shape[0] = getReceivedByMatrix(builder, *this);
    return success();
  }
  Value sum;
  for (OpFoldResult size : getMixedReceiveSizes()) {
    Value value = getValueOrCreateConstantIndexOp(builder, getLoc(), size);
    sum = sum ? arith::AddIOp::create(builder, getLoc(), sum, value) : value;
  }
  shape[0] = sum;
  return success();
}

//===----------------------------------------------------------------------===//
// Point to point
//===----------------------------------------------------------------------===//

MutableArrayRef<OpOperand> SendOp::getSourceOperands() {
  return getInputMutable();
}
MutableArrayRef<OpOperand> SendOp::getDestinationOperands() { return {}; }
void SendOp::setDestinations(ValueRange) {
  llvm_unreachable("a send has no value");
}
Attribute SendOp::getLane() { return getPointToPointLane(getGroupAttr()); }
bool SendOp::canRunInPlace() { return false; }
CollectiveKind SendOp::getCollectiveKind() { return CollectiveKind::send; }
void SendOp::getAsmResultNames(function_ref<void(Value, StringRef)> setName) {
  setName(getToken(), "send");
}
LogicalResult SendOp::reifyValueShape(OpBuilder &, unsigned,
                                      SmallVectorImpl<OpFoldResult> &) {
  return failure();
}

MutableArrayRef<OpOperand> RecvOp::getSourceOperands() { return {}; }
MutableArrayRef<OpOperand> RecvOp::getDestinationOperands() {
  return getOutputMutable();
}
void RecvOp::setDestinations(ValueRange destinations) {
  getOutputMutable().assign(destinations);
  getSizesMutable().clear();
}
Attribute RecvOp::getLane() { return getPointToPointLane(getGroupAttr()); }
bool RecvOp::canRunInPlace() { return false; }
CollectiveKind RecvOp::getCollectiveKind() { return CollectiveKind::recv; }
void RecvOp::getAsmResultNames(function_ref<void(Value, StringRef)> setName) {
  setName(getToken(), "recv");
}

LogicalResult RecvOp::reifyValueShape(OpBuilder &builder, unsigned,
                                      SmallVectorImpl<OpFoldResult> &shape) {
  auto type =
      dyn_cast_or_null<RankedTensorType>(getToken().getType().getValueType());
  if (!type)
    return failure();
  if (Value output = getOutput()) {
    llvm::append_range(shape, tensor::getMixedSizes(builder, getLoc(), output));
    return success();
  }
  llvm::append_range(shape,
                     getMixedValues(type.getShape(), getSizes(), getContext()));
  return success();
}

//===----------------------------------------------------------------------===//
// BarrierOp
//===----------------------------------------------------------------------===//

MutableArrayRef<OpOperand> BarrierOp::getSourceOperands() { return {}; }
MutableArrayRef<OpOperand> BarrierOp::getDestinationOperands() { return {}; }
void BarrierOp::setDestinations(ValueRange) {
  llvm_unreachable("a barrier has no value");
}
Attribute BarrierOp::getLane() { return getGroupAttr(); }
bool BarrierOp::canRunInPlace() { return false; }
CollectiveKind BarrierOp::getCollectiveKind() {
  return CollectiveKind::barrier;
}
void BarrierOp::getAsmResultNames(
    function_ref<void(Value, StringRef)> setName) {
  setName(getToken(), "barrier");
}
LogicalResult BarrierOp::reifyValueShape(OpBuilder &, unsigned,
                                         SmallVectorImpl<OpFoldResult> &) {
  return failure();
}

//===----------------------------------------------------------------------===//
// WaitOp
//===----------------------------------------------------------------------===//

AsyncStartOpInterface WaitOp::getStart() {
  Operation *op = getToken().getDefiningOp();
  return op ? getAsyncStart(op) : AsyncStartOpInterface();
}

LogicalResult WaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &types) {
  auto token = operands.empty() ? TokenType()
                                : dyn_cast<TokenType>(operands[0].getType());
  if (!token)
    return failure();
  if (Type valueType = token.getValueType())
    types.push_back(valueType);
  return success();
}

LogicalResult WaitOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  AsyncStartOpInterface start = getStart();
  if (!start || !getValue())
    return failure();
  return start.reifyValueShape(builder,
                               cast<OpResult>(getToken()).getResultNumber(),
                               shapes.emplace_back());
}
