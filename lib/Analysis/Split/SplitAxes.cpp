//===- SplitAxes.cpp - Axes along which ops can be split ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Split/SplitAxes.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using comm::SplitAxis;

using Axes = SmallVector<SplitAxis>;

RankedTensorType braid::getSplitType(Value value) {
  Type type = value.getType();
  if (auto token = dyn_cast<comm::TokenType>(type))
    type = token.getValueType();
  return dyn_cast_if_present<RankedTensorType>(type);
}

/// An axis that divides no operand and no result of `op`.
static SplitAxis getEmptyAxis(Operation *op) {
  return {SplitAxis::Dims(op->getNumOperands()),
          SplitAxis::Dims(op->getNumResults())};
}

/// The axes that divide a dimension of operand #0 and one of result #0. `map`
/// gives the latter.
static Axes
getMappedAxes(Operation *op,
              function_ref<std::optional<int64_t>(int64_t)> getResultDim) {
  Axes axes;
  for (int64_t dim = 0, end = getSplitType(op->getOperand(0)).getRank();
       dim != end; ++dim)
    if (std::optional<int64_t> result = getResultDim(dim)) {
      axes.push_back(getEmptyAxis(op));
      axes.back().operands[0] = dim;
      axes.back().results[0] = result;
    }
  return axes;
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

/// The axis of loop number `loop`; none unless each operand is indexed by the
/// loop alone in one dimension, or not at all.
static std::optional<SplitAxis> getLoopAxis(linalg::LinalgOp op,
                                            unsigned loop) {
  SplitAxis axis = getEmptyAxis(op);
  axis.loop = loop;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<int64_t> &found = axis.operands[operand.getOperandNumber()];
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (!expr.isFunctionOfDim(loop))
        continue;
      if (!isa<AffineDimExpr>(expr) || found)
        return std::nullopt;
      found = dim;
    }
  }
  bool isParallel =
      op.getIteratorTypesArray()[loop] == mlir::utils::IteratorType::parallel;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    std::optional<int64_t> dim = axis.operands[init.getOperandNumber()];
    if (isParallel && !dim)
      return std::nullopt;
    axis.results[op.getTiedOpResult(&init).getResultNumber()] = dim;
  }
  return axis;
}

static Axes getLoopAxes(linalg::LinalgOp op) {
  Axes axes;
  if (!op.hasPureTensorSemantics())
    return axes;
  for (unsigned loop = 0, end = op.getNumLoops(); loop != end; ++loop)
    if (std::optional<SplitAxis> axis = getLoopAxis(op, loop))
      axes.push_back(std::move(*axis));
  return axes;
}

static Axes getElementwiseAxes(Operation *op) {
  Axes axes;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return axes;
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    SplitAxis axis = getEmptyAxis(op);
    llvm::fill(axis.results, dim);
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        axis.operands[operand.getOperandNumber()] = dim;
    axes.push_back(std::move(axis));
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The axes of a reshape. In a joined dimension the batch repeats once (a run)
/// for each element of the dimensions in front of it in its group. Axes of a
/// group are in the order from the last dimension to the first.
static Axes getReshapeAxes(Operation *op, RankedTensorType expanded,
                           ArrayRef<ReassociationIndices> groups,
                           bool isExpansion) {
  Axes axes;
  if (!expanded.hasStaticShape())
    return axes;
  for (auto [joined, group] : llvm::enumerate(groups)) {
    size_t first = axes.size();
    int64_t before = 1;
    for (int64_t dim : group) {
      SplitAxis axis = getEmptyAxis(op);
      axis.operands[0] = isExpansion ? joined : dim;
      axis.results[0] = isExpansion ? dim : joined;
      (isExpansion ? axis.divided : axis.joined) = before;
      before *= expanded.getDimSize(dim);
      axes.push_back(std::move(axis));
    }
    std::reverse(axes.begin() + first, axes.end());
  }
  return axes;
}

/// For each dimension of `whole` that `slice` takes completely, the dimension
/// of the slice; none for others.
static SmallVector<std::optional<int64_t>>
getWholeDims(OffsetSizeAndStrideOpInterface slice, RankedTensorType whole,
             const llvm::SmallBitVector &dropped) {
  SmallVector<std::optional<int64_t>> dims(whole.getRank());
  int64_t next = 0;
  for (int64_t dim = 0; dim != whole.getRank(); ++dim) {
    if (dropped.test(dim))
      continue;
    if (!slice.isDynamicSize(dim) && !slice.isDynamicOffset(dim) &&
        !slice.isDynamicStride(dim) && slice.getStaticOffset(dim) == 0 &&
        slice.getStaticStride(dim) == 1 &&
        slice.getStaticSize(dim) == whole.getDimSize(dim))
      dims[dim] = next;
    ++next;
  }
  return dims;
}

static Axes getInsertionAxes(tensor::InsertSliceOp op) {
  Axes axes;
  for (auto [dim, sourceDim] : llvm::enumerate(
           getWholeDims(op, op.getDestType(), op.getDroppedDims()))) {
    if (!sourceDim)
      continue;
    SplitAxis axis = getEmptyAxis(op);
    axis.operands[0] = sourceDim;
    axis.operands[1] = axis.results[0] = dim;
    axes.push_back(std::move(axis));
  }
  return axes;
}

static Axes getConcatenationAxes(tensor::ConcatOp op) {
  Axes axes;
  for (int64_t dim = 0; dim != op.getResultType().getRank(); ++dim) {
    if (dim == static_cast<int64_t>(op.getDim()))
      continue;
    SplitAxis axis = getEmptyAxis(op);
    llvm::fill(axis.operands, dim);
    axis.results[0] = dim;
    axes.push_back(std::move(axis));
  }
  return axes;
}

static Axes getPaddingAxes(tensor::PadOp op) {
  if (!op.getConstantPaddingValue())
    return {};
  return getMappedAxes(op, [&](int64_t dim) -> std::optional<int64_t> {
    if (op.getStaticLow()[dim] != 0 || op.getStaticHigh()[dim] != 0)
      return std::nullopt;
    return dim;
  });
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

/// True if the only user of `token` is a wait in its block.
static bool isAwaitedInPlace(Value token) {
  auto wait = token.hasOneUse() ? dyn_cast<comm::WaitOp>(*token.user_begin())
                                : comm::WaitOp();
  return wait && wait->getNumOperands() == 1 &&
         wait->getBlock() == token.getParentBlock();
}

/// Sets the runs of `axis`, along which members join or split `source`: one for
/// each member. False if the number of members is unknown.
static bool addMembers(comm::CollectiveOpInterface collective,
                       RankedTensorType source, RankedTensorType value,
                       int64_t dim, SplitAxis &axis) {
  int64_t before = source.getDimSize(dim), after = value.getDimSize(dim);
  if (ShapedType::isDynamic(before) || ShapedType::isDynamic(after) ||
      before == 0 || after == 0)
    return false;
  switch (collective.getCollectiveTraits().shape) {
  case BRAID_RT_SHAPE_JOIN:
    axis.joined = after / before;
    return true;
  case BRAID_RT_SHAPE_SPLIT:
    axis.divided = before / after;
    return true;
  case BRAID_RT_SHAPE_PARTS: {
    comm::GroupOp group =
        comm::lookupGroup(collective, collective.getGroupAttr());
    std::optional<int64_t> members;
    // All members get the same number of runs.
    if (group && !group.isAll() && collective.getCallSuffix().empty())
      members = group.getStaticSize();
    axis.multiple = members.value_or(1);
    return members.has_value();
  }
  default:
    return true;
  }
}

static Axes getCollectiveAxes(comm::CollectiveOpInterface collective) {
  auto start = cast<comm::AsyncStartOpInterface>(collective.getOperation());
  Axes axes;
  // A launch of several operands would need the same part of each.
  if (collective.isPointToPoint() || start.isBufferForm() ||
      start.getTokens().size() != 1 || start.getSourceOperands().size() != 1 ||
      !start.getDestinationOperands().empty() ||
      !isAwaitedInPlace(start.getTokens()[0]) ||
      start->hasAttr(comm::CommDialect::kOrderAttrName))
    return axes;
  OpOperand &source = start.getSourceOperands()[0];
  RankedTensorType type = getSplitType(source.get()),
                   valueType = getSplitType(start.getTokens()[0]);
  // A gather of scalars adds a dimension.
  if (type.getRank() != valueType.getRank())
    return axes;
  for (int64_t dim = 0, end = type.getRank(); dim != end; ++dim) {
    SplitAxis axis = getEmptyAxis(start);
    axis.operands[source.getOperandNumber()] = axis.results[0] = dim;
    if (dim != collective.getSplitDim() ||
        addMembers(collective, type, valueType, dim, axis))
      axes.push_back(std::move(axis));
  }
  return axes;
}

static Axes getWaitAxes(comm::WaitOp op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return {};
  return getMappedAxes(op, [](int64_t dim) { return dim; });
}

Axes braid::getSplitAxes(Operation *op) {
  if (op->getNumResults() == 0)
    return {};
  if (auto split = dyn_cast<comm::SplitOpInterface>(op))
    return split.getSplitAxes();
  if (OpTrait::hasElementwiseMappableTraits(op))
    return getElementwiseAxes(op);
  return TypeSwitch<Operation *, Axes>(op)
      .Case([](linalg::LinalgOp linalg) { return getLoopAxes(linalg); })
      .Case([](comm::CollectiveOpInterface collective) {
        return getCollectiveAxes(collective);
      })
      .Case([](comm::WaitOp wait) { return getWaitAxes(wait); })
      .Case([](tensor::CollapseShapeOp collapse) {
        return getReshapeAxes(collapse, collapse.getSrcType(),
                              collapse.getReassociationIndices(),
                              /*isExpansion=*/false);
      })
      .Case([](tensor::ExpandShapeOp expand) {
        return getReshapeAxes(expand, expand.getResultType(),
                              expand.getReassociationIndices(),
                              /*isExpansion=*/true);
      })
      .Case([](tensor::ExtractSliceOp slice) {
        auto dims =
            getWholeDims(slice, slice.getSourceType(), slice.getDroppedDims());
        return getMappedAxes(slice, [&](int64_t dim) { return dims[dim]; });
      })
      .Case([](tensor::InsertSliceOp insertion) {
        return getInsertionAxes(insertion);
      })
      .Case([](tensor::ConcatOp concatenation) {
        return getConcatenationAxes(concatenation);
      })
      .Case([](tensor::PadOp pad) { return getPaddingAxes(pad); })
      .Default([](Operation *) { return Axes(); });
}
