//===- WorkedExampleTest.cpp - The graph of docs/design/search.md ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/design/search.md carries one graph through the parts of the search.
// These tests pin the numbers of that page which its commands do not print.
//
//===----------------------------------------------------------------------===//

#include "Schedule/Search/Construction/BeamSearch.h"
#include "Schedule/Search/Construction/PriorityRules.h"
#include "Schedule/Search/Improvement/LocalSearch.h"
#include "TestProblems/MemoryProblems.h"
#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using namespace braid::test;

namespace {

constexpr const char *greedyOrder =
    "p1,ar1,q1,w1,ar3,p2,w3,ar2,q2,w2,ar4,p3,w4,q3";
constexpr const char *bestOrder =
    "p1,ar1,q1,ar3,w1,p2,w3,q2,ar4,ar2,w4,q3,w2,p3";
constexpr uint64_t manySteps = 100'000;

/// Two micro-batches, p and q, of two layers and a last op each.
class WorkedExample : public testing::Test {
protected:
  WorkedExample() {
    program = getProgramOrder(named.problem.graph);
    window = getWholeWindow(flat, program, position, zeros);
  }

  int64_t getMakespanNs(llvm::ArrayRef<unsigned> order) const {
    return simulateOrder(named.problem, order).makespanNs;
  }

  NamedProblem named = parseProblem(
      "p1:10, ar1:20(p1), w1(ar1), p2:50(w1), ar2:60(p2), w2(ar2), p3:60(w2), "
      "q1:40, ar3:50(q1), w3(ar3), q2:30(w3), ar4:10(q2), w4(ar4), q3:60(w4)");
  FlatProblem flat = FlatProblem(named.problem);
  std::vector<int64_t> tails = getTails(flat);
  ScheduleOrder program;
  std::vector<unsigned> position;
  std::vector<int64_t> zeros;
  ScheduleWindow window;
};

} // namespace

TEST_F(WorkedExample, TwoChainsThatTakeTurnsAreTheBestBound) {
  LowerBounds bounds = computeLowerBounds(named.problem);
  EXPECT_EQ(bounds.get(LowerBoundKind::CriticalPath), 200);
  EXPECT_EQ(bounds.get(LowerBoundKind::Stream), 250);
  EXPECT_EQ(bounds.get(LowerBoundKind::Lane), 140);
  EXPECT_EQ(bounds.get(LowerBoundKind::LaneHeadTail), 220);
  EXPECT_EQ(bounds.get(LowerBoundKind::TwoJobs), 260);
  EXPECT_EQ(bounds.best(), 260);
}

TEST_F(WorkedExample, ListByLongestTailStartsTheLongCollectiveFirst) {
  std::vector<std::pair<std::string, int64_t>> expected = {
      {"p1", 200}, {"ar1", 190}, {"p2", 170}, {"ar2", 120}, {"p3", 60},
      {"q1", 190}, {"ar3", 150}, {"q2", 100}, {"ar4", 70},  {"q3", 60}};
  for (const auto &[name, tailNs] : expected)
    EXPECT_EQ(tails[named.get(name)], tailNs) << name;
  ListScheduler scheduler(flat);
  ScheduleOrder order;
  ASSERT_TRUE(scheduler.schedule({tails}, order));
  EXPECT_EQ(named.print(order), greedyOrder);
  EXPECT_EQ(getMakespanNs(order), 280);
}

TEST_F(WorkedExample, NoRuleOfTheTableIsShorterThanTheLongestTail) {
  ListScheduler scheduler(flat);
  PriorityRules rules(flat, scheduler, tails);
  int64_t leastNs = std::numeric_limits<int64_t>::max();
  for (const RuleParameters &parameters : rules.getTable()) {
    ScheduleOrder order;
    ASSERT_TRUE(scheduler.schedule(rules.getRule(parameters), order));
    leastNs = std::min(leastNs, getMakespanNs(order));
  }
  EXPECT_EQ(leastNs, 280);
}

TEST_F(WorkedExample, NoBeamLeavesTheLaneIdle) {
  BeamSearch beam(flat);
  for (unsigned width : {1, 16}) {
    ScheduleOrder order;
    ASSERT_TRUE(beam.search({tails}, width, order));
    EXPECT_EQ(named.print(order), greedyOrder) << width;
  }
}

TEST_F(WorkedExample, ExactSearchOfThreeStatesProvesTheOptimum) {
  WindowSearch windows(flat);
  WindowSearch::Result narrow = windows.search(window, 280, 2, manySteps);
  EXPECT_FALSE(narrow.improved);
  EXPECT_FALSE(narrow.complete);
  WindowSearch::Result found = windows.search(window, 280, 3, manySteps);
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(found.value, 260);
  EXPECT_EQ(named.print(found.order), bestOrder);
}

TEST_F(WorkedExample, LocalSearchNeedsAWindowThatHoldsBothMicroBatches) {
  WindowSearch windows(flat);
  SearchStatistics statistics;
  LocalSearch local(flat, windows, statistics);
  local.assign(program);
  EXPECT_EQ(local.getMakespanNs(), 390);
  local.searchWindows(/*length=*/10, /*width=*/16, /*targetNs=*/0, manySteps);
  EXPECT_EQ(local.getMakespanNs(), 300);
  local.assign(program);
  local.searchWindows(/*length=*/12, /*width=*/16, /*targetNs=*/0, manySteps);
  EXPECT_EQ(local.getMakespanNs(), 260);
  std::mt19937_64 engine(0);
  local.assign(program);
  local.moveNodes(/*reach=*/14, /*targetNs=*/0, manySteps, engine);
  EXPECT_EQ(local.getMakespanNs(), 340);
}

TEST_F(WorkedExample, TheWholeSearchEndsWithTheExactSearch) {
  SearchResult result = searchSchedule(named.problem);
  EXPECT_EQ(result.method, "exact search");
  EXPECT_EQ(result.makespanNs, 260);
  EXPECT_TRUE(result.optimal);
  EXPECT_EQ(named.print(result.order), bestOrder);
}
