//===- PointToPointTest.cpp - Messages between two ranks --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid::test;
using testing::AllOf;
using testing::HasSubstr;

static braid_rt_view scalar(int64_t &value) {
  return {&value, nullptr, BRAID_RT_I64, 0};
}

TEST(PointToPoint, MessagesOfAPairArriveInOrder) {
  constexpr int count = 50;
  std::vector<int64_t> sent(count), received(count, -1);
  for (int i = 0; i < count; ++i)
    sent[i] = i * i;
  World world(2);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    void *requests[count];
    for (int i = 0; i < count; ++i) {
      braid_rt_view view = scalar(rank ? received[i] : sent[i]);
      requests[i] = rank ? braid_rt_recv(&worldGroup, 1, &view, 0, nullptr)
                         : braid_rt_send(&worldGroup, 1, &view, 1, nullptr);
    }
    for (void *request : requests)
      braid_rt_wait(request, nullptr);
  })) << world.error(0);
  EXPECT_EQ(received, sent);
}

TEST(PointToPoint, ExchangeDoesNotBlockItself) {
  int64_t own[] = {10, 11}, other[] = {0, 0};
  World world(2);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_view from = scalar(own[rank]), to = scalar(other[rank]);
    void *send = braid_rt_send(&worldGroup, 1, &from, 1 - rank, nullptr);
    void *receive = braid_rt_recv(&worldGroup, 1, &to, 1 - rank, nullptr);
    braid_rt_wait(send, nullptr);
    braid_rt_wait(receive, nullptr);
  })) << world.error(0);
  EXPECT_EQ(other[0], 11);
  EXPECT_EQ(other[1], 10);
}

TEST(PointToPoint, SendThatIsAwaitedBeforeTheReceiveIsAnErrorNotAHang) {
  int64_t own[] = {10, 11}, other[] = {0, 0};
  World world(2);
  EXPECT_FALSE(world.run([&](int32_t rank) {
    braid_rt_view from = scalar(own[rank]), to = scalar(other[rank]);
    braid_rt_wait(braid_rt_send(&worldGroup, 1, &from, 1 - rank, nullptr),
                  nullptr);
    braid_rt_wait(braid_rt_recv(&worldGroup, 1, &to, 1 - rank, nullptr),
                  nullptr);
  }));
  EXPECT_THAT(world.error(0), AllOf(HasSubstr("every rank waits"),
                                    HasSubstr("rank 1 for send to 0")));
}

TEST(PointToPoint, PairsDoNotDisturbEachOtherAndCollectivesHaveTheirOwnLane) {
  // Everyone sends its rank to everyone, with an all-reduce in between that is
  // started at different places on different ranks.
  constexpr int ranks = 4;
  int64_t own[ranks], sums[ranks] = {}, received[ranks][ranks] = {};
  World world(ranks);
  for (int64_t &value : own)
    value = 100 + (&value - own);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    void *requests[2 * ranks + 1];
    int count = 0;
    for (int32_t step = 0; step < ranks; ++step) {
      int32_t peer = (rank + step) % ranks;
      braid_rt_view from = scalar(own[rank]);
      if (step == rank) {
        braid_rt_view to = scalar(sums[rank]);
        requests[count++] = braid_rt_all_reduce(&worldGroup, 1, &from, &to,
                                                BRAID_RT_SUM, nullptr, nullptr);
      }
      if (peer == rank)
        continue;
      braid_rt_view to = scalar(received[rank][peer]);
      requests[count++] = braid_rt_send(&worldGroup, 1, &from, peer, nullptr);
      requests[count++] = braid_rt_recv(&worldGroup, 1, &to, peer, nullptr);
    }
    for (int i = 0; i < count; ++i)
      braid_rt_wait(requests[i], nullptr);
  })) << world.error(0);
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(sums[rank], 406);
    for (int peer = 0; peer < ranks; ++peer)
      EXPECT_EQ(received[rank][peer], peer == rank ? 0 : 100 + peer);
  }
}

TEST(PointToPoint, PeersAreCountedWithinTheGroup) {
  Group group("pp", {{2, 0}});
  int64_t value = 42, result = 0;
  World world(3);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_view view = scalar(rank == 2 ? value : result);
    if (rank == 2)
      braid_rt_wait(braid_rt_send(group.get(), 1, &view, 1, nullptr), nullptr);
    if (rank == 0)
      braid_rt_wait(braid_rt_recv(group.get(), 1, &view, 0, nullptr), nullptr);
  })) << world.error(0);
  EXPECT_EQ(result, 42);
}

TEST(PointToPoint, PeerMustBeAnotherMember) {
  int64_t value = 0;
  World world(2);
  for (int64_t peer : {0, 2, -1}) {
    EXPECT_FALSE(world.run([&](int32_t rank) {
      braid_rt_view view = scalar(value);
      if (rank == 0)
        braid_rt_send(&worldGroup, 1, &view, peer, nullptr);
    }));
    EXPECT_THAT(world.error(0),
                HasSubstr(peer ? "is no index of a group of 2 ranks"
                               : "a rank cannot send to itself"));
  }
}

TEST(PointToPoint, SidesThatDisagreeAreBothTold) {
  int64_t values[4] = {};
  World world(2);
  EXPECT_FALSE(world.run([&](int32_t rank) {
    int64_t sizes[] = {rank + 1};
    braid_rt_view view = {values + 2 * rank, sizes, BRAID_RT_I64, 1};
    braid_rt_site site = siteAt(20 + rank);
    braid_rt_wait(rank ? braid_rt_recv(&worldGroup, 1, &view, 0, &site)
                       : braid_rt_send(&worldGroup, 1, &view, 1, &site),
                  &site);
  }));
  for (int32_t rank : {0, 1})
    EXPECT_THAT(world.error(rank),
                AllOf(HasSubstr("disagree in a message"),
                      HasSubstr("rank 0 runs send to 1 tensor<1xi64> at "
                                "prog.mlir:20:3"),
                      HasSubstr("rank 1 runs recv from 0 tensor<2xi64> at "
                                "prog.mlir:21:3")));
}

TEST(PointToPoint, MissingPeerIsNamed) {
  int64_t value = 0;
  World world(2);
  EXPECT_FALSE(world.run([&](int32_t rank) {
    braid_rt_view view = scalar(value);
    if (rank == 0)
      braid_rt_wait(braid_rt_recv(&worldGroup, 1, &view, 1, nullptr), nullptr);
  }));
  EXPECT_THAT(world.error(0),
              AllOf(HasSubstr("rank 1 has ended its program"),
                    HasSubstr("its side of the message of group @world"),
                    HasSubstr("recv from 1 tensor<i64>")));
}
