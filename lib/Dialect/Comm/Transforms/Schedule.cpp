//===- Schedule.cpp - The best order that search finds --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchedulingPass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Schedule/LoopSimulator.h"
#include "braid/Schedule/LowerBound.h"
#include "braid/Schedule/RankUniformity.h"
#include "braid/Schedule/SearchSchedule.h"
#include "braid/Schedule/Text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/FormatVariadic.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMSCHEDULEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

/// What `op` is called in messages.
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

  void runOnOperation() override {
    Operation *root = getOperation();
    if (failed(checkOptions()))
      return signalPassFailure();
    RankUniformity uniformity(root);
    auto isAny = [](NodeKind) { return true; };
    ScheduleChanges changes;
    FailureOr<unsigned> moved = comm::scheduleProblems(
        root, getCostSettings(), changes,
        [&](BlockProblem &problem) { return schedule(problem, uniformity); },
        isAny);
    if (failed(moved))
      return signalPassFailure();
    numMoved += *moved;
  }

private:
  LogicalResult checkOptions() {
    Location loc = getOperation()->getLoc();
    FailureOr<std::optional<int64_t>> limit =
        comm::parseMemoryOption(getOperation(), maxMemory, "max-memory");
    if (failed(limit))
      return failure();
    memoryLimit = *limit;
    if (lanes != "communicator" && lanes != "shared")
      return emitError(loc) << "unknown value '" << lanes
                            << "' in option 'lanes', expected communicator or "
                               "shared";
    return success();
  }

  FailureOr<ScheduleOrder> schedule(BlockProblem &problem,
                                    RankUniformity &uniformity);
  LogicalResult reportExcess(const BlockProblem &problem,
                             const SearchResult &result);
  void printResult(const BlockProblem &problem, const SearchResult &result,
                   int64_t makespanBefore);

  std::optional<int64_t> memoryLimit;
};
} // namespace

/// The op that messages about the block of `problem` name.
static Operation *getOwner(const BlockProblem &problem) {
  return problem.block.block->getParentOp();
}

/// Lets all collectives run one after the other, whatever their groups. Sends
/// and receives, and side streams, keep lanes of their own.
static void shareLanes(BlockProblem &problem) {
  ScheduleGraph &graph = problem.problem.graph;
  std::optional<int32_t> shared;
  for (unsigned start : graph.starts()) {
    if (graph[start].pointToPoint ||
        !isa<comm::CollectiveOpInterface>(problem.block.ops[start]))
      continue;
    if (!shared)
      shared = graph[start].lane;
    graph.setLane(start, *shared);
  }
}

FailureOr<ScheduleOrder>
CommSchedulePass::schedule(BlockProblem &problem, RankUniformity &uniformity) {
  SchedulingProblem &limited = problem.problem;
  limited.keepOrderOfStarts =
      keepOrder || !uniformity.areReachedTogether(*problem.block.block);
  limited.maxMemory = memoryLimit;
  limited.maxInFlight = maxInFlight;
  if (lanes == "shared")
    shareLanes(problem);

  SearchOptions options;
  options.maxSteps = steps;
  options.seed = seed;
  SearchResult result = searchSchedule(limited, options);
  if (result.excess)
    return reportExcess(problem, result);
  numOptimal += result.optimal;
  if (print)
    printResult(
        problem, result,
        simulateLoopOrder(limited, getProgramOrder(limited.graph)).periodNs);
  return std::move(result.order);
}

LogicalResult CommSchedulePass::reportExcess(const BlockProblem &problem,
                                             const SearchResult &result) {
  const MemoryExcess &excess = *result.excess;
  Operation *op = problem.block.ops[excess.node];
  InFlightDiagnostic diagnostic = emitError(op->getLoc());
  diagnostic << (excess.proven ? "no order of this block"
                               : "no order of this block was found that")
             << " keeps max-memory = " << *memoryLimit
             << " bytes: the best needs " << *memoryLimit + excess.bytes
             << " bytes, " << excess.bytes << " too many, at " << describe(op)
             << "; no order can need less than " << excess.leastPeakBytes
             << " bytes";
  constexpr size_t maxNotes = 4;
  for (unsigned index : ArrayRef(excess.buffers).take_front(maxNotes)) {
    const GraphBuffer &buffer = problem.problem.buffers[index];
    diagnostic.attachNote(problem.block.ops[buffer.users.front()]->getLoc())
        << buffer.bytes << " bytes live there from here on";
  }
  return diagnostic;
}

void CommSchedulePass::printResult(const BlockProblem &problem,
                                   const SearchResult &result,
                                   int64_t makespanBefore) {
  Operation *owner = getOwner(problem);
  StringRef what =
      problem.problem.carriedAwaits.empty() ? "makespan" : "time an iteration";
  InFlightDiagnostic remark = emitRemark(owner->getLoc());
  remark << "scheduled";
  if (auto function = dyn_cast<func::FuncOp>(owner))
    remark << " @" << function.getSymName();
  remark << ": " << what << " " << result.makespanNs << " ns, was "
         << makespanBefore << " ns; lower bound " << result.lowerBoundNs
         << " ns, ";
  std::optional<double> gap = getGap(result.makespanNs, result.lowerBoundNs);
  if (result.optimal)
    remark << "optimal";
  else if (gap)
    remark << "gap " << llvm::formatv("{0:F2}", 100.0 * *gap).str() << " %";
  else
    remark << "gap unknown";
  remark << "; peak memory " << result.peakBytes << " bytes; order of "
         << result.method;
}
