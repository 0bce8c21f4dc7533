//===- OwnParts.cpp - Parts of values that are the rank's own -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Chunks/ChunkedMatmul.h"
#include "Rewrites.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// Computes scalars for one member of a group.
class MemberValues {
public:
  MemberValues(FlatSymbolRefAttr group, int64_t index)
      : group(group), index(index) {}

  /// What `value` is for the member; null if it depends on anything but the
  /// index of the member, or takes many steps.
  Attribute evaluate(Value value);

private:
  Attribute compute(Operation *op, unsigned number);

  FlatSymbolRefAttr group;
  int64_t index;
  llvm::SmallDenseMap<Value, Attribute> known;
};
} // namespace

Attribute MemberValues::evaluate(Value value) {
  // An index, its place, and how XLA keeps that in bounds.
  constexpr unsigned mostValues = 32;
  auto [it, isNew] = known.try_emplace(value);
  if (!isNew)
    return it->second;
  auto result = dyn_cast<OpResult>(value);
  if (!result || known.size() > mostValues)
    return {};
  Attribute found = compute(result.getOwner(), result.getResultNumber());
  return known[value] = found;
}

Attribute MemberValues::compute(Operation *op, unsigned number) {
  if (auto rank = dyn_cast<RankOp>(op))
    return rank.getGroupAttr() == group
               ? IntegerAttr::get(rank.getType(), index)
               : Attribute();
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(evaluate(operand));
    if (!operands.back())
      return {};
  }
  // Folding may change an op.
  Operation *copy = op->clone();
  SmallVector<OpFoldResult> results;
  bool isFolded = succeeded(copy->fold(operands, results));
  copy->erase();
  if (!isFolded || number >= results.size())
    return {};
  if (auto other = dyn_cast<Value>(results[number]))
    return evaluate(other);
  return cast<Attribute>(results[number]);
}

/// True if `offset` is the place of the part of each of the members of `group`,
/// of parts of `size`.
static bool isOwnOffset(Value offset, FlatSymbolRefAttr group,
                        int64_t numMembers, int64_t size) {
  constexpr int64_t mostMembers = 4096;
  if (numMembers > mostMembers)
    return false;
  for (int64_t index = 0; index != numMembers; ++index) {
    auto found = dyn_cast_if_present<IntegerAttr>(
        MemberValues(group, index).evaluate(offset));
    if (!found || found.getValue().getSExtValue() != index * size)
      return false;
  }
  return true;
}

/// True if `op` takes the part of `value` along `dim` that has the index of
/// this rank in `group`, of parts of `size`, and all along other dimensions.
static bool isOwnPart(Operation *op, Value value, FlatSymbolRefAttr group,
                      int64_t dim, int64_t size) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  auto type = cast<RankedTensorType>(value.getType());
  if (!slice || slice.getSource() != value || !slice.hasUnitStride() ||
      slice.getType().getRank() != type.getRank() || !type.hasStaticShape() ||
      size == 0)
    return false;
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(),
                            sizes = slice.getMixedSizes();
  for (int64_t other = 0, rank = type.getRank(); other != rank; ++other) {
    bool isOwn = other == dim;
    if (getConstantIntValue(sizes[other]) !=
        (isOwn ? size : type.getDimSize(other)))
      return false;
    if (!isOwn && getConstantIntValue(offsets[other]) != 0)
      return false;
  }
  auto offset = dyn_cast<Value>(offsets[dim]);
  return offset &&
         isOwnOffset(offset, group, type.getDimSize(dim) / size, size);
}

/// The members of each list of the group of `start`; none if they differ or are
/// not known.
static std::optional<int64_t> countMembers(CollectiveOpInterface start) {
  GroupOp group = lookupGroup(start, start.getGroupAttr());
  return group ? group.getStaticSize() : std::nullopt;
}

static ReductionKindAttr getReductionAttr(CollectiveOpInterface start) {
  return ReductionKindAttr::get(start.getContext(), *start.getReductionKind());
}

/// Replaces the own parts of what a gather of `awaited` gives.
static bool takeOperandOfGather(RewriteState &state,
                                const AwaitedValue &awaited) {
  CollectiveOpInterface start = awaited.start;
  Value value = WaitOp(awaited.wait).getValue(), source = awaited.getSource();
  auto part = cast<RankedTensorType>(source.getType());
  int64_t dim = start.getSplitDim();
  if (!part.hasStaticShape())
    return false;
  SmallVector<Operation *> parts;
  for (Operation *user : value.getUsers())
    if (isOwnPart(user, value, start.getGroupAttr(), dim,
                  part.getDimSize(dim)) &&
        user->getResult(0).getType() == part)
      parts.push_back(user);
  for (Operation *user : parts)
    state.rewriter.replaceOp(user, source);
  state.counts.scattered += parts.size();
  return !parts.empty();
}

/// Replaces an all-reduce of which all users take the own part along dimension
/// 0, which needs no packing.
static bool scatterAllReduce(RewriteState &state, const AwaitedValue &awaited) {
  CollectiveOpInterface start = awaited.start;
  WaitOp wait = awaited.wait;
  auto type = dyn_cast<RankedTensorType>(wait.getValue().getType());
  std::optional<int64_t> members = countMembers(start);
  if (state.numerics == Numerics::Exact || !awaited.isAlone() ||
      start.getScale() || !members || *members < 2 || !type.hasStaticShape() ||
      type.getRank() == 0 || type.getDimSize(0) == 0 ||
      type.getDimSize(0) % *members != 0 || wait.getValue().use_empty())
    return false;
  int64_t size = type.getDimSize(0) / *members;
  RankedTensorType part = withSize(type, 0, size);
  SmallVector<Operation *> users(wait.getValue().getUsers());
  if (!llvm::all_of(users, [&](Operation *user) {
        return isOwnPart(user, wait.getValue(), start.getGroupAttr(), 0,
                         size) &&
               user->getResult(0).getType() == part;
      }))
    return false;
  RewriterBase &rewriter = state.rewriter;
  rewriter.setInsertionPoint(start);
  auto scatter = ReduceScatterOp::create(
      rewriter, start.getLoc(), Type(TokenType::get(part)),
      getReductionAttr(start), Value(), awaited.getSource(), ValueRange(),
      start.getGroupAttr(), rewriter.getI64IntegerAttr(0));
  copyAttributes(start, scatter);
  recordDivision(scatter, "of an all_reduce");
  rewriter.setInsertionPoint(wait);
  auto scattered =
      WaitOp::create(rewriter, wait.getLoc(), part, scatter.getTokens()[0],
                     ValueRange(), ValueRange());
  for (Operation *user : users)
    rewriter.replaceOp(user, scattered.getValue());
  state.erased.replace(start, scatter);
  rewriter.eraseOp(wait);
  rewriter.eraseOp(start);
  ++state.counts.scattered;
  return true;
}

bool braid::comm::takeOwnParts(RewriteState &state, WaitOp wait) {
  std::optional<AwaitedValue> awaited = getAwaitedValue(wait);
  if (!awaited)
    return false;
  switch (awaited->start.getCollectiveKind()) {
  case CollectiveKind::all_gather:
    return takeOperandOfGather(state, *awaited);
  case CollectiveKind::all_reduce:
    return scatterAllReduce(state, *awaited);
  default:
    return false;
  }
}

/// The reduce-scatter whose parts the gather of `wait` gathers.
static std::optional<AwaitedValue> getJoinedScatter(WaitOp wait) {
  std::optional<AwaitedValue> gathered = getAwaitedValue(wait);
  if (!gathered || !gathered->isAlone())
    return std::nullopt;
  CollectiveOpInterface gather = gathered->start;
  Value part = gathered->getSource();
  std::optional<AwaitedValue> scattered = getAwaitedValue(part);
  if (!scattered || !scattered->isAlone() || !part.hasOneUse())
    return std::nullopt;
  CollectiveOpInterface scatter = scattered->start;
  if (gather.getCollectiveKind() != CollectiveKind::all_gather ||
      scatter.getCollectiveKind() != CollectiveKind::reduce_scatter ||
      scatter->getBlock() != gather->getBlock() || scatter.getScale() ||
      gather.getGroupAttr() != scatter.getGroupAttr() ||
      gather.getSplitDim() != scatter.getSplitDim() ||
      scattered->getSource().getType() != wait.getValue().getType())
    return std::nullopt;
  return scattered;
}

bool braid::comm::canJoinGather(WaitOp wait) {
  return getJoinedScatter(wait).has_value();
}

bool braid::comm::joinGather(RewriteState &state, WaitOp wait) {
  std::optional<AwaitedValue> scattered = getJoinedScatter(wait);
  if (!scattered)
    return false;
  RewriterBase &rewriter = state.rewriter;
  CollectiveOpInterface scatter = scattered->start;
  WaitOp partWait = scattered->wait;
  std::optional<AwaitedValue> gathered = getAwaitedValue(wait);
  rewriter.setInsertionPoint(scatter);
  auto whole = AllReduceOp::create(
      rewriter, scatter.getLoc(),
      Type(TokenType::get(wait.getValue().getType())),
      getReductionAttr(scatter), Value(), scattered->getSource(), ValueRange(),
      scatter.getGroupAttr());
  copyAttributes(scatter, whole);
  recordDivision(whole, "of a reduce_scatter and an all_gather");
  rewriter.setInsertionPoint(partWait);
  auto value =
      WaitOp::create(rewriter, partWait.getLoc(), wait.getValue().getType(),
                     whole.getTokens()[0], ValueRange(), ValueRange());
  rewriter.replaceAllUsesWith(wait.getValue(), value.getValue());
  eraseCollective(rewriter, *gathered, state.erased);
  state.erased.replace(scatter, whole);
  rewriter.eraseOp(partWait);
  rewriter.eraseOp(scatter);
  ++state.counts.joined;
  return true;
}
