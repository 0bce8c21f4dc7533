//===- BlockPlan.cpp - Order and resources of a block ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockPlan.h"
#include "Dialect/Comm/Transforms/Schedule/SchedulingPass.h"

#include "Cost/Profile/Calibration.h"
#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Schedule/Search/SearchSchedule.h"

using namespace braid;
using namespace mlir;

bool braid::comm::canPlanResources(const CostOptions &options) {
  const Hardware &hardware = *options.hardware;
  return hardware.multiprocessors > 0 && options.calibration &&
         hardware.contention.multiprocessorModel == MultiprocessorModel::Queued;
}

comm::BlockPlanOptions
braid::comm::getFinalPlanOptions(const SchedulingProblem &problem) {
  BlockPlanOptions options;
  options.orders = PlannedOrders::Search;
  // Smaller predicted gains were losses (docs/design/planning.md).
  options.minGain = 0.02;
  options.search.effort = SearchEffort::Low;
  // Searches begin with the orders of the passes, and comm-schedule goes on.
  options.search.usePasses = false;
  // comm-schedule gives up gains for memory, once all is planned; several steps
  // that did so here made plans up to 3 % longer.
  constexpr double share = 0.2;
  options.search.minGain = share * getDefaultMinGain(problem);
  options.search.maxSteps = 50'000 + 20 * problem.graph.size();
  return options;
}

/// True if ranks run programs of their own, which could come to different
/// plans.
static bool isMpmd(Operation *op) {
  for (; op; op = op->getParentOp())
    if (op->hasAttr(comm::CommDialect::kMpmdAttrName))
      return true;
  return false;
}

/// A plan in which all ops keep their first options.
static RefinedPlan takeOrderAlone(const ResourcePlan &plan,
                                  ArrayRef<OpClass> opClasses) {
  RefinedPlan taken;
  for (const OpClass &opClass : opClasses)
    taken.options.emplace_back(opClass.ops.size(), 0);
  taken.order = plan.order;
  taken.beforeNs = plan.beforeNs;
  taken.afterNs = plan.afterNs;
  return taken;
}

/// True if `plannedNs` is shorter than `simpleNs` by the fraction `minGain`.
static bool isWorthwhile(int64_t plannedNs, int64_t simpleNs, double minGain) {
  return static_cast<double>(plannedNs) <=
         (1 - minGain) * static_cast<double>(simpleNs);
}

/// The plan that `options` ask for: the shortest one with plans of single ops,
/// unless the order alone is about as short, or an alternative to it.
/// Alternatives may become the same; those with the same options count once.
static RefinedPlan findPlan(const SchedulingProblem &problem,
                            ArrayRef<OpClass> opClasses,
                            const comm::BlockPlanOptions &options,
                            unsigned maxSimulations) {
  // What classes gain counts for more than what single ops gain.
  constexpr unsigned refinedShare = 2;
  ConcurrentOps concurrent(problem);
  auto refine = [&](const ResourcePlan &plan, RefinedOps ops) {
    return refinePlan(problem, opClasses, plan, concurrent,
                      maxSimulations / refinedShare, ops);
  };
  if (options.orders == comm::PlannedOrders::Program)
    return refine(planResources(problem, opClasses, maxSimulations),
                  RefinedOps::All);
  SearchedPlans plans =
      searchPlans(problem, opClasses, options.search, maxSimulations,
                  /*findsAlternatives=*/options.planNumber != 0);
  std::vector<RefinedPlan> refined;
  for (const ResourcePlan &plan : plans.compared)
    refined.push_back(refine(plan, RefinedOps::All));
  RefinedPlan best =
      chooseRefinedPlan(problem, refined, options.search.minGain);
  std::vector<std::vector<ResourceChoice>> known = {best.options};
  RefinedPlan simple = takeOrderAlone(plans.orderAlone, opClasses);
  if (best.options != simple.options &&
      !isWorthwhile(best.afterNs, simple.afterNs, options.minGain)) {
    if (options.planNumber == 1)
      return best;
    best = simple;
    known.push_back(simple.options);
  }
  for (const ResourcePlan &plan : plans.alternatives) {
    RefinedPlan other = refine(plan, RefinedOps::Alone);
    if (llvm::is_contained(known, other.options))
      continue;
    known.push_back(other.options);
    if (known.size() > options.planNumber)
      return other;
  }
  return best;
}

comm::OpClasses braid::comm::findPlannedOps(const BlockProblem &problem,
                                            const CostOptions &costs) {
  if (!canPlanResources(costs) || isMpmd(problem.block.block->getParentOp()))
    return {};
  CostModel model(costs);
  // Collectives that match others of the module are run as these are.
  return findOpClasses(problem, model, !problem.problem.keepOrderOfStarts);
}

std::optional<comm::BlockPlan>
braid::comm::planBlock(BlockProblem &problem, OpClasses opClasses,
                       const BlockPlanOptions &options) {
  if (opClasses.classes.empty())
    return std::nullopt;
  SchedulingProblem &limited = problem.problem;
  limited.keepOrderOfStarts |= options.keepOrder;
  limited.maxInFlight = options.maxInFlight;
  if (options.lanes == LaneSharing::Shared)
    shareLanes(problem);

  constexpr size_t mostSimulations = 1000, fewestSimulations = 8;
  auto maxSimulations = static_cast<unsigned>(std::clamp(
      options.simulatedNodes / std::max<size_t>(1, limited.graph.size()),
      fewestSimulations, mostSimulations));
  RefinedPlan plan =
      findPlan(limited, opClasses.classes, options, maxSimulations);
  BlockPlan found;
  found.opClasses = std::move(opClasses);
  found.options = std::move(plan.options);
  found.order = std::move(plan.order);
  found.beforeNs = plan.beforeNs;
  found.afterNs = plan.afterNs;
  return found;
}

void braid::comm::applyPlan(const BlockProblem &problem, const BlockPlan &plan,
                            function_ref<void(Operation *)> beforeChange) {
  for (auto [opClass, attributes, options] : llvm::zip_equal(
           plan.opClasses.classes, plan.opClasses.attributes, plan.options))
    for (auto [node, option] : llvm::zip_equal(opClass.ops, options)) {
      if (option == 0)
        continue;
      Operation *op = problem.block.ops[node];
      beforeChange(op);
      for (NamedAttribute attribute : attributes[option])
        op->setAttr(attribute.getName(), attribute.getValue());
      recordPlan(op, attributes[option]);
    }
}
