//===- ResourcePlan.h - Limits and engines of each op -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses among variants of the same op: a collective by kernels on more or
// fewer multiprocessors or by copy engines, a matmul on all multiprocessors or
// on some. No IR is needed.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_PLANNING_RESOURCEPLAN_H
#define BRAID_LIB_SCHEDULE_PLANNING_RESOURCEPLAN_H

#include "ChoiceSimulator.h"

#include "braid/Schedule/Search/SearchTypes.h"

namespace braid {

/// A choice of options, the order that it is for, and the makespan of both.
struct ResourcePlan {
  ResourceChoice options;
  ScheduleOrder order;
  /// Makespans, or periods of the body of a loop: of the program's order with
  /// the first options, and of `order` with `options`.
  int64_t beforeNs = 0, afterNs = 0;
  /// The orders that were simulated.
  unsigned numSimulated = 0;
};

/// The plan with the shortest makespan of those that are tried for the
/// program's order: for two kinds each pair of options, then class by class
/// until nothing gains or `maxSimulations` orders are simulated. Of plans that
/// take as long, the one that changes least. The order is simulated from
/// beginning to end each time, so that the plan is never slower. Collectives
/// get kernels on few multiprocessors only where all matmuls leave them room.
ResourcePlan planResources(const SchedulingProblem &problem,
                           llvm::ArrayRef<OpClass> opClasses,
                           unsigned maxSimulations);

/// Plans with different options, the shortest first.
struct SearchedPlans {
  /// The best plan, and what it was compared with: with finer options another
  /// one may be the best.
  std::vector<ResourcePlan> compared;
  /// Where measurements of a run decide among plans: the best of the other
  /// pairs of options (no plan is one of them), the next one, and so on, each
  /// with an order that a search has found for it.
  std::vector<ResourcePlan> alternatives;
  /// The order that a search finds for the first options.
  ResourcePlan orderAlone;
};

/// Searches for a plan and an order together, because the best plan of one
/// order may be a bad one for another. Each pair of options is judged by the
/// best of the orders that the passes give (`getScheduleCandidates`); the pairs
/// that are best go on, each with a search of its own by `options` and a plan
/// for what the search finds, in turn as long as that gains. `maxSimulations`
/// limits the simulations beside the searches. The best plan is never longer
/// than `searchSchedule` without a plan. Orders are allowed ones, but
/// `maxMemory` is not looked at. There are `alternatives` only if
/// `findsAlternatives`.
SearchedPlans searchPlans(const SchedulingProblem &problem,
                          llvm::ArrayRef<OpClass> opClasses,
                          const SearchOptions &options, unsigned maxSimulations,
                          bool findsAlternatives);

/// A lower bound for all orders of `problem` with any choice of options: that
/// of the problem in which each op takes its cheapest option and no op slows
/// down another.
int64_t boundAllPlans(const SchedulingProblem &problem,
                      llvm::ArrayRef<OpClass> opClasses);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_PLANNING_RESOURCEPLAN_H
