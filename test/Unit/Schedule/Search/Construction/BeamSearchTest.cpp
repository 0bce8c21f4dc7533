//===- BeamSearchTest.cpp - Several orders side by side -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Search/Construction/BeamSearch.h"

#include "Schedule/Search/Construction/ListScheduler.h"
#include "TestProblems/LayeredGraphs.h"
#include "TestProblems/SearchTestUtils.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

namespace {

SchedulingProblem makeProblem(uint64_t seed, unsigned maxNodes) {
  SchedulingProblem problem = makeSmallProblem(seed, maxNodes);
  problem.keepOrderOfStarts = seed % 5 == 1;
  problem.maxInFlight = seed % 4 == 3 ? 1 + seed % 3 : 0;
  return problem;
}

} // namespace

TEST(BeamSearch, OrdersAreLegalAndDependOnTheGuideAlone) {
  for (uint64_t seed = 0; seed != 80; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = seed < 60 ? makeProblem(seed, 4 + seed)
                                          : makeLongProgram(20 * seed, seed);
    FlatProblem flat(problem);
    std::vector<int64_t> tails = getTails(flat);
    BeamGuide guide = {tails, int64_t(1) << seed % 9, seed % 2 == 0};
    BeamSearch beam(flat), other(flat);
    ScheduleOrder order, again;
    unsigned width = 1 + seed % 7;
    bool found = beam.search(guide, width, order);
    // Without limits something can always come next.
    ASSERT_TRUE(found || problem.maxInFlight != 0);
    ASSERT_EQ(other.search(guide, width, again), found);
    if (!found)
      continue;
    std::string reason;
    ASSERT_TRUE(isAllowedOrder(problem, order, &reason)) << reason;
    ASSERT_EQ(order, again);
    // Nothing is left of a search before.
    ASSERT_TRUE(beam.search({tails, 1, false}, 3, again));
    ASSERT_TRUE(beam.search(guide, width, again));
    ASSERT_EQ(order, again);
    ASSERT_GT(beam.getSteps(), flat.size());
  }
}

TEST(BeamSearch, KeepsLimitsOfMemory) {
  unsigned found = 0;
  for (uint64_t seed = 0; seed != 60; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 10 + seed);
    if (seed % 3 == 0)
      problem.transientBytes = {{0, int64_t(seed)}, {3, 7}};
    problem.liveBytes = seed % 7;
    problem.maxMemory =
        simulateOrder(problem, getProgramOrder(problem.graph)).peakBytes;
    FlatProblem flat(problem);
    std::vector<int64_t> tails = getTails(flat);
    BeamSearch beam(flat);
    ScheduleOrder order;
    if (!beam.search({tails}, 20, order))
      continue;
    ++found;
    std::string reason;
    ASSERT_TRUE(isAllowedOrder(problem, order, &reason)) << reason;
    ASSERT_LE(simulateOrder(problem, order).peakBytes, *problem.maxMemory);
  }
  EXPECT_GE(found, 40u);
}

TEST(BeamSearch, EndsWhereNothingFits) {
  ProblemWriter writer;
  writer.compute(5, {}, 100);
  SchedulingProblem problem = writer.finish();
  problem.maxMemory = 99;
  FlatProblem flat(problem);
  std::vector<int64_t> tails = getTails(flat);
  ScheduleOrder order;
  EXPECT_FALSE(BeamSearch(flat).search({tails}, 10, order));
}

TEST(BeamSearch, AWideBeamFindsMostOptima) {
  unsigned best = 0, bestOfOne = 0;
  constexpr unsigned numProblems = 70;
  for (uint64_t seed = 0; seed != numProblems; ++seed) {
    SchedulingProblem problem = makeSmallProblem(seed, 13);
    FlatProblem flat(problem);
    std::vector<int64_t> tails = getTails(flat);
    BeamSearch beam(flat);
    // Proven, and checked against an exhaustive search by its own tests.
    SearchResult exact = searchWithParts(problem);
    ASSERT_TRUE(exact.optimal);
    int64_t least = exact.makespanNs;
    ScheduleOrder order;
    ASSERT_TRUE(beam.search({tails, 256}, 1, order));
    bestOfOne += simulateOrder(problem, order).makespanNs == least;
    ASSERT_TRUE(beam.search({tails, 256}, 1000, order));
    best += simulateOrder(problem, order).makespanNs == least;
  }
  EXPECT_GE(best, numProblems * 9 / 10);
  EXPECT_LT(bestOfOne, best);
}

TEST(BeamSearch, TwoMicroBatchesEndSoonerThanByLists) {
  SchedulingProblem problem =
      makeTrainingStep({Parallelism::SequenceParallel, 8, 2, 100, 30, 1});
  auto [lists, beam] =
      compareParts(problem, makeConstructiveOptions(/*maxSteps=*/20'000'000),
                   &SearchParts::useBeam);
  EXPECT_EQ(beam.method, "beam search");
  EXPECT_LT(beam.makespanNs, lists.makespanNs);
}
