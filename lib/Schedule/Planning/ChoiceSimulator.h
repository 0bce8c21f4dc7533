//===- ChoiceSimulator.h - Orders with choices of resources -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_PLANNING_CHOICESIMULATOR_H
#define BRAID_LIB_SCHEDULE_PLANNING_CHOICESIMULATOR_H

#include "Schedule/Simulation/ContentionSimulator.h"

#include "braid/Schedule/Model/SchedulingProblem.h"

#include <map>

namespace braid {

/// One variant of an op. Operations of one lane count as running one after
/// the other in all variants, although another variant may be another lane:
/// what collectives do to each other is not measured.
struct ResourceOption {
  int64_t costNs = 0;
  ResourceDemand demand;
};

/// Ops that are run alike, because they are the same but for their
/// operands.
struct OpClass {
  /// Nodes of the problem.
  std::vector<unsigned> ops;
  /// The first one is the present state of the ops.
  std::vector<ResourceOption> options;
  /// Classes of the same kind are tried with the same number of an option
  /// together: the multiprocessors that a matmul leaves free have to suit all
  /// collectives.
  unsigned kind = 0;
};

/// A number of an option for each class.
using ResourceChoice = std::vector<unsigned>;

/// Sets cost and demand of `node` to those of `option`. The problem has
/// demands.
void applyOption(SchedulingProblem &problem, unsigned node,
                 const ResourceOption &option);

/// Sets the cost and demand of each op of `opClasses` to those of its own
/// option, of which `options` has one for each op of each class.
void applyOptions(SchedulingProblem &problem, llvm::ArrayRef<OpClass> opClasses,
                  llvm::ArrayRef<ResourceChoice> options);

/// Sets costs and demands of `problem` to those of `choice`.
void applyChoice(SchedulingProblem &problem, llvm::ArrayRef<OpClass> opClasses,
                 llvm::ArrayRef<unsigned> choice);

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
