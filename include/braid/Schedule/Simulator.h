//===- Simulator.h - The textbook machine -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plays an order on the machine that orders are reasoned about by hand: one
// compute stream that runs ops in program order, and lanes beside it. A start
// takes no time on the stream; its operation runs on its lane from max(stream
// time at the start, lane free) for its cost. A wait holds the stream until the
// operations that it awaits have ended. There is no launch cost and no
// contention. It knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SIMULATOR_H
#define BRAID_SCHEDULE_SIMULATOR_H

#include "braid/Schedule/Machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace braid {

/// What an op does on the machine.
enum class StreamRole { Compute, Start, Wait };

/// One op of an order. Other ops are named by their position in the order, and
/// only earlier ones.
struct SimulatedOp {
  StreamRole role = StreamRole::Compute;
  /// Nanoseconds: on the compute stream, or of a start on its lane.
  int64_t costNs = 0;
  /// The nanoseconds that no order can go below, where `costNs` is the makespan
  /// of one order of something inside; none if the same.
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
  /// Bytes that come to life with the op, and that die after it. `transient`
  /// bytes live during the op alone.
  int64_t allocatedBytes = 0;
  int64_t freedBytes = 0;
  int64_t transientBytes = 0;
  /// What it takes of the machine while it runs.
  ResourceDemand demand;
};

/// What happens to one op.
struct SimulatedTimes {
  /// When the stream comes to the op. A wait begins to hold the stream here.
  int64_t issuedNs = 0;
  /// When it runs, on the stream or on its lane. A wait runs from the moment
  /// its operations have ended.
  int64_t startNs = 0;
  int64_t endNs = 0;
  /// Of a start: how long the stream stood still for its operation, at its
  /// waits or, if some of it is awaited elsewhere, at the end. The waits of a
  /// coalesced launch share one operation, which is counted once.
  int64_t exposedNs = 0;
};

/// What happens to an order.
struct Simulation {
  std::vector<SimulatedTimes> times;
  /// From the first op to the end of the last op or operation; equal to
  /// `computeNs + exposedNs`.
  int64_t makespanNs = 0;
  /// The sum of the costs on the stream, and of those on lanes.
  int64_t computeNs = 0;
  int64_t communicationNs = 0;
  /// How long the stream stood still for communication.
  int64_t exposedNs = 0;
  /// What no order can go below: the longest chain of dependences, the work of
  /// the stream, or the work of a lane.
  int64_t lowerBoundNs = 0;
  /// The most bytes that live at once.
  int64_t peakBytes = 0;
};

/// Plays `ops` in the order given. `liveBytes` live from before the first op to
/// after the last.
Simulation simulate(llvm::ArrayRef<SimulatedOp> ops,
                    const MachineModel &machine, int64_t liveBytes = 0);

/// The same on the textbook machine.
inline Simulation simulate(llvm::ArrayRef<SimulatedOp> ops,
                           int64_t liveBytes = 0) {
  return simulate(ops, MachineModel(), liveBytes);
}

} // namespace braid

#endif // BRAID_SCHEDULE_SIMULATOR_H
