//===- CollectiveCostTest.cpp - The link model ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/Collectives/CollectiveCost.h"

#include "gtest/gtest.h"

using namespace braid;
using comm::CollectiveKind;

/// 20 us and 10 GB/s: what the demo rehearses.
static double estimate(CollectiveKind kind, int64_t groupSize, uint64_t in,
                       uint64_t out) {
  return LinkCollectiveModel(20000, 10e9)
      .estimate({kind, groupSize, in, out})
      .ns;
}

TEST(LinkCollectiveModel, FollowsTheRingFormulas) {
  uint64_t mb = 1000000; // 100 us on the link
  // All-reduce: 2 (n - 1) steps, 2 (n - 1) / n of the bytes.
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::all_reduce, 2, mb, mb), 140000);
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::all_reduce, 4, mb, mb), 270000);
  // n - 1 steps, (n - 1) / n of the whole, whichever side is the whole.
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::all_gather, 4, mb / 4, mb), 135000);
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::gather, 4, mb / 4, mb), 135000);
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::reduce_scatter, 4, mb, mb / 4),
                   135000);
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::scatter, 4, mb, mb / 4), 135000);
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::all_to_all, 4, mb, mb), 135000);
  // Everything passes one link.
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::broadcast, 4, mb, mb), 160000);
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::reduce, 4, mb, mb), 160000);
  // One message.
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::send, 4, mb, 0), 120000);
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::recv, 4, 0, mb), 120000);
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::permute, 4, mb, mb), 120000);
  // No bytes.
  EXPECT_DOUBLE_EQ(estimate(CollectiveKind::barrier, 4, 0, 0), 120000);
}

TEST(LinkCollectiveModel, AGroupOfOneTakesNoTime) {
  EXPECT_EQ(estimate(CollectiveKind::all_reduce, 1, 1 << 20, 1 << 20), 0.0);
  EXPECT_EQ(estimate(CollectiveKind::permute, 1, 1 << 20, 1 << 20), 0.0);
}

TEST(LinkCollectiveModel, NoBandwidthMeansUnlimited) {
  LinkCollectiveModel model(1000, 0);
  EXPECT_EQ(
      model.estimate({CollectiveKind::all_reduce, 2, 1 << 20, 1 << 20}).ns,
      2000.0);
}
