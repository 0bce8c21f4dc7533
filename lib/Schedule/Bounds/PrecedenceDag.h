//===- PrecedenceDag.h - What has to end before what begins -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scheduling problem for its lower bounds: a start falls into two parts, one
// that is issued on the stream and takes no time, and its operation on a lane.
// Then every edge says the same: its source has to end before its target
// begins. That makes it symmetrical: the transposed graph describes what comes
// after as the graph describes what comes before.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BOUNDS_PRECEDENCEDAG_H
#define BRAID_LIB_SCHEDULE_BOUNDS_PRECEDENCEDAG_H

#include "braid/Schedule/Model/ProblemLists.h"

#include <cstdint>
#include <vector>

namespace braid {

/// A job on a machine that does one job at a time, as a head-body-tail problem
/// has it: it cannot begin before `head`, and after it has ended `tail` more
/// has to pass.
struct Job {
  int64_t head;
  int64_t work;
  int64_t tail;
};

/// The best makespan of `jobs` if they may be interrupted, which no
/// uninterrupted order goes below: at all times the job with the longest tail
/// runs (Jackson's preemptive schedule; Carlier 1982). It equals the largest
/// min(heads) + sum(work) + min(tails) over all subsets. O(n log n).
int64_t getPreemptiveMakespan(std::vector<Job> jobs);

struct PrecedenceDag {
  /// What a vertex runs on, where that is no lane.
  static constexpr int32_t onStream = -1;
  static constexpr int32_t onNothing = -2;

  /// By vertex: what it takes at least, and what it runs on.
  std::vector<int64_t> work;
  std::vector<int32_t> resource;
  /// By vertex: true if it does not count in the makespan.
  std::vector<bool> isOpen;
  /// Edges lead from lower to higher numbers.
  FlatLists predecessorsOf;
  /// By node of the problem: its vertex; of a start that of its operation, the
  /// one before is its issue.
  std::vector<unsigned> vertexOfNode;

  unsigned size() const { return work.size(); }
  llvm::ArrayRef<unsigned> predecessors(unsigned vertex) const {
    return predecessorsOf[vertex];
  }

  /// Every edge turned round; vertex v becomes size() - 1 - v.
  PrecedenceDag transpose() const;

  /// The longest chain that has to end before each vertex begins; -1 for one
  /// that nothing depends on, if it is open.
  std::vector<int64_t> getLongestPaths() const;

  /// By vertex: bits of the groups with an operation that may run at the same
  /// time, as it neither has to end before the vertex nor begins after it.
  /// `groupOf` has the group, less than 32, of the operations that have one.
  std::vector<uint32_t>
  getGroupsBeside(llvm::ArrayRef<std::pair<unsigned, unsigned>> groupOf) const;

  /// Values of at most `count` vertices on lanes, spread evenly over their
  /// sizes: what to truncate by.
  std::vector<int64_t> getLaneWorks(size_t count) const;

  /// The longest chain that has to end before each vertex begins if nothing
  /// counts with more than `limitNs`, and of operations that follow each other
  /// on a lane only one. As ops on the stream run in one piece, at most one of
  /// the operations of such a chain runs beside each. With what the ops on the
  /// stream take beyond the limit, that is a lower bound
  /// (docs/design/bounds.md):
  ///   sum(max(work - limit, 0)) + longest chain of min(work, limit).
  std::vector<int64_t> getTruncatedPaths(int64_t limitNs) const;

  /// The same as `getLongestPaths`, but at up to `maxRefined` vertices where
  /// chains meet, what each resource has to do before it counts as well: the
  /// preemptive makespan of all of it, with the paths that lead there as tails,
  /// and that of the truncated paths.
  std::vector<int64_t> getHeads(size_t maxRefined) const;
};

/// The graph of `problem`. Operations of one lane run in the order in which
/// they are issued, so that those of starts in a chain are in a chain, too. The
/// launch of an operation is in its work where it always has to wait for it.
PrecedenceDag buildPrecedenceDag(const SchedulingProblem &problem);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BOUNDS_PRECEDENCEDAG_H
