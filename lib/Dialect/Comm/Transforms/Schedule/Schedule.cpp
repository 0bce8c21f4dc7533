//===- Schedule.cpp - The best order that search finds --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLimits.h"
#include "SchedulingPass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/Schedule/Simulation/LoopSimulator.h"
#include "braid/ScheduleIR/Timeline.h"
#include "braid/Support/IR/Remarks.h"
#include "braid/Support/Text.h"
#include "braid/Support/Units.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

namespace braid::comm {
#define GEN_PASS_DEF_COMMSCHEDULEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

/// The name of `op` in messages.
static std::string describe(Operation *op) {
  std::string text = "'" + op->getName().getStringRef().str() + "'";
  if (StringRef label = comm::getLabel(op); !label.empty())
    text += " \"" + escapeControls(label) + "\"";
  return text;
}

namespace {
struct CommSchedulePass
    : comm::ModuleOrFunctionPass<
          comm::impl::CommSchedulePassBase<CommSchedulePass>> {
  using ModuleOrFunctionPass::ModuleOrFunctionPass;

  LogicalResult initialize(MLIRContext *context) override {
    Location loc = comm::getOptionLoc(context);
    if (failed(ModuleOrFunctionPass::initialize(context)) ||
        failed(comm::checkMaxMemory(loc, maxMemory)))
      return failure();
    FailureOr<std::optional<double>> given = comm::parseMinGain(loc, minGain);
    if (failed(given))
      return failure();
    givenMinGain = *given;
    return success();
  }

  void runOnOperation() override {
    Operation *root = getOperation();
    FailureOr<std::optional<int64_t>> limit =
        comm::resolveMaxMemory(root, maxMemory);
    if (failed(limit))
      return signalPassFailure();
    memoryLimit = *limit;
    comm::BlockLimits limits(memoryLimit, isa<ModuleOp>(root));
    numOpsInAll = comm::countScheduledOps(root);
    FailureOr<unsigned> moved = scheduleAll(limits);
    if (failed(moved))
      return signalPassFailure();
    if (auto function = dyn_cast<func::FuncOp>(root))
      warnOfCallees(function, limits);
    for (const comm::ScheduledBlock &block : limits.getBlocks())
      emitResult(block);
  }

private:
  FailureOr<unsigned> scheduleAll(comm::BlockLimits &limits);
  FailureOr<ScheduleOrder> schedule(BlockProblem &problem, CostModel &model,
                                    comm::BlockLimits &limits, bool &isRetried);
  LogicalResult checkFunctions(comm::BlockLimits &limits, bool &isRetried);
  void warnOfCallees(func::FuncOp function, comm::BlockLimits &limits);
  LogicalResult reportExcess(const BlockProblem &problem,
                             const SearchResult &result,
                             comm::BlockLimits &limits);
  void emitResult(const comm::ScheduledBlock &block);

  std::optional<int64_t> memoryLimit;
  /// The fraction of the option `min-gain`; none for `auto`.
  std::optional<double> givenMinGain;
  /// Ops in all blocks that are scheduled.
  uint64_t numOpsInAll = 0;
};
} // namespace

/// Schedules all blocks. Repeats with lower limits of bodies while that may
/// help to keep the memory limit.
FailureOr<unsigned> CommSchedulePass::scheduleAll(comm::BlockLimits &limits) {
  auto isAny = [](NodeKind) { return true; };
  for (;;) {
    ScheduleChanges changes;
    bool isRetried = false;
    FailureOr<unsigned> moved = comm::scheduleProblems(
        getOperation(), getAnalysisManager(), getCostSettings(), changes,
        [&](BlockProblem &problem, CostModel &model) {
          return schedule(problem, model, limits, isRetried);
        },
        isAny);
    if (succeeded(moved) && succeeded(checkFunctions(limits, isRetried))) {
      if (failed(comm::verifyChanges(getOperation(), changes, getArgument())))
        return failure();
      return moved;
    }
    changes.undo();
    if (!isRetried)
      return failure();
  }
}

/// Simulates the order of `result` at the costs of `problem`.
static void simulateResult(const SchedulingProblem &problem,
                           SearchResult &result) {
  LoopSimulation simulated = simulateLoopOrder(problem, result.order);
  result.makespanNs = simulated.periodNs;
  result.peakBytes = simulated.iteration.peakBytes;
}

/// The search takes costs that ops have in the program's order. If they differ
/// in the order of `found`, searches up to three more times, each at the costs
/// of the order before. `found` becomes the shortest order at its own costs;
/// the program's if none gains enough.
static void settleCosts(const BlockProblem &problem, CostModel &model,
                        SearchOptions options, SearchResult &found) {
  std::optional<SchedulingProblem> repriced =
      repriceOrder(problem, found.order, model);
  if (!repriced)
    return;
  constexpr unsigned numSearches = 3;
  // A quarter of the steps finds nearly as much.
  constexpr uint64_t fewerSteps = 4;
  options.maxSteps = std::max<uint64_t>(options.maxSteps / fewerSteps, 1);
  const SchedulingProblem &written = problem.problem;
  SearchResult best = found;
  best.order = getProgramOrder(written.graph);
  best.method = "program order";
  simulateResult(written, best);
  bool isAllowed = isAllowedOrder(written, best.order) &&
                   best.peakBytes <= written.maxMemory.value_or(best.peakBytes);
  int64_t wantedNs = isAllowed ? lessGain(best.makespanNs, options.minGain)
                               : std::numeric_limits<int64_t>::max();
  for (unsigned search = 0;; ++search) {
    simulateResult(repriced ? *repriced : written, found);
    if (found.makespanNs < wantedNs) {
      best = found;
      wantedNs = best.makespanNs;
    }
    if (!repriced || search == numSearches)
      break;
    found = searchSchedule(*repriced, options);
    if (found.excess)
      break;
    repriced = repriceOrder(problem, found.order, model);
  }
  // Bounds hold at the costs of one order alone.
  best.lowerBoundNs = std::min(best.lowerBoundNs, best.makespanNs);
  best.optimal = false;
  found = std::move(best);
}

/// Returns the order of a block. Fails if no order keeps the memory limit; then
/// either sets `isRetried` because limits have changed, or emits an error.
FailureOr<ScheduleOrder> CommSchedulePass::schedule(BlockProblem &problem,
                                                    CostModel &model,
                                                    comm::BlockLimits &limits,
                                                    bool &isRetried) {
  Block *block = problem.block.block;
  if (const comm::ScheduledBlock *scheduled = limits.lookup(block))
    return ScheduleOrder(scheduled->result.order);
  SchedulingProblem &limited = problem.problem;
  limited.keepOrderOfStarts |= keepOrder;
  limited.maxMemory = limits.getLimit(block);
  limited.maxInFlight = maxInFlight;
  if (lanes == comm::LaneSharing::Shared)
    comm::shareLanes(problem);

  SearchOptions options;
  options.maxSteps = steps
                         ? uint64_t(steps)
                         : comm::getShareOfSteps(problem, numOpsInAll, effort);
  options.effort = effort;
  options.seed = seed;
  options.minGain = givenMinGain.value_or(getDefaultMinGain(limited));
  SearchResult result = searchSchedule(limited, options);
  if (result.excess) {
    Operation *worst = problem.block.ops[result.excess->node];
    if (limits.tighten(worst, result.excess->bytes)) {
      isRetried = true;
      return failure();
    }
    if (!limits.isTightened(block))
      return reportExcess(problem, result, limits);
    // The body needs more than its lowered limit. Another order of the block
    // around it may leave that much.
    limited.maxMemory = *limited.maxMemory + result.excess->bytes;
    limits.setFloor(block, *limited.maxMemory);
    SearchResult most = searchSchedule(limited, options);
    if (!most.excess)
      result = std::move(most);
    result.excess.reset();
  }
  settleCosts(problem, model, options, result);
  // The search returned the input order, which exceeds the limit.
  if (maxInFlight != 0 && !isAllowedOrder(limited, result.order))
    emitWarning(block->getParentOp()->getLoc())
        << "no order of this block was found that keeps max-in-flight = "
        << unsigned(maxInFlight)
        << "; it stays as it is, with more operations of a lane in flight";
  comm::ScheduledBlock scheduled{block, result, 0,
                                 !limited.carriedAwaits.empty(), std::nullopt};
  if (limits.isTightened(block))
    scheduled.limit = limits.getLimit(block);
  if (areRemarksEnabled(getOperation()))
    scheduled.makespanBeforeNs =
        simulateLoopOrder(limited, getProgramOrder(limited.graph)).periodNs;
  limits.add(std::move(scheduled));
  return std::move(result.order);
}

/// Checks the memory limit for whole functions: the checks of single blocks
/// miss functions with several blocks and functions with starts in bodies only.
LogicalResult CommSchedulePass::checkFunctions(comm::BlockLimits &limits,
                                               bool &isRetried) {
  if (!memoryLimit)
    return success();
  Operation *root = getOperation();
  CostSettings settings = getCostSettings();
  for (func::FuncOp function :
       comm::getHostFunctionsCalleesFirst(root, getAnalysisManager())) {
    if (function.isExternal() || !limits.hasBlocksIn(function))
      continue;
    FailureOr<CostOptions> costs =
        comm::resolvePassCosts(root, function, settings);
    if (failed(costs))
      return failure();
    CostModel model(*costs);
    int64_t peak = model.getTimeline(function.getBody()).totals.peakBytes;
    if (peak <= *memoryLimit)
      continue;
    int64_t excess = peak - *memoryLimit;
    if (limits.tighten(function, excess)) {
      isRetried = true;
      return failure();
    }
    return emitError(function.getLoc())
           << "no order of @" << function.getSymName()
           << " was found that keeps max-memory = " << *memoryLimit
           << " bytes: the best needs " << peak << " bytes, " << excess
           << " too many";
  }
  return success();
}

/// Warns at the first call in `function` that the memory limit does not count
/// callees: a pass on a function may not read its siblings, which other threads
/// may be scheduling.
void CommSchedulePass::warnOfCallees(func::FuncOp function,
                                     comm::BlockLimits &limits) {
  if (!memoryLimit || !limits.hasBlocksIn(function))
    return;
  function.walk([&](CallOpInterface call) {
    // The callee of an indirect call is unknown.
    auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
    if (!callee)
      return WalkResult::advance();
    emitWarning(call.getLoc())
        << "max-memory = " << *memoryLimit << " bytes in @"
        << function.getSymName() << " leaves out what callees need, such as "
        << callee
        << ": nested in a function, comm-schedule does not see them; run it on "
           "the module to count them";
    return WalkResult::interrupt();
  });
}

LogicalResult CommSchedulePass::reportExcess(const BlockProblem &problem,
                                             const SearchResult &result,
                                             comm::BlockLimits &limits) {
  const MemoryExcess &excess = *result.excess;
  Operation *op = problem.block.ops[excess.node];
  // Other orders of the bodies may need less memory.
  bool hasBodies =
      llvm::any_of(problem.problem.transientBytes, [&](const auto &transient) {
        return limits.hasBlocksIn(problem.block.ops[transient.first]);
      });
  InFlightDiagnostic diagnostic = emitError(op->getLoc());
  diagnostic << (excess.proven && !hasBodies
                     ? "no order of this block"
                     : "no order of this block was found that")
             << " keeps max-memory = " << *memoryLimit
             << " bytes: the best needs " << *memoryLimit + excess.bytes
             << " bytes, " << excess.bytes << " too many, at " << describe(op);
  if (!hasBodies)
    diagnostic << "; no order can need less than " << excess.leastPeakBytes
               << " bytes";
  constexpr size_t maxNotes = 4;
  for (unsigned index : ArrayRef(excess.buffers).take_front(maxNotes)) {
    const GraphBuffer &buffer = problem.problem.buffers[index];
    diagnostic.attachNote(problem.block.ops[buffer.users.front()]->getLoc())
        << buffer.bytes << " bytes live there from here on";
  }
  return diagnostic;
}

void CommSchedulePass::emitResult(const comm::ScheduledBlock &block) {
  const SearchResult &result = block.result;
  Operation *owner = block.block->getParentOp();
  StringRef name =
      isa<func::FuncOp>(owner) ? "scheduled-function" : "scheduled-region";
  emitPassedRemark(owner, getArgument(), name, [&](auto &remark) {
    using remark::metric;
    remark << metric(block.isSteady ? "IterationNs" : "MakespanNs",
                     result.makespanNs)
           << metric(block.isSteady ? "IterationBeforeNs" : "MakespanBeforeNs",
                     block.makespanBeforeNs)
           << metric("LowerBoundNs", result.lowerBoundNs)
           << metric("PeakBytes", result.peakBytes)
           << metric("Method", StringRef(result.method))
           << metric("Optimal", result.optimal);
    if (std::optional<double> gap =
            getGap(result.makespanNs, result.lowerBoundNs))
      remark << metric("GapPercent",
                       llvm::formatv("{0:F2}", 100.0 * *gap).str());
    if (block.limit)
      remark << metric("PeakLimitBytes", *block.limit);
  });
}
