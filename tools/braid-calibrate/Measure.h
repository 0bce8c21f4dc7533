//===- Measure.h - Times of loads under sustained load ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_CALIBRATE_MEASURE_H
#define BRAID_TOOLS_BRAID_CALIBRATE_MEASURE_H

#include "World.h"

namespace braid::calibrate {

/// How long a measurement takes.
struct Durations {
  /// The load that precedes a measurement, so that the clocks are those of a
  /// device that has worked for long.
  double matmulWarmNs = 300e6, otherWarmNs = 5e6;
  /// The idle time before the load of a matmul. A GPU at its power limit
  /// lowers its clocks once more, for some 0.3 s, when the mean power of the
  /// last second reaches the limit; with rests that mean stays below the limit.
  double idleNs = 400e6;
  /// A block of repetitions, and the number of blocks.
  double blockNs = 15e6;
  int64_t blocks = 5;
};

/// A time of one operation: the median of blocks on the slowest rank, and the
/// largest deviation of a block from the median, as a fraction, without the
/// block that deviates most.
struct MeasuredTime {
  double ns = 0;
  double spread = 0;
};

/// The median, and the largest deviation from it but one. At least one block.
MeasuredTime summarize(std::vector<double> blocks);

/// Times of operations back to back.
class Meter {
public:
  Meter(World &world, const Durations &durations)
      : world(world), durations(durations) {}

  /// The time of one of the operations that `count` of `load` counts, after
  /// `restNs` without work and `warmNs` of the load.
  llvm::Expected<MeasuredTime> measure(Load load, int64_t Load::*count,
                                       double warmNs, double restNs = 0);

  /// The time between two kernels: of empty ones that are queued behind a
  /// matmul, so that the host is never late.
  llvm::Expected<MeasuredTime> measureGap(const MatmulCall &matmul);

  /// The time for which the host is busy with one of the operations that
  /// `count` of `load` counts.
  llvm::Expected<MeasuredTime> measureHost(Load load, int64_t Load::*count);

private:
  /// The time of `count` operations on the slowest rank.
  llvm::Expected<double> runBlock(Load &load, int64_t Load::*count,
                                  int64_t number);

  World &world;
  const Durations &durations;
};

/// What two operations do to each other.
struct MeasuredPair {
  /// The factors by which the compute and the collective slow down.
  double compute = 1, collective = 1;
  double spread = 0;
};

/// Measures matmuls or elementwise kernels beside a collective. `load` says
/// which, as its leads do. `settledNs` is the time of the compute alone at
/// settled clocks, 0 if it is not known: a run in which the compute alone takes
/// longer ran at lower clocks, and the time of its collectives shrinks as much.
/// The world has to trace.
llvm::Expected<MeasuredPair> measurePair(World &world,
                                         const Durations &durations, Load load,
                                         double settledNs);

/// Measures the time from the end of a matmul to the begin of the first
/// collective of a lane that is started behind it, beside the next matmul. The
/// matmul of `load` leaves room for the collective. The world has to trace
/// activities.
llvm::Expected<MeasuredTime>
measureLaneLaunch(World &world, const Durations &durations, Load load);

} // namespace braid::calibrate

#endif // BRAID_TOOLS_BRAID_CALIBRATE_MEASURE_H
