//===- SimulationSums.h - What the times of ops add up to -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SIMULATION_SIMULATIONSUMS_H
#define BRAID_LIB_SCHEDULE_SIMULATION_SIMULATIONSUMS_H

#include "braid/Schedule/Simulation/Simulator.h"

namespace braid {

/// From begin to end; not empty.
using TimeInterval = std::pair<int64_t, int64_t>;

/// The union of `intervals`, of which some may be empty: disjoint intervals in
/// ascending order, none of which touch. O(n log n).
std::vector<TimeInterval> mergeIntervals(std::vector<TimeInterval> intervals);

/// The launch gap before `op`, which runs on the stream.
inline int64_t getLaunchGap(const SimulatedOp &op,
                            const MachineModel &machine) {
  return machine.getLaunchGap(op.costNs, op.leastNs.has_value());
}

/// The times at which each of `ops` is issued, begins and ends, and their sums,
/// without memory. With `awaitsAll`, operations without a wait are awaited at
/// the end, and are exposed there; otherwise the makespan is the end of the
/// stream.
Simulation simulateOps(llvm::ArrayRef<SimulatedOp> ops,
                       const MachineModel &machine, bool awaitsAll);

/// The length of the union of `onLanes`, and the part of it that `onStream`
/// covers. Intervals of `onStream` are disjoint and ascend.
std::pair<int64_t, int64_t>
getCommunicationAndHidden(llvm::ArrayRef<TimeInterval> onStream,
                          std::vector<TimeInterval> onLanes);

/// Follows the bytes that live while `ops` run at the times in `result`.
void sumUpMemory(llvm::ArrayRef<SimulatedOp> ops, int64_t liveBytes,
                 Simulation &result);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SIMULATION_SIMULATIONSUMS_H
