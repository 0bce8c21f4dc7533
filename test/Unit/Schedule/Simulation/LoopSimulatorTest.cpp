//===- LoopSimulatorTest.cpp - Simulates the body of a loop ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Simulation/LoopSimulator.h"

#include "TestProblems/ProblemTestUtils.h"
#include "braid/Schedule/Bounds/LowerBound.h"
#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using namespace braid::test;

/// wait for what the iteration before has started; start the next; compute.
static SchedulingProblem makePrefetch(int64_t communication, int64_t compute) {
  SchedulingProblem problem;
  ScheduleNode wait, start, matmul;
  wait.kind = NodeKind::Wait;
  start.kind = NodeKind::Start;
  start.lane = 0;
  start.cost = communication;
  matmul.cost = compute;
  problem.graph.addNode(wait);
  problem.graph.addNode(start);
  problem.graph.addNode(matmul);
  problem.graph.addEdge(0, 2);
  problem.graph.finalize();
  problem.carriedAwaits.push_back({0, 1});
  return problem;
}

TEST(LoopSimulator, ABodyWithNothingInFlightTakesItsMakespan) {
  SchedulingProblem problem = makePrefetch(100, 30);
  problem.carriedAwaits.clear();
  LoopSimulation result = simulateLoopOrder(problem, {0, 1, 2});
  EXPECT_EQ(result.periodNs, 100);
  EXPECT_EQ(result.iteration.makespanNs, 100);
  EXPECT_EQ(result.iteration.times[1].exposedNs, 70);
  EXPECT_TRUE(result.isSteady);
}

TEST(LoopSimulator, TheNextIterationHidesWhatIsInFlight) {
  SchedulingProblem problem = makePrefetch(100, 130);
  LoopSimulation result = simulateLoopOrder(problem, {0, 1, 2});
  EXPECT_EQ(result.periodNs, 130);
  EXPECT_EQ(result.iteration.exposedNs, 0);
  EXPECT_EQ(result.iteration.hiddenNs, result.iteration.communicationUnionNs);
  EXPECT_TRUE(result.isSteady);

  // The start at the end of the body does not get a head start.
  result = simulateLoopOrder(problem, {0, 2, 1});
  EXPECT_EQ(result.periodNs, 230);
  EXPECT_EQ(result.iteration.exposedNs, 100);
  EXPECT_EQ(result.iteration.times[2].issuedNs, 230);
  EXPECT_EQ(result.iteration.times[2].endNs, 330);
  EXPECT_EQ(result.iteration.hiddenNs, 0);
}

TEST(LoopSimulator, TheLaneBoundsThePeriod) {
  SchedulingProblem problem = makePrefetch(100, 30);
  LoopSimulation result = simulateLoopOrder(problem, {0, 1, 2});
  EXPECT_EQ(result.periodNs, 100);
  EXPECT_EQ(result.iteration.exposedNs, 70);
  EXPECT_EQ(result.iteration.communicationUnionNs, 100);
  EXPECT_EQ(result.iteration.hiddenNs, 30);
  EXPECT_EQ(computeLowerBounds(problem).best(), 100);
}

TEST(LoopSimulator, ContentionReachesIntoTheNextIteration) {
  SchedulingProblem problem = makePrefetch(100, 130);
  problem.machine.multiprocessors = 132;
  problem.demands.resize(3);
  problem.demands[1].multiprocessors = 24;
  problem.demands[2].arithmeticNs = 130;
  problem.demands[2].tiles = 132;
  // Half speed for 100 ns, full speed for the 80 that are left.
  LoopSimulation result = simulateLoopOrder(problem, {0, 1, 2});
  EXPECT_EQ(result.periodNs, 180);
  EXPECT_EQ(result.iteration.computeLostNs, 50);
}

TEST(LoopSimulator, ALaneThatFallsBehindIsNotSteady) {
  SchedulingProblem problem = makePrefetch(10, 30);
  // Nobody awaits the second operation of each iteration.
  SchedulingProblem other;
  for (unsigned node = 0; node != 3; ++node)
    other.graph.addNode(problem.graph[node]);
  ScheduleNode start = problem.graph[1];
  start.lane = 1;
  start.cost = 100;
  other.graph.addNode(start);
  other.graph.addEdge(0, 2);
  other.graph.finalize();
  other.carriedAwaits = problem.carriedAwaits;
  LoopSimulation result = simulateLoopOrder(other, {0, 1, 2, 3});
  EXPECT_FALSE(result.isSteady);
  // 30 ns before the first operation, and 48 times 100 ns.
  EXPECT_EQ(result.periodNs, 101);
}

TEST(LoopSimulator, PeriodsAddUp) {
  RandomProblemOptions options;
  options.numNodes = 12;
  options.carried = true;
  unsigned numSteady = 0;
  for (uint64_t seed = 0; seed != 200; ++seed) {
    options.contention = seed % 2;
    options.launches = seed % 3 == 0;
    SchedulingProblem problem = makeRandomProblem(seed, options);
    LoopSimulation result =
        simulateLoopOrder(problem, getProgramOrder(problem.graph));
    const Simulation &iteration = result.iteration;
    // Lanes on which nobody waits fall behind.
    if (!result.isSteady || problem.carriedAwaits.empty())
      continue;
    ++numSteady;
    ASSERT_EQ(iteration.makespanNs, iteration.computeNs + iteration.launchNs +
                                        iteration.computeLostNs +
                                        iteration.exposedNs)
        << seed;
    ASSERT_LE(iteration.hiddenNs, iteration.communicationUnionNs);
  }
  EXPECT_GT(numSteady, 100u);
}

TEST(LoopSimulator, NoOrderGoesBelowTheLowerBound) {
  RandomProblemOptions options;
  options.numNodes = 6;
  options.edgeEvery = 3;
  options.carried = true;
  unsigned numExact = 0;
  for (uint64_t seed = 0; seed != 60; ++seed) {
    options.contention = seed % 3 == 1;
    options.launches = seed % 3 == 2;
    SchedulingProblem problem = makeRandomProblem(seed, options);
    constexpr int64_t longest = std::numeric_limits<int64_t>::max();
    int64_t best = longest, bestSteady = longest;
    forEachOrder(problem, [&](llvm::ArrayRef<unsigned> order) {
      LoopSimulation result = simulateLoopOrder(problem, order);
      best = std::min(best, result.periodNs);
      if (result.isSteady)
        bestSteady = std::min(bestSteady, result.periodNs);
    });
    LowerBounds bounds = computeLowerBounds(problem);
    for (size_t kind = 0; kind != numLowerBoundKinds; ++kind)
      // The mean has one cycle less than iterations.
      EXPECT_LE(bounds.ns[kind], LowerBoundKind(kind) == LowerBoundKind::Cycle
                                     ? bestSteady
                                     : best)
          << "seed " << seed << ", "
          << stringifyLowerBoundKind(LowerBoundKind(kind)).str();
    numExact += bounds.best() == best;
  }
  EXPECT_GT(numExact, 35u);
}
