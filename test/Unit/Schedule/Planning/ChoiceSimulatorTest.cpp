//===- ChoiceSimulatorTest.cpp - Orders with choices of resources ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Planning/ChoiceSimulator.h"

#include "TestProblems/GraphTestUtils.h"
#include "TestProblems/ProblemTestUtils.h"

#include "braid/Schedule/Simulation/LoopSimulator.h"

#include "gtest/gtest.h"

#include <random>

using namespace braid;
using namespace braid::test;

/// Classes whose first options are the ops of `problem` as they are. Nodes
/// with the same remainder share a class.
static std::vector<OpClass> makeOpClasses(const SchedulingProblem &problem,
                                          std::mt19937_64 &random) {
  std::vector<OpClass> opClasses;
  constexpr unsigned count = 4;
  for (unsigned node = 0; node + count <= problem.graph.size(); ++node) {
    if (node < count) {
      OpClass &opClass = opClasses.emplace_back();
      ResourceOption present{problem.graph[node].cost, ResourceDemand()};
      if (!problem.demands.empty())
        present.demand = problem.demands[node];
      opClass.options = {present, present, ResourceOption()};
      opClass.options[1].costNs = int64_t(random() % 50);
      opClass.options[2].demand.multiprocessors = int32_t(random() % 3);
      opClass.options[2].costNs = int64_t(random() % 50);
    }
    opClasses[node % count].ops.push_back(node);
  }
  return opClasses;
}

/// Compares a `ChoiceSimulator` with simulations from the beginning, over
/// orders and choices in turn.
static void expectSimulated(const SchedulingProblem &problem, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<OpClass> opClasses = makeOpClasses(problem, random);
  ChoiceSimulator simulator(problem, opClasses);
  constexpr unsigned numSimulations = 12;
  for (unsigned i = 0; i != numSimulations; ++i) {
    ResourceChoice choice(opClasses.size(), 0);
    for (unsigned &option : choice)
      option = random() % 3;
    ScheduleOrder order = makeRandomOrder(problem.graph, random() % 4);
    SchedulingProblem chosen = problem;
    chosen.demands.resize(problem.graph.size());
    applyChoice(chosen, opClasses, choice);
    LoopSimulation simulation = simulateLoopOrder(chosen, order);
    EXPECT_EQ(simulator.simulate(order, choice), simulation.periodNs) << seed;
    EXPECT_EQ(simulator.getPeakBytes({order}).front(),
              simulation.iteration.peakBytes)
        << seed;
  }
  EXPECT_EQ(simulator.getNumSimulated(), numSimulations);
}

TEST(ChoiceSimulator, GivesWhatTheSimulatorGives) {
  for (uint64_t seed = 0; seed != 200; ++seed) {
    RandomProblemOptions options;
    options.numNodes = 20;
    options.contention = seed % 4 != 0;
    options.queued = seed % 4 > 1;
    options.launches = seed % 8 > 3;
    options.bodies = seed % 16 > 7;
    options.carried = seed % 10 == 0;
    expectSimulated(makeRandomProblem(seed, options), seed);
  }
}
