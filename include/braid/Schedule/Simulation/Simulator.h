//===- Simulator.h - Simulates an order on a machine ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simulates an order on a machine: one compute stream that runs ops in program
// order, and lanes beside it. A start takes no time on the stream; its
// operation runs on its lane from max(stream time at the start, lane free). A
// wait holds the stream until the operations that it awaits have ended.
//
// On the textbook machine that orders are reasoned about by hand nothing is
// launched and nothing is shared, and every op takes its cost. Other machines
// have a launch gap before each op on the stream, and ops that slow each other
// down while they run (Contention.h). It knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SIMULATION_SIMULATOR_H
#define BRAID_SCHEDULE_SIMULATION_SIMULATOR_H

#include "braid/Schedule/Model/Machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace braid {

/// The kind of an op on the machine.
enum class StreamRole { Compute, Start, Wait };

/// One op of an order. Other ops are named by their position in the order, and
/// only earlier ones.
struct SimulatedOp {
  StreamRole role = StreamRole::Compute;
  /// Nanoseconds that it takes alone: on the compute stream, or of a start on
  /// its lane.
  int64_t costNs = 0;
  /// A lower bound of the cost for all orders of the op's body, where `costNs`
  /// is the makespan of one of them; none if the same.
  std::optional<int64_t> leastNs;
  /// Of a start: its lane, numbered from 0.
  unsigned lane = 0;
  /// Of a wait: the starts that it awaits. Operations that were started
  /// elsewhere are taken to have ended. Compute that awaits something inside of
  /// itself is held before it begins.
  llvm::SmallVector<unsigned, 1> awaits;
  /// The ops that have to come before it whatever the order, for the lower
  /// bound; the starts that a wait awaits need not be named again.
  llvm::SmallVector<unsigned, 4> predecessors;
  /// Bytes that are allocated before the op, and that are freed after it.
  /// `transient` bytes live during the op alone.
  int64_t allocatedBytes = 0;
  int64_t freedBytes = 0;
  int64_t transientBytes = 0;
  /// What it takes of the machine while it runs.
  ResourceDemand demand;
};

/// What happens to one op.
struct SimulatedTimes {
  /// When the stream reaches the op. A wait begins to hold the stream here.
  int64_t issuedNs = 0;
  /// When it runs, on the stream or on its lane. A wait runs from the moment
  /// that it holds the stream.
  int64_t startNs = 0;
  int64_t endNs = 0;
  /// The time by which concurrent ops prolonged it.
  int64_t lostNs = 0;
  /// Of a start: how long its operation, at the head of its lane, waited for
  /// multiprocessors, and the op that held most of them when it came there.
  int64_t waitedNs = 0;
  std::optional<unsigned> heldBy;
  /// Of a start: how long the stream stood still for its operation, at its
  /// waits or, if some of it is awaited elsewhere, at the end. The waits of a
  /// coalesced launch share one operation, which is counted once.
  int64_t exposedNs = 0;
};

/// Bytes that live from a moment on.
struct MemoryPoint {
  int64_t timeNs;
  int64_t bytes;
  /// The op that changes them.
  unsigned op;

  bool operator==(const MemoryPoint &other) const {
    return timeNs == other.timeNs && bytes == other.bytes && op == other.op;
  }
};

/// What happens to an order.
struct Simulation {
  std::vector<SimulatedTimes> times;
  /// From the first op to the end of the last op or operation; equal to
  /// `computeNs + launchNs + computeLostNs + exposedNs`.
  int64_t makespanNs = 0;
  /// The sum of the costs on the stream, and of those on lanes.
  int64_t computeNs = 0;
  int64_t communicationNs = 0;
  /// The sum of the launch gaps on the stream.
  int64_t launchNs = 0;
  /// The time by which concurrent ops prolonged ops on the stream, and
  /// operations on lanes.
  int64_t computeLostNs = 0;
  int64_t communicationLostNs = 0;
  /// The time for which the stream waited for communication.
  int64_t exposedNs = 0;
  /// How long any operation ran on any lane, and how much of that time
  /// something ran on the stream, too.
  int64_t communicationUnionNs = 0;
  int64_t hiddenNs = 0;
  /// A lower bound for all orders: the longest chain of dependences, the work
  /// of the stream, or the work of a lane. LowerBound.h finds better ones.
  int64_t lowerBoundNs = 0;

  /// The most bytes that live at once.
  int64_t peakBytes = 0;
  /// The first op with which that many live; none if no op takes any.
  std::optional<unsigned> peakOp;
  /// The bytes that live, in the order of the ops: one point where an op
  /// begins, if it allocates, and one where it ends, if it frees. Before the
  /// first point it is what lives throughout. An op on a lane allocates and
  /// frees when it is issued.
  std::vector<MemoryPoint> memory;
};

/// Simulates `ops` in the order given. `liveBytes` live from before the first
/// op to after the last.
///
/// An op with a cost on the stream begins `machine.launchNs` after the stream
/// has reached the op and is not held any more; operations on lanes continue
/// during that gap. Starts, and what costs nothing, have no gap.
///
/// All times are whole nanoseconds. They are exact unless ops slow each other
/// down; one that was slowed ends with the nanosecond in which its work is
/// done. Takes time linear in ops and edges; with contention, ops times lanes
/// in use.
Simulation simulate(llvm::ArrayRef<SimulatedOp> ops,
                    const MachineModel &machine, int64_t liveBytes = 0);

/// The same on the textbook machine.
inline Simulation simulate(llvm::ArrayRef<SimulatedOp> ops,
                           int64_t liveBytes = 0) {
  return simulate(ops, MachineModel(), liveBytes);
}

} // namespace braid

#endif // BRAID_SCHEDULE_SIMULATION_SIMULATOR_H
