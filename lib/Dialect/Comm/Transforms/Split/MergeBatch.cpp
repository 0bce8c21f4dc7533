//===- MergeBatch.cpp - The comm-merge-batch pass -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Chunks/RewritePass.h"
#include "PairedParts.h"

#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"
#include "braid/Support/Units.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMMERGEBATCHPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// A start, and the start of the part that comes behind its own.
using StartPair = std::pair<CollectiveOpInterface, CollectiveOpInterface>;

struct CommMergeBatchPass
    : RewritePass<PassWithCosts<
          comm::impl::CommMergeBatchPassBase<CommMergeBatchPass>>> {
  using RewritePass::RewritePass;

  std::optional<StringRef> getMaxMemory() const override { return maxMemory; }
  void runOnOperation() override;

private:
  LogicalResult mergeIn(func::FuncOp function);
  FailureOr<std::optional<StartPair>> choose(const SchedulableBlock &block,
                                             size_t &trialsLeft);
};
} // namespace

/// `start`, and the ops of `block` that compute from what `start` gives.
static llvm::DenseSet<Operation *> findDependents(Block *block,
                                                  Operation *start) {
  llvm::DenseSet<Operation *> found = {start};
  SmallVector<Operation *> pending = {start};
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val()->getUsers())
      if (Operation *op = block->findAncestorOpInBlock(*user);
          op && found.insert(op).second)
        pending.push_back(op);
  return found;
}

/// Pairs of alike starts of `block` that may come together with others: for
/// each start the next one. No start is in two pairs.
static SmallVector<StartPair> findStartPairs(const SchedulableBlock &block) {
  SmallVector<CollectiveOpInterface> starts(
      block.block->getOps<CollectiveOpInterface>());
  // Each start that is looked at reads the block.
  constexpr size_t mostVisits = 400'000;
  size_t visitsLeft = mostVisits;
  llvm::DenseSet<Operation *> taken;
  SmallVector<StartPair> pairs;
  for (size_t number = 0; number != starts.size(); ++number) {
    CollectiveOpInterface start = starts[number];
    if (taken.contains(start) || visitsLeft < block.numOps)
      continue;
    auto isAlike = [&](CollectiveOpInterface other) {
      return other->getName() == start->getName() &&
             other.getGroupAttr() == start.getGroupAttr() &&
             other->getOperandTypes() == start->getOperandTypes() &&
             other->getResultTypes() == start->getResultTypes() &&
             !taken.contains(other);
    };
    auto others = ArrayRef(starts).drop_front(number + 1);
    if (llvm::none_of(others, isAlike))
      continue;
    visitsLeft -= block.numOps;
    llvm::DenseSet<Operation *> dependents = findDependents(block.block, start);
    // Others that are alike do something else, or need each other.
    constexpr unsigned mostTried = 4;
    unsigned numTried = 0;
    for (CollectiveOpInterface other : others) {
      if (!isAlike(other) || dependents.contains(other))
        continue;
      std::optional<PairedParts> parts = PairedParts::find(start, other);
      if (!parts) {
        if (++numTried == mostTried)
          break;
        continue;
      }
      for (CollectiveOpInterface paired : parts->getStarts()) {
        taken.insert(paired);
        taken.insert(parts->getSecond(paired));
      }
      pairs.emplace_back(start, other);
      break;
    }
  }
  return pairs;
}

/// Makes one op of each pair of ops that work on the parts of `pair`.
static void mergeParts(const StartPair &pair) {
  IRRewriter rewriter(pair.first->getContext());
  if (std::optional<PairedParts> parts =
          PairedParts::find(pair.first, pair.second))
    parts->merge(rewriter);
}

/// The first pair whose merging pays; none if no pair's does.
FailureOr<std::optional<StartPair>>
CommMergeBatchPass::choose(const SchedulableBlock &block, size_t &trialsLeft) {
  SmallVector<StartPair> pairs = findStartPairs(block);
  if (pairs.empty())
    return std::optional<StartPair>();
  if (all)
    return std::optional(pairs.front());
  RewriteJudge judge = getJudge(block, planResources);
  for (const StartPair &pair : pairs) {
    if (trialsLeft == 0)
      break;
    FailureOr<BlockPrediction> present = judge.predictPresent();
    if (failed(present))
      return failure();
    auto mergeCopy = [&](const IRMapping &mapping) {
      auto getCopy = [&](Operation *op) {
        return cast<CollectiveOpInterface>(mapping.lookup(op));
      };
      mergeParts({getCopy(pair.first), getCopy(pair.second)});
      return success();
    };
    --trialsLeft;
    int64_t wantedNs = lessGain(present->makespanNs, leastGain);
    FailureOr<BlockPrediction> merged =
        judge.predict(mergeCopy, JudgeEffort::Trial, wantedNs);
    if (failed(merged))
      return failure();
    if (merged->makespanNs >= wantedNs)
      continue;
    FailureOr<bool> pays =
        judge.finallyPays(mergeCopy, merged->makespanNs, leastGain);
    if (failed(pays))
      return failure();
    if (*pays)
      return std::optional(pair);
  }
  return std::optional<StartPair>();
}

LogicalResult CommMergeBatchPass::mergeIn(func::FuncOp function) {
  int64_t numMerged = 0;
  for (const SchedulableBlock &block : findSchedulableBlocks(function)) {
    if (!areReachedTogether(*block.block))
      continue;
    size_t trialsLeft = getMostTrials(getTrialOps(block.numOps));
    while (true) {
      FailureOr<std::optional<StartPair>> pair = choose(block, trialsLeft);
      if (failed(pair))
        return failure();
      if (!*pair)
        break;
      emitPassedRemark((*pair)->first, getArgument(), "merged-parts",
                       [](auto &) {});
      std::optional<PairedParts> parts =
          PairedParts::find((*pair)->first, (*pair)->second);
      numMerged += static_cast<int64_t>(parts->getStarts().size());
      IRRewriter rewriter(&getContext());
      parts->merge(rewriter);
    }
  }
  emitCountRemark(function, getArgument(), "merged-collectives", numMerged);
  return success();
}

void CommMergeBatchPass::runOnOperation() {
  if (failed(rewriteFunctions(
          [&](func::FuncOp function) { return mergeIn(function); })))
    signalPassFailure();
}
