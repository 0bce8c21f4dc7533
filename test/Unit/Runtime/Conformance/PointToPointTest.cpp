//===- PointToPointTest.cpp - Messages between two ranks --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Harness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid::test;
using testing::AllOf;
using testing::HasSubstr;

static braid_rt_view scalar(int64_t &value) {
  return {&value, nullptr, BRAID_RT_I64, 0};
}

TEST(PointToPoint, MessagesOfAPairArriveInOrder) {
  BRAID_NEEDS_SHARED_WORLD(2);
  constexpr int count = 50;
  std::vector<int64_t> sent(count), received(count, -1);
  for (int i = 0; i < count; ++i)
    sent[i] = i * i;
  World &world = sharedWorld(2);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    void *requests[count];
    for (int i = 0; i < count; ++i) {
      braid_rt_view view = scalar(rank ? received[i] : sent[i]);
      requests[i] = rank ? braid_rt_recv(&worldGroup, 1, &view, 0, nullptr)
                         : braid_rt_send(&worldGroup, 1, &view, 1, nullptr);
    }
    for (void *request : requests)
      braid_rt_wait(request, nullptr);
  })) << world.errors();
  if (world.isLocal(1))
    EXPECT_EQ(received, sent);
}

TEST(PointToPoint, ExchangeDoesNotBlockItself) {
  BRAID_NEEDS_SHARED_WORLD(2);
  int64_t own[] = {10, 11}, other[] = {0, 0};
  World &world = sharedWorld(2);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_view from = scalar(own[rank]), to = scalar(other[rank]);
    void *send = braid_rt_send(&worldGroup, 1, &from, 1 - rank, nullptr);
    void *receive = braid_rt_recv(&worldGroup, 1, &to, 1 - rank, nullptr);
    braid_rt_wait(send, nullptr);
    braid_rt_wait(receive, nullptr);
  })) << world.errors();
  for (int32_t rank : world.localRanks())
    EXPECT_EQ(other[rank], own[1 - rank]);
}

TEST(PointToPoint, SendThatIsAwaitedBeforeTheReceiveIsAnErrorNotAHang) {
  BRAID_NEEDS_OWN_WORLD(2);
  int64_t own[] = {10, 11}, other[] = {0, 0};
  World world(2);
  world.run([&](int32_t rank) {
    braid_rt_view from = scalar(own[rank]), to = scalar(other[rank]);
    braid_rt_wait(braid_rt_send(&worldGroup, 1, &from, 1 - rank, nullptr),
                  nullptr);
    braid_rt_wait(braid_rt_recv(&worldGroup, 1, &to, 1 - rank, nullptr),
                  nullptr);
  });
  // NCCL ends the sends of small messages alone, and the receives hang.
  if (!world.has("host-memory") &&
      world.errors().find("timed out") != std::string::npos)
    GTEST_SKIP() << "NCCL has ended the sends";
  for (int32_t rank : world.localRanks())
    EXPECT_THAT(world.error(rank), AllOf(HasSubstr("every rank waits"),
                                         HasSubstr("rank 0 for send to 1"),
                                         HasSubstr("rank 1 for send to 0")));
}

TEST(PointToPoint, PairsDoNotDisturbEachOtherAndCollectivesHaveTheirOwnLane) {
  BRAID_NEEDS_SHARED_WORLD(4);
  // Everyone sends its rank to everyone, with an all-reduce in between that is
  // started at different places on different ranks.
  constexpr int ranks = 4;
  int64_t own[ranks], sums[ranks] = {}, received[ranks][ranks] = {};
  World &world = sharedWorld(ranks);
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
  })) << world.errors();
  for (int32_t rank : world.localRanks()) {
    EXPECT_EQ(sums[rank], 406);
    for (int peer = 0; peer < ranks; ++peer)
      EXPECT_EQ(received[rank][peer], peer == rank ? 0 : 100 + peer);
  }
}

TEST(PointToPoint, MessagesOfTwoGroupsDoNotMix) {
  // Rank 1 receives in the other order of groups than rank 0 sends.
  if (engineName() == "cuda")
    GTEST_SKIP() << "NCCL wants one order of all communicators' operations";
  BRAID_NEEDS_SHARED_WORLD(2);
  Group a("lane_a", {{0, 1}}), b("lane_b", {{0, 1}});
  int64_t sent[] = {1, 2, 3, 4}, received[4] = {};
  World &world = sharedWorld(2);
  ASSERT_TRUE(world.run(
      [&](int32_t rank) {
        void *requests[4];
        for (int i = 0; i < 4; ++i) {
          const braid_rt_group *group = (i + rank) % 2 ? b.get() : a.get();
          int place = rank ? i ^ 1 : i;
          braid_rt_view view = scalar(rank ? received[place] : sent[place]);
          requests[i] = rank ? braid_rt_recv(group, 1, &view, 0, nullptr)
                             : braid_rt_send(group, 1, &view, 1, nullptr);
        }
        for (void *request : requests)
          braid_rt_wait(request, nullptr);
      },
      {a.get(), b.get()}))
      << world.errors();
  if (world.isLocal(1))
    EXPECT_THAT(received, testing::ElementsAre(1, 2, 3, 4));
}

TEST(PointToPoint, MessagesOfDifferentTypesAndSizesKeepTheirOrder) {
  // Large ones do not overtake small ones, nor small ones large ones.
  BRAID_NEEDS_SHARED_WORLD(2);
  std::vector<Buffer> sent, received;
  for (int i = 0; i < 12; ++i) {
    int32_t dtype = i % 2 ? BRAID_RT_F64 : BRAID_RT_I8;
    int64_t size = i % 3 == 0 ? 0 : i % 3 == 1 ? 3 : 300000;
    sent.emplace_back(dtype, std::vector<int64_t>{size});
    sent.back().fill(static_cast<uint64_t>(i));
    received.emplace_back(dtype, std::vector<int64_t>{size});
  }
  World &world = sharedWorld(2);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    void *requests[12];
    for (int i = 0; i < 12; ++i) {
      braid_rt_view view = (rank ? received : sent)[i].view();
      requests[i] = rank ? braid_rt_recv(&worldGroup, 1, &view, 0, nullptr)
                         : braid_rt_send(&worldGroup, 1, &view, 1, nullptr);
    }
    for (int i = 12; i-- > 0;)
      braid_rt_wait(requests[i], nullptr);
  })) << world.errors();
  for (int i = 0; world.isLocal(1) && i < 12; ++i)
    EXPECT_TRUE(received[i].data == sent[i].data) << "message " << i;
}

TEST(PointToPoint, PeersAreCountedWithinTheGroup) {
  BRAID_NEEDS_SHARED_WORLD(3);
  Group group("pp", {{2, 0}});
  int64_t value = 42, result = 0;
  World &world = sharedWorld(3);
  ASSERT_TRUE(world.run(
      [&](int32_t rank) {
        braid_rt_view view = scalar(rank == 2 ? value : result);
        if (rank == 2)
          braid_rt_wait(braid_rt_send(group.get(), 1, &view, 1, nullptr),
                        nullptr);
        if (rank == 0)
          braid_rt_wait(braid_rt_recv(group.get(), 1, &view, 0, nullptr),
                        nullptr);
      },
      {group.get()}))
      << world.errors();
  if (world.isLocal(0))
    EXPECT_EQ(result, 42);
}

namespace {
/// A peer that no rank can have; rank 0 names it.
class BadPeerTest : public testing::TestWithParam<int64_t> {};
} // namespace

TEST_P(BadPeerTest, IsRefused) {
  BRAID_NEEDS_OWN_WORLD(2);
  int64_t value = 0;
  World world(2);
  world.run([&](int32_t rank) {
    braid_rt_view view = scalar(value);
    if (rank == 0)
      braid_rt_send(&worldGroup, 1, &view, GetParam(), nullptr);
  });
  if (world.isLocal(0))
    EXPECT_THAT(world.error(0),
                HasSubstr(GetParam() ? "is no index of a group of 2 ranks"
                                     : "a rank cannot send to itself"));
  if (world.isLocal(1))
    EXPECT_EQ(world.error(1), "");
}

INSTANTIATE_TEST_SUITE_P(All, BadPeerTest, testing::Values(0, 2, -1),
                         [](const testing::TestParamInfo<int64_t> &info) {
                           return info.param < 0
                                      ? "Negative"
                                      : "Index" + std::to_string(info.param);
                         });

TEST(PointToPoint, SidesThatDisagreeAreBothTold) {
  BRAID_NEEDS_OWN_WORLD(2);
  int64_t values[4] = {};
  World world(2);
  world.run([&](int32_t rank) {
    int64_t sizes[] = {rank + 1};
    braid_rt_view view = {values + 2 * rank, sizes, BRAID_RT_I64, 1};
    braid_rt_site site = siteAt(20 + rank);
    braid_rt_wait(rank ? braid_rt_recv(&worldGroup, 1, &view, 0, &site)
                       : braid_rt_send(&worldGroup, 1, &view, 1, &site),
                  &site);
  });
  for (int32_t rank : world.localRanks())
    EXPECT_THAT(world.error(rank),
                AllOf(HasSubstr("disagree in a message"),
                      HasSubstr("rank 0 runs send to 1 tensor<1xi64> at "
                                "prog.mlir:20:3"),
                      HasSubstr("rank 1 runs recv from 0 tensor<2xi64> at "
                                "prog.mlir:21:3")));
}

TEST(PointToPoint, MissingPeerIsNamed) {
  BRAID_NEEDS_OWN_WORLD(2);
  int64_t value = 0;
  World world(2);
  world.run([&](int32_t rank) {
    braid_rt_view view = scalar(value);
    if (rank == 0)
      braid_rt_wait(braid_rt_recv(&worldGroup, 1, &view, 1, nullptr), nullptr);
  });
  if (world.isLocal(0))
    EXPECT_THAT(world.error(0),
                AllOf(HasSubstr("rank 1 has ended its program"),
                      HasSubstr("its side of the message of group @world"),
                      HasSubstr("recv from 1 tensor<i64>")));
  if (world.isLocal(1))
    EXPECT_EQ(world.error(1), "");
}
