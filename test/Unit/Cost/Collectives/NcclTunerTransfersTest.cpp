//===- NcclTunerTransfersTest.cpp - Transfers without a model in NCCL -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NcclTunerTestUtils.h"

#include "gtest/gtest.h"

#include <utility>

using namespace braid;
using namespace braid::nccl;

TEST(NcclTuner, TransfersTakeAStepAndTheirShareOfTheLinks) {
  Communicator communicator = onH100(8);
  auto time = [&](Transfer transfer, uint64_t bytes) {
    return estimateTransfer(communicator, transfer, bytes).time;
  };
  double mb64 = 67108864;
  EXPECT_NEAR(time(Transfer::SendReceive, 64 * mib), 11.8 + mb64 / 360e3, 1e-6);
  for (auto transfer :
       {Transfer::AllToAll, Transfer::Gather, Transfer::Scatter})
    EXPECT_NEAR(time(transfer, 64 * mib), 11.8 + mb64 * 7 / 8 / 360e3, 1e-6);
  // Small messages take the LL protocol.
  EXPECT_NEAR(time(Transfer::SendReceive, 1000), 7.2 + 1.0 / 360, 1e-9);
  // Over nodes: one port of 45 GB/s, past which an all-to-all sends what is for
  // other nodes.
  communicator = onH100(16, 2);
  EXPECT_NEAR(time(Transfer::SendReceive, 64 * mib), 22.4 + mb64 / 45e3, 1e-6);
  EXPECT_NEAR(time(Transfer::AllToAll, 64 * mib), 22.4 + mb64 / 2 / 45e3, 1e-6);
  // Without switches a pair has one link.
  communicator = on("v100x8", 8);
  EXPECT_NEAR(time(Transfer::SendReceive, 64 * mib), 11.8 + mb64 / 20e3, 1e-6);
}

TEST(NcclTuner, TransfersTakePowersOfTwoOfChannels) {
  Communicator communicator = onH100(8);
  auto channels = [&](Transfer transfer, uint64_t bytes) {
    return estimateTransfer(communicator, transfer, bytes).numChannels;
  };
  EXPECT_EQ(channels(Transfer::SendReceive, 64 * mib), 4);
  EXPECT_EQ(channels(Transfer::SendReceive, 65 * mib), 8);
  EXPECT_EQ(channels(Transfer::SendReceive, gib), 32);
  EXPECT_EQ(channels(Transfer::AllToAll, 64 * mib), 28);
  EXPECT_EQ(channels(Transfer::AllToAll, gib), 32);
  // A limit of 10 is one of 16, and the bandwidth goes with it.
  communicator.maxCtas = 10;
  Estimate capped = estimateTransfer(communicator, Transfer::AllToAll, gib);
  EXPECT_EQ(capped.numChannels, 16);
  EXPECT_NEAR(capped.time, 11.8 + 1073741824.0 * 7 / 8 / 180e3, 1e-6);
}

// All-gathers on 8 H200s, microseconds.
TEST(NcclTuner, CopyEnginesFollowTheMeasurements) {
  Communicator communicator = on("h200x8", 8);
  EXPECT_FALSE(usesCopyEngine(communicator));
  communicator.useCopyEngine = true;
  ASSERT_TRUE(usesCopyEngine(communicator));
  const std::pair<uint64_t, double> measured[] = {
      {4, 65}, {8, 77}, {16, 115}, {32, 180}, {64, 241}, {128, 392}};
  for (auto [mebibytes, us] : measured) {
    Estimate estimate = estimateCopyEngine(communicator, mebibytes * mib);
    EXPECT_NEAR(estimate.time / us, 1.0, mebibytes == 32 ? 0.21 : 0.13);
    EXPECT_EQ(estimate.numChannels, 0);
    EXPECT_EQ(estimate.algorithm, Algorithm::CopyEngine);
  }
  // All-to-alls go the same way; messages and other nodes do not.
  EXPECT_EQ(estimateTransfer(communicator, Transfer::AllToAll, mib).time,
            estimateCopyEngine(communicator, mib).time);
  EXPECT_GT(
      estimateTransfer(communicator, Transfer::SendReceive, mib).numChannels,
      0);
  communicator = on("h200x8", 16, 2);
  communicator.useCopyEngine = true;
  EXPECT_FALSE(usesCopyEngine(communicator));
  // Nobody has measured those of A100s.
  communicator = on("a100x8", 8);
  communicator.useCopyEngine = true;
  EXPECT_FALSE(usesCopyEngine(communicator));
}
