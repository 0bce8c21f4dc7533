//===- NcclTunerTopologyTest.cpp - The topology that NCCL finds -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NcclTunerTestUtils.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::nccl;

TEST(NcclTuner, FindsTheChannelsOfEachMachine) {
  struct {
    llvm::StringRef hardware;
    int64_t numRanks, numNodes;
    int64_t searched;
    double bandwidth;
    int64_t launched;
  } rows[] = {
      {"v100x8", 8, 1, 6, 20, 12},
      {"a100x8", 8, 1, 12, 20, 24},
      {"h100x8", 8, 1, 12, 30, 24},
      {"h200x8", 2, 1, 12, 30, 24},
      {"b200x8", 8, 1, 16, 45, 32},
      // 8 ports of a node: 12, 24, 45 (8 x 48 is more than the NVLinks carry)
      // and 48 GB/s.
      {"v100x8", 16, 2, 8, 12, 16},
      {"a100x8", 16, 2, 8, 24, 16},
      {"h100x8", 64, 8, 8, 45, 16},
      {"b200x8", 64, 8, 8, 48, 16},
      // Few fast channels are doubled.
      {"h100x8", 8, 2, 8, 24, 16},
      {"h100x8", 2, 2, 2, 24, 4},
  };
  for (const auto &row : rows) {
    Communicator communicator = on(row.hardware, row.numRanks, row.numNodes);
    EXPECT_EQ(communicator.ring.numChannels, row.searched)
        << row.hardware.str();
    EXPECT_EQ(communicator.ring.intraBandwidth, row.bandwidth);
    EXPECT_EQ(communicator.numChannels, row.launched);
  }
  EXPECT_EQ(onH100(8).numPointToPointChannels, 32);
}
