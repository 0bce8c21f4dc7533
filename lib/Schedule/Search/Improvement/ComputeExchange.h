//===- ComputeExchange.h - Which compute runs beside operations -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compute that nothing but compute follows, such as the gradients of weights,
// may run long after its operands are there. Orders that are made without
// regard to contention run it as it comes. On a machine where ops slow each
// other down, that which suffers least belongs beside operations, and that
// which suffers most to where the stream is alone, which may be thousands of
// nodes away: no local change gets there.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_COMPUTEEXCHANGE_H
#define BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_COMPUTEEXCHANGE_H

#include "Schedule/Model/FlatProblem.h"
#include "Schedule/Simulation/ContentionSimulator.h"
#include "braid/Schedule/Simulation/Simulator.h"

#include <vector>

namespace braid {

/// Gives such compute new places in orders of one problem, whose machine has
/// contention.
class ComputeExchange {
public:
  explicit ComputeExchange(const FlatProblem &flat);

  /// False if there is too little to exchange, or if all of it suffers alike.
  bool isUseful() const { return useful; }

  /// `order`, which is legal, with the same starts and waits and the other
  /// compute where they were. Wherever there was compute that can be exchanged,
  /// there is about as much of it: of what is ready that which operations slow
  /// down least if it ran beside one, or else that which they slow down most.
  /// Legal; keeps the limit on operations in flight if `order` does, but may
  /// take more memory. O(n log n).
  ScheduleOrder exchange(llvm::ArrayRef<unsigned> order);

  /// Nodes looked at, as the search counts them.
  uint64_t getSteps() const { return steps; }

private:
  /// Sets `suffering`.
  void rankByContention();

  const FlatProblem &flat;
  bool useful = false;
  uint64_t steps = 0;
  std::vector<bool> movable;
  /// By movable node: how much longer it takes beside an operation, the mean
  /// over some of them, in thousandths.
  std::vector<int64_t> suffering;

  std::vector<SimulatedOp> ops;
  std::vector<SimulatedTimes> times;
  ContentionMachine machine;

  // Scratch.
  std::vector<unsigned> missing, place;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_COMPUTEEXCHANGE_H
