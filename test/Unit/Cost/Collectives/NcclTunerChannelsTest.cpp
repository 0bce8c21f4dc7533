//===- NcclTunerChannelsTest.cpp - Channels that NCCL launches ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NcclTunerTestUtils.h"

#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using namespace braid::nccl;

TEST(NcclTuner, SmallMessagesTakeFewChannels) {
  auto channels = [](Function function, int64_t numRanks, uint64_t bytes) {
    return choose(onH100(numRanks), function, bytes).numChannels;
  };
  // An all-reduce by the LL protocol: a channel for each 4 KiB a rank.
  EXPECT_EQ(channels(Function::AllReduce, 8, 64 * kib), 2);
  EXPECT_EQ(channels(Function::AllReduce, 8, 256 * kib), 8);
  EXPECT_EQ(channels(Function::AllReduce, 8, 768 * kib), 24);
  EXPECT_EQ(channels(Function::AllReduce, 8, 64 * mib), 24);
  EXPECT_EQ(channels(Function::AllReduce, 8, gib), 24);
  EXPECT_EQ(channels(Function::AllReduce, 2, 64 * kib), 8);
  EXPECT_EQ(channels(Function::AllReduce, 2, 192 * kib), 24);
  EXPECT_EQ(channels(Function::AllReduce, 8, 4), 1);
  EXPECT_EQ(channels(Function::AllReduce, 8, 0), 1);
  EXPECT_EQ(channels(Function::AllGather, 8, 256 * kib), 8);

  Communicator communicator = onH100(8);
  auto count = [&](uint64_t bytes, Protocol protocol) {
    return countChannels(communicator, {Function::AllReduce, bytes},
                         Algorithm::Ring, protocol);
  };
  // One for each 5 KiB with LL128 and 32 KiB with Simple.
  EXPECT_EQ(count(50 * kib, Protocol::LL128), 7); // 8 KiB of traffic a channel
  // 128 cells of 8 KiB, six a channel: the last two channels get none.
  EXPECT_EQ(count(mib, Protocol::LL128), 22);
  EXPECT_EQ(count(3 * mib, Protocol::LL128), 24);
  EXPECT_EQ(count(320 * kib, Protocol::Simple), 10);
  EXPECT_EQ(count(768 * kib, Protocol::Simple), 24);
  EXPECT_EQ(count(std::numeric_limits<uint64_t>::max(), Protocol::Simple), 24);
}

TEST(NcclTuner, ALimitOnCtasLimitsTheBandwidth) {
  Communicator communicator = onH100(8);
  Estimate free = choose(communicator, Function::AllReduce, 256 * mib);
  communicator.maxCtas = 8;
  Estimate capped = choose(communicator, Function::AllReduce, 256 * mib);
  EXPECT_EQ(capped.numChannels, 8);
  // 8 CTAs of 15 GB/s on the bus.
  EXPECT_NEAR(capped.time, 56.0 + 268435.456 / (120 * 8.0 / 14), 1e-6);
  // NCCL's choice does not know.
  EXPECT_EQ(capped.protocol, free.protocol);
  // What the CTAs carry anyway does not get slower, and a limit that is none
  // changes nothing.
  EXPECT_EQ(choose(communicator, Function::AllReduce, 4 * kib).time,
            choose(onH100(8), Function::AllReduce, 4 * kib).time);
  communicator.maxCtas = 24;
  EXPECT_EQ(choose(communicator, Function::AllReduce, 256 * mib).time,
            free.time);
  communicator.maxCtas = 1;
  EXPECT_EQ(choose(communicator, Function::AllReduce, 256 * mib).numChannels,
            1);
}
