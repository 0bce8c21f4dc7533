//===- ContentionLocalSearchTest.cpp - Better orders where ops share ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Search/Improvement/ContentionLocalSearch.h"

#include "Schedule/Simulation/ScheduleEvaluator.h"
#include "TestProblems/GraphTestUtils.h"
#include "TestProblems/ProblemCount.h"
#include "TestProblems/ProblemTestUtils.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <functional>

using namespace braid;
using namespace braid::test;

/// A random problem of ops that share links and multiprocessors or, with
/// `queued`, that queue for multiprocessors.
static SchedulingProblem makeProblem(uint64_t seed, unsigned numNodes,
                                     unsigned edgeEvery = 4,
                                     bool queued = false) {
  RandomProblemOptions options;
  options.numNodes = numNodes;
  options.edgeEvery = edgeEvery;
  options.contention = true;
  options.queued = queued;
  options.launches = true;
  return makeRandomProblem(seed, options);
}

static int64_t findLeast(const SchedulingProblem &problem) {
  ScheduleEvaluator evaluator(problem);
  int64_t leastNs = std::numeric_limits<int64_t>::max();
  forEachOrder(problem, [&](llvm::ArrayRef<unsigned> order) {
    leastNs = std::min(leastNs, evaluator.evaluate(order).makespanNs);
  });
  return leastNs;
}

TEST(ContentionMachine, CopiesGoOnAsTheOriginal) {
  for (uint64_t seed = 0; seed != 60; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 30, 4, seed % 2 == 1);
    FlatProblem flat(problem);
    std::vector<SimulatedOp> ops = getOpsByNode(flat.problem);
    std::vector<SimulatedTimes> times(flat.size());
    ContentionMachine machine(ops, problem.machine, times);
    ScheduleOrder order = getProgramOrder(problem.graph);
    int64_t makespanNs = simulateOrder(problem, order).makespanNs;
    for (unsigned place = 0; place != flat.size(); ++place) {
      ContentionMachine copy = machine;
      EXPECT_TRUE(copy.isShiftOf(machine));
      for (unsigned node : llvm::ArrayRef(order).drop_front(place))
        copy.issue(node);
      copy.drain();
      ASSERT_EQ(copy.getNowNs(), makespanNs) << place;
      machine.issue(order[place]);
    }
  }
}

TEST(ContentionMachine, AShiftLastsToTheEnd) {
  // Two orders of a first part; once they have become the same, they stay so.
  unsigned shifted = 0;
  for (uint64_t seed = 0; seed != 200; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 24, 4, seed % 2 == 1);
    FlatProblem flat(problem);
    std::vector<SimulatedOp> ops = getOpsByNode(flat.problem);
    std::vector<SimulatedTimes> times(flat.size());
    ScheduleOrder order = getProgramOrder(problem.graph), other = order;
    std::swap(other[2], other[3]);
    if (!isAllowedOrder(problem, other))
      continue;
    ContentionMachine a(ops, problem.machine, times), b = a;
    bool same = false;
    int64_t shiftNs = 0;
    for (unsigned place = 0; place != flat.size(); ++place) {
      a.issue(order[place]);
      b.issue(other[place]);
      if (place < 3)
        continue;
      if (same) {
        ASSERT_TRUE(a.isShiftOf(b)) << place;
        ASSERT_EQ(a.getNowNs() - b.getNowNs(), shiftNs) << place;
      }
      same = a.isShiftOf(b);
      shiftNs = a.getNowNs() - b.getNowNs();
    }
    shifted += same && shiftNs != 0;
  }
  EXPECT_GT(shifted, 5u);
}

TEST(ContentionMachine, NothingIsInFlightAfterItsEnd) {
  SimulatedOp start, compute, wait;
  start.role = StreamRole::Start;
  start.costNs = 100;
  compute.costNs = 30;
  wait.role = StreamRole::Wait;
  wait.awaits = {1};
  std::vector<SimulatedOp> ops = {start, start, compute, wait};
  std::vector<SimulatedTimes> times(ops.size());
  MachineModel ideal;
  ContentionMachine machine(ops, ideal, times);
  machine.issue(0);
  machine.issue(1);
  machine.issue(2);
  std::vector<int64_t> costs = {100, 100, 30, 0};
  std::vector<std::pair<unsigned, int64_t>> ends;
  auto collect = [&](unsigned op, int64_t endNs) {
    ends.push_back({op, endNs});
  };
  machine.visitInFlight(costs, collect);
  EXPECT_EQ(ends,
            (std::vector<std::pair<unsigned, int64_t>>{{0, 100}, {1, 200}}));
  machine.issue(3);
  EXPECT_EQ(machine.getNowNs(), 200);
  EXPECT_FALSE(machine.isInFlight(0));
  EXPECT_FALSE(machine.isInFlight(1));
  ends.clear();
  machine.visitInFlight(costs, collect);
  EXPECT_TRUE(ends.empty());
}

namespace {

/// An order of `problem`, improved from the program's.
struct Improved {
  ScheduleOrder order;
  int64_t makespanNs;
  uint64_t steps;
};

} // namespace

/// The search that `run` makes of `problem`.
static Improved
runLocalSearch(const SchedulingProblem &problem,
               llvm::function_ref<void(ContentionLocalSearch &)> run) {
  FlatProblem flat(problem);
  SearchStatistics statistics;
  ContentionLocalSearch local(flat, statistics);
  run(local);
  return {ScheduleOrder(local.getOrder().begin(), local.getOrder().end()),
          local.getMakespanNs(), local.getSteps()};
}

static Improved improve(const SchedulingProblem &problem,
                        const SearchParts &options, uint64_t maxSteps) {
  return runLocalSearch(problem, [&](ContentionLocalSearch &local) {
    std::mt19937_64 engine(options.seed);
    local.assign(getProgramOrder(problem.graph));
    local.improve(options, /*targetNs=*/0, maxSteps, engine);
  });
}

TEST(ContentionLocalSearch, MakesOrdersShorter) {
  constexpr unsigned numProblems = getNumProblems(20);
  unsigned shorter = 0;
  for (uint64_t seed = 0; seed != numProblems; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 100, 20);
    Improved result = improve(problem, {}, 500'000);
    ASSERT_TRUE(isAllowedOrder(problem, result.order));
    ASSERT_EQ(result.makespanNs,
              simulateOrder(problem, result.order).makespanNs);
    int64_t beforeNs =
        simulateOrder(problem, getProgramOrder(problem.graph)).makespanNs;
    ASSERT_LE(result.makespanNs, beforeNs);
    shorter += result.makespanNs < beforeNs;
  }
  EXPECT_GT(shorter, numProblems * 3 / 4);
}

TEST(ContentionLocalSearch, FindsTheBestOfSmallProblems) {
  unsigned best = 0;
  for (uint64_t seed = 0; seed != 40; ++seed) {
    SchedulingProblem problem = makeProblem(seed, 8, 3);
    best += improve(problem, {}, 200'000).makespanNs == findLeast(problem);
  }
  EXPECT_EQ(best, 40u);
}

TEST(ContentionLocalSearch, KeepsTheLimitsOfItsFirstOrder) {
  for (uint64_t seed = 0; seed != 30; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 60, 20);
    // Each compute makes something that the next two read.
    for (unsigned node = 0; node + 2 < problem.graph.size(); ++node)
      problem.buffers.push_back(
          {1 + int64_t(node * seed % 7), false, {node, node + 1, node + 2}});
    ScheduleOrder program = getProgramOrder(problem.graph);
    problem.maxMemory = simulateOrder(problem, program).peakBytes;
    if (seed % 2) {
      problem.maxInFlight = 1;
      while (!isAllowedOrder(problem, program))
        ++problem.maxInFlight;
    }
    Improved result = improve(problem, {}, 300'000);
    std::string reason;
    ASSERT_TRUE(isAllowedOrder(problem, result.order, &reason)) << reason;
    ASSERT_LE(simulateOrder(problem, result.order).peakBytes,
              *problem.maxMemory);
  }
}

TEST(ContentionLocalSearch, TheSameEachTimeAndWithinItsSteps) {
  SchedulingProblem problem = makeProblem(3, 200, 40);
  Improved first = improve(problem, {}, 400'000);
  Improved second = improve(problem, {}, 400'000);
  EXPECT_EQ(first.order, second.order);
  EXPECT_EQ(first.steps, second.steps);
  // What was begun ends, and the best is simulated once more.
  EXPECT_LE(first.steps, 430'000u);
  SearchParts options;
  options.seed = 1;
  EXPECT_NE(improve(problem, options, 400'000).order, first.order);
}

namespace {

using Starts = std::vector<std::pair<int64_t, ScheduleOrder>>;

} // namespace

/// Random orders with their makespans, the shortest last.
static Starts makeStarts(const SchedulingProblem &problem, unsigned count) {
  Starts starts;
  for (uint64_t i = 0; i != count; ++i) {
    ScheduleOrder order = makeRandomOrder(problem.graph, i);
    int64_t makespanNs = simulateOrder(problem, order).makespanNs;
    starts.emplace_back(makespanNs, std::move(order));
  }
  llvm::sort(starts, std::greater<>());
  return starts;
}

static Improved improveBestOf(const SchedulingProblem &problem, Starts starts,
                              uint64_t maxSteps, int64_t targetNs = 0,
                              const SearchParts &options = {}) {
  return runLocalSearch(problem, [&](ContentionLocalSearch &local) {
    std::mt19937_64 engine(1);
    local.improveBestOf(starts, options, targetNs, maxSteps, engine);
  });
}

TEST(ContentionLocalSearch, ARaceIsNeverWorseThanItsBestStart) {
  unsigned shorter = 0;
  for (uint64_t seed = 0; seed != 40; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 60, 20);
    Starts starts = makeStarts(problem, 1 + seed % 8);
    int64_t bestNs = starts.back().first;
    // So few steps that most starts stay as they are, and enough.
    for (uint64_t maxSteps : {0u, 3'000u, 100'000u}) {
      Improved result = improveBestOf(problem, starts, maxSteps);
      ASSERT_TRUE(isAllowedOrder(problem, result.order));
      ASSERT_EQ(result.makespanNs,
                simulateOrder(problem, result.order).makespanNs);
      ASSERT_LE(result.makespanNs, bestNs);
      shorter += maxSteps == 100'000 && result.makespanNs < bestNs;
    }
  }
  EXPECT_GT(shorter, 35u);
}

TEST(ContentionLocalSearch, ARaceIsTheSameEachTimeAndWithinItsSteps) {
  SchedulingProblem problem = makeProblem(3, 200, 40);
  for (unsigned count : {1, 5, 8}) {
    SCOPED_TRACE(count);
    Starts starts = makeStarts(problem, count);
    Improved first = improveBestOf(problem, starts, 1'000'000);
    Improved second = improveBestOf(problem, starts, 1'000'000);
    EXPECT_EQ(first.order, second.order);
    EXPECT_EQ(first.steps, second.steps);
    // Each of up to 15 parts ends what was begun.
    EXPECT_LE(first.steps, 1'150'000u);
    EXPECT_GT(first.steps, 990'000u);
  }
}

TEST(ContentionLocalSearch, StartsThatAreTheSameMayRace) {
  SchedulingProblem problem = makeProblem(5, 100, 20);
  for (unsigned count : {2, 3, 6}) {
    SCOPED_TRACE(count);
    Starts starts(count, makeStarts(problem, 1).front());
    Improved result = improveBestOf(problem, starts, 200'000);
    ASSERT_TRUE(isAllowedOrder(problem, result.order));
    EXPECT_LT(result.makespanNs, starts.front().first);
  }
}

TEST(ContentionLocalSearch, WhatBecomesTheShortestWinsTheRace) {
  SearchParts options;
  options.effort = SearchEffort::High;
  unsigned overtaken = 0;
  for (uint64_t seed = 0; seed != 20; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 60, 20);
    Starts starts = makeStarts(problem, 2);
    constexpr uint64_t maxSteps = 960'000;
    // The race begins with the shorter start, and draws on.
    std::mt19937_64 engine(1);
    std::vector<int64_t> firstPartNs;
    for (const auto &[startNs, start] : llvm::reverse(starts))
      firstPartNs.push_back(
          runLocalSearch(problem, [&, &order = start](auto &local) {
            local.assign(order);
            local.improve(options, /*targetNs=*/0, maxSteps / 32, engine);
          }).makespanNs);
    overtaken += firstPartNs[1] < firstPartNs[0];
    Improved result =
        improveBestOf(problem, starts, maxSteps, /*targetNs=*/0, options);
    EXPECT_LE(result.makespanNs, firstPartNs[0]);
    EXPECT_LE(result.makespanNs, firstPartNs[1]);
  }
  EXPECT_GT(overtaken, 5u);
}

TEST(ContentionLocalSearch, ARaceEndsWithTheFirstThatReachesTheTarget) {
  SchedulingProblem problem = makeProblem(3, 200, 40);
  Starts starts = makeStarts(problem, 4);
  std::reverse(starts.begin(), starts.end());
  // The first is short enough as it is.
  Improved result =
      improveBestOf(problem, starts, 400'000, starts.front().first);
  EXPECT_EQ(result.order, starts.front().second);
  EXPECT_LE(result.steps, 10'000u);
}
