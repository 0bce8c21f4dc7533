//===- Simplify.cpp - The comm-simplify pass ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Chunks/RewritePass.h"
#include "Rewrites.h"

#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMSIMPLIFYPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// A rewrite that has to pay: the waits that tell it what to do, and how it is
/// done to them or their copies.
struct Rewrite {
  SmallVector<WaitOp, 2> waits;
  void (*apply)(RewriteState &, ArrayRef<WaitOp>);
  /// True if a value lives longer, which the program may have avoided.
  bool holdsValue = false;
};

struct CommSimplifyPass
    : StructuralRewritePass<
          comm::impl::CommSimplifyPassBase<CommSimplifyPass>> {
  using RewritePass::RewritePass;

  std::optional<StringRef> getMaxMemory() const override { return maxMemory; }
  CommunicationRules getRules() const override;
  LogicalResult transform() override;

private:
  LogicalResult simplifyIn(func::FuncOp function);
  LogicalResult simplifyJudged(const SchedulableBlock &block,
                               RewriteState &state);
  LogicalResult choose(ArrayRef<Rewrite> rewrites, RewriteJudge &judge,
                       BlockPrediction &present, size_t &trialsLeft,
                       RewriteState &state);
  bool pays(const BlockPrediction &found, const BlockPrediction &present,
            bool holdsValue) const;

  /// What the rewrites have erased, for the check of the pass.
  llvm::DenseSet<Operation *> erased;
};

} // namespace

//===----------------------------------------------------------------------===//
// What the check of the pass allows
//===----------------------------------------------------------------------===//

static bool haveSameShapes(ArrayRef<Type> before, ArrayRef<Type> after) {
  return llvm::equal(before, after, [](Type a, Type b) {
    auto from = dyn_cast<RankedTensorType>(a);
    auto to = dyn_cast<RankedTensorType>(b);
    return from && to && succeeded(verifyCompatibleShape(from, to));
  });
}

/// True if `after` does with converted elements what `before` does.
static bool movesConverted(const StartSummary &before,
                           const StartSummary &after) {
  return !before.reduction && before.name == after.name &&
         before.splitDim == after.splitDim &&
         before.arguments == after.arguments &&
         haveSameShapes(before.sources, after.sources) &&
         haveSameShapes(before.values, after.values);
}

/// True if `after` is a gather along dimension 0 of what `before` gathers.
static bool gathersTransposed(const StartSummary &before,
                              const StartSummary &after) {
  if (before.kind != CollectiveKind::all_gather || before.name != after.name ||
      after.splitDim != 0 || before.sources.size() != 1 ||
      after.sources.size() != 1)
    return false;
  auto haveSameSizes = [](Type a, Type b) {
    SmallVector<int64_t> from(cast<ShapedType>(a).getShape()),
        to(cast<ShapedType>(b).getShape());
    llvm::sort(from);
    llvm::sort(to);
    return from == to;
  };
  return haveSameSizes(before.sources[0], after.sources[0]) &&
         haveSameSizes(before.values[0], after.values[0]);
}

static bool mayReplaceExactly(const StartSummary &before,
                              const StartSummary &after) {
  return isSameStart(before, after) || movesConverted(before, after) ||
         gathersTransposed(before, after);
}

/// True if one of the two gives the parts of what the other one gives.
static bool reducesTheSame(const StartSummary &before,
                           const StartSummary &after) {
  auto isPair = [&](CollectiveKind from, CollectiveKind to) {
    return before.kind == from && after.kind == to;
  };
  return (isPair(CollectiveKind::all_reduce, CollectiveKind::reduce_scatter) ||
          isPair(CollectiveKind::reduce_scatter, CollectiveKind::all_reduce)) &&
         before.reduction == after.reduction && before.sources == after.sources;
}

static bool mayReplaceSums(const StartSummary &before,
                           const StartSummary &after) {
  return mayReplaceExactly(before, after) || reducesTheSame(before, after);
}

CommunicationRules CommSimplifyPass::getRules() const {
  CommunicationRules rules;
  rules.mayReplace =
      numerics == Numerics::Exact ? mayReplaceExactly : mayReplaceSums;
  rules.mayErase = [](const StartSummary &start) {
    return start.kind && !start.values.empty() && !start.isPointToPoint();
  };
  rules.erased = &erased;
  return rules;
}

//===----------------------------------------------------------------------===//
// Rewrites that always pay
//===----------------------------------------------------------------------===//

namespace {
/// Remembers the ops that rewrites erase.
struct ErasedOps : public RewriterBase::Listener {
  void notifyOperationErased(Operation *op) override { ops.insert(op); }
  llvm::DenseSet<Operation *> ops;
};
} // namespace

/// Applies `rewrite` to the waits of `block` that are there now.
static bool rewriteWaits(Block &block, RewriteState &state,
                         bool (*rewrite)(RewriteState &, WaitOp)) {
  ErasedOps erased;
  state.rewriter.setListener(&erased);
  bool hasChanged = false;
  for (WaitOp wait : llvm::to_vector(block.getOps<WaitOp>()))
    if (!erased.ops.contains(wait))
      hasChanged |= rewrite(state, wait);
  state.rewriter.setListener(nullptr);
  return hasChanged;
}

/// Rewrites what waits of `block` give until nothing changes.
static void simplifyFree(Block &block, RewriteState &state) {
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (auto *rewrite : {takeOwnParts, moveInFront, moveConversionInFront})
      hasChanged |= rewriteWaits(block, state, rewrite);
    // At once, because collectives of equal values are equal, too.
    visitEqualCollectives(block, [&](const EqualCollectives &equal) {
      if (isStillLive(equal)) {
        mergeEqual(state, equal);
        hasChanged = true;
      }
    });
    hasChanged |= rewriteWaits(block, state, eraseUnused);
  }
}

//===----------------------------------------------------------------------===//
// Rewrites that have to pay
//===----------------------------------------------------------------------===//

bool CommSimplifyPass::pays(const BlockPrediction &found,
                            const BlockPrediction &present,
                            bool holdsValue) const {
  // Predictions keep the limit.
  if (holdsValue && !memoryLimit && found.peakBytes > present.peakBytes)
    return false;
  return isBetter(found, present, leastGain);
}

/// Applies `rewrites`, or their copies.
static void apply(ArrayRef<Rewrite> rewrites, const IRMapping *mapping,
                  RewriteState &state) {
  for (const Rewrite &rewrite : rewrites) {
    SmallVector<WaitOp, 2> waits(rewrite.waits);
    if (mapping)
      for (WaitOp &wait : waits)
        wait = cast<WaitOp>(mapping->lookup(wait.getOperation()));
    rewrite.apply(state, waits);
  }
}

/// Applies all of `rewrites` if that is better than `present`, or else those
/// that are better one by one.
LogicalResult CommSimplifyPass::choose(ArrayRef<Rewrite> rewrites,
                                       RewriteJudge &judge,
                                       BlockPrediction &present,
                                       size_t &trialsLeft,
                                       RewriteState &state) {
  SmallVector<Rewrite> chosen;
  // Predicts `trial`, and takes it if it is better.
  auto attempt = [&](ArrayRef<Rewrite> trial) -> FailureOr<bool> {
    trialsLeft -= trialsLeft != 0;
    FailureOr<BlockPrediction> found =
        judge.predict([&](const IRMapping &mapping) {
          IRRewriter rewriter(&getContext());
          RewriteState scratch{rewriter, state.numerics};
          apply(trial, &mapping, scratch);
          return success();
        });
    if (failed(found))
      return failure();
    if (!pays(*found, present, trial.front().holdsValue))
      return false;
    present = *found;
    chosen.assign(trial.begin(), trial.end());
    return true;
  };
  FailureOr<bool> all = attempt(rewrites);
  if (failed(all))
    return failure();
  if (!*all && rewrites.size() > 1)
    for (const Rewrite &rewrite : rewrites) {
      if (trialsLeft == 0)
        break;
      SmallVector<Rewrite> trial(chosen);
      trial.push_back(rewrite);
      if (failed(attempt(trial)))
        return failure();
    }
  apply(chosen, /*mapping=*/nullptr, state);
  return success();
}

static SmallVector<Rewrite> findEqual(Block &block) {
  SmallVector<Rewrite> found;
  visitEqualCollectives(block, [&](const EqualCollectives &equal) {
    found.push_back({{equal.first, equal.second},
                     [](RewriteState &state, ArrayRef<WaitOp> waits) {
                       mergeEqual(state, {waits[0], waits[1]});
                     },
                     /*holdsValue=*/true});
  });
  return found;
}

/// `rewrite` of each wait of `block` that it changes.
template <bool (*canRewrite)(WaitOp), bool (*rewrite)(RewriteState &, WaitOp)>
static SmallVector<Rewrite> findOnWaits(Block &block) {
  SmallVector<Rewrite> found;
  for (auto wait : block.getOps<WaitOp>())
    if (canRewrite(wait))
      found.push_back({{wait}, [](RewriteState &state, ArrayRef<WaitOp> waits) {
                         rewrite(state, waits[0]);
                       }});
  return found;
}

LogicalResult CommSimplifyPass::simplifyJudged(const SchedulableBlock &block,
                                               RewriteState &state) {
  using Find = SmallVector<Rewrite> (*)(Block &);
  SmallVector<Find> kinds = {findEqual, findOnWaits<canMoveBehind, moveBehind>};
  if (numerics != Numerics::Exact)
    kinds.push_back(findOnWaits<canJoinGather, joinGather>);
  RewriteJudge judge = getJudge(block, planResources);
  std::optional<BlockPrediction> present;
  size_t trialsLeft = getMostTrials(getTrialOps(block.numOps));
  for (Find find : kinds) {
    SmallVector<Rewrite> rewrites = find(*block.block);
    if (rewrites.empty())
      continue;
    if (!present) {
      FailureOr<BlockPrediction> predicted = judge.predictPresent();
      if (failed(predicted))
        return failure();
      present = *predicted;
    }
    if (failed(choose(rewrites, judge, *present, trialsLeft, state)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult CommSimplifyPass::simplifyIn(func::FuncOp function) {
  IRRewriter rewriter(&getContext());
  RewriteState state{rewriter, numerics};
  for (const SchedulableBlock &block : findSchedulableBlocks(function)) {
    if (!areReachedTogether(*block.block))
      continue;
    simplifyFree(*block.block, state);
    if (failed(simplifyJudged(block, state)))
      return failure();
    simplifyFree(*block.block, state);
  }
  erased.insert_range(state.erased.getStarts());
  const SimplifyCounts &counts = state.counts;
  auto emit = [&](StringRef name, int64_t count) {
    emitCountRemark(function, getArgument(), name, count);
  };
  emit("moved-elementwise", counts.moved);
  emit("merged-collectives", counts.merged);
  emit("erased-collectives", counts.erased);
  emit("own-parts", counts.scattered);
  emit("joined-gathers", counts.joined);
  return success();
}

LogicalResult CommSimplifyPass::transform() {
  erased.clear();
  return rewriteFunctions(
      [&](func::FuncOp function) { return simplifyIn(function); });
}
