//===- ScheduleEvaluator.h - Makespan and peak of many orders ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SIMULATION_SCHEDULEEVALUATOR_H
#define BRAID_LIB_SCHEDULE_SIMULATION_SCHEDULEEVALUATOR_H

#include "Schedule/Model/LimitTracker.h"
#include "braid/Schedule/Simulation/Simulator.h"

#include <memory>

namespace braid {

class ContentionMachine;

/// Simulates many orders of one problem, and gives what `simulateOrder` and,
/// for the bodies of loops, `simulateLoopOrder` give. Where ops do not slow
/// each other down that takes one pass over flat arrays, without allocating.
class ScheduleEvaluator {
public:
  /// What an order is worth.
  struct Value {
    /// The makespan; of the body of a loop its steady period.
    int64_t makespanNs = 0;
    int64_t peakBytes = 0;
  };

  /// `problem` has to outlive the evaluator.
  explicit ScheduleEvaluator(const SchedulingProblem &problem);
  /// Shares the arrays of the search.
  explicit ScheduleEvaluator(const FlatProblem &flat);
  ~ScheduleEvaluator();

  /// Simulates `order`, a legal order of the problem's graph.
  Value evaluate(llvm::ArrayRef<unsigned> order);

  /// What simulating a node costs, in steps of the search.
  unsigned getStepsPerNode() const;
  /// Orders that were simulated so far.
  uint64_t getNumOrders() const { return numOrders; }

private:
  void prepare();
  int64_t getPeak(llvm::ArrayRef<unsigned> order);

  std::unique_ptr<FlatProblem> owned;
  const FlatProblem &flat;
  uint64_t numOrders = 0;
  std::vector<int64_t> endNs, laneFreeNs;
  LimitTracker limits;
  /// Where ops slow each other down.
  std::vector<SimulatedOp> ops;
  std::vector<SimulatedTimes> times;
  std::unique_ptr<ContentionMachine> machine;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SIMULATION_SCHEDULEEVALUATOR_H
