//===- PipelineLoops.cpp - The comm-pipeline-loops pass -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Chunks/RewritePass.h"
#include "LoopChooser.h"
#include "LoopRewrites.h"

#include "Analysis/Memory/TypeSize.h"

#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Operations.h"
#include "braid/Support/IR/Remarks.h"
#include "braid/Support/Units.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMPIPELINELOOPSPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
struct CommPipelineLoopsPass
    : RewritePass<PassWithCosts<
          comm::impl::CommPipelineLoopsPassBase<CommPipelineLoopsPass>>> {
  using RewritePass::RewritePass;

  std::optional<StringRef> getMaxMemory() const override { return maxMemory; }
  void runOnOperation() override;

private:
  LogicalResult pipelineIn(func::FuncOp function);
  FailureOr<SmallVector<ShiftedStart>> choose(scf::ForOp loop,
                                              ArrayRef<ShiftedStart> starts);
  LogicalResult shiftStarts(scf::ForOp &loop, ArrayRef<ShiftedStart> starts);
  FailureOr<int64_t> predictMoved(
      scf::ForOp loop, RewriteJudge &judge,
      function_ref<SmallVector<Operation *>(scf::ForOp, const IRMapping &)>
          move);
  LogicalResult sumBehind(scf::ForOp loop);
  FailureOr<bool> maySink(scf::ForOp loop, size_t number);
  LogicalResult sinkStacks(scf::ForOp loop);
  FailureOr<int64_t> chooseFactor(scf::ForOp loop);
  LogicalResult unrollLoop(scf::ForOp loop);
  void remark(Operation *start, StringRef name, StringRef reason);

  CallEffects *calls = nullptr;
  /// Of the present function: its costs, and the counts of remarks.
  CostOptions costs;
  llvm::StringMap<int64_t> counts;
};
} // namespace

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
CommPipelineLoopsPass::choose(scf::ForOp loop, ArrayRef<ShiftedStart> starts) {
  RewriteJudge judge = getJudge(loop.getBody(), planResources);
  RewriteJudge around = getJudge(loop->getBlock(), /*plansResources=*/false);
  // The fewer, the longer each takes.
  constexpr size_t triedOps = 10'000, fewestTrials = 3, mostTrials = 16;
  size_t numOps = 0;
  loop->walk([&](scf::ForOp inner) {
    numOps += inner.getBody()->getOperations().size();
  });
  size_t maxTrials =
      std::clamp(triedOps / getTrialOps(numOps), fewestTrials, mostTrials);
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

/// What all iterations of `loop` take once `move` has changed a copy of it, and
/// the ops that `move` returns, which run once, as if nothing hid them.
FailureOr<int64_t> CommPipelineLoopsPass::predictMoved(
    scf::ForOp loop, RewriteJudge &judge,
    function_ref<SmallVector<Operation *>(scf::ForOp, const IRMapping &)>
        move) {
  int64_t onceNs = 0;
  FailureOr<BlockPrediction> changed =
      judge.predict([&](const IRMapping &mapping) {
        CostModel model(costs);
        auto copy = cast<scf::ForOp>(mapping.lookup(loop.getOperation()));
        for (Operation *op : move(copy, mapping))
          onceNs = addNs(onceNs, model.getCost(op).ns);
        return success();
      });
  if (failed(changed))
    return failure();
  return addNs(multiplyNs(changed->makespanNs, getTripCount(loop, costs)),
               onceNs);
}

/// Lets all-reduces whose values `loop` adds up run once behind it, if that
/// pays.
LogicalResult CommPipelineLoopsPass::sumBehind(scf::ForOp loop) {
  bool reassociates = numerics == Numerics::Reassociate;
  SmallVector<LoopSum> sums = findLoopSums(loop, reassociates);
  if (sums.empty())
    return success();
  IRRewriter rewriter(&getContext());
  if (!all) {
    RewriteJudge judge = getJudge(loop.getBody(), planResources);
    FailureOr<BlockPrediction> present = judge.predictPresent();
    FailureOr<int64_t> summed =
        predictMoved(loop, judge, [&](scf::ForOp copy, const IRMapping &) {
          return reduceBehindLoop(rewriter, copy,
                                  findLoopSums(copy, reassociates));
        });
    if (failed(present) || failed(summed))
      return failure();
    if (*summed >= multiplyNs(present->makespanNs, getTripCount(loop, costs)))
      return success();
  }
  counts["summed-starts"] += static_cast<int64_t>(sums.size());
  reduceBehindLoop(rewriter, loop, sums);
  return success();
}

/// True if `loop` becomes shorter once the collective of its stack `number`
/// runs behind it, also than with the collective beside the next iteration.
FailureOr<bool> CommPipelineLoopsPass::maySink(scf::ForOp loop, size_t number) {
  RewriteJudge judge = getJudge(loop.getBody(), planResources);
  bool mayReorder = numerics != Numerics::Exact;
  IRRewriter rewriter(&getContext());
  FailureOr<BlockPrediction> present = judge.predictPresent();
  FailureOr<int64_t> sunk =
      predictMoved(loop, judge, [&](scf::ForOp copy, const IRMapping &) {
        return sinkBehindLoop(rewriter, copy,
                              findLoopStacks(copy, mayReorder)[number]);
      });
  if (failed(present) || failed(sunk))
    return failure();
  if (*sunk >= multiplyNs(present->makespanNs, getTripCount(loop, costs)))
    return false;
  CollectiveOpInterface start =
      findLoopStacks(loop, mayReorder)[number].awaited.start;
  for (const ShiftedStart &other :
       findShiftedStarts(loop, *calls, *uniformity).shifted) {
    CollectiveOpInterface shifted = other.start;
    if (shifted != start || other.shift != StartShift::Delay)
      continue;
    FailureOr<int64_t> delayed = predictMoved(
        loop, judge, [&](scf::ForOp copy, const IRMapping &mapping) {
          ShiftedStart moved = mapStart(other, mapping);
          pipelineLoop(rewriter, copy, moved);
          return SmallVector<Operation *>{start};
        });
    if (failed(delayed))
      return failure();
    return *sunk < *delayed;
  }
  return true;
}

/// Lets collectives whose values fill a stack run once behind `loop`, where
/// that pays.
LogicalResult CommPipelineLoopsPass::sinkStacks(scf::ForOp loop) {
  if (all && !sinkAll)
    return success();
  bool mayReorder = numerics != Numerics::Exact;
  IRRewriter rewriter(&getContext());
  size_t number = 0;
  for (size_t left = findLoopStacks(loop, mayReorder).size(); left; --left) {
    FailureOr<bool> pays = true;
    if (!sinkAll)
      pays = maySink(loop, number);
    if (failed(pays))
      return failure();
    if (!*pays) {
      ++number;
      continue;
    }
    LoopStack stack = findLoopStacks(loop, mayReorder)[number];
    remark(stack.awaited.start, "sunk-start", "");
    ++counts["sunk-starts"];
    sinkBehindLoop(rewriter, loop, stack);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Unrolling
//===----------------------------------------------------------------------===//

/// True if several iterations of `loop` may become one: all are alike.
static bool mayUnroll(scf::ForOp loop, RankUniformity &uniformity) {
  auto starts = loop.getBody()->getOps<CollectiveOpInterface>();
  return !starts.empty() && !loop.getUnsignedCmp() &&
         uniformity.areReachedTogether(*loop.getBody()) &&
         llvm::none_of(starts, [](CollectiveOpInterface start) {
           return start->hasAttr(CommDialect::kOrderAttrName);
         });
}

/// True if `factor` iterations of `numIterations` may become one that is not
/// the only one.
static bool isUsefulFactor(int64_t factor, std::optional<int64_t> count) {
  return count && *count >= 2 * factor;
}

/// How many iterations of `loop` to make one: 1 if that does not pay.
FailureOr<int64_t> CommPipelineLoopsPass::chooseFactor(scf::ForOp loop) {
  std::optional<int64_t> count = getStaticTripCount(loop);
  if (all)
    return isUsefulFactor(2, count) ? 2 : 1;
  RewriteJudge judge = getJudge(loop.getBody(), planResources);
  auto predict = [&](int64_t factor, JudgeEffort effort) -> FailureOr<int64_t> {
    FailureOr<BlockPrediction> one = judge.predictPresent(effort);
    if (failed(one) || factor == 1)
      return failed(one) ? FailureOr<int64_t>(failure())
                         : multiplyNs(one->makespanNs, *count);
    FailureOr<BlockPrediction> several = judge.predict(
        [&](const IRMapping &mapping) {
          auto copy = cast<scf::ForOp>(mapping.lookup(loop.getOperation()));
          return success(succeeded(loopUnrollByFactor(copy, factor)));
        },
        effort);
    if (failed(several))
      return failure();
    if (several->makespanNs == anyTimeNs)
      return anyTimeNs;
    return addNs(multiplyNs(several->makespanNs, *count / factor),
                 multiplyNs(one->makespanNs, *count % factor));
  };
  // Of more ops a search finds less, and programs become long.
  constexpr size_t mostOps = 4'000;
  size_t numOps = loop.getBody()->getOperations().size();
  int64_t best = 1;
  FailureOr<int64_t> shortest = anyTimeNs;
  for (int64_t factor : {1, 2, 4}) {
    if (factor != 1 &&
        (!isUsefulFactor(factor, count) || factor * numOps > mostOps))
      break;
    FailureOr<int64_t> found = predict(factor, JudgeEffort::Trial);
    if (failed(found))
      return failure();
    if (*found < lessGain(*shortest, leastGain)) {
      shortest = found;
      best = factor;
    }
  }
  if (best == 1)
    return best;
  // Longer searches may find as much for the loop as it is.
  FailureOr<int64_t> present = predict(1, JudgeEffort::Final);
  FailureOr<int64_t> changed = predict(best, JudgeEffort::Final);
  if (failed(present) || failed(changed))
    return failure();
  return *changed < lessGain(*present, leastGain) ? best : 1;
}

/// Makes several iterations of `loop` one, if that pays.
LogicalResult CommPipelineLoopsPass::unrollLoop(scf::ForOp loop) {
  if (!unroll || !mayUnroll(loop, *uniformity) ||
      !isUsefulFactor(2, getStaticTripCount(loop)))
    return success();
  FailureOr<int64_t> factor = chooseFactor(loop);
  if (failed(factor))
    return failure();
  if (*factor != 1 && succeeded(loopUnrollByFactor(loop, *factor)))
    ++counts["unrolled-loops"];
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Shifts those of `starts`, all of them hoisted or none, that pay. `loop`
/// becomes the loop that is left.
LogicalResult
CommPipelineLoopsPass::shiftStarts(scf::ForOp &loop,
                                   ArrayRef<ShiftedStart> starts) {
  if (starts.empty())
    return success();
  FailureOr<SmallVector<ShiftedStart>> chosen =
      SmallVector<ShiftedStart>(starts);
  if (!all)
    chosen = choose(loop, starts);
  else if (starts.front().shift == StartShift::Hoist)
    for (ShiftedStart &start : *chosen)
      start.shift = StartShift::Share;
  if (failed(chosen))
    return failure();
  if (chosen->empty())
    return success();
  // By `StartShift`: the remark, and the count.
  const std::pair<StringRef, StringRef> names[] = {
      {"hoisted-start", "hoisted-starts"},
      {"shared-start", "hoisted-starts"},
      {"prefetched-start", "prefetched-starts"},
      {"delayed-start", "delayed-starts"}};
  for (const ShiftedStart &start : *chosen) {
    auto [name, counted] = names[static_cast<size_t>(start.shift)];
    remark(start.start, name, "");
    ++counts[counted];
  }
  IRRewriter rewriter(&getContext());
  loop = pipelineLoop(rewriter, loop, *chosen);
  return success();
}

LogicalResult CommPipelineLoopsPass::pipelineIn(func::FuncOp function) {
  FailureOr<CostOptions> resolved = resolveCosts(function);
  if (failed(resolved))
    return failure();
  costs = std::move(*resolved);
  counts.clear();
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  // Inner loops come first: copies of an iteration have them as they become.
  for (scf::ForOp loop : loops) {
    if (areReachedTogether(*loop.getBody()) &&
        (failed(sumBehind(loop)) || failed(sinkStacks(loop))))
      return failure();
    SmallVector<ShiftedStart> invariant;
    LoopStarts found = findShiftedStarts(loop, *calls, *uniformity);
    for (const ShiftedStart &start : found.shifted)
      if (start.shift == StartShift::Hoist)
        invariant.push_back(start);
    if (failed(shiftStarts(loop, invariant)))
      return failure();
    found = findShiftedStarts(loop, *calls, *uniformity);
    for (const KeptStart &kept : found.kept)
      remark(kept.start, "kept-start", kept.reason);
    llvm::erase_if(found.shifted, [](const ShiftedStart &start) {
      return start.shift == StartShift::Hoist;
    });
    if (failed(shiftStarts(loop, found.shifted)) || failed(unrollLoop(loop)))
      return failure();
  }
  for (StringRef name :
       {"hoisted-starts", "prefetched-starts", "delayed-starts",
        "summed-starts", "sunk-starts", "unrolled-loops"})
    emitCountRemark(function, getArgument(), name, counts.lookup(name));
  return success();
}

void CommPipelineLoopsPass::runOnOperation() {
  replaceCountedWhiles(getOperation());
  CallEffects ofModule = getCallEffects(getOperation());
  calls = &ofModule;
  if (failed(judgeFunctions(
          [&](func::FuncOp function) { return pipelineIn(function); })))
    signalPassFailure();
}
