//===- ContentionBound.h - What slowing each other down costs ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_CONTENTIONBOUND_H
#define BRAID_LIB_SCHEDULE_CONTENTIONBOUND_H

#include "PrecedenceDag.h"

#include <algorithm>

namespace braid {

/// `job` with its node, as the contention bound needs it.
struct NodeJob {
  Job job;
  unsigned node;
};

/// Operations of a lane, or of a link, that are placed beside the stream.
struct Communication {
  struct Part {
    int64_t head;
    int64_t work;
    /// -1 if it may end after what is measured.
    int64_t tail;
    /// What it takes at full rate.
    int64_t multiprocessors;
    double memoryDemand;
  };
  std::vector<Part> parts;
  /// Others may slow it down over its link, so that it need not take all of its
  /// `memoryDemand` while it runs.
  bool sharesLink = false;
  /// The most multiprocessors that are held while it runs.
  int64_t mostHeld = 0;

  /// What any of its parts takes at least; there is one.
  int64_t getLeastMultiprocessors() const {
    int64_t least = parts.front().multiprocessors;
    for (const Part &part : parts)
      least = std::min(least, part.multiprocessors);
    return least;
  }
  double getLeastMemoryDemand() const {
    double least = parts.front().memoryDemand;
    for (const Part &part : parts)
      least = std::min(least, part.memoryDemand);
    return least;
  }
};

/// A bound for up to a few `lanes` together, from which an allowance for
/// rounding has still to be taken, with the ops on the stream whose heads and
/// tails are no less than those of `window`. 0 if there are none.
double getJointContentionBound(const SchedulingProblem &problem,
                               llvm::ArrayRef<NodeJob> stream,
                               llvm::ArrayRef<Communication> lanes,
                               std::pair<int64_t, int64_t> window);

/// The cheapest way to place the communication of each lane, and of each link,
/// beside the compute of the stream. `stream` has the nodes on the stream with
/// work; `lanes` the operations with work, by lane, whose tails are -1 if the
/// end of what is measured does not depend on them. 0 without contention.
int64_t getContentionBound(const SchedulingProblem &problem,
                           llvm::ArrayRef<NodeJob> stream,
                           llvm::ArrayRef<std::vector<NodeJob>> lanes);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_CONTENTIONBOUND_H
