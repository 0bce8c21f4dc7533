//===- LaunchChoiceTest.cpp - Tests of which launches pay -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Planning/LaunchChoice.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <array>

using namespace braid;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// Four starts of 4 MiB: they may stay alone, become pairs, or share a launch.
class LaunchChoiceTest : public testing::Test {
protected:
  LaunchChoiceTest() {
    for (unsigned i = 0; i != 4; ++i) {
      ScheduleNode info;
      info.kind = NodeKind::Start;
      info.lane = 0;
      items.push_back({graph.addNode(info), 0, int64_t{4} << 20});
    }
    graph.finalize();
  }

  /// Makespans for starts alone, for pairs and for one launch.
  using Makespans = std::array<int64_t, 3>;

  std::vector<llvm::SmallVector<unsigned, 4>> choose(const Makespans &trial,
                                                     const Makespans &settled) {
    LaunchLimits limits;
    limits.bytes.resize(1);
    LaunchChoiceOptions options;
    options.minGain = 0.005;
    options.maxTrials = 12;
    auto predict = [&](const LaunchGroups &launches,
                       bool isFinal) -> llvm::FailureOr<BlockPrediction> {
      size_t kind = launches.groups.empty() ? 0 : 3 - launches.groups.size();
      numFinal += isFinal;
      return BlockPrediction{(isFinal ? settled : trial)[kind],
                             300 - 100 * static_cast<int64_t>(kind), 0};
    };
    llvm::FailureOr<LaunchGroups> found =
        chooseLaunches(graph, items, limits, options, predict);
    EXPECT_TRUE(succeeded(found));
    return found->groups;
  }

  ScheduleGraph graph;
  std::vector<LaunchItem> items;
  unsigned numFinal = 0;
};

TEST_F(LaunchChoiceTest, FinalPredictionsChoose) {
  // Trials prefer one launch, by more than the least gain.
  EXPECT_THAT(choose({10000, 9500, 9000}, {9900, 9300, 9800}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_EQ(numFinal, 3u);
}

TEST_F(LaunchChoiceTest, WhatIsLongerInTheEndStaysAlone) {
  EXPECT_THAT(choose({10000, 9500, 9000}, {9000, 9100, 9200}), IsEmpty());
}

TEST_F(LaunchChoiceTest, FewerLaunchesMayCostLessThanTheLeastGain) {
  EXPECT_THAT(choose({10000, 9500, 9000}, {9000, 9100, 9040}),
              ElementsAre(ElementsAre(0, 1, 2, 3)));
}

TEST_F(LaunchChoiceTest, FewerLaunchesMayBeLongerThanTheShortestByOnePercent) {
  EXPECT_THAT(choose({10000, 9500, 9000}, {10000, 9300, 9390}),
              ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(choose({10000, 9500, 9000}, {10000, 9300, 9400}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST_F(LaunchChoiceTest, NothingIsPredictedAnewWhereTrialsFindNoGain) {
  EXPECT_THAT(choose({9000, 9100, 9200}, {9000, 8000, 8000}), IsEmpty());
  EXPECT_EQ(numFinal, 0u);
}

TEST(LaunchChoiceOfKeysTest, KeysHaveLaunchesOfOtherSizesInTheFewestTrials) {
  ScheduleGraph graph;
  std::vector<LaunchItem> items;
  for (unsigned i = 0; i != 8; ++i) {
    ScheduleNode info;
    info.kind = NodeKind::Start;
    info.lane = 0;
    items.push_back({graph.addNode(info), i / 4,
                     i < 4 ? int64_t{512} << 10 : int64_t{10} << 20});
  }
  graph.finalize();
  LaunchLimits limits;
  limits.bytes.resize(2);
  LaunchChoiceOptions options;
  options.minGain = 0.005;
  options.maxTrials = 2;
  auto predict = [](const LaunchGroups &launches,
                    bool) -> llvm::FailureOr<BlockPrediction> {
    return BlockPrediction{launches.groups.size() == 3 ? 9000 : 10000, 100, 0};
  };
  llvm::FailureOr<LaunchGroups> found =
      chooseLaunches(graph, items, limits, options, predict);
  ASSERT_TRUE(succeeded(found));
  EXPECT_THAT(found->groups, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3),
                                         ElementsAre(4, 5, 6, 7)));
}

} // namespace
