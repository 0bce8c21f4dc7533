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
  /// The lane of a start: the name of its group, of the point-to-point
  /// operations of its group, or of a side stream. Empty on the compute stream.
  std::string lane;
  /// True for compute that runs while a started operation is not awaited yet.
  bool hidden;
  SimulatedTimes times;
  /// Of an op that awaits operations: their starts, by position on the
  /// timeline; and the starts of the previous iteration, in the body of a loop.
  llvm::SmallVector<unsigned, 1> awaits;
  llvm::SmallVector<unsigned, 1> carriedAwaits;
};

/// The live bytes from a moment up to the next sample.
struct MemorySample {
  int64_t ns;
  int64_t bytes;
};

/// A simulated body in its current order. The blocks run once each, in text
/// order. Constants and terminators are left out.
struct Timeline {
  std::vector<TimelineNode> nodes;
  /// Includes the bodies of ops, times their trip counts. The compute time
  /// includes launch gaps and slowdowns by concurrent operations: `makespanNs`
  /// equals `computeNs + exposedNs`.
  TimelineTotals totals;
  /// The live bytes, in order of time; memory inside of an op counts while the
  /// op runs. Of several samples at the same time, the last one holds from this
  /// time on; the others are peaks.
  std::vector<MemorySample> memoryCurve;
};

/// Simulates `region` at the costs of `model`. An op with the cost of its body
/// occupies the compute stream for the makespan of the body times its trip
/// count. An operation in flight across the border of a body is awaited at the
/// border: at the end of the body with its start, or before the op whose body
/// has the wait. If a loop carries an operation into its next iteration, the
/// operation stays in flight, and the body stands for one steady iteration.
///
/// Memory counts tensors and buffers. A value is live from its op to its last
/// use; a value in flight is live until the wait, which returns the same
/// memory. Views share memory, and ops in destination style write in place if
/// no other op needs the destination. Arguments are live throughout the body of
/// a function; the caller counts the arguments of other bodies.
Timeline simulateRegion(mlir::Region &region, CostModel &model);

} // namespace braid

#endif // BRAID_SCHEDULEIR_TIMELINE_H
