//===- BlockPlan.h - Order and resources of a block -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_BLOCKPLAN_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_BLOCKPLAN_H

#include "Schedule/Planning/RefinedPlan.h"
#include "Schedule/Planning/ResourcePlan.h"

#include "braid/Dialect/Comm/Transforms/PassOptions.h"
#include "braid/ScheduleIR/ProblemBuilder.h"

#include <optional>

namespace braid::comm {

/// The attributes that one variant of an op gives it.
using ResourceAttributes = llvm::SmallVector<mlir::NamedAttribute, 2>;

/// The ops of a block that have several variants, grouped by what they
/// are, with the attributes of each option of each class.
struct OpClasses {
  std::vector<OpClass> classes;
  std::vector<std::vector<ResourceAttributes>> attributes;
};

/// Finds the ops of `problem` that have several variants, with the costs
/// of `model`, whose machine queues for multiprocessors and has a calibration.
/// Collectives have kind 0, matmuls kind 1. Ops whose variant is set by
/// hand, or whose cost is, are left out, and with `plansCollectives` false all
/// collectives.
OpClasses findOpClasses(const BlockProblem &problem, CostModel &model,
                        bool plansCollectives);

/// What a plan of a block may do.
struct BlockPlanOptions {
  PlannedOrders orders = PlannedOrders::Program;
  unsigned maxInFlight = 0;
  LaneSharing lanes = LaneSharing::Communicator;
  bool keepOrder = false;
  /// Of `PlannedOrders::Search`: the fraction by which a plan has to be shorter
  /// than an order without one, as predictions of both are not exact.
  double minGain = 0;
  /// Of `PlannedOrders::Search`.
  SearchOptions search;
  /// Of `PlannedOrders::Search`: which plan, 0 for the best one.
  unsigned planNumber = 0;
  /// The most nodes of all orders that are simulated beside searches.
  size_t simulatedNodes = 1'000'000;
};

/// The plan of a block, and the ops that it is for.
struct BlockPlan {
  OpClasses opClasses;
  /// For each class, the option of each of its ops.
  std::vector<ResourceChoice> options;
  ScheduleOrder order;
  /// Makespans, or periods of the body of a loop: of the block as it is, and of
  /// `order` with `options`.
  int64_t beforeNs = 0, afterNs = 0;
};

/// How `comm-plan-resources` plans `problem` with orders=search.
BlockPlanOptions getFinalPlanOptions(const SchedulingProblem &problem);

/// True if the machine of `options` has resources that were measured, so that
/// there is something to plan.
bool canPlanResources(const CostOptions &options);

/// The ops of `problem` that can be planned at `costs`.
OpClasses findPlannedOps(const BlockProblem &problem, const CostOptions &costs);

/// Plans the resources of `opClasses`, those of `problem`, with the limits of
/// `options`, which it sets in the problem. None if there is nothing to plan.
std::optional<BlockPlan> planBlock(BlockProblem &problem, OpClasses opClasses,
                                   const BlockPlanOptions &options);

/// Gives the ops of `problem`'s block the attributes of `plan`, but not its
/// order. Calls `beforeChange` with each op first.
void applyPlan(const BlockProblem &problem, const BlockPlan &plan,
               llvm::function_ref<void(mlir::Operation *)> beforeChange);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_BLOCKPLAN_H
