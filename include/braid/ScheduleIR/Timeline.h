//===- Timeline.h - Timeline of a body --------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULEIR_TIMELINE_H
#define BRAID_SCHEDULEIR_TIMELINE_H

#include "braid/Schedule/Simulation/Simulator.h"
#include "braid/ScheduleIR/CostModel.h"

#include <string>
#include <vector>

namespace braid {

/// One op on a timeline.
struct TimelineNode {
  mlir::Operation *op;
  StreamRole role;
  Cost cost;
  /// What a start runs on: the name of its group, of a group's point-to-point
  /// operations, or a side stream. Empty on the compute stream.
  std::string lane;
  /// Runs on the stream while at least one started operation is not awaited
  /// yet.
  bool hidden;
  SimulatedTimes times;
  /// Of what awaits: the starts, by their position on the timeline; and those
  /// of the iteration before, in the body of a loop.
  llvm::SmallVector<unsigned, 1> awaits;
  llvm::SmallVector<unsigned, 1> carriedAwaits;
};

/// Bytes that live from a moment on, up to the next sample.
struct MemorySample {
  int64_t ns;
  int64_t bytes;
};

/// A body, played in its current order. Its blocks run one after the other, as
/// they stand in the text, once each. Constants and terminators do nothing and
/// are left out.
struct Timeline {
  std::vector<TimelineNode> nodes;
  /// Includes what runs inside of ops with bodies, trip counts taken into
  /// account. Compute is counted with what it loses to launches and to
  /// operations beside it: `makespanNs` equals `computeNs + exposedNs`.
  TimelineTotals totals;
  /// The bytes that live, in order of time; what an op needs inside of itself
  /// counts for as long as it runs. Of several samples of one moment the last
  /// holds from there on; the others are peaks.
  std::vector<MemorySample> memoryCurve;
};

/// Plays `region` at the costs of `model`. Ops with a body whose cost comes
/// from it stand on the compute stream for its makespan, times its trip count;
/// an operation in flight across the border of a body is awaited at the border:
/// at the end of the body that it starts in, or before the op that awaits it
/// inside of itself. Operations that a loop carries into its next iteration are
/// in flight there: the body stands for one of its steady iterations.
///
/// Bytes are those of tensors and buffers: a value lives from its op to its
/// last use, in flight to the wait; a wait's result is what was in flight;
/// views share what they look at, and ops in destination style write in place
/// where nothing else needs the destination. Arguments live throughout the body
/// of a function and are counted by its caller in every other body.
Timeline simulateRegion(mlir::Region &region, CostModel &model);

} // namespace braid

#endif // BRAID_SCHEDULEIR_TIMELINE_H
