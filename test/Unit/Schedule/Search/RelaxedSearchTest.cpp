//===- RelaxedSearchTest.cpp - Orders of relaxed problems -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Search/RelaxedSearch.h"

#include "TestProblems/LayeredGraphs.h"
#include "TestProblems/ProblemTestUtils.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using namespace braid::test;

namespace {

struct Found {
  std::vector<ScheduleOrder> orders;
  uint64_t steps = 0;
};

/// Multipliers that are looked at.
constexpr size_t numMultipliers = 3;

} // namespace

static Found search(const SchedulingProblem &problem, uint64_t maxSteps,
                    const SearchParts &options = {}) {
  Found found;
  found.orders = searchWithMultipliers(problem, options, maxSteps, found.steps,
                                       searchWithParts);
  return found;
}

static SchedulingProblem makeProblem(uint64_t seed, unsigned maxNodes) {
  return makeContended(makeSmallProblem(seed, maxNodes), seed);
}

TEST(RelaxedSearch, NoneWithoutContention) {
  SchedulingProblem problem = makeProblem(1, 20);
  EXPECT_EQ(search(problem, 10'000).orders.size(), numMultipliers);
  // Each search needs its steps.
  EXPECT_EQ(search(problem, 100).orders.size(), 1u);
  problem.machine = {};
  Found found = search(problem, 3'000);
  EXPECT_TRUE(found.orders.empty());
  EXPECT_EQ(found.steps, 0u);
}

TEST(RelaxedSearch, OrdersAreLegal) {
  for (uint64_t seed = 0; seed != 21; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 10 + 5 * seed);
    problem.keepOrderOfStarts = seed % 5 == 1;
    problem.maxInFlight = seed % 2 ? 1 + seed % 3 : 0;
    Found found = search(problem, 50'000);
    EXPECT_EQ(found.orders.size(), numMultipliers);
    for (const ScheduleOrder &order : found.orders) {
      std::string reason;
      ASSERT_TRUE(isAllowedOrder(problem, order, &reason)) << reason;
    }
  }
}

TEST(RelaxedSearch, NoOrdersBeyondTheLimitInFlight) {
  // The first start has to be awaited after the second, which may not be in
  // flight beside it: the first has to start after the second is awaited.
  SchedulingProblem problem;
  ScheduleNode first, second, compute, wait;
  first.kind = second.kind = NodeKind::Start;
  first.lane = second.lane = 0;
  first.cost = 100;
  second.cost = 10;
  compute.cost = 200;
  wait.kind = NodeKind::Wait;
  for (const ScheduleNode &node : {first, second, compute, wait, wait})
    problem.graph.addNode(node);
  enum { First, Second, Compute, SecondWait, FirstWait };
  problem.awaits = {{SecondWait, Second}, {FirstWait, First}};
  for (auto [waiter, start] : problem.awaits)
    problem.graph.addEdge(start, waiter);
  problem.graph.addEdge(Compute, SecondWait);
  problem.graph.addEdge(SecondWait, FirstWait);
  problem.graph.finalize();
  problem.machine.multiprocessors = 100;
  problem.demands.resize(problem.graph.size());
  problem.demands[First].multiprocessors = 50;
  problem.maxInFlight = 1;
  ASSERT_FALSE(isAllowedOrder(problem, getProgramOrder(problem.graph)));
  const ScheduleOrder allowed = {Second, Compute, SecondWait, First, FirstWait};
  EXPECT_EQ(search(problem, 3'000).orders,
            std::vector<ScheduleOrder>(numMultipliers, allowed));

  // Only the program itself keeps the order of starts, and it is not allowed.
  problem.keepOrderOfStarts = true;
  EXPECT_TRUE(search(problem, 3'000).orders.empty());
  problem.keepOrderOfStarts = false;

  // The whole search keeps the limit as well.
  SearchParts options;
  options.maxSteps = 100'000;
  options.useExact = false;
  SearchResult result = searchWithParts(problem, options);
  EXPECT_EQ(result.order, allowed);
}

TEST(RelaxedSearch, OrdersKeepTheLimitOfMemory) {
  unsigned kept = 0;
  for (uint64_t seed = 0; seed != 21; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 30 + 3 * seed);
    problem.liveBytes = seed % 7;
    if (seed % 3 == 0)
      problem.transientBytes = {{0, int64_t(seed)}, {3, 30}};
    int64_t peak =
        simulateOrder(problem, getProgramOrder(problem.graph)).peakBytes;
    // At times the program does not fit itself.
    problem.maxMemory = peak - int64_t(seed % 4);
    Found found = search(problem, 50'000);
    for (const ScheduleOrder &order : found.orders) {
      ASSERT_TRUE(isAllowedOrder(problem, order));
      ASSERT_LE(simulateOrder(problem, order).peakBytes, *problem.maxMemory);
      ++kept;
    }
    problem.maxMemory = problem.liveBytes;
    EXPECT_TRUE(search(problem, 10'000).orders.empty());
  }
  EXPECT_GT(kept, 21 * numMultipliers / 2);
}

/// Large enough for all parts of the search, with optima that are not found.
static SchedulingProblem makeStep() {
  return makeContended(
      makeTrainingStep({Parallelism::SequenceParallel, 4, 3, 200, 30, 1}), 1);
}

TEST(RelaxedSearch, OrdersDependOnTheSeedAlone) {
  SchedulingProblem problem = makeStep();
  Found first = search(problem, 600'000), second = search(problem, 600'000);
  EXPECT_EQ(first.orders, second.orders);
  EXPECT_EQ(first.steps, second.steps);
  SearchParts options;
  options.seed = 1;
  EXPECT_NE(search(problem, 600'000, options).orders, first.orders);
}

TEST(RelaxedSearch, StepsAreCountedAndShared) {
  SchedulingProblem problem = makeStep();
  for (uint64_t maxSteps : {200'000u, 600'000u}) {
    uint64_t steps = 7;
    ASSERT_EQ(
        searchWithMultipliers(problem, {}, maxSteps, steps, searchWithParts)
            .size(),
        numMultipliers);
    EXPECT_LE(steps, 7 + maxSteps);
    // Each multiplier has its part.
    EXPECT_GT(steps, 7 + maxSteps * 9 / 10);
  }
}

TEST(RelaxedSearch, EvenOneStepGivesAnOrder) {
  SchedulingProblem problem = makeProblem(3, 40);
  for (uint64_t maxSteps : {0u, 1u}) {
    Found found = search(problem, maxSteps);
    EXPECT_EQ(found.orders.size(), 1u);
    EXPECT_LE(found.steps, 1u);
    for (const ScheduleOrder &order : found.orders)
      EXPECT_TRUE(isAllowedOrder(problem, order));
  }
}

TEST(RelaxedSearch, TooLongTimesGiveNone) {
  SchedulingProblem problem = makeProblem(3, 40);
  problem.machine.launchNs = std::numeric_limits<int64_t>::max() / 2;
  EXPECT_TRUE(search(problem, 3'000).orders.empty());
}
