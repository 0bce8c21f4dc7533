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

/// Families whose first options are the ops of `problem` as they are. Nodes
/// with the same remainder share a family.
static std::vector<ResourceFamily>
makeFamilies(const SchedulingProblem &problem, std::mt19937_64 &random) {
  std::vector<ResourceFamily> families;
  constexpr unsigned count = 4;
  for (unsigned node = 0; node + count <= problem.graph.size(); ++node) {
    if (node < count) {
      ResourceFamily &family = families.emplace_back();
      ResourceOption present{problem.graph[node].cost, ResourceDemand()};
      if (!problem.demands.empty())
        present.demand = problem.demands[node];
      family.options = {present, present, ResourceOption()};
      family.options[1].costNs = int64_t(random() % 50);
      family.options[2].demand.multiprocessors = int32_t(random() % 3);
      family.options[2].costNs = int64_t(random() % 50);
    }
    families[node % count].ops.push_back(node);
  }
  return families;
}

/// Compares a `ChoiceSimulator` with simulations from the beginning, over
/// orders and choices in turn.
static void expectSimulated(const SchedulingProblem &problem, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ResourceFamily> families = makeFamilies(problem, random);
  ChoiceSimulator simulator(problem, families);
  constexpr unsigned numSimulations = 12;
  for (unsigned i = 0; i != numSimulations; ++i) {
    ResourceChoice choice(families.size(), 0);
    for (unsigned &option : choice)
      option = random() % 3;
    ScheduleOrder order = makeRandomOrder(problem.graph, random() % 4);
    SchedulingProblem chosen = problem;
    chosen.demands.resize(problem.graph.size());
    applyChoice(chosen, families, choice);
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
