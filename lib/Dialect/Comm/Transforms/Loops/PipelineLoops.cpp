//===- PipelineLoops.cpp - The comm-pipeline-loops pass -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Chunks/RewriteJudge.h"
#include "Dialect/Comm/Transforms/Schedule/SchedulingPass.h"
#include "PipelinedLoop.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMPIPELINELOOPSPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// The starts of a loop that leave their iteration, and what that is worth.
struct LoopChoice {
  SmallVector<ShiftedStart> starts;
  BlockPrediction prediction;
};

/// Chooses among the starts of one loop.
class LoopChooser {
public:
  using Predict =
      function_ref<FailureOr<BlockPrediction>(ArrayRef<ShiftedStart>)>;

  LoopChooser(ArrayRef<ShiftedStart> starts, double minGain, size_t maxTrials,
              Predict predict)
      : starts(starts), minGain(minGain), maxTrials(maxTrials),
        predict(predict) {}

  /// Returns the starts to shift. Otherwise `getReason` says why there are
  /// none.
  FailureOr<SmallVector<ShiftedStart>> choose();
  StringRef getReason() const { return reason; }

private:
  LogicalResult tryStarts(ArrayRef<ShiftedStart> trial);
  LogicalResult trySome();
  int64_t reduce(int64_t ns) const {
    return static_cast<int64_t>(static_cast<double>(ns) * (1 - minGain));
  }

  ArrayRef<ShiftedStart> starts;
  double minGain;
  size_t maxTrials, numTrials = 0;
  Predict predict;
  /// The loop as it is, and as it was predicted to be shorter.
  BlockPrediction present;
  std::optional<LoopChoice> best;
  StringRef reason;
};

struct CommPipelineLoopsPass
    : PassWithCosts<
          comm::impl::CommPipelineLoopsPassBase<CommPipelineLoopsPass>> {
  using PassWithCosts::PassWithCosts;

  LogicalResult initialize(MLIRContext *context) override;
  void runOnOperation() override;

private:
  LogicalResult pipelineIn(func::FuncOp function, CallEffects &calls,
                           RankUniformity &uniformity);
  FailureOr<SmallVector<ShiftedStart>> choose(func::FuncOp function,
                                              scf::ForOp loop,
                                              ArrayRef<ShiftedStart> starts,
                                              RankUniformity &uniformity);
  void remark(Operation *start, StringRef name, StringRef reason);

  /// The value of the option.
  std::optional<int64_t> memoryLimit;
};
} // namespace

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Predicts `trial`, and keeps it if it is shorter than the loop as it is, and
/// than the best one so far or as short with less memory.
LogicalResult LoopChooser::tryStarts(ArrayRef<ShiftedStart> trial) {
  if (trial.empty() || numTrials++ >= maxTrials)
    return success();
  FailureOr<BlockPrediction> found = predict(trial);
  if (failed(found))
    return failure();
  if (found->makespanNs >= reduce(present.makespanNs))
    return success();
  if (best) {
    bool isShorter = found->makespanNs < reduce(best->prediction.makespanNs);
    bool isAsShort = reduce(found->makespanNs) <= best->prediction.makespanNs;
    if (!isShorter &&
        !(isAsShort && found->peakBytes < best->prediction.peakBytes))
      return success();
  }
  best = LoopChoice{SmallVector<ShiftedStart>(trial), *found};
  return success();
}

/// Tries to add one start after the other, those of the most elements first:
/// where memory is short, some may fit.
LogicalResult LoopChooser::trySome() {
  auto getNumElements = [](const ShiftedStart &start) {
    double sum = 0;
    Operation *op = start.start;
    auto async = cast<AsyncStartOpInterface>(op);
    for (unsigned index = 0; index != op->getNumResults(); ++index)
      if (auto type = dyn_cast<ShapedType>(async.getInFlightType(index));
          type && type.hasStaticShape())
        sum += static_cast<double>(type.getNumElements());
    return sum;
  };
  SmallVector<std::pair<double, size_t>> order;
  for (auto [number, start] : llvm::enumerate(starts))
    order.emplace_back(-getNumElements(start), number);
  llvm::sort(order);
  SmallVector<ShiftedStart> some;
  for (auto [size, number] : order) {
    some.push_back(starts[number]);
    if (failed(tryStarts(some)))
      return failure();
    if (!best || best->starts.size() != some.size())
      some.pop_back();
  }
  return success();
}

FailureOr<SmallVector<ShiftedStart>> LoopChooser::choose() {
  FailureOr<BlockPrediction> asItIs = predict({});
  if (failed(asItIs))
    return failure();
  present = *asItIs;
  // All that is left to hide are launches, which graphs make short.
  if (present.computeNs == 0) {
    reason = "nothing in the loop could run beside it";
    return SmallVector<ShiftedStart>();
  }
  if (present.computeNs >= reduce(present.makespanNs)) {
    reason = "nothing of the loop is exposed";
    return SmallVector<ShiftedStart>();
  }
  if (failed(tryStarts(starts)))
    return failure();
  SmallVector<ShiftedStart> ofShift[2];
  for (const ShiftedStart &start : starts)
    ofShift[start.shift == StartShift::Delay].push_back(start);
  if (!ofShift[0].empty() && !ofShift[1].empty())
    for (ArrayRef<ShiftedStart> trial : ofShift)
      if (failed(tryStarts(trial)))
        return failure();
  if (!best && failed(trySome()))
    return failure();
  if (!best) {
    reason = "the loop becomes no shorter, or takes too much memory";
    return SmallVector<ShiftedStart>();
  }
  return std::move(best->starts);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult CommPipelineLoopsPass::initialize(MLIRContext *context) {
  Location loc = getOptionLoc(context);
  return success(succeeded(PassWithCosts::initialize(context)) &&
                 succeeded(parseRewriteGain(loc, minGain)) &&
                 succeeded(checkMaxMemory(loc, maxMemory)));
}

void CommPipelineLoopsPass::remark(Operation *start, StringRef name,
                                   StringRef reason) {
  emitPassedRemark(start, getArgument(), name, [&](auto &remark) {
    if (!reason.empty())
      remark << remark::metric("Reason", reason);
  });
}

/// The copies of `starts`.
static SmallVector<ShiftedStart> mapStarts(ArrayRef<ShiftedStart> starts,
                                           const IRMapping &mapping) {
  return llvm::map_to_vector(starts, [&](const ShiftedStart &start) {
    Operation *op = start.start;
    return ShiftedStart{cast<CollectiveOpInterface>(mapping.lookup(op)),
                        start.shift,
                        llvm::map_to_vector(start.users, [&](Operation *user) {
                          return mapping.lookup(user);
                        })};
  });
}

FailureOr<SmallVector<ShiftedStart>>
CommPipelineLoopsPass::choose(func::FuncOp function, scf::ForOp loop,
                              ArrayRef<ShiftedStart> starts,
                              RankUniformity &uniformity) {
  CostSettings settings = getCostSettings();
  RewriteJudge judge(getOperation(), function, loop.getBody(), uniformity,
                     settings, planResources);
  judge.setMaxMemory(memoryLimit);
  // The fewer, the longer each takes.
  constexpr size_t triedOps = 10'000, fewestTrials = 3, mostTrials = 16;
  size_t numOps = loop.getBody()->getOperations().size();
  size_t maxTrials = std::clamp(triedOps / numOps, fewestTrials, mostTrials);
  auto predict = [&](ArrayRef<ShiftedStart> trial) {
    return judge.predict([&](const IRMapping &mapping) {
      if (trial.empty())
        return success();
      IRRewriter rewriter(function.getContext());
      auto copy = cast<scf::ForOp>(mapping.lookup(loop.getOperation()));
      pipelineLoop(rewriter, copy, mapStarts(trial, mapping));
      return success();
    });
  };
  LoopChooser chooser(starts, *parseRewriteGain(function.getLoc(), minGain),
                      maxTrials, predict);
  FailureOr<SmallVector<ShiftedStart>> chosen = chooser.choose();
  if (succeeded(chosen) && chosen->empty())
    for (const ShiftedStart &start : starts)
      remark(start.start, "kept-start", chooser.getReason());
  return chosen;
}

LogicalResult CommPipelineLoopsPass::pipelineIn(func::FuncOp function,
                                                CallEffects &calls,
                                                RankUniformity &uniformity) {
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  int64_t numPrefetched = 0, numDelayed = 0;
  // Inner loops come first: copies of an iteration have them as they become.
  for (scf::ForOp loop : loops) {
    LoopStarts found = findShiftedStarts(loop, calls, uniformity);
    for (const KeptStart &kept : found.kept)
      remark(kept.start, "kept-start", kept.reason);
    if (found.shifted.empty())
      continue;
    FailureOr<SmallVector<ShiftedStart>> chosen = found.shifted;
    if (!all)
      chosen = choose(function, loop, found.shifted, uniformity);
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
  return success();
}

void CommPipelineLoopsPass::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<std::optional<int64_t>> limit = resolveMaxMemory(module, maxMemory);
  if (failed(limit))
    return signalPassFailure();
  memoryLimit = *limit;
  RankUniformity uniformity(module);
  CallEffects calls = getCallEffects(module);
  for (func::FuncOp function :
       getHostFunctionsCalleesFirst(module, getAnalysisManager()))
    if (!function.isExternal() &&
        failed(pipelineIn(function, calls, uniformity)))
      return signalPassFailure();
}
