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

#include "Analysis/Memory/TypeSize.h"
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

/// How many starts of a function left their iteration.
struct StartCounts {
  int64_t hoisted = 0, prefetched = 0, delayed = 0, summed = 0;
};

/// Chooses among the starts of one loop.
class LoopChooser {
public:
  using Predict = function_ref<FailureOr<BlockPrediction>(ArrayRef<Candidate>)>;

  /// For a loop of `numIterations`. Of `ahead`, hoisted or prefetched starts,
  /// and of `behind`, delayed ones, those come first that are worth most.
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
  /// The times of the loop and of its body as they are.
  int64_t presentNs = 0, presentBodyNs = 0;
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
                                              RankUniformity &uniformity);
  LogicalResult shiftStarts(scf::ForOp &loop, ArrayRef<ShiftedStart> starts,
                            const CostOptions &costs,
                            RankUniformity &uniformity, StartCounts &counts);
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
  if (trial.front().start.shift == StartShift::Hoist) {
    // The first iteration may hide them, for another copy of the body.
    int64_t sharedNs = addNs(
        presentBodyNs,
        multiplyNs(found->makespanNs, std::max<int64_t>(0, numIterations - 1)));
    if (sharedNs < lessGain(totalNs, minGain)) {
      totalNs = sharedNs;
      for (Candidate &candidate : trial)
        candidate.start.shift = StartShift::Share;
    }
  }
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
  presentBodyNs = present->makespanNs;
  bool hoists =
      !ahead.empty() && ahead.front().start.shift == StartShift::Hoist;
  // All that is left to hide are launches, which graphs make short.
  if (present->computeNs == 0 && !hoists) {
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

/// The bytes that the results of a hoisted start take.
static int64_t getResultBytes(const ShiftedStart &start,
                              const SizeDefaults &sizes) {
  int64_t bytes = 0;
  for (Operation *wait : start.users)
    bytes = addNs(bytes, static_cast<int64_t>(getTypeBytes(
                             wait->getResult(0).getType(), sizes)));
  return bytes;
}

/// The starts of `shift`, those that other work can hide least first: gathers
/// that are used early, and reductions that start late. Of hoisted ones those
/// come first that save most time for the memory that they hold.
static SmallVector<Candidate> getCandidates(scf::ForOp loop,
                                            ArrayRef<ShiftedStart> starts,
                                            StartShift shift,
                                            const CostOptions &costs) {
  CostModel model(costs);
  SmallVector<std::pair<size_t, Candidate>> found;
  for (const ShiftedStart &start : starts)
    if (start.shift == shift)
      found.emplace_back(
          shift == StartShift::Delay ? 0 : getFirstUse(loop, start.start),
          Candidate{start, model.getCost(start.start).ns});
  auto getNsPerByte = [&](const Candidate &candidate) {
    int64_t bytes = getResultBytes(candidate.start, costs.sizes);
    return static_cast<double>(candidate.costNs) /
           static_cast<double>(std::max<int64_t>(1, bytes));
  };
  if (shift == StartShift::Delay)
    std::reverse(found.begin(), found.end());
  else if (shift == StartShift::Hoist)
    llvm::sort(found, [&](const auto &a, const auto &b) {
      return std::make_pair(-getNsPerByte(a.second), a.first) <
             std::make_pair(-getNsPerByte(b.second), b.first);
    });
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
                              const CostOptions &costs,
                              RankUniformity &uniformity) {
  auto function = loop->getParentOfType<func::FuncOp>();
  RewriteJudge judge =
      getJudge(function, loop.getBody(), uniformity, planResources);
  RewriteJudge around = getJudge(function, loop->getBlock(), uniformity,
                                 /*plansResources=*/false);
  // The fewer, the longer each takes.
  constexpr size_t triedOps = 10'000, fewestTrials = 3, mostTrials = 16;
  size_t numOps = 0;
  loop->walk([&](scf::ForOp inner) {
    numOps += inner.getBody()->getOperations().size();
  });
  size_t maxTrials = std::clamp(triedOps / numOps, fewestTrials, mostTrials);
  auto pipelineCopy = [&](ArrayRef<Candidate> trial, const IRMapping &mapping) {
    IRRewriter rewriter(&getContext());
    auto copy = cast<scf::ForOp>(mapping.lookup(loop.getOperation()));
    pipelineLoop(
        rewriter, copy,
        llvm::map_to_vector(getStarts(trial), [&](const ShiftedStart &start) {
          return mapStart(start, mapping);
        }));
    return success();
  };
  // Hoisted starts are alone.
  SmallVector<Candidate> ahead =
      getCandidates(loop, starts, StartShift::Hoist, costs);
  bool hoists = !ahead.empty();
  if (!hoists)
    ahead = getCandidates(loop, starts, StartShift::Prefetch, costs);
  SmallVector<Candidate> behind =
      getCandidates(loop, starts, StartShift::Delay, costs);
  auto predict = [&](ArrayRef<Candidate> trial) -> FailureOr<BlockPrediction> {
    if (trial.empty())
      return judge.predictPresent();
    auto rewrite = [&](const IRMapping &mapping) {
      return pipelineCopy(trial, mapping);
    };
    FailureOr<BlockPrediction> found = judge.predict(rewrite);
    if (failed(found) || !hoists)
      return found;
    // The body does not count the memory of values of the block around it.
    for (const Candidate &candidate : trial)
      found->peakBytes =
          addNs(found->peakBytes, getResultBytes(candidate.start, costs.sizes));
    if (memoryLimit) {
      FailureOr<BlockPrediction> whole = around.predict(rewrite);
      if (failed(whole))
        return failure();
      if (whole->makespanNs == anyTimeNs)
        return *whole;
    }
    return found;
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
        anyTimeNs, leastGain);
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
  FailureOr<BlockPrediction> present = judge.predictPresent();
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

/// Shifts those of `starts`, all of them hoisted or none, that pay. `loop`
/// becomes the loop that is left.
LogicalResult CommPipelineLoopsPass::shiftStarts(scf::ForOp &loop,
                                                 ArrayRef<ShiftedStart> starts,
                                                 const CostOptions &costs,
                                                 RankUniformity &uniformity,
                                                 StartCounts &counts) {
  if (starts.empty())
    return success();
  FailureOr<SmallVector<ShiftedStart>> chosen =
      SmallVector<ShiftedStart>(starts);
  if (!all)
    chosen = choose(loop, starts, costs, uniformity);
  else if (starts.front().shift == StartShift::Hoist)
    for (ShiftedStart &start : *chosen)
      start.shift = StartShift::Share;
  if (failed(chosen))
    return failure();
  if (chosen->empty())
    return success();
  for (const ShiftedStart &start : *chosen)
    switch (start.shift) {
    case StartShift::Hoist:
      remark(start.start, "hoisted-start", "");
      ++counts.hoisted;
      break;
    case StartShift::Share:
      remark(start.start, "shared-start", "");
      ++counts.hoisted;
      break;
    case StartShift::Prefetch:
      remark(start.start, "prefetched-start", "");
      ++counts.prefetched;
      break;
    case StartShift::Delay:
      remark(start.start, "delayed-start", "");
      ++counts.delayed;
      break;
    }
  IRRewriter rewriter(&getContext());
  loop = pipelineLoop(rewriter, loop, *chosen);
  return success();
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
  StartCounts counts;
  // Inner loops come first: copies of an iteration have them as they become.
  for (scf::ForOp loop : loops) {
    SmallVector<LoopSum> sums;
    if (uniformity.areReachedTogether(*loop.getBody()))
      sums = findLoopSums(loop, numerics == Numerics::Reassociate);
    if (!sums.empty()) {
      FailureOr<bool> sumsFirst = true;
      if (!all) {
        RewriteJudge judge =
            getJudge(function, loop.getBody(), uniformity, planResources);
        sumsFirst = maySumFirst(loop, sums, *costs, judge);
      }
      if (failed(sumsFirst))
        return failure();
      if (*sumsFirst) {
        counts.summed += static_cast<int64_t>(sums.size());
        IRRewriter rewriter(&getContext());
        reduceBehindLoop(rewriter, loop, sums);
      }
    }
    SmallVector<ShiftedStart> invariant;
    LoopStarts found = findShiftedStarts(loop, calls, uniformity);
    for (const ShiftedStart &start : found.shifted)
      if (start.shift == StartShift::Hoist)
        invariant.push_back(start);
    if (failed(shiftStarts(loop, invariant, *costs, uniformity, counts)))
      return failure();
    found = findShiftedStarts(loop, calls, uniformity);
    for (const KeptStart &kept : found.kept)
      remark(kept.start, "kept-start", kept.reason);
    llvm::erase_if(found.shifted, [](const ShiftedStart &start) {
      return start.shift == StartShift::Hoist;
    });
    if (failed(shiftStarts(loop, found.shifted, *costs, uniformity, counts)))
      return failure();
  }
  emitCountRemark(function, getArgument(), "hoisted-starts", counts.hoisted);
  emitCountRemark(function, getArgument(), "prefetched-starts",
                  counts.prefetched);
  emitCountRemark(function, getArgument(), "delayed-starts", counts.delayed);
  emitCountRemark(function, getArgument(), "summed-starts", counts.summed);
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
