//===- StopRuleTest.cpp - When more steps do not pay ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Search/Improvement/StopRule.h"

#include "TestProblems/LayeredGraphs.h"
#include "braid/Schedule/Search/SearchSchedule.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

TEST(StopRule, StopsAtTheFirstCheckpointThatGainsTooLittle) {
  StopRule rule(/*firstInterval=*/100);
  rule.begin(/*steps=*/50, /*makespanNs=*/10'000);
  EXPECT_FALSE(rule.shouldStop(149, 10'000));
  EXPECT_FALSE(rule.shouldStop(150, 9'990));
  EXPECT_FALSE(rule.shouldStop(249, 9'990));
  EXPECT_TRUE(rule.shouldStop(250, 9'982));
}

TEST(StopRule, DoublesTheStepsBetweenCheckpoints) {
  StopRule rule(/*firstInterval=*/100);
  rule.begin(/*steps=*/0, /*makespanNs=*/100'000);
  EXPECT_FALSE(rule.shouldStop(100, 99'000));
  EXPECT_FALSE(rule.shouldStop(200, 98'000));
  // Gains between two checkpoints count together.
  EXPECT_FALSE(rule.shouldStop(300, 97'950));
  EXPECT_FALSE(rule.shouldStop(399, 97'910));
  EXPECT_FALSE(rule.shouldStop(400, 97'900));
  EXPECT_FALSE(rule.shouldStop(799, 97'900));
  EXPECT_TRUE(rule.shouldStop(800, 97'900));
}

TEST(StopRule, SkipsCheckpointsThatOneStepPasses) {
  StopRule rule(/*firstInterval=*/100);
  rule.begin(/*steps=*/0, /*makespanNs=*/100'000);
  EXPECT_FALSE(rule.shouldStop(450, 99'000));
  EXPECT_FALSE(rule.shouldStop(799, 99'000));
  EXPECT_TRUE(rule.shouldStop(800, 99'000));
}

TEST(StopRule, BeginsAnewWithEachPart) {
  StopRule rule(/*firstInterval=*/100);
  rule.begin(/*steps=*/0, /*makespanNs=*/100'000);
  EXPECT_FALSE(rule.shouldStop(100, 99'000));
  rule.begin(/*steps=*/110, /*makespanNs=*/99'000);
  EXPECT_FALSE(rule.shouldStop(209, 99'000));
  EXPECT_TRUE(rule.shouldStop(210, 99'000));
}

TEST(StopRule, NeverStopsWithoutAnInterval) {
  StopRule rule(/*firstInterval=*/0);
  rule.begin(/*steps=*/0, /*makespanNs=*/100'000);
  EXPECT_FALSE(rule.shouldStop(1'000'000'000, 100'000));
}

static SearchResult searchWithEffort(const SchedulingProblem &problem,
                                     SearchEffort effort, uint64_t maxSteps) {
  SearchOptions options;
  options.effort = effort;
  options.maxSteps = maxSteps;
  return searchSchedule(problem, options);
}

// No part of the search improves this step by 0.1 percent after its lists.
TEST(SearchEffort, TheDefaultStopsWhereMoreStepsDoNotPay) {
  SchedulingProblem problem = makeTrainingStep(
      {Parallelism::DataParallel, /*numLayers=*/16, /*numMicroBatches=*/1,
       /*communicationPercent=*/100, /*variationPercent=*/30, /*seed=*/1});
  constexpr uint64_t maxSteps = 8'000'000;
  SearchResult high = searchWithEffort(problem, SearchEffort::High, maxSteps);
  SearchResult less =
      searchWithEffort(problem, SearchEffort::Default, maxSteps);
  ASSERT_FALSE(high.optimal);
  EXPECT_GE(high.statistics.steps, maxSteps * 99 / 100);
  EXPECT_LT(less.statistics.steps, maxSteps * 4 / 5);
  EXPECT_LE(less.makespanNs, high.makespanNs * 1001 / 1000);
}

TEST(SearchEffort, EachEffortHasMoreStepsThanTheOneBelow) {
  for (unsigned numLayers : {2u, 64u}) {
    SchedulingProblem problem =
        makeTrainingStep({Parallelism::TensorParallel, numLayers, 2, 60, 0, 1});
    for (bool contends : {false, true}) {
      problem.machine.multiprocessors = contends ? 132 : 0;
      uint64_t low = getStepLimit(problem, SearchEffort::Low);
      uint64_t normal = getStepLimit(problem, SearchEffort::Default);
      uint64_t high = getStepLimit(problem, SearchEffort::High);
      EXPECT_EQ(getStepLimit(problem), normal);
      EXPECT_LT(4 * low, normal);
      EXPECT_LT(normal, high);
    }
  }
}
