//===- RefinedPlan.h - Plans op by op ---------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_PLANNING_REFINEDPLAN_H
#define BRAID_LIB_SCHEDULE_PLANNING_REFINEDPLAN_H

#include "ResourceHeadroom.h"
#include "ResourcePlan.h"

namespace braid {

/// A plan whose classes need not be run alike.
struct RefinedPlan {
  /// For each class, the option of each of its ops.
  std::vector<ResourceChoice> options;
  ScheduleOrder order;
  /// Makespans, or periods of the body of a loop: of the program's order with
  /// the first options, and of `order` with `options`.
  int64_t beforeNs = 0, afterNs = 0;
  /// The orders that were simulated.
  unsigned numSimulated = 0;
};

/// What `refinePlan` may change.
enum class RefinedOps : uint8_t {
  /// Matmuls beside which nothing runs in any order, and operations with
  /// nothing beside them, which may take the whole machine.
  Alone,
  /// All.
  All,
};

/// Improves `plan` of `problem`. Classes of one lane that run in different
/// variants have lanes of their own, and would not queue behind each other as
/// the plan was simulated: their starts move behind the wait for the operation
/// before them. Then parts of classes get other options: first the ops that
/// may have something beside them, and those with nothing (`RefinedOps`), then
/// each op by itself. An option stays if it shortens the makespan, for one op
/// by a thousandth; starts that it gives another lane move like those of
/// classes. Ends when nothing gains, or after `maxSimulations`; parts that
/// there are too many of for this limit are not tried. Not longer than `plan`,
/// but for at most a hundredth where starts of classes moved. `concurrent` is
/// that of `problem`.
RefinedPlan refinePlan(const SchedulingProblem &problem,
                       llvm::ArrayRef<OpClass> opClasses,
                       const ResourcePlan &plan,
                       const ConcurrentOps &concurrent, unsigned maxSimulations,
                       RefinedOps ops = RefinedOps::All);

/// Of `plans`, at least one, the plan with the lowest peak memory among those
/// over which the shortest one gains less than the share `minGain`. Orders that
/// need less memory start operations shortly before their results are used,
/// which are then still in the caches.
const RefinedPlan &chooseRefinedPlan(const SchedulingProblem &problem,
                                     llvm::ArrayRef<RefinedPlan> plans,
                                     double minGain);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_PLANNING_REFINEDPLAN_H
