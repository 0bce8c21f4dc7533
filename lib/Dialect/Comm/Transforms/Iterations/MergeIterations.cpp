//===- MergeIterations.cpp - Several iterations as one --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs bound their memory by loops over blocks of rows, as AlphaFold's
// attention, which takes 4 of 128 rows at a time. A GPU computes such blocks in
// the time of their launches.
//
//===----------------------------------------------------------------------===//

#include "Iterations.h"

#include "BlockIterations.h"
#include "Dialect/Comm/Transforms/FusionCost.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// The most bytes of blocks that an iteration needs at the same time.
static int64_t getPeak(const BlockIterations &blocks) {
  auto getRoot = [](Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
        break;
      value = op->getOperand(0);
    }
    return value;
  };
  DenseMap<Value, Operation *> lastUses;
  for (auto &[op, merged] : blocks.getBlockOps())
    for (Value operand : op->getOperands())
      lastUses[getRoot(operand)] = op;
  for (auto &[op, slice] : blocks.getSlices())
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      Operation *&last = lastUses[getRoot(insert.getSource())];
      if (!last || last->isBeforeInBlock(op))
        last = op;
    }
  DenseMap<Operation *, int64_t> freed;
  int64_t bytes = 0, peak = 0;
  for (Operation &op : *blocks.getLoop().getBody()) {
    if (blocks.getBlockOps().contains(&op) && isa<linalg::LinalgOp>(op))
      for (OpResult result : op.getResults())
        if (blocks.is(result, Role::Block)) {
          int64_t own = getBytes(result.getType());
          bytes += own;
          freed[lastUses.lookup(result)] += own;
        }
    peak = std::max(peak, bytes);
    bytes -= freed.lookup(&op);
  }
  return peak;
}

/// How many iterations should become one.
static int64_t chooseCount(const BlockIterations &blocks, int64_t mostBytes) {
  int64_t moved = 0, numOps = 0;
  for (auto &[op, merged] : blocks.getBlockOps())
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      moved += getMovedBytes(linalgOp);
      ++numOps;
    }
  if (numOps == 0 || moved / numOps >= kBytesOfLaunch)
    return 1;
  int64_t most = mostBytes / std::max<int64_t>(1, getPeak(blocks));
  for (int64_t candidate = std::min(most, blocks.getNumIterations());
       candidate > 1; --candidate)
    if (blocks.getNumIterations() % candidate == 0)
      return candidate;
  return 1;
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

namespace {

/// Lets one iteration do the work of `count`.
class IterationMerger {
public:
  IterationMerger(RewriterBase &rewriter, BlockIterations &blocks,
                  int64_t count)
      : rewriter(rewriter), blocks(blocks), loop(blocks.getLoop()),
        count(count) {}

  void merge();

private:
  RankedTensorType getMergedType(Type type, int64_t dim) const;
  Value widen(Value value, BlockDim block);
  Operation *cloneMerged(Operation *op, const BlockOp &merged);
  void mergeBlockOp(Operation *op, const BlockOp &merged);
  void mergeExtract(tensor::ExtractSliceOp slice);
  void mergeInsert(tensor::InsertSliceOp slice);
  OpFoldResult getOffset(const BlockSlice &slice);
  /// The offsets and sizes of `slice`, of an op of the body, for all merged
  /// iterations.
  std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>
  getPlace(OffsetSizeAndStrideOpInterface slice);

  RewriterBase &rewriter;
  BlockIterations &blocks;
  scf::ForOp loop;
  int64_t count;
  /// The number of the group of iterations, in the order of the blocks; null if
  /// there is one.
  Value group;
  IRMapping mapping;
  std::map<BlockKey, Value> widened;
};

} // namespace

RankedTensorType IterationMerger::getMergedType(Type type, int64_t dim) const {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[dim] *= count;
  return tensor.clone(shape);
}

/// Lets the sizes that `op` has as attributes be those of its types.
static void updateSizes(Operation *op, const SplitAxis &axis) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    SmallVector<int64_t> sizes(slice.getStaticSizes());
    sizes[*axis.operands[0]] =
        slice.getSourceType().getDimSize(*axis.operands[0]);
    slice.setStaticSizes(sizes);
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    expand.setStaticOutputShape(expand.getResultType().getShape());
  }
}

/// Clones `op` with larger dimensions.
Operation *IterationMerger::cloneMerged(Operation *op, const BlockOp &merged) {
  SmallVector<Value> operands;
  for (auto [value, dim] :
       llvm::zip_equal(op->getOperands(), merged.axis.operands)) {
    if (dim && !blocks.is(value, Role::Block))
      operands.push_back(widen(value, {*dim, merged.operandRuns}));
    else
      operands.push_back(mapping.lookupOrDefault(value));
  }
  // The body has one copy of `op` already if that is widened.
  IRMapping captures;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    captures.map(value, mapping.lookupOrDefault(value));
  Operation *copy = rewriter.clone(*op, captures);
  copy->setOperands(operands);
  for (auto [result, dim] :
       llvm::zip_equal(copy->getResults(), merged.axis.results))
    if (dim)
      result.setType(getMergedType(result.getType(), *dim));
  updateSizes(copy, merged.axis);
  return copy;
}

/// `value`, which is the same in all iterations, for several ones.
Value IterationMerger::widen(Value value, BlockDim block) {
  Value &known = widened[getBlockKey(value, block)];
  if (known)
    return known;
  Location loc = value.getLoc();
  RankedTensorType type = getMergedType(value.getType(), block.dim);
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)))
    return known = arith::ConstantOp::create(rewriter, loc,
                                             splat.resizeSplat(type));
  if (hasEqualElements(value)) {
    Value filled = tensor::EmptyOp::create(rewriter, loc, type, ValueRange());
    if (auto fill = value.getDefiningOp<linalg::FillOp>())
      filled = linalg::FillOp::create(
                   rewriter, loc, mapping.lookupOrDefault(fill.value()), filled)
                   .getResult(0);
    return known = filled;
  }
  auto result = cast<OpResult>(value);
  BlockOp merged = *blocks.findEqualAxis(value, block);
  return known = cloneMerged(result.getOwner(), merged)
                     ->getResult(result.getResultNumber());
}

void IterationMerger::mergeBlockOp(Operation *op, const BlockOp &merged) {
  Operation *copy = cloneMerged(op, merged);
  mapping.map(op->getResults(), copy->getResults());
  // Each sum keeps its terms.
  if (llvm::is_contained(merged.axis.results, std::nullopt) &&
      linalg::isaContractionOpInterface(cast<linalg::LinalgOp>(copy)) &&
      dependsOnOrderOfTerms(copy))
    recordReassociation(copy, "over the iterations of a loop");
}

OpFoldResult IterationMerger::getOffset(const BlockSlice &slice) {
  if (!group)
    return rewriter.getIndexAttr(slice.first);
  Location loc = loop.getLoc();
  auto multiply = [&](Value value, int64_t factor) -> Value {
    Value constant = arith::ConstantIndexOp::create(rewriter, loc, factor);
    return arith::MulIOp::create(rewriter, loc, value, constant);
  };
  Value offset = multiply(group, slice.size * count);
  if (slice.first != 0)
    offset = arith::AddIOp::create(
        rewriter, loc, offset,
        arith::ConstantIndexOp::create(rewriter, loc, slice.first));
  return offset;
}

std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>
IterationMerger::getPlace(OffsetSizeAndStrideOpInterface slice) {
  const BlockSlice &found = blocks.getSlices().find(slice)->second;
  SmallVector<OpFoldResult> places = slice.getMixedOffsets();
  for (OpFoldResult &place : places)
    if (auto value = dyn_cast<Value>(place))
      place = mapping.lookupOrDefault(value);
  places[found.dim] = getOffset(found);
  SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
  sizes[found.dim] = rewriter.getIndexAttr(found.size * count);
  return {places, sizes};
}

/// The groups that join dimensions `dim` and `dim + 1` of `rank`.
static SmallVector<ReassociationIndices> joinDims(int64_t rank, int64_t dim) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i != rank; ++i)
    if (i == dim + 1)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  return groups;
}

/// True if a slice at `places`, of the shape of `whole`, takes all of it.
static bool takesAll(ArrayRef<OpFoldResult> places,
                     ArrayRef<OpFoldResult> sizes, RankedTensorType whole) {
  return llvm::all_of(places, isZeroInteger) &&
         llvm::all_of_zip(sizes, whole.getShape(),
                          [](OpFoldResult size, int64_t all) {
                            return getConstantIntValue(size) == all;
                          });
}

void IterationMerger::mergeExtract(tensor::ExtractSliceOp slice) {
  Value result = slice.getResult();
  if (Value source = blocks.getInserted(slice)) {
    mapping.map(result, mapping.lookup(source));
    return;
  }
  Location loc = slice.getLoc();
  const BlockSlice &found = blocks.getSlices().find(slice)->second;
  auto [dim, isDropped] = getTaken(slice.getDroppedDims(), found.dim);
  auto [places, sizes] = getPlace(slice);
  RankedTensorType type = slice.getType();
  if (isDropped) {
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin() + dim, count);
    type = type.clone(shape);
  } else {
    type = getMergedType(type, dim);
  }
  Value value = mapping.lookupOrDefault(slice.getSource());
  if (type != value.getType() || !takesAll(places, sizes, type))
    value = tensor::ExtractSliceOp::create(rewriter, loc, type, value, places,
                                           sizes, slice.getMixedStrides());
  if (isDropped)
    value = rewriter.createOrFold<tensor::CollapseShapeOp>(
        loc, value, joinDims(type.getRank(), dim));
  mapping.map(result, value);
}

void IterationMerger::mergeInsert(tensor::InsertSliceOp slice) {
  Location loc = slice.getLoc();
  const BlockSlice &found = blocks.getSlices().find(slice)->second;
  auto [dim, isDropped] = getTaken(slice.getDroppedDims(), found.dim);
  Role role = blocks.getRole(slice.getSource());
  Value source = role.kind == Role::Block ? mapping.lookup(slice.getSource())
                                          : widen(slice.getSource(), {dim});
  if (isDropped || (role.kind == Role::Block && role.block.dim != dim)) {
    auto getShape = [&] {
      return SmallVector<int64_t>(
          cast<RankedTensorType>(source.getType()).getShape());
    };
    if (!isDropped)
      source = rewriter.createOrFold<tensor::CollapseShapeOp>(
          loc, source, joinDims(getShape().size(), dim));
    SmallVector<int64_t> shape = getShape();
    shape[dim] /= count;
    shape.insert(shape.begin() + dim, count);
    source = rewriter.createOrFold<tensor::ExpandShapeOp>(
        loc, cast<RankedTensorType>(source.getType()).clone(shape), source,
        joinDims(shape.size(), dim));
  }
  auto [places, sizes] = getPlace(slice);
  Value dest = mapping.lookup(slice.getDest());
  if (source.getType() != dest.getType() ||
      !takesAll(places, sizes, slice.getDestType()))
    source = tensor::InsertSliceOp::create(rewriter, loc, source, dest, places,
                                           sizes, slice.getMixedStrides());
  mapping.map(slice.getResult(), source);
}

void IterationMerger::merge() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  int64_t numGroups = blocks.getNumIterations() / count;
  scf::ForOp merged;
  if (numGroups == 1) {
    mapping.map(loop.getRegionIterArgs(), loop.getInitArgs());
  } else {
    auto getIndex = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    Value last = blocks.isDescending() ? getIndex(numGroups - 1) : Value();
    merged = scf::ForOp::create(rewriter, loc, getIndex(0), getIndex(numGroups),
                                getIndex(1), loop.getInitArgs());
    merged->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    mapping.map(loop.getRegionIterArgs(), merged.getRegionIterArgs());
    rewriter.setInsertionPointToStart(merged.getBody());
    group = merged.getInductionVar();
    if (last)
      group = arith::SubIOp::create(rewriter, loc, last, group);
  }
  SmallVector<Operation *> copies;
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool isNumber =
        op.getNumResults() > 0 && blocks.is(op.getResult(0), Role::Number);
    if (isNumber || isOpTriviallyDead(&op))
      continue;
    if (const auto *it = blocks.getBlockOps().find(&op);
        it != blocks.getBlockOps().end())
      mergeBlockOp(&op, it->second);
    else if (!blocks.getSlices().contains(&op))
      copies.push_back(rewriter.clone(op, mapping));
    else if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
      mergeExtract(extract);
    else
      mergeInsert(cast<tensor::InsertSliceOp>(op));
  }
  SmallVector<Value> results;
  for (Value yielded : loop.getYieldedValues())
    results.push_back(mapping.lookup(yielded));
  if (merged) {
    if (!results.empty())
      scf::YieldOp::create(rewriter, loc, results);
    results.assign(merged.getResults().begin(), merged.getResults().end());
  }
  rewriter.replaceOp(loop, results);
  // Of many ops only copies with larger dimensions are read.
  for (Operation *copy : llvm::reverse(copies))
    if (isOpTriviallyDead(copy))
      rewriter.eraseOp(copy);
}

/// Lets iterations of `loop` do the work of several ones. Returns how many
/// became a part of others.
static int64_t mergeIterationsOf(RewriterBase &rewriter, scf::ForOp loop,
                                 int64_t mostBytes) {
  BlockIterations blocks(loop);
  int64_t count = blocks.analyze() ? chooseCount(blocks, mostBytes) : 1;
  if (count == 1)
    return 0;
  IterationMerger(rewriter, blocks, count).merge();
  return blocks.getNumIterations() / count * (count - 1);
}

int64_t braid::comm::mergeIterations(RewriterBase &rewriter, Operation *root,
                                     int64_t mostBytes) {
  SmallVector<scf::ForOp> loops;
  // Inner ones first.
  if (mostBytes > 0)
    root->walk([&](scf::ForOp loop) { loops.push_back(loop); });
  int64_t numMerged = 0;
  for (scf::ForOp loop : loops) {
    int64_t number = mergeIterationsOf(rewriter, loop, mostBytes);
    numMerged += number;
    if (number > 0)
      continue;
    // Parts of the body may have loops whose iterations merge.
    SmallVector<scf::ForOp> parts;
    distributeLoop(rewriter, loop, mostBytes, [&](scf::ForOp part) {
      BlockIterations blocks(part);
      bool isMerged = blocks.analyze() && chooseCount(blocks, mostBytes) > 1;
      if (isMerged)
        parts.push_back(part);
      return isMerged;
    });
    for (scf::ForOp part : parts)
      numMerged += mergeIterationsOf(rewriter, part, mostBytes);
  }
  return numMerged;
}
