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

/// One tensor that is to be communicated, as bucketing sees it.
struct BucketItem {
  /// The tensor's size in bytes, at least 0.
  int64_t bytes = 0;
  /// Tensors share a bucket only if their keys are equal. The caller numbers
  /// what has to agree: the element type, and the group where there are
  /// several.
  unsigned key = 0;
  /// Goes into a bucket of its own, whatever its size (a sparse gradient).
  bool alone = false;
};

/// Tensors that are communicated in one launch.
struct Bucket {
  /// The limit of a bucket that holds one `alone` item.
  static constexpr int64_t noLimit = 0;

  /// Indices into the items, ascending; at least one.
  llvm::SmallVector<unsigned, 4> items;
  /// The size in bytes at which the bucket was, or would have been, closed.
  int64_t limit = noLimit;
};

/// Assigns `items` to buckets, in the order in which they stand: a bucket is
/// closed as soon as its bytes reach the limit, and the next bucket of the same
/// key takes the next limit of `limits` (bytes; not empty), of which the last
/// one repeats. What is left at the end makes buckets too. The buckets are
/// sorted by their lowest item.
///
/// This is `compute_bucket_assignment_by_size` of PyTorch's c10d reducer. An
/// item that is larger than the limit is never split. Linear in the items but
/// for the final sort.
llvm::SmallVector<Bucket>
computeBucketAssignment(llvm::ArrayRef<BucketItem> items,
                        llvm::ArrayRef<int64_t> limits);

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
