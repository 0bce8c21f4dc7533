//===- LaneLaunchTest.cpp - When the first of a lane begins -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneLaunch.h"

#include <gmock/gmock.h>

using namespace braid::calibrate;
using testing::ElementsAre;

namespace {

TracedSpan matmul(int64_t beginNs, int64_t endNs) {
  return {/*isCollective=*/false, beginNs, endNs};
}

TracedSpan collective(int64_t beginNs, int64_t endNs) {
  return {/*isCollective=*/true, beginNs, endNs};
}

std::string messageOf(const std::vector<TracedSpan> &spans, int64_t leads,
                      int64_t rounds) {
  llvm::Expected<std::vector<double>> launches =
      readLaneLaunches(spans, leads, rounds);
  return launches ? "none" : llvm::toString(launches.takeError());
}

TEST(LaneLaunchTest, LastsFromTheMatmulBeforeTheStart) {
  // In the order of their ends, as traces are.
  std::vector<TracedSpan> spans = {matmul(0, 100),       matmul(101, 200),
                                   collective(204, 230), matmul(201, 300),
                                   collective(307, 340), matmul(302, 400)};
  llvm::Expected<std::vector<double>> launches =
      readLaneLaunches(spans, /*leads=*/2, /*rounds=*/2);
  ASSERT_TRUE(bool(launches));
  EXPECT_THAT(*launches, ElementsAre(4, 7));
}

TEST(LaneLaunchTest, LastsFromACollectiveThatOutlastsItsMatmul) {
  std::vector<TracedSpan> spans = {matmul(0, 100), matmul(101, 200),
                                   collective(104, 250), matmul(251, 300),
                                   collective(255, 310)};
  llvm::Expected<std::vector<double>> launches =
      readLaneLaunches(spans, /*leads=*/1, /*rounds=*/2);
  ASSERT_TRUE(bool(launches));
  EXPECT_THAT(*launches, ElementsAre(4, 5));
}

TEST(LaneLaunchTest, RefusesATraceWithoutAMatmul) {
  EXPECT_EQ(messageOf({matmul(0, 100), collective(104, 110)}, 1, 1),
            "the trace has 1 matmuls and 1 collectives, expected 2 and 1");
}

TEST(LaneLaunchTest, RefusesATraceWithoutACollective) {
  EXPECT_EQ(messageOf({matmul(0, 100), matmul(101, 200)}, 1, 1),
            "the trace has 2 matmuls and 0 collectives, expected 2 and 1");
}

TEST(LaneLaunchTest, RefusesACollectiveThatBeginsTooEarly) {
  EXPECT_EQ(
      messageOf({matmul(0, 100), collective(97, 110), matmul(101, 200)}, 1, 1),
      "a collective begins 3 ns before the end of what it is started behind");
}

} // namespace
