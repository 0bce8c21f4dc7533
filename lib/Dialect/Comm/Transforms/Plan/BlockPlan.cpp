//===- BlockPlan.cpp - Order and resources of a block ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockPlan.h"
#include "../SchedulingPass.h"

#include "Cost/Profile/Calibration.h"
#include "braid/Dialect/Comm/IR/Comm.h"

using namespace braid;
using namespace mlir;

bool braid::comm::canPlanResources(const CostOptions &options) {
  const Hardware &hardware = *options.hardware;
  return hardware.multiprocessors > 0 && options.calibration &&
         hardware.contention.multiprocessorModel == MultiprocessorModel::Queued;
}

/// True if ranks run programs of their own, which could come to different
/// plans.
static bool isMpmd(Operation *op) {
  for (; op; op = op->getParentOp())
    if (op->hasAttr(comm::CommDialect::kMpmdAttrName))
      return true;
  return false;
}

std::optional<comm::BlockPlan>
braid::comm::planBlock(BlockProblem &problem, const CostOptions &costs,
                       const BlockPlanOptions &options) {
  if (!canPlanResources(costs) || isMpmd(problem.block.block->getParentOp()))
    return std::nullopt;
  SchedulingProblem &limited = problem.problem;
  // Collectives that meet others of the text are run as these are.
  bool areReachedTogether = !limited.keepOrderOfStarts;
  limited.keepOrderOfStarts |= options.keepOrder;
  limited.maxInFlight = options.maxInFlight;
  if (options.lanes == LaneSharing::Shared)
    shareLanes(problem);
  CostModel model(costs);
  BlockPlan found;
  found.families = findResourceFamilies(problem, model, areReachedTogether);
  ArrayRef<ResourceFamily> families = found.families.families;
  if (families.empty())
    return std::nullopt;

  constexpr size_t mostSimulations = 1000, fewestSimulations = 8;
  // What families gain counts for more than what single ops gain.
  constexpr unsigned refinedShare = 2;
  auto maxSimulations = static_cast<unsigned>(std::clamp(
      options.playedNodes / std::max<size_t>(1, limited.graph.size()),
      fewestSimulations, mostSimulations));
  auto refine = [&](const ResourcePlan &plan, RefinedOps ops) {
    return refinePlan(limited, families, plan, maxSimulations / refinedShare,
                      ops);
  };
  std::vector<ResourcePlan> plans =
      options.orders == PlannedOrders::Program
          ? std::vector{planResources(limited, families, maxSimulations)}
          : searchPlans(limited, families, options.search, maxSimulations);
  std::vector<RefinedPlan> refinedPlans;
  for (const ResourcePlan &plan : plans)
    refinedPlans.push_back(refine(plan, RefinedOps::All));
  auto isShorter = [](const RefinedPlan &a, const RefinedPlan &b) {
    return a.afterNs < b.afterNs;
  };
  RefinedPlan refined = *llvm::min_element(refinedPlans, isShorter);
  // Plans may become the same; those with the same options are counted once.
  std::vector<std::vector<ResourceChoice>> known = {refined.options};
  for (unsigned number = 1; known.size() <= options.alternative; ++number) {
    ResourcePlan other = planOrderAndResources(
        limited, families, options.search, maxSimulations, number);
    // Beyond the last one it is the best one again.
    if (other.options == plans.front().options)
      break;
    RefinedPlan otherRefined = refine(other, RefinedOps::Alone);
    if (llvm::is_contained(known, otherRefined.options))
      continue;
    known.push_back(otherRefined.options);
    if (known.size() > options.alternative)
      refined = std::move(otherRefined);
  }
  found.options = std::move(refined.options);
  found.order = std::move(refined.order);
  found.beforeNs = plans.front().beforeNs;
  found.afterNs = refined.afterNs;
  return found;
}
