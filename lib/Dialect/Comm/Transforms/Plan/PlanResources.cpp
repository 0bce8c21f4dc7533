//===- PlanResources.cpp - Multiprocessors and engines of ops -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockPlan.h"
#include "Dialect/Comm/Transforms/Schedule/SchedulingPass.h"
#include "Schedule/Model/RenumberedProblem.h"
#include "Schedule/Search/LeastMemory.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/Schedule/Simulation/LoopSimulator.h"
#include "braid/Support/IR/Remarks.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMPLANRESOURCESPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;
using comm::CollectiveOpInterface;
using comm::CommDialect;

/// Emits an error and fails if `op` asks for what `model`'s machine does not
/// have.
static LogicalResult verifyPlan(Operation *op, CostModel &model,
                                SymbolTableCollection &symbols) {
  const Hardware &hardware = *model.getOptions().hardware;
  auto checkCount = [&](StringRef name, int64_t count) -> LogicalResult {
    if (count <= hardware.multiprocessors)
      return success();
    return op->emitOpError()
           << "has '" << name << "' " << count << ", expected at most the "
           << hardware.multiprocessors << " multiprocessors of machine '"
           << hardware.name << "'";
  };
  if (auto target =
          op->getAttrOfType<IntegerAttr>(CommDialect::kMultiprocessorsAttrName))
    return checkCount(CommDialect::kMultiprocessorsAttrName, target.getInt());
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective)
    return success();
  comm::LaneSettings lane = comm::getLaneSettings(op, symbols);
  if (failed(checkCount(CommDialect::kCtasAttrName, lane.ctas)))
    return failure();
  int64_t numNodes = model.describe(collective).numNodes;
  if (numNodes > 1 &&
      (lane.transport == "symmetric" || lane.transport == "copy"))
    return op->emitOpError()
           << "has '" << CommDialect::kTransportAttrName << "' \""
           << lane.transport << "\" in a group on " << numNodes
           << " nodes, expected \"default\": symmetric memory ends with a node";
  return success();
}

namespace {
struct CommPlanResourcesPass
    : comm::ModuleOrFunctionPass<
          comm::impl::CommPlanResourcesPassBase<CommPlanResourcesPass>> {
  using ModuleOrFunctionPass::ModuleOrFunctionPass;

  void runOnOperation() override {
    Operation *root = getOperation();
    // One pass may run on several functions.
    attributesBefore.clear();
    numOpsInAll = comm::countScheduledOps(root);
    ScheduleChanges changes;
    auto isAny = [](NodeKind) { return true; };
    if (failed(verifyPlans(root)) ||
        failed(comm::scheduleProblems(
            root, getAnalysisManager(), getCostSettings(), changes,
            [&](BlockProblem &problem, CostModel &model) {
              return plan(problem, model);
            },
            isAny)) ||
        failed(comm::verifyChanges(root, changes, getArgument()))) {
      restore(0);
      return signalPassFailure();
    }
  }

private:
  LogicalResult verifyPlans(Operation *root);
  FailureOr<ScheduleOrder> plan(BlockProblem &problem, CostModel &model);
  void restore(size_t begin);
  /// Ops in all blocks that are scheduled.
  uint64_t numOpsInAll = 0;
  /// What ops had that are planned.
  SmallVector<std::pair<Operation *, DictionaryAttr>> attributesBefore;
};
} // namespace

LogicalResult CommPlanResourcesPass::verifyPlans(Operation *root) {
  SymbolTableCollection symbols;
  for (func::FuncOp function : comm::getHostFunctions(root)) {
    FailureOr<CostOptions> options = resolveCosts(function);
    if (failed(options))
      return failure();
    if (options->hardware->multiprocessors == 0)
      continue;
    CostModel model(*options);
    WalkResult checked = function.walk([&](Operation *op) {
      return WalkResult(verifyPlan(op, model, symbols));
    });
    if (checked.wasInterrupted())
      return failure();
  }
  return success();
}

/// The makespan, at its own costs, of what comm-schedule makes of `problem`,
/// the present state of `block` in `order`; none if it exceeds the limit on
/// memory.
static std::optional<int64_t>
predictSchedule(const BlockProblem &block, const SchedulingProblem &problem,
                ArrayRef<unsigned> order, CostModel &model, uint64_t maxSteps) {
  SearchOptions search;
  search.maxSteps = maxSteps;
  search.boundEffort = LowerBoundEffort::Quick;
  search.minGain = getDefaultMinGain(problem);
  SearchResult found = searchSchedule(renumberProblem(problem, order), search);
  if (found.excess)
    return std::nullopt;
  for (unsigned &node : found.order)
    node = order[node];
  std::optional<SchedulingProblem> repriced =
      repriceOrder(block, found.order, model);
  return simulateLoopOrder(repriced ? *repriced : problem, found.order)
      .periodNs;
}

/// `problem` with what `plan` says of its ops.
static SchedulingProblem getPlanned(const SchedulingProblem &problem,
                                    const comm::BlockPlan &plan) {
  SchedulingProblem planned = problem;
  applyOptions(planned, plan.opClasses.classes, plan.options);
  return planned;
}

/// Gives the ops that were changed since there were `begin` of them the
/// attributes that they had.
void CommPlanResourcesPass::restore(size_t begin) {
  for (auto &[op, attributes] :
       llvm::reverse(llvm::drop_begin(attributesBefore, begin)))
    op->setAttrs(attributes);
  attributesBefore.truncate(begin);
}

/// Gives the ops of a block attributes. Returns their order.
FailureOr<ScheduleOrder> CommPlanResourcesPass::plan(BlockProblem &problem,
                                                     CostModel &model) {
  SchedulingProblem &limited = problem.problem;
  ScheduleOrder order = getProgramOrder(limited.graph);
  Block *block = problem.block.block;
  Operation *owner = block->getParentOp();
  FailureOr<CostOptions> options = resolveCosts(comm::getFunctionOf(block));
  if (failed(options))
    return failure();
  comm::BlockPlanOptions planOptions = comm::getFinalPlanOptions(limited);
  planOptions.orders = orders;
  planOptions.maxInFlight = maxInFlight;
  planOptions.lanes = lanes;
  planOptions.keepOrder = keepOrder;
  planOptions.planNumber = planNumber;
  std::optional<comm::BlockPlan> found = comm::planBlock(
      problem, comm::findPlannedOps(problem, *options), planOptions);
  if (!found)
    return order;
  // comm-schedule searches longer than the planner, and may gain as much
  // without the plan and its order. In large blocks that takes too long.
  constexpr unsigned mostCompared = 2'000;
  bool isCompared = orders == comm::PlannedOrders::Search && planNumber == 0 &&
                    limited.graph.size() <= mostCompared;
  uint64_t steps = comm::getShareOfSteps(problem, numOpsInAll);
  std::optional<int64_t> simpleNs, plannedNs;
  if (isCompared)
    simpleNs = predictSchedule(problem, limited, order, model, steps);
  size_t begin = attributesBefore.size();
  comm::applyPlan(problem, *found, [&](Operation *op) {
    attributesBefore.emplace_back(op, op->getAttrDictionary());
  });
  if (isCompared)
    plannedNs = predictSchedule(problem, getPlanned(limited, *found),
                                found->order, model, steps);
  if (simpleNs && (!plannedNs ||
                   !gainsEnough(*simpleNs, *plannedNs, planOptions.minGain))) {
    restore(begin);
    return order;
  }
  emitPassedRemark(owner, getArgument(), "planned-block", [&](auto &remark) {
    using remark::metric;
    remark << metric("MakespanBeforeNs", found->beforeNs)
           << metric("MakespanNs", found->afterNs)
           << metric("LowerBoundNs",
                     boundAllPlans(limited, found->opClasses.classes));
  });
  return std::move(found->order);
}
