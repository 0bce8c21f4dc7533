//===- LoopSimulator.h - Simulates the body of a loop -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SIMULATION_LOOPSIMULATOR_H
#define BRAID_SCHEDULE_SIMULATION_LOOPSIMULATOR_H

#include "braid/Schedule/Model/SchedulingProblem.h"
#include "braid/Schedule/Simulation/Simulator.h"

namespace braid {

/// The simulation of an order of the body of a loop.
struct LoopSimulation {
  /// The time of one more iteration, by which orders of the body are compared.
  /// The makespan of a single iteration says little, because an iteration may
  /// end with operations in flight that the next one hides.
  int64_t periodNs = 0;
  /// One of the iterations that take this time. Its times are relative to the
  /// moment when the stream reaches its first op, and may be beyond the period
  /// where the next iteration awaits. `makespanNs` is the period; what is
  /// hidden is counted over one period, whichever iteration has started it.
  Simulation iteration;
  /// True if an iteration was found that repeats an earlier one exactly.
  /// Otherwise, for example if a lane falls behind the stream more and more,
  /// `periodNs` is the mean of all that were simulated, and `iteration` one of
  /// them.
  bool isSteady = true;
};

/// Simulates `order`, a legal order of the problem's graph, again and again,
/// with operations in flight across the back edge, until an iteration repeats
/// one of the four before it, or 48 iterations or about a million ops were
/// simulated. A problem without `carriedAwaits` has nothing in flight there:
/// its period is its makespan.
LoopSimulation simulateLoopOrder(const SchedulingProblem &problem,
                                 llvm::ArrayRef<unsigned> order);

} // namespace braid

#endif // BRAID_SCHEDULE_SIMULATION_LOOPSIMULATOR_H
