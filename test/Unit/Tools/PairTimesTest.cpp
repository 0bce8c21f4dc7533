//===- PairTimesTest.cpp - Compute and collectives side by side -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PairTimes.h"

#include <gtest/gtest.h>

#include <vector>

using namespace braid::calibrate;

namespace {

constexpr int64_t aloneNs = 100;

void addCompute(std::vector<TracedSpan> &spans, int64_t fromNs, int64_t toNs,
                int64_t eachNs) {
  for (int64_t ns = fromNs; ns + eachNs <= toNs; ns += eachNs)
    spans.push_back({/*isCollective=*/false, ns, ns + eachNs});
}

void addCollective(std::vector<TracedSpan> &spans, int64_t beginNs,
                   int64_t endNs) {
  spans.push_back({/*isCollective=*/true, beginNs, endNs});
}

/// Matmuls of 10 ns, and of 12 beside the collectives, which begin at 200 and
/// last 30 each, the first one until 500.
std::vector<TracedSpan> lateRank() {
  std::vector<TracedSpan> spans;
  addCompute(spans, 0, 500, 10);
  addCollective(spans, 200, 500);
  for (int64_t ns = 500; ns < 800; ns += 30)
    addCollective(spans, ns, ns + 30);
  addCompute(spans, 500, 800, 12);
  addCompute(spans, 800, 1000, 10);
  return spans;
}

TEST(PairTimesTest, LeavesOutTheCollectiveThatWaitsForALateRank) {
  EXPECT_EQ(readPairTimes(lateRank(), aloneNs).collectiveNs, 30);
}

TEST(PairTimesTest, ComputeIsBesideCollectivesOnceAllRanksHaveArrived) {
  EXPECT_EQ(readPairTimes(lateRank(), aloneNs).computeNs, 12);
}

TEST(PairTimesTest, ComputeIsAloneBeforeAndBehindTheCollectives) {
  EXPECT_EQ(readPairTimes(lateRank(), aloneNs).computeAloneNs, 10);
}

TEST(PairTimesTest, KnowsNoComputeAloneIfTheCollectivesEndLast) {
  std::vector<TracedSpan> spans;
  addCompute(spans, 0, 300, 10);
  addCollective(spans, 200, 250);
  addCollective(spans, 250, 300);
  PairTimes times = readPairTimes(spans, aloneNs);
  EXPECT_EQ(times.collectiveNs, 50);
  EXPECT_EQ(times.computeAloneNs, 0);
}

TEST(PairTimesTest, OneCollectiveSaysNothing) {
  std::vector<TracedSpan> spans;
  addCompute(spans, 0, 1000, 10);
  addCollective(spans, 200, 500);
  PairTimes times = readPairTimes(spans, aloneNs);
  EXPECT_EQ(times.collectiveNs, 0);
  EXPECT_EQ(times.computeNs, 0);
}

} // namespace
