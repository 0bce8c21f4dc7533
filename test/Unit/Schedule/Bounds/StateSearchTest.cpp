//===- StateSearchTest.cpp - Exact search where ops share -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Bounds/StateSearch.h"

#include "TestProblems/ProblemCount.h"
#include "TestProblems/ProblemTestUtils.h"
#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <limits>

using namespace braid;
using namespace braid::test;

static constexpr int64_t never = std::numeric_limits<int64_t>::max();

/// Two matmuls of 100 ns on all of 10 multiprocessors, and a collective of 100
/// ns on 5 of them, which is launched in 10 ns.
static SchedulingProblem makeThreeOps() {
  SchedulingProblem problem;
  problem.machine.multiprocessors = 10;
  problem.machine.multiprocessorModel = MultiprocessorModel::Queued;
  problem.machine.laneLaunchNs = 10;
  ScheduleNode node;
  node.cost = 100;
  problem.graph.addNode(node);
  problem.graph.addNode(node);
  node.kind = NodeKind::Start;
  node.lane = 0;
  problem.graph.addNode(node);
  problem.graph.finalize();
  problem.demands.resize(3);
  for (unsigned matmul : {0, 1}) {
    problem.demands[matmul].arithmeticNs = 100;
    problem.demands[matmul].tiles = 10;
    problem.demands[matmul].isPersistent = true;
  }
  problem.demands[2].multiprocessors = 5;
  return problem;
}

TEST(StateSearch, AHalfWaveCostsAWholeOne) {
  // Behind all compute, the collective ends at 310 ns. Before that, it waits
  // for the first matmul, and the second one takes 200 ns beside it.
  SchedulingProblem problem = makeThreeOps();
  LowerBoundParts parts;
  parts.states = false;
  EXPECT_LT(
      computeLowerBounds(problem, never, LowerBoundEffort::Full, parts).best(),
      300);
  LowerBounds bounds = computeLowerBounds(problem);
  EXPECT_EQ(bounds.best(), 300);
  EXPECT_EQ(bounds.bestKind(), LowerBoundKind::Contention);
}

TEST(StateSearch, FindsNoOrderBelowTheOptimum) {
  SchedulingProblem problem = makeThreeOps();
  FlatProblem flat(problem);
  uint64_t steps = 0;
  StateSearchResult result = searchStates(flat, 300, 1'000'000, steps);
  EXPECT_TRUE(result.isComplete());
  EXPECT_TRUE(result.order.empty());
  EXPECT_EQ(result.boundNs, 300);
  EXPECT_GT(steps, 0u);
}

/// The problem of `seed`: all machines and limits.
static SchedulingProblem makeProblem(uint64_t seed) {
  RandomProblemOptions options;
  options.numNodes = 7;
  options.numLanes = 1 + seed % 3;
  options.contention = true;
  options.queued = seed % 4 != 0;
  options.launches = seed % 3 == 0;
  options.bodies = seed % 5 == 0;
  options.edgeEvery = 3 + seed % 4;
  SchedulingProblem problem = makeRandomProblem(seed + 1000, options);
  problem.keepOrderOfStarts = seed % 7 == 0;
  problem.maxInFlight = seed % 11 == 0 ? 1 : 0;
  return problem;
}

TEST(StateSearch, IsAsGoodAsAllOrders) {
  for (uint64_t seed = 0; seed != getNumProblems(400); ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed);
    int64_t least = never;
    forEachOrder(problem, [&](llvm::ArrayRef<unsigned> order) {
      least = std::min(least, simulateOrder(problem, order).makespanNs);
    });
    FlatProblem flat(problem);
    if (flat.timing != TimingModel::Contended)
      continue;
    uint64_t steps = 0;
    StateSearchResult result = searchStates(flat, never, never / 2, steps);
    EXPECT_TRUE(result.isComplete());
    EXPECT_EQ(result.boundNs, least);
    if (least == never)
      continue;
    EXPECT_TRUE(isAllowedOrder(problem, result.order));
    EXPECT_EQ(simulateOrder(problem, result.order).makespanNs, least);
    // A search that ends early gives a bound, too.
    for (uint64_t maxSteps : {1, 200, 1'000, 3'000})
      EXPECT_LE(searchStates(flat, never, maxSteps, steps).boundNs, least);
    EXPECT_LE(computeLowerBounds(problem, least).best(), least);
  }
}
