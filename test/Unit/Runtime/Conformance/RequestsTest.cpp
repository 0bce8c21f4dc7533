//===- RequestsTest.cpp - Starts, waits and groups --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Harness.h"
#include "../Reference.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace braid::test;

TEST(Requests, CoalescedLaunchIsOneRequestAwaitedForEachOperand) {
  BRAID_NEEDS_SHARED_WORLD(2);
  std::vector<Buffer> a, b, c, d;
  for (int32_t rank = 0; rank < 2; ++rank) {
    a.emplace_back(BRAID_RT_F32, std::vector<int64_t>{5});
    b.emplace_back(BRAID_RT_I64, std::vector<int64_t>{2, 2});
    a.back().fill(static_cast<uint64_t>(rank));
    b.back().fill(static_cast<uint64_t>(rank) + 7);
    c.emplace_back(BRAID_RT_F32, std::vector<int64_t>{5});
    d.emplace_back(BRAID_RT_I64, std::vector<int64_t>{2, 2});
  }
  World &world = sharedWorld(2);
  for (int32_t rank : world.localRanks())
    braid_rt_reset_statistics(world.context(rank));
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_view from[] = {a[rank].view(), b[rank].view()};
    braid_rt_view to[] = {c[rank].view(), d[rank].view()};
    void *request = braid_rt_all_reduce(&worldGroup, 2, from, to, BRAID_RT_MAX,
                                        nullptr, nullptr);
    braid_rt_wait(request, nullptr);
    braid_rt_wait(request, nullptr);
  })) << world.errors();
  Buffer first = reduceReference(BRAID_RT_MAX, a, {});
  Buffer second = reduceReference(BRAID_RT_MAX, b, {});
  for (int32_t rank : world.localRanks()) {
    braid_rt_statistics statistics;
    braid_rt_get_statistics(world.context(rank), &statistics);
    EXPECT_EQ(statistics.starts, 1);
    EXPECT_EQ(statistics.waits, 2);
    EXPECT_EQ(c[rank].data, first.data);
    EXPECT_EQ(d[rank].data, second.data);
  }
}

TEST(Requests, EmptyTensorsAndScalarsAreOperands) {
  BRAID_NEEDS_SHARED_WORLD(3);
  World &world = sharedWorld(3);
  std::vector<Buffer> scalar, sum, gathered;
  for (int32_t rank = 0; rank < 3; ++rank) {
    scalar.emplace_back(BRAID_RT_F32, std::vector<int64_t>{});
    *scalar.back().as<float>() = static_cast<float>(rank + 1);
    sum.emplace_back(BRAID_RT_F32, std::vector<int64_t>{});
  }
  ASSERT_TRUE(world.run([&](int32_t rank) {
    int64_t none[] = {0, 4}, stillNone[] = {0, 12};
    braid_rt_view empty = {nullptr, none, BRAID_RT_F32, 2};
    braid_rt_view wide = {nullptr, stillNone, BRAID_RT_F32, 2};
    braid_rt_view from = scalar[rank].view(), to = sum[rank].view();
    void *a = braid_rt_all_reduce(&worldGroup, 1, &from, &to, BRAID_RT_SUM,
                                  nullptr, nullptr);
    void *b = braid_rt_all_gather(&worldGroup, 1, &empty, &wide, 1, nullptr);
    void *c = braid_rt_all_to_all(&worldGroup, 1, &empty, &empty, nullptr);
    void *d = braid_rt_all_reduce(&worldGroup, 0, nullptr, nullptr,
                                  BRAID_RT_SUM, nullptr, nullptr);
    for (void *request : {d, c, b, a})
      braid_rt_wait(request, nullptr);
  })) << world.errors();
  for (int32_t rank : world.localRanks())
    EXPECT_EQ(*sum[rank].as<float>(), 6.0F);
}

TEST(Requests, ScalarsAreJoinedAndSplitAsOneElementEach) {
  BRAID_NEEDS_SHARED_WORLD(3);
  std::vector<std::vector<int32_t>> gathered(3, std::vector<int32_t>(3, -1));
  int32_t own[] = {10, 20, 30}, parts[] = {-1, -1, -1};
  int64_t three[] = {3};
  World &world = sharedWorld(3);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_view scalar = {&own[rank], nullptr, BRAID_RT_I32, 0};
    braid_rt_view whole = {gathered[rank].data(), three, BRAID_RT_I32, 1};
    braid_rt_view part = {&parts[rank], nullptr, BRAID_RT_I32, 0};
    braid_rt_wait(
        braid_rt_all_gather(&worldGroup, 1, &scalar, &whole, 0, nullptr),
        nullptr);
    braid_rt_wait(braid_rt_reduce_scatter(&worldGroup, 1, &whole, &part,
                                          BRAID_RT_SUM, nullptr, 0, nullptr),
                  nullptr);
  })) << world.errors();
  for (int32_t rank : world.localRanks()) {
    EXPECT_THAT(gathered[rank], testing::ElementsAre(10, 20, 30));
    EXPECT_EQ(parts[rank], 30 * (rank + 1));
  }
}

TEST(Requests, BarrierHoldsUntilAllAreThere) {
  // All processes of a host have one monotonic clock.
  BRAID_NEEDS_SHARED_WORLD(4);
  auto now = [] {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  };
  World &world = sharedWorld(4);
  for (int round = 0; round < 50; ++round) {
    std::vector<int64_t> arrived(4), left(4);
    ASSERT_TRUE(world.run([&](int32_t rank) {
      if (rank == round % 4)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      arrived[rank] = now();
      braid_rt_wait(braid_rt_barrier(&worldGroup, nullptr), nullptr);
      left[rank] = now();
    })) << world.errors();
    arrived = world.collect(arrived);
    left = world.collect(left);
    EXPECT_LE(*std::max_element(arrived.begin(), arrived.end()),
              *std::min_element(left.begin(), left.end()));
  }
}

TEST(Requests, ManyInFlightMayBeAwaitedInAnyOrder) {
  BRAID_NEEDS_SHARED_WORLD(3);
  constexpr int count = 200;
  std::vector<std::vector<int64_t>> values(3, std::vector<int64_t>(count));
  std::vector<std::vector<int64_t>> sums = values;
  for (int32_t rank = 0; rank < 3; ++rank)
    for (int i = 0; i < count; ++i)
      values[rank][i] = i * (rank + 1);
  World &world = sharedWorld(3);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    void *requests[count];
    for (int i = 0; i < count; ++i) {
      braid_rt_view from = {&values[rank][i], nullptr, BRAID_RT_I64, 0};
      braid_rt_view to = {&sums[rank][i], nullptr, BRAID_RT_I64, 0};
      requests[i] = braid_rt_all_reduce(&worldGroup, 1, &from, &to,
                                        BRAID_RT_SUM, nullptr, nullptr);
    }
    // Another order on every rank.
    for (int i = 0; i < count; ++i)
      braid_rt_wait(requests[(i * 7 + rank * 31) % count], nullptr);
  })) << world.errors();
  for (int32_t rank : world.localRanks())
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(sums[rank][i], 6 * i);
}

TEST(Requests, GroupsHaveRanksAndSizes) {
  BRAID_NEEDS_SHARED_WORLD(4);
  Group pairs("pairs", {{3, 1}, {0, 2}}), lone("lone", {{2}}),
      uneven("uneven", {{2}, {0, 1}});
  int64_t rankOf[4], sizeOf[4], lonely[4], unevenSize[4], world4[4];
  World &world = sharedWorld(4);
  ASSERT_TRUE(world.run(
      [&](int32_t rank) {
        rankOf[rank] = braid_rt_rank(pairs.get(), nullptr);
        sizeOf[rank] = braid_rt_size(pairs.get(), nullptr);
        lonely[rank] = braid_rt_rank(lone.get(), nullptr) * 10 +
                       braid_rt_size(lone.get(), nullptr);
        unevenSize[rank] = braid_rt_size(uneven.get(), nullptr);
        world4[rank] = braid_rt_rank(&worldGroup, nullptr) * 10 +
                       braid_rt_size(&worldGroup, nullptr);
      },
      {pairs.get(), lone.get(), uneven.get()}));
  const int64_t ranks[] = {0, 1, 1, 0}, lonelies[] = {-9, -9, 1, -9},
                unevenSizes[] = {2, 2, 1, 0};
  for (int32_t rank : world.localRanks()) {
    EXPECT_EQ(rankOf[rank], ranks[rank]);
    EXPECT_EQ(sizeOf[rank], 2);
    EXPECT_EQ(lonely[rank], lonelies[rank]);
    EXPECT_EQ(unevenSize[rank], unevenSizes[rank]);
    EXPECT_EQ(world4[rank], 10 * rank + 4);
  }
}

TEST(Requests, SubgroupsReduceByThemselvesInTheOrderOfTheirLists) {
  BRAID_NEEDS_SHARED_WORLD(4);
  BRAID_NEEDS(whyNoOrder());
  // Floats whose sum depends on the order: (1e8 + -1e8) + 1 is not
  // 1e8 + (-1e8 + 1).
  Group groups("tp", {{3, 1, 0}, {2}});
  float values[] = {1.0F, -1e8F, 5.0F, 1e8F}, sums[4] = {};
  World &world = sharedWorld(4);
  ASSERT_TRUE(world.run(
      [&](int32_t rank) {
        braid_rt_view from = {&values[rank], nullptr, BRAID_RT_F32, 0};
        braid_rt_view to = {&sums[rank], nullptr, BRAID_RT_F32, 0};
        braid_rt_wait(braid_rt_all_reduce(groups.get(), 1, &from, &to,
                                          BRAID_RT_SUM, nullptr, nullptr),
                      nullptr);
      },
      {groups.get()}));
  for (int32_t rank : world.localRanks())
    EXPECT_EQ(sums[rank], rank == 2 ? 5.0F : 1.0F);
}

TEST(Requests, EqualGroupsOfDifferentAddressAreOneCommunicator) {
  BRAID_NEEDS_SHARED_WORLD(2);
  std::vector<Group> copies;
  for (int32_t rank = 0; rank < 2; ++rank)
    copies.emplace_back(Group("g", {{0, 1}}));
  // Moving a vector keeps its memory, so the descriptors stay valid.
  World &world = sharedWorld(2);
  EXPECT_TRUE(world.run(
      [&](int32_t rank) {
        braid_rt_wait(braid_rt_barrier(copies[rank].get(), nullptr), nullptr);
      },
      {copies[0].get()}))
      << world.errors();
}

TEST(Requests, GroupsThatWereNotAnnouncedAreMadeOnFirstUse) {
  BRAID_NEEDS_SHARED_WORLD(3);
  Group group("unannounced", {{2, 0}, {1}});
  int64_t values[] = {1, 10, 100}, sums[3] = {};
  World &world = sharedWorld(3);
  ASSERT_TRUE(world.runUnannounced([&](int32_t rank) {
    braid_rt_view from = {&values[rank], nullptr, BRAID_RT_I64, 0};
    braid_rt_view to = {&sums[rank], nullptr, BRAID_RT_I64, 0};
    braid_rt_wait(braid_rt_all_reduce(group.get(), 1, &from, &to, BRAID_RT_SUM,
                                      nullptr, nullptr),
                  nullptr);
  })) << world.errors();
  for (int32_t rank : world.localRanks())
    EXPECT_EQ(sums[rank], rank == 1 ? 10 : 101);
}
