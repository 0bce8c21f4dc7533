//===- SuccessionBoundTest.cpp - One resource after another ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Bounds/SuccessionBound.h"

#include "TestProblems/ExhaustiveSearch.h"
#include "TestProblems/LayeredGraphs.h"
#include "TestProblems/ProblemCount.h"
#include "braid/Schedule/Bounds/LowerBound.h"
#include "gtest/gtest.h"

#include <random>

using namespace braid;
using namespace braid::test;

static int64_t getBound(const SchedulingProblem &problem,
                        size_t maxVisits = 1'000'000) {
  PrecedenceDag dag = buildPrecedenceDag(problem);
  std::vector<int64_t> heads = dag.getLongestPaths();
  std::vector<int64_t> tails = dag.transpose().getLongestPaths();
  std::reverse(tails.begin(), tails.end());
  return getSuccessionBound(dag, heads, tails, maxVisits);
}

/// `count` operations on lane 0, each before one on lane 1, and all of them
/// after one of 100 ns on lane 0.
static SchedulingProblem makePairs(unsigned count, int64_t first,
                                   int64_t second) {
  ProblemWriter writer;
  unsigned gathered = writer.collective(0, 100, {}, 1);
  for (unsigned i = 0; i != count; ++i)
    writer.collective(1, second, writer.collective(0, first, gathered, 1), 1);
  return writer.finish();
}

TEST(SuccessionBound, TheFirstOfTheSecondLaneWaitsForTheFirstLane) {
  // The second lane is the longer one: it begins after 100 + 10.
  EXPECT_EQ(getBound(makePairs(4, 10, 50)), 100 + 10 + 4 * 50);
}

TEST(SuccessionBound, TheLastOfTheSecondLaneWaitsForAllOfTheFirstLane) {
  EXPECT_EQ(getBound(makePairs(4, 50, 10)), 100 + 4 * 50 + 10);
}

TEST(SuccessionBound, IsWhatTwoMachinesInAFlowShopTake) {
  // Johnson's order: what is short on the first lane goes first.
  ProblemWriter writer;
  for (int64_t first : {10, 10, 40, 40})
    writer.collective(1, 50 - first, writer.collective(0, first, {}, 1), 1);
  SchedulingProblem problem = writer.finish();
  EXPECT_EQ(getBound(problem), 110);
  EXPECT_EQ(*findLeastMakespanExhaustively(problem), 110);
}

TEST(SuccessionBound, NothingWithoutASecondLane) {
  ProblemWriter writer;
  writer.collective(0, 10, writer.collective(0, 10, {}, 1), 1);
  EXPECT_EQ(getBound(writer.finish()), 0);
}

TEST(SuccessionBound, NothingIfItTakesTooLong) {
  EXPECT_EQ(getBound(makePairs(4, 10, 50), 3), 0);
}

TEST(SuccessionBound, NoOrderIsShorter) {
  for (uint64_t seed = 0; seed != getNumProblems(300); ++seed) {
    // Operations on either lane after random others.
    std::mt19937_64 engine(seed);
    ProblemWriter writer;
    std::vector<unsigned> values;
    while (writer.size() < 12) {
      std::vector<unsigned> inputs;
      if (!values.empty() && engine() % 4)
        inputs.push_back(values[engine() % values.size()]);
      if (engine() % 4 == 0)
        values.push_back(writer.compute(1 + engine() % 10, inputs, 1));
      else
        values.push_back(
            writer.collective(engine() % 2, 1 + engine() % 40, inputs, 1));
    }
    SchedulingProblem problem = writer.finish();
    EXPECT_LE(getBound(problem), *findLeastMakespanExhaustively(problem))
        << "seed " << seed;
  }
}

TEST(SuccessionBound, SeesWhatGradientsWaitFor) {
  // Gathers and reduce-scatters inside of nodes, then all-reduces over them:
  // each lane has about as much to do.
  SchedulingProblem problem =
      makeTrainingStep({Parallelism::HybridSharded, 16, 1, 150, 30, 1});
  LowerBounds quick = computeLowerBounds(
      problem, std::numeric_limits<int64_t>::max(), LowerBoundEffort::Quick);
  EXPECT_GT(getBound(problem, 20'000'000), quick.best());
}
