//===- ChoiceSimulator.h - Orders with choices of resources -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_PLANNING_CHOICESIMULATOR_H
#define BRAID_LIB_SCHEDULE_PLANNING_CHOICESIMULATOR_H

#include "ResourceChoice.h"
#include "Schedule/Simulation/ContentionSimulator.h"

#include <map>

namespace braid {

/// Simulates orders of one problem with options of its classes. From one
/// choice to the next, only the ops of classes whose option differs change.
class ChoiceSimulator {
public:
  /// `opClasses` has to outlive the simulator.
  ChoiceSimulator(const SchedulingProblem &given,
                  llvm::ArrayRef<OpClass> opClasses);
  // The machine refers to the ops.
  ChoiceSimulator(const ChoiceSimulator &) = delete;
  ChoiceSimulator &operator=(const ChoiceSimulator &) = delete;

  /// What `simulateLoopOrder` gives: the makespan of `order`, or the period of
  /// the body of a loop, with the options of `choice`.
  int64_t simulate(llvm::ArrayRef<unsigned> order,
                   const ResourceChoice &choice);
  /// The peak memory of each of `orders`, whatever the options.
  std::vector<int64_t> getPeakBytes(llvm::ArrayRef<ScheduleOrder> orders) const;
  /// The problem whose ops are run as `choice` says, until the next call.
  const SchedulingProblem &getProblem(const ResourceChoice &choice);
  /// How often `simulate` was called.
  unsigned getNumSimulated() const { return numSimulated; }

private:
  void apply(const ResourceChoice &choice);
  int64_t simulate(llvm::ArrayRef<unsigned> order);

  SchedulingProblem problem;
  llvm::ArrayRef<OpClass> opClasses;
  /// The options that `problem` and `ops` have.
  ResourceChoice applied;
  std::vector<SimulatedOp> ops;
  std::vector<SimulatedTimes> times;
  ContentionMachine machine;
  unsigned numSimulated = 0;
  /// What orders with choices have taken. Classes are tried again after each
  /// gain, and the orders of passes for each choice.
  std::map<std::pair<ResourceChoice, ScheduleOrder>, int64_t> makespans;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_PLANNING_CHOICESIMULATOR_H
