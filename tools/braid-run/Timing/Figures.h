//===- Figures.h - Measurements from recorded events ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TIMING_FIGURES_H
#define BRAID_TOOLS_BRAID_RUN_TIMING_FIGURES_H

#include "Timing/Events.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace braid::run {

/// Intervals of time, [begin, end), in any order.
using Intervals = std::vector<std::pair<int64_t, int64_t>>;

/// The union of `intervals`, sorted, without overlaps and empty intervals.
Intervals merged(Intervals intervals);

/// The times in `a` that are not in `b`; both are merged.
Intervals without(const Intervals &a, const Intervals &b);

int64_t length(const Intervals &intervals);

/// The times in which a rank computes: its device runs kernels of the program.
/// With `isHostMemory` the host is the device, and the rank computes while the
/// program neither starts nor waits.
Intervals computeTimes(const std::vector<Event> &events, bool isHostMemory);

/// The times in which collectives and messages of a rank are in flight.
Intervals communicationTimes(const std::vector<Event> &events);

/// The overlap of one rank, as Holistic Trace Analysis defines it.
struct Overlap {
  int64_t computeNs = 0;
  int64_t communicationNs = 0;
  int64_t exposedNs = 0; ///< Communication without computation beside it.

  /// |comm and compute| / |comm|; 1 without communication.
  double hiddenFraction() const;
};
Overlap measureOverlap(const std::vector<Event> &events, bool isHostMemory);

/// The traffic of the collectives of one kind on one rank.
struct Traffic {
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t ns = 0;      ///< Sum of their times in flight.
  double busBytes = 0; ///< As nccl-tests count them.

  double busBandwidth() const {
    return ns ? busBytes / static_cast<double>(ns) : 0;
  } ///< GB/s.
};

/// The bytes on each rank's link divided by the bytes of the collective: the
/// factors of nccl-tests.
double busFactor(int32_t kind, int64_t groupSize);

/// The traffic of each kind of collective, on the rank that was slowest at it.
std::map<int32_t, Traffic> measureTraffic(const Recording &recording);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TIMING_FIGURES_H
