//===- LaunchGroups.h - Operations that one launch can start ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_PLANNING_LAUNCHGROUPS_H
#define BRAID_LIB_SCHEDULE_PLANNING_LAUNCHGROUPS_H

#include "braid/Schedule/Model/ScheduleGraph.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace braid {

/// A start that may share a launch with others of its key.
struct LaunchItem {
  /// The node of the start.
  unsigned node = 0;
  /// Starts share a launch only if their keys are equal. The caller numbers
  /// what has to agree from 0.
  unsigned key = 0;
  /// The bytes that the operation transfers, at least 0.
  int64_t bytes = 0;
};

/// How large launches may be.
struct LaunchLimits {
  /// For each key, the bytes at which a launch is full
  /// (`computeBucketAssignment`). A key without a number stays as it is.
  std::vector<llvm::SmallVector<int64_t, 2>> bytes;
  /// The most starts of a launch; 0 is no limit.
  unsigned count = 0;
  /// The most nodes from the first start of a launch to the last one; 0 is no
  /// limit.
  unsigned span = 0;
};

/// Starts that become one launch each.
struct LaunchGroups {
  /// At least two nodes each, ascending. No node of a group depends on another
  /// one of the group.
  std::vector<llvm::SmallVector<unsigned, 4>> groups;
  /// A legal order in which the nodes of each group stand side by side: the
  /// order of the program but for what comes between the first and the last
  /// start of a group.
  ScheduleOrder order;
};

/// Assigns `items`, in ascending order of their nodes, to launches within
/// `limits`. A start that depends on one of its launch goes to a later launch.
/// What depends on a launch follows its last start. O(nodes and edges between
/// the first and the last start) for each launch.
LaunchGroups findLaunchGroups(const ScheduleGraph &graph,
                              llvm::ArrayRef<LaunchItem> items,
                              const LaunchLimits &limits);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_PLANNING_LAUNCHGROUPS_H
