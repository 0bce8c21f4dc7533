//===- LanesTest.cpp - Several lanes of one group -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Harness.h"

#include "gtest/gtest.h"

using namespace braid::test;

static const braid_rt_lane latency = {"latency", 4, BRAID_RT_TRANSPORT_DEFAULT};
static const braid_rt_lane copies = {"copies", 0, BRAID_RT_TRANSPORT_COPY};
static const braid_rt_group latencyGroup = {"world", 1,       0,
                                            nullptr, nullptr, &latency};
static const braid_rt_group copiesGroup = {"world", 1,       0,
                                           nullptr, nullptr, &copies};

static void *startSum(const braid_rt_group &group, Buffer &source,
                      Buffer &result) {
  braid_rt_view from = source.view(), to = result.view();
  return braid_rt_all_reduce(&group, 1, &from, &to, BRAID_RT_SUM, nullptr,
                             nullptr);
}

// Collectives match by their order in each lane, not in the whole group.
TEST(Lanes, LanesOfOneGroupAreNotOrdered) {
  if (engineName() == "cuda")
    GTEST_SKIP() << "NCCL wants one order of all communicators' operations";
  BRAID_NEEDS_SHARED_WORLD(2);
  std::vector<Buffer> first(2, Buffer(BRAID_RT_I32, {3})),
      second(2, Buffer(BRAID_RT_I32, {5}));
  std::vector<Buffer> firstSum = first, secondSum = second;
  for (int32_t rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < 3; ++i)
      first[rank].as<int32_t>()[i] = 10 * rank + i;
    for (int i = 0; i < 5; ++i)
      second[rank].as<int32_t>()[i] = 100 * rank + i;
  }
  World &world = sharedWorld(2);
  ASSERT_TRUE(world.run(
      [&](int32_t rank) {
        void *a, *b;
        if (rank == 0) {
          a = startSum(latencyGroup, first[rank], firstSum[rank]);
          b = startSum(copiesGroup, second[rank], secondSum[rank]);
        } else {
          b = startSum(copiesGroup, second[rank], secondSum[rank]);
          a = startSum(latencyGroup, first[rank], firstSum[rank]);
        }
        braid_rt_wait(a, nullptr);
        braid_rt_wait(b, nullptr);
      },
      {&latencyGroup, &copiesGroup}))
      << world.errors();
  for (int32_t rank : world.localRanks()) {
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(firstSum[rank].as<int32_t>()[i], 10 + 2 * i);
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(secondSum[rank].as<int32_t>()[i], 100 + 2 * i);
  }
}

TEST(Lanes, EachLaneCountsItsCollectives) {
  BRAID_NEEDS_SHARED_WORLD(2);
  std::vector<Buffer> sources(2, Buffer(BRAID_RT_I32, {1})), results = sources;
  std::vector<int64_t> ofLatency(2), ofCopies(2);
  World &world = sharedWorld(2);
  ASSERT_TRUE(world.run(
      [&](int32_t rank) {
        braid_rt_context *context = world.context(rank);
        int64_t latencyBefore =
            braid_rt_sequence_number(context, &latencyGroup);
        int64_t copiesBefore = braid_rt_sequence_number(context, &copiesGroup);
        braid_rt_wait(startSum(latencyGroup, sources[rank], results[rank]),
                      nullptr);
        ofLatency[rank] =
            braid_rt_sequence_number(context, &latencyGroup) - latencyBefore;
        ofCopies[rank] =
            braid_rt_sequence_number(context, &copiesGroup) - copiesBefore;
      },
      {&latencyGroup, &copiesGroup}))
      << world.errors();
  for (int32_t rank : world.localRanks()) {
    EXPECT_EQ(ofLatency[rank], 1);
    EXPECT_EQ(ofCopies[rank], 0);
  }
}
