//===- ChoiceSimulator.cpp - Simulates orders with choices of resources ---===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChoiceSimulator.h"

#include "Schedule/Model/FlatProblem.h"
#include "Schedule/Search/Improvement/MemorySchedule.h"
#include "braid/Schedule/Simulation/LoopSimulator.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace llvm;

void braid::applyOption(SchedulingProblem &problem, unsigned node,
                        const ResourceOption &option) {
  problem.graph.setCost(node, option.costNs);
  problem.demands[node] = option.demand;
}

void braid::applyOptions(SchedulingProblem &problem,
                         ArrayRef<OpClass> opClasses,
                         ArrayRef<ResourceChoice> options) {
  for (auto [opClass, ofOps] : zip_equal(opClasses, options))
    for (auto [node, option] : zip_equal(opClass.ops, ofOps))
      applyOption(problem, node, opClass.options[option]);
}

void braid::applyChoice(SchedulingProblem &problem, ArrayRef<OpClass> opClasses,
                        ArrayRef<unsigned> choice) {
  for (auto [opClass, option] : zip_equal(opClasses, choice))
    for (unsigned node : opClass.ops)
      applyOption(problem, node, opClass.options[option]);
}

/// `problem` with the first options.
static SchedulingProblem withFirstOptions(SchedulingProblem problem,
                                          ArrayRef<OpClass> opClasses) {
  problem.demands.resize(problem.graph.size());
  applyChoice(problem, opClasses, ResourceChoice(opClasses.size(), 0));
  return problem;
}

ChoiceSimulator::ChoiceSimulator(const SchedulingProblem &given,
                                 ArrayRef<OpClass> opClasses)
    : problem(withFirstOptions(given, opClasses)), opClasses(opClasses),
      applied(opClasses.size(), 0), ops(getOpsByNode(problem)),
      times(ops.size()), machine(ops, problem.machine, times) {}

void ChoiceSimulator::apply(const ResourceChoice &choice) {
  for (auto [opClass, before, option] : zip_equal(opClasses, applied, choice)) {
    if (before == option)
      continue;
    const ResourceOption &chosen = opClass.options[option];
    for (unsigned node : opClass.ops) {
      applyOption(problem, node, chosen);
      ops[node].costNs = chosen.costNs;
      ops[node].demand = chosen.demand;
    }
  }
  applied = choice;
}

int64_t ChoiceSimulator::simulate(ArrayRef<unsigned> order) {
  bool slowsDown = problem.machine.hasContention() &&
                   any_of(ops, [&](const SimulatedOp &op) {
                     return isShared(op.demand, problem.machine);
                   });
  if (!slowsDown || !problem.carriedAwaits.empty())
    return simulateLoopOrder(problem, order).periodNs;
  machine.simulate(order);
  return machine.getNowNs();
}

int64_t ChoiceSimulator::simulate(ArrayRef<unsigned> order,
                                  const ResourceChoice &choice) {
  ++numSimulated;
  auto [known, isNew] = makespans.try_emplace(
      {choice, ScheduleOrder(order.begin(), order.end())});
  if (isNew) {
    apply(choice);
    known->second = simulate(order);
  }
  return known->second;
}

std::vector<int64_t>
ChoiceSimulator::getPeakBytes(ArrayRef<ScheduleOrder> orders) const {
  FlatProblem flat(problem);
  std::vector<int64_t> peakBytes;
  for (const ScheduleOrder &order : orders)
    peakBytes.push_back(getMemoryPeak(flat, order).bytes);
  return peakBytes;
}

const SchedulingProblem &
ChoiceSimulator::getProblem(const ResourceChoice &choice) {
  apply(choice);
  return problem;
}
