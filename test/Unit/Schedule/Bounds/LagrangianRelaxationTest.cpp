//===- LagrangianRelaxationTest.cpp - Contention as multipliers -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Bounds/LagrangianRelaxation.h"

#include "TestProblems/ProblemCount.h"
#include "TestProblems/ProblemTestUtils.h"
#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using namespace braid::test;

TEST(RelaxedProblem, NoneWithoutContention) {
  EXPECT_TRUE(getRelaxedProblems(makeRandomProblem(1, {}), {1}).empty());
}

TEST(RelaxedProblem, TheMultiplierIsWhatHidingCosts) {
  // Compute that runs at half speed beside the collective: a ns of it hidden
  // costs as much as one of compute lost, half of what it costs exposed.
  SchedulingProblem problem;
  problem.machine.multiprocessors = 100;
  ScheduleNode compute, start;
  compute.cost = 1000;
  start.kind = NodeKind::Start;
  start.lane = 0;
  start.cost = 800;
  problem.graph.addNode(compute);
  problem.graph.addNode(start);
  problem.graph.finalize();
  problem.demands.resize(2);
  problem.demands[0].arithmeticNs = 1000;
  problem.demands[1].multiprocessors = 50;
  std::vector<RelaxedProblem> relaxed = getRelaxedProblems(problem, {1});
  ASSERT_EQ(relaxed.size(), 1u);
  // 800 ns at a multiplier of 0.5; on the clock compute takes all of its 1000
  // ns.
  EXPECT_NEAR(relaxed[0].multipliersNs, 400, 0.01);
  const ScheduleGraph &graph = relaxed[0].problem.graph;
  EXPECT_NEAR(graph[0].cost, 1000 * RelaxedProblem::unitsPerNs, 1);
  EXPECT_NEAR(graph[1].cost, 400 * RelaxedProblem::unitsPerNs, 1);
  EXPECT_EQ(relaxed[0].getBound(graph[0].cost), 1400);
  EXPECT_FALSE(relaxed[0].problem.machine.hasContention());
}

TEST(RelaxedProblem, BoundsCanBeTurnedRound) {
  RandomProblemOptions options;
  options.contention = true;
  for (uint64_t seed = 0; seed != 20; ++seed)
    for (const RelaxedProblem &relaxed :
         getRelaxedProblems(makeRandomProblem(seed, options), {1, 0.75, 0.875}))
      for (int64_t boundNs : {int64_t(100), int64_t(12'345)})
        EXPECT_GE(relaxed.getBound(relaxed.getBoundOfProblem(boundNs)),
                  boundNs);
}

TEST(RelaxedProblem, TooLongTimesHaveNoMultipliers) {
  RandomProblemOptions options;
  options.contention = true;
  SchedulingProblem problem = makeRandomProblem(1, options);
  problem.machine.launchNs = std::numeric_limits<int64_t>::max() / 2;
  EXPECT_TRUE(getRelaxedProblems(problem, {1}).empty());
}

TEST(RelaxedProblem, NoOrderIsFaster) {
  RandomProblemOptions options;
  options.numNodes = 7;
  options.contention = true;
  for (uint64_t seed = 0; seed != getNumProblems(150); ++seed) {
    options.launches = seed % 3 == 0;
    options.bodies = seed % 5 == 0;
    options.edgeEvery = 3 + seed % 4;
    options.queued = seed % 2 == 1;
    SchedulingProblem problem = makeRandomProblem(seed + 1000, options);
    int64_t least = std::numeric_limits<int64_t>::max();
    forEachOrder(problem, [&](llvm::ArrayRef<unsigned> order) {
      least = std::min(least, simulateOrder(problem, order).makespanNs);
    });
    for (const RelaxedProblem &relaxed :
         getRelaxedProblems(problem, {1, 0.75, 0.875, 1.25, 0.5, 0}))
      EXPECT_LE(relaxed.getBound(computeLowerBounds(relaxed.problem).best()),
                least)
          << "seed " << seed;
  }
}

/// A program that repeats itself: of four compute ops in a row the one at
/// `place` takes twice as long beside communication, the others as long as
/// alone. Communication takes `percent` of the time of all compute.
static SchedulingProblem makePeriodic(unsigned numOps, unsigned place,
                                      int64_t percent) {
  SchedulingProblem problem;
  problem.machine.multiprocessors = 100;
  constexpr int64_t computeNs = 1000;
  for (unsigned op = 0; op != numOps; ++op) {
    ScheduleNode node;
    node.cost = computeNs;
    problem.graph.addNode(node);
    ResourceDemand &demand = problem.demands.emplace_back();
    demand.arithmeticNs = op % 4 == place ? computeNs : computeNs / 2;
  }
  constexpr unsigned numStarts = 100;
  for (unsigned i = 0; i != numStarts; ++i) {
    ScheduleNode node;
    node.kind = NodeKind::Start;
    node.lane = 0;
    node.cost = computeNs * percent * numOps / (100 * numStarts);
    problem.graph.addNode(node);
    problem.demands.emplace_back().multiprocessors = 50;
  }
  problem.graph.finalize();
  return problem;
}

/// What hiding a ns of communication costs.
static double getMultiplier(const SchedulingProblem &problem) {
  std::vector<RelaxedProblem> relaxed = getRelaxedProblems(problem, {1});
  double workNs = 0;
  for (unsigned start : problem.graph.starts())
    workNs += double(problem.graph[start].cost);
  return relaxed.front().multipliersNs / workNs;
}

TEST(RelaxedProblem, LargeProgramsAreSeenAsAWhole) {
  // A multiplier of p takes p off each ns of three quarters of the compute, so
  // it pays if communication takes longer than these. Every so many ops of a
  // large program would always have the same place.
  for (unsigned place = 0; place != 4; ++place)
    for (unsigned numOps : {3'200u, 12'800u, 16'000u, 28'800u}) {
      SCOPED_TRACE(numOps);
      EXPECT_NEAR(getMultiplier(makePeriodic(numOps, place, 79)), 0.5, 0.01);
      EXPECT_NEAR(getMultiplier(makePeriodic(numOps, place, 71)), 0, 0.01);
    }
}
