//===- BatchPropagation.cpp - What carries a batch ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Split/BatchPropagation.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/MatmulAttributes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;
using namespace braid;
using comm::SplitAxis;

BatchPropagation::BatchPropagation(Block &block, ArrayRef<ValueDim> seeds,
                                   const BatchOptions &options)
    : seeds(seeds), options(options) {
  size = getSplitType(seeds[0].value).getDimSize(seeds[0].dim) / seeds[0].runs;
  for (const ValueDim &seed : seeds)
    if (divides(seed))
      dims[seed.value] = seed;
  for (Operation &op : block)
    visit(op);
}

std::optional<ValueDim> BatchPropagation::getDim(Value value) const {
  auto it = dims.find(value);
  if (it == dims.end())
    return std::nullopt;
  return it->second;
}

/// True if `value` can be divided together with all others; from now on it is.
bool BatchPropagation::divides(ValueDim value) {
  RankedTensorType type = getSplitType(value.value);
  // Products of two sizes are numbers of 64 bits.
  constexpr int64_t mostElements = int64_t(1) << 31;
  if (!type.hasStaticShape() || llvm::is_contained(type.getShape(), 0) ||
      type.getDimSize(value.dim) >= mostElements ||
      type.getDimSize(value.dim) % value.runs != 0)
    return false;
  int64_t whole = type.getDimSize(value.dim);
  int64_t own = size / std::gcd(size, whole / value.runs);
  int64_t both = unit / std::gcd(unit, own) * own;
  if (size / both < options.numParts)
    return false;
  unit = both;
  return true;
}

/// True if `op` can be split along the axis in `split`, of which the runs are
/// set: operands with the batch have the dimensions and equal runs, and all
/// that the axis divides can be divided.
bool BatchPropagation::fits(Operation &op, SplitOp &split) {
  std::optional<int64_t> runs;
  for (OpOperand &operand : op.getOpOperands()) {
    std::optional<ValueDim> known = getDim(operand.get());
    if (!known)
      continue;
    if (split.axis.operands[operand.getOperandNumber()] != known->dim ||
        (runs && *runs != known->runs))
      return false;
    runs = known->runs;
  }
  int64_t joined = *runs * split.axis.joined;
  if (*runs % split.axis.multiple != 0 || joined % split.axis.divided != 0)
    return false;
  split.operandRuns = *runs;
  split.resultRuns = joined / split.axis.divided;
  int64_t unitBefore = unit;
  auto canDivide = [&](ValueRange values, const SplitAxis::Dims &dims,
                       int64_t runs) {
    return llvm::all_of(llvm::zip_equal(values, dims), [&](const auto &pair) {
      auto [value, dim] = pair;
      return !dim || divides({value, *dim, runs});
    });
  };
  if (canDivide(op.getOperands(), split.axis.operands, split.operandRuns) &&
      canDivide(op.getResults(), split.axis.results, split.resultRuns))
    return true;
  unit = unitBefore;
  return false;
}

/// Finds how `op` can be split. Returns why it cannot; an empty text if it can.
std::string BatchPropagation::findAxis(Operation &op, SplitOp &split) {
  SmallVector<SplitAxis> axes = getSplitAxes(&op);
  if (axes.empty())
    return "mixes the elements of its operands, or is not known";
  for (SplitAxis &axis : axes) {
    split.axis = axis;
    if (fits(op, split))
      return "";
  }
  for (OpOperand &operand : op.getOpOperands()) {
    std::optional<ValueDim> known = getDim(operand.get());
    unsigned number = operand.getOperandNumber();
    if (known && llvm::none_of(axes, [&](const SplitAxis &axis) {
          return axis.operands[number] == known->dim;
        }))
      return llvm::formatv("mixes the elements of operand #{0} along dimension "
                           "{1}",
                           number, known->dim);
  }
  return llvm::formatv("needs other than the same part of {0} of all of its "
                       "operands",
                       options.numParts);
}

/// Adds `op`, which takes values with the batch, to the ops that are split.
/// Returns why it stays whole; an empty text if it is split.
std::string BatchPropagation::split(Operation &op) {
  SplitOp split;
  int64_t unitBefore = unit;
  std::string reason = findAxis(op, split);
  if (!reason.empty())
    return reason;
  bool sums = llvm::is_contained(split.axis.results, std::nullopt);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (sums && (op.hasAttr(kBiasAttrName) || op.hasAttr(kEpilogueAttrName)))
    reason = "does more to its result than a sum";
  else if (sums && options.keepsSums && dependsOnOrderOfTerms(&op))
    reason = "sums floats over the batch, which takes numerics=same-terms";
  else if (linalgOp && linalgOp.hasIndexSemantics() && split.operandRuns != 1)
    reason = "reads its indices, which parts of several runs do not have";
  if (!reason.empty()) {
    unit = unitBefore;
    return reason;
  }
  for (auto [value, dim] :
       llvm::zip_equal(op.getOperands(), split.axis.operands))
    if (dim && !dims.contains(value))
      sliced.push_back({value, *dim, split.operandRuns});
  for (auto [result, dim] :
       llvm::zip_equal(op.getResults(), split.axis.results)) {
    if (dim)
      dims[result] = {result, *dim, split.resultRuns};
    else
      dims.erase(result);
  }
  ops.insert({&op, std::move(split)});
  return "";
}

void BatchPropagation::visit(Operation &op) {
  llvm::SetVector<Value> captured;
  if (op.getNumRegions() != 0)
    getUsedValuesDefinedAbove(op.getRegions(), captured);
  auto isWithBatch = [&](Value value) { return dims.contains(value); };
  bool capturesBatch = llvm::any_of(captured, isWithBatch);
  bool takesBatch = !op.hasTrait<OpTrait::IsTerminator>() &&
                    llvm::any_of(op.getOperands(), isWithBatch);
  if (!takesBatch && !capturesBatch)
    return;
  std::string reason =
      capturesBatch ? "computes with a whole value in its body" : split(op);
  if (!reason.empty())
    wholeOps.push_back({&op, std::move(reason)});
}

int64_t BatchPropagation::countJoins() const {
  return llvm::count_if(dims, [&](const auto &entry) {
    Value value = entry.first;
    return ops.contains(value.getDefiningOp()) &&
           llvm::any_of(value.getUsers(),
                        [&](Operation *user) { return !ops.contains(user); });
  });
}

SmallVector<ValueDim> braid::findSeeds(ArrayRef<ValueDim> values,
                                       const BatchPropagation *found) {
  SmallVector<ValueDim> worklist(values), seeds;
  Block *block =
      worklist.empty() ? nullptr : worklist[0].value.getParentBlock();
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    ValueDim next = worklist.pop_back_val();
    if (next.value.getParentBlock() != block || !seen.insert(next.value).second)
      continue;
    Operation *op = next.value.getDefiningOp();
    if (op && found && found->getOps().contains(op))
      continue;
    bool isFollowed = false;
    for (const SplitAxis &axis :
         op ? getSplitAxes(op) : SmallVector<SplitAxis>()) {
      int64_t runs = next.runs * axis.divided;
      if (axis.results[cast<OpResult>(next.value).getResultNumber()] !=
              next.dim ||
          runs % axis.joined != 0)
        continue;
      for (auto [value, dim] :
           llvm::zip_equal(op->getOperands(), axis.operands))
        if (dim)
          worklist.push_back({value, *dim, runs / axis.joined});
      isFollowed = true;
      break;
    }
    // Constants and empty tensors are no more work in parts than as a whole.
    if (isFollowed || (op && llvm::none_of(op->getOperands(), getSplitType)))
      continue;
    if (isa<comm::TokenType>(next.value.getType()))
      for (Operation *wait : next.value.getUsers())
        seeds.push_back({wait->getResult(0), next.dim, next.runs});
    else
      seeds.push_back(next);
  }
  llvm::sort(seeds, [](const ValueDim &a, const ValueDim &b) {
    Operation *first = a.value.getDefiningOp(),
              *second = b.value.getDefiningOp();
    if (first && second)
      return first->isBeforeInBlock(second);
    if (first || second)
      return !first;
    return cast<BlockArgument>(a.value).getArgNumber() <
           cast<BlockArgument>(b.value).getArgNumber();
  });
  return seeds;
}
