//===- PipelineLoops.cpp - The comm-pipeline-loops pass -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Chunks/RewritePass.h"
#include "LoopSums.h"
#include "PipelinedLoop.h"

#include "Cost/IR/Roofline.h"

#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"
#include "braid/Support/Units.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMPIPELINELOOPSPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// A start, and what decides whether it moves.
struct Candidate {
  ShiftedStart start;
  /// The time of the operation alone.
  int64_t costNs;
};

/// The starts of a loop that leave their iteration, and what that is worth.
struct LoopChoice {
  SmallVector<Candidate> starts;
  /// The time of all iterations, and of the moved starts that run outside of
  /// them, as if nothing hid those.
  int64_t totalNs;
  int64_t peakBytes;
};

/// Chooses among the starts of one loop.
class LoopChooser {
public:
  using Predict = function_ref<FailureOr<BlockPrediction>(ArrayRef<Candidate>)>;

  /// For a loop of `numIterations`. Of `ahead`, prefetched starts, and of
  /// `behind`, delayed ones, those come first that other work can hide least.
  LoopChooser(ArrayRef<Candidate> ahead, ArrayRef<Candidate> behind,
              int64_t numIterations, double minGain, size_t maxTrials,
              Predict predict)
      : ahead(ahead), behind(behind), numIterations(numIterations),
        minGain(minGain), maxTrials(maxTrials), predict(predict) {}

  /// Returns the starts to shift. Otherwise `getReason` says why there are
  /// none.
  FailureOr<SmallVector<Candidate>> choose();
  StringRef getReason() const { return reason; }

private:
  LogicalResult tryStarts(size_t numAhead, size_t numBehind);

  ArrayRef<Candidate> ahead, behind;
  int64_t numIterations;
  double minGain;
  size_t maxTrials, numTrials = 0;
  Predict predict;
  /// The time of the loop as it is.
  int64_t presentNs = 0;
  std::optional<LoopChoice> best;
  StringRef reason;
};

struct CommPipelineLoopsPass
    : RewritePass<PassWithCosts<
          comm::impl::CommPipelineLoopsPassBase<CommPipelineLoopsPass>>> {
  using RewritePass::RewritePass;

  std::optional<StringRef> getMaxMemory() const override { return maxMemory; }
  void runOnOperation() override;

private:
  LogicalResult pipelineIn(func::FuncOp function, CallEffects &calls,
                           RankUniformity &uniformity);
  FailureOr<SmallVector<ShiftedStart>> choose(scf::ForOp loop,
                                              ArrayRef<ShiftedStart> starts,
                                              const CostOptions &costs,
                                              RewriteJudge &judge);
  FailureOr<bool> maySumFirst(scf::ForOp loop, ArrayRef<LoopSum> sums,
                              const CostOptions &costs, RewriteJudge &judge);
  void remark(Operation *start, StringRef name, StringRef reason);
};
} // namespace

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Predicts the loop with the first starts of both kinds moved. Keeps them if
/// the loop becomes shorter than it is, and than with the best ones so far or
/// as short with less memory.
LogicalResult LoopChooser::tryStarts(size_t numAhead, size_t numBehind) {
  SmallVector<Candidate> trial(ahead.take_front(numAhead));
  llvm::append_range(trial, behind.take_front(numBehind));
  if (trial.empty() || numTrials++ >= maxTrials)
    return success();
  FailureOr<BlockPrediction> found = predict(trial);
  if (failed(found))
    return failure();
  int64_t totalNs = multiplyNs(found->makespanNs, numIterations);
  for (const Candidate &candidate : trial)
    totalNs = addNs(totalNs, candidate.costNs);
  if (totalNs >= lessGain(presentNs, minGain))
    return success();
  if (best) {
    bool isShorter = totalNs < lessGain(best->totalNs, minGain);
    bool isAsShort = lessGain(totalNs, minGain) <= best->totalNs;
    if (!isShorter && !(isAsShort && found->peakBytes < best->peakBytes))
      return success();
  }
  best = LoopChoice{std::move(trial), totalNs, found->peakBytes};
  return success();
}

FailureOr<SmallVector<Candidate>> LoopChooser::choose() {
  FailureOr<BlockPrediction> present = predict({});
  if (failed(present))
    return failure();
  presentNs = multiplyNs(present->makespanNs, numIterations);
  // All that is left to hide are launches, which graphs make short.
  if (present->computeNs == 0) {
    reason = "nothing in the loop could run beside it";
    return SmallVector<Candidate>();
  }
  if (present->computeNs >= lessGain(present->makespanNs, minGain)) {
    reason = "nothing of the loop is exposed";
    return SmallVector<Candidate>();
  }
  size_t most = std::max(ahead.size(), behind.size());
  if (failed(tryStarts(ahead.size(), behind.size())))
    return failure();
  if (!ahead.empty() && !behind.empty() &&
      (failed(tryStarts(ahead.size(), 0)) ||
       failed(tryStarts(0, behind.size()))))
    return failure();
  // A few may suffice, and they need less memory.
  for (size_t part = 2; part <= most; part *= 2)
    if (failed(tryStarts(ahead.size() / part, 0)) ||
        (!behind.empty() &&
         failed(tryStarts(ahead.size() / part, behind.size() / part))))
      return failure();
  if (best)
    return std::move(best->starts);
  reason = "the loop becomes no shorter, or takes too much memory";
  return SmallVector<Candidate>();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void CommPipelineLoopsPass::remark(Operation *start, StringRef name,
                                   StringRef reason) {
  emitPassedRemark(start, getArgument(), name, [&](auto &remark) {
    if (!reason.empty())
      remark << remark::metric("Reason", reason);
  });
}

/// The copy of `start`.
static ShiftedStart mapStart(const ShiftedStart &start,
                             const IRMapping &mapping) {
  Operation *op = start.start;
  return {cast<CollectiveOpInterface>(mapping.lookup(op)), start.shift,
          llvm::map_to_vector(start.users, [&](Operation *user) {
            return mapping.lookup(user);
          })};
}

/// The place in the body of `loop` of the first op that uses what `start`
/// gives.
static size_t getFirstUse(scf::ForOp loop, Operation *start) {
  llvm::SmallPtrSet<Operation *, 8> users;
  for (Operation *wait : start->getUsers())
    for (Operation *user : wait->getUsers())
      users.insert(loop.getBody()->findAncestorOpInBlock(*user));
  for (auto [place, op] : llvm::enumerate(*loop.getBody()))
    if (users.contains(&op))
      return place;
  return 0;
}

/// The starts of `shift`, those that other work can hide least first: gathers
/// that are used early, and reductions that start late.
static SmallVector<Candidate> getCandidates(scf::ForOp loop,
                                            ArrayRef<ShiftedStart> starts,
                                            StartShift shift,
                                            CostModel &model) {
  SmallVector<std::pair<size_t, Candidate>> found;
  for (const ShiftedStart &start : starts)
    if (start.shift == shift)
      found.emplace_back(
          shift == StartShift::Prefetch ? getFirstUse(loop, start.start) : 0,
          Candidate{start, model.getCost(start.start).ns});
  if (shift == StartShift::Delay)
    std::reverse(found.begin(), found.end());
  else
    llvm::sort(found, [](const auto &a, const auto &b) {
      return std::make_pair(a.first, -a.second.costNs) <
             std::make_pair(b.first, -b.second.costNs);
    });
  return llvm::map_to_vector(found,
                             [](auto &item) { return std::move(item.second); });
}

static SmallVector<ShiftedStart> getStarts(ArrayRef<Candidate> candidates) {
  SmallVector<ShiftedStart> starts;
  for (const Candidate &candidate : candidates)
    starts.push_back(candidate.start);
  llvm::sort(starts, [](const ShiftedStart &a, const ShiftedStart &b) {
    Operation *first = a.start, *second = b.start;
    return first->isBeforeInBlock(second);
  });
  return starts;
}

static int64_t getTripCount(scf::ForOp loop, const CostOptions &costs) {
  return getStaticTripCount(loop).value_or(costs.sizes.tripCount);
}

FailureOr<SmallVector<ShiftedStart>>
CommPipelineLoopsPass::choose(scf::ForOp loop, ArrayRef<ShiftedStart> starts,
                              const CostOptions &costs, RewriteJudge &judge) {
  CostModel model(costs);
  // The fewer, the longer each takes.
  constexpr size_t triedOps = 10'000, fewestTrials = 3, mostTrials = 16;
  size_t numOps = 0;
  loop->walk([&](scf::ForOp inner) {
    numOps += inner.getBody()->getOperations().size();
  });
  size_t maxTrials = std::clamp(triedOps / numOps, fewestTrials, mostTrials);
  auto pipelineCopy = [&](ArrayRef<Candidate> trial, const IRMapping &mapping) {
    if (trial.empty())
      return success();
    IRRewriter rewriter(&getContext());
    auto copy = cast<scf::ForOp>(mapping.lookup(loop.getOperation()));
    pipelineLoop(
        rewriter, copy,
        llvm::map_to_vector(getStarts(trial), [&](const ShiftedStart &start) {
          return mapStart(start, mapping);
        }));
    return success();
  };
  SmallVector<Candidate> ahead =
      getCandidates(loop, starts, StartShift::Prefetch, model);
  SmallVector<Candidate> behind =
      getCandidates(loop, starts, StartShift::Delay, model);
  auto predict = [&](ArrayRef<Candidate> trial) {
    return judge.predict(
        [&](const IRMapping &mapping) { return pipelineCopy(trial, mapping); });
  };
  LoopChooser chooser(ahead, behind, getTripCount(loop, costs), leastGain,
                      maxTrials, predict);
  FailureOr<SmallVector<Candidate>> chosen = chooser.choose();
  if (failed(chosen))
    return failure();
  StringRef reason = chooser.getReason();
  if (!chosen->empty()) {
    FailureOr<bool> pays = judge.finallyPays(
        [&](const IRMapping &mapping) {
          return pipelineCopy(*chosen, mapping);
        },
        leastGain);
    if (failed(pays))
      return failure();
    if (!*pays) {
      reason = "the loop becomes no shorter by final searches";
      chosen->clear();
    }
  }
  SmallVector<ShiftedStart> shifted = getStarts(*chosen);
  for (const ShiftedStart &start : starts) {
    bool isChosen = llvm::any_of(shifted, [&](const ShiftedStart &other) {
      return other.start == start.start;
    });
    if (!isChosen)
      remark(start.start, "kept-start",
             shifted.empty() ? reason
                             : StringRef("the loop becomes no shorter by it"));
  }
  return shifted;
}

/// True if `loop` becomes shorter when its ranks add their terms of `sums`, and
/// send what that gives once: even if nothing hides that.
FailureOr<bool> CommPipelineLoopsPass::maySumFirst(scf::ForOp loop,
                                                   ArrayRef<LoopSum> sums,
                                                   const CostOptions &costs,
                                                   RewriteJudge &judge) {
  CostModel model(costs);
  int64_t onceNs = 0;
  for (const LoopSum &sum : sums) {
    CollectiveOpInterface start = sum.awaited.start;
    onceNs = addNs(onceNs, model.getCost(start).ns);
  }
  FailureOr<BlockPrediction> present =
      judge.predict([](const IRMapping &) { return success(); });
  FailureOr<BlockPrediction> changed =
      judge.predict([&](const IRMapping &mapping) {
        IRRewriter rewriter(&getContext());
        auto copy = cast<scf::ForOp>(mapping.lookup(loop.getOperation()));
        reduceBehindLoop(rewriter, copy,
                         findLoopSums(copy, numerics == Numerics::Reassociate));
        return success();
      });
  if (failed(present) || failed(changed))
    return failure();
  int64_t numIterations = getTripCount(loop, costs);
  return addNs(multiplyNs(changed->makespanNs, numIterations), onceNs) <
         multiplyNs(present->makespanNs, numIterations);
}

LogicalResult CommPipelineLoopsPass::pipelineIn(func::FuncOp function,
                                                CallEffects &calls,
                                                RankUniformity &uniformity) {
  FailureOr<CostOptions> costs =
      resolvePassCosts(getOperation(), function, getCostSettings());
  if (failed(costs))
    return failure();
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  int64_t numPrefetched = 0, numDelayed = 0, numSummed = 0;
  // Inner loops come first: copies of an iteration have them as they become.
  for (scf::ForOp loop : loops) {
    RewriteJudge judge =
        getJudge(function, loop.getBody(), uniformity, planResources);
    SmallVector<LoopSum> sums;
    if (uniformity.areReachedTogether(*loop.getBody()))
      sums = findLoopSums(loop, numerics == Numerics::Reassociate);
    if (!sums.empty()) {
      FailureOr<bool> sumsFirst = true;
      if (!all)
        sumsFirst = maySumFirst(loop, sums, *costs, judge);
      if (failed(sumsFirst))
        return failure();
      if (*sumsFirst) {
        numSummed += static_cast<int64_t>(sums.size());
        IRRewriter rewriter(&getContext());
        reduceBehindLoop(rewriter, loop, sums);
      }
    }
    LoopStarts found = findShiftedStarts(loop, calls, uniformity);
    for (const KeptStart &kept : found.kept)
      remark(kept.start, "kept-start", kept.reason);
    if (found.shifted.empty())
      continue;
    FailureOr<SmallVector<ShiftedStart>> chosen = found.shifted;
    if (!all)
      chosen = choose(loop, found.shifted, *costs, judge);
    if (failed(chosen))
      return failure();
    if (chosen->empty())
      continue;
    for (const ShiftedStart &start : *chosen) {
      bool isDelayed = start.shift == StartShift::Delay;
      remark(start.start, isDelayed ? "delayed-start" : "prefetched-start", "");
      ++(isDelayed ? numDelayed : numPrefetched);
    }
    IRRewriter rewriter(&getContext());
    pipelineLoop(rewriter, loop, *chosen);
  }
  emitCountRemark(function, getArgument(), "prefetched-starts", numPrefetched);
  emitCountRemark(function, getArgument(), "delayed-starts", numDelayed);
  emitCountRemark(function, getArgument(), "summed-starts", numSummed);
  return success();
}

void CommPipelineLoopsPass::runOnOperation() {
  CallEffects calls = getCallEffects(getOperation());
  if (failed(
          rewriteFunctions([&](func::FuncOp function, RankUniformity &known) {
            return pipelineIn(function, calls, known);
          })))
    signalPassFailure();
}
