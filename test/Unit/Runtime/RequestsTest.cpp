//===- RequestsTest.cpp - Starts, waits and bad operands --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bodies that fail are left by longjmp: they hold nothing with a destructor.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Reference.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <atomic>

using namespace braid::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Runs the body on one rank of two (the other does nothing) and returns the
/// error.
static std::string errorOf(const Body &body, int32_t ranks = 2) {
  World world(ranks);
  EXPECT_FALSE(world.run([&](int32_t rank) {
    if (rank == 0)
      body(rank);
  }));
  return world.error(0);
}

TEST(Requests, CoalescedLaunchIsOneRequestAwaitedForEachOperand) {
  std::vector<Buffer> a, b, c, d;
  for (int32_t rank = 0; rank < 2; ++rank) {
    a.emplace_back(BRAID_RT_F32, std::vector<int64_t>{5});
    b.emplace_back(BRAID_RT_I64, std::vector<int64_t>{2, 2});
    a.back().fill(static_cast<uint64_t>(rank));
    b.back().fill(static_cast<uint64_t>(rank) + 7);
    c.emplace_back(BRAID_RT_F32, std::vector<int64_t>{5});
    d.emplace_back(BRAID_RT_I64, std::vector<int64_t>{2, 2});
  }
  World world(2);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_view from[] = {a[rank].view(), b[rank].view()};
    braid_rt_view to[] = {c[rank].view(), d[rank].view()};
    void *request = braid_rt_all_reduce(&worldGroup, 2, from, to, BRAID_RT_MAX,
                                        nullptr, nullptr);
    braid_rt_wait(request, nullptr);
    braid_rt_wait(request, nullptr);
  })) << world.error(0);
  Buffer first = reduceReference(BRAID_RT_MAX, a, {});
  Buffer second = reduceReference(BRAID_RT_MAX, b, {});
  braid_rt_statistics statistics;
  braid_rt_get_statistics(world.context(0), &statistics);
  EXPECT_EQ(statistics.starts, 1);
  EXPECT_EQ(statistics.waits, 2);
  for (int32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(c[rank].data, first.data);
    EXPECT_EQ(d[rank].data, second.data);
  }
}

TEST(Requests, EmptyTensorsAndScalarsAreOperands) {
  World world(3);
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
  })) << world.error(0);
  for (int32_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(*sum[rank].as<float>(), 6.0F);
}

TEST(Requests, ScalarsAreJoinedAndSplitAsOneElementEach) {
  std::vector<std::vector<int32_t>> gathered(3, std::vector<int32_t>(3, -1));
  int32_t own[] = {10, 20, 30}, parts[] = {-1, -1, -1};
  int64_t three[] = {3};
  World world(3);
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
  })) << world.error(0);
  for (int32_t rank = 0; rank < 3; ++rank) {
    EXPECT_THAT(gathered[rank], testing::ElementsAre(10, 20, 30));
    EXPECT_EQ(parts[rank], 30 * (rank + 1));
  }
}

TEST(Requests, BarrierHoldsUntilAllAreThere) {
  std::atomic<int> arrived{0};
  std::atomic<bool> early{false};
  World world(4);
  for (int round = 0; round < 50; ++round) {
    arrived = 0;
    ASSERT_TRUE(world.run([&](int32_t) {
      ++arrived;
      braid_rt_wait(braid_rt_barrier(&worldGroup, nullptr), nullptr);
      if (arrived != 4)
        early = true;
    }));
  }
  EXPECT_FALSE(early);
}

TEST(Requests, ManyInFlightMayBeAwaitedInAnyOrder) {
  constexpr int count = 200;
  std::vector<std::vector<int64_t>> values(3, std::vector<int64_t>(count));
  std::vector<std::vector<int64_t>> sums = values;
  for (int32_t rank = 0; rank < 3; ++rank)
    for (int i = 0; i < count; ++i)
      values[rank][i] = i * (rank + 1);
  World world(3);
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
  })) << world.error(0);
  for (int32_t rank = 0; rank < 3; ++rank)
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(sums[rank][i], 6 * i);
}

TEST(Requests, WaitTooManyIsAnError) {
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_site site = siteAt(4, "b");
                braid_rt_wait(reinterpret_cast<void *>(uintptr_t(0x55)), &site);
              }),
              AllOf(StartsWith("prog.mlir:4:3 (b): rank 0: "),
                    HasSubstr("awaited already")));
  World world(2);
  EXPECT_FALSE(world.run([](int32_t) {
    void *request = braid_rt_barrier(&worldGroup, nullptr);
    braid_rt_wait(request, nullptr);
    braid_rt_wait(request, nullptr);
  }));
  EXPECT_THAT(world.error(0), HasSubstr("awaited already"));
}

TEST(Requests, EndWithoutAWaitIsAnError) {
  World world(1);
  EXPECT_FALSE(world.run([](int32_t) {
    braid_rt_site site = siteAt(8, "bar");
    braid_rt_barrier(&worldGroup, &site);
  }));
  EXPECT_EQ(world.error(0), "prog.mlir:8:3 (bar): rank 0: the program ended "
                            "without waiting for barrier on @world");
}

TEST(Requests, GroupsHaveRanksAndSizes) {
  Group pairs("pairs", {{3, 1}, {0, 2}}), lone("lone", {{2}}),
      uneven("uneven", {{2}, {0, 1}});
  int64_t rankOf[4], sizeOf[4], lonely[4], unevenSize[4], world4[4];
  World world(4);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    rankOf[rank] = braid_rt_rank(pairs.get(), nullptr);
    sizeOf[rank] = braid_rt_size(pairs.get(), nullptr);
    lonely[rank] = braid_rt_rank(lone.get(), nullptr) * 10 +
                   braid_rt_size(lone.get(), nullptr);
    unevenSize[rank] = braid_rt_size(uneven.get(), nullptr);
    world4[rank] = braid_rt_rank(&worldGroup, nullptr) * 10 +
                   braid_rt_size(&worldGroup, nullptr);
  }));
  EXPECT_THAT(rankOf, testing::ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(sizeOf, testing::ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(lonely, testing::ElementsAre(-9, -9, 1, -9));
  EXPECT_THAT(unevenSize, testing::ElementsAre(2, 2, 1, 0));
  EXPECT_THAT(world4, testing::ElementsAre(4, 14, 24, 34));
}

TEST(Requests, SubgroupsReduceByThemselvesInTheOrderOfTheirLists) {
  // Floats whose sum depends on the order: (1e8 + -1e8) + 1 is not
  // 1e8 + (-1e8 + 1).
  Group groups("tp", {{3, 1, 0}, {2}});
  float values[] = {1.0F, -1e8F, 5.0F, 1e8F}, sums[4] = {};
  World world(4);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_view from = {&values[rank], nullptr, BRAID_RT_F32, 0};
    braid_rt_view to = {&sums[rank], nullptr, BRAID_RT_F32, 0};
    braid_rt_wait(braid_rt_all_reduce(groups.get(), 1, &from, &to, BRAID_RT_SUM,
                                      nullptr, nullptr),
                  nullptr);
  }));
  EXPECT_THAT(sums, testing::ElementsAre(1.0F, 1.0F, 5.0F, 1.0F));
}

TEST(Requests, EqualGroupsOfDifferentAddressAreOneCommunicator) {
  std::vector<Group> copies;
  for (int32_t rank = 0; rank < 2; ++rank)
    copies.emplace_back(Group("g", {{0, 1}}));
  // Moving a vector keeps its memory, so the descriptors stay valid.
  World world(2);
  EXPECT_TRUE(world.run([&](int32_t rank) {
    braid_rt_wait(braid_rt_barrier(copies[rank].get(), nullptr), nullptr);
  })) << world.error(0);
}

TEST(Requests, RankOutsideTheGroupMayNotRunItsCollectives) {
  static Group group("tp", {{1}});
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_site site = siteAt(5);
                braid_rt_barrier(group.get(), &site);
              }),
              AllOf(StartsWith("prog.mlir:5:3: rank 0: "),
                    HasSubstr("in no list of group @tp"),
                    HasSubstr("barrier")));
}

TEST(Requests, GroupWithUnknownOrRepeatedRanksIsAnError) {
  static Group big("big", {{0, 7}}), twice("twice", {{0, 1}, {1}});
  EXPECT_THAT(errorOf([](int32_t) { braid_rt_rank(big.get(), nullptr); }),
              HasSubstr("group @big names rank 7, but the program runs on 2 "
                        "ranks"));
  EXPECT_THAT(errorOf([](int32_t) { braid_rt_size(twice.get(), nullptr); }),
              HasSubstr("group @twice has rank 1 twice"));
}

//===----------------------------------------------------------------------===//
// Operands that do not fit
//===----------------------------------------------------------------------===//

static float memory[1024];

/// A view of the static memory.
static braid_rt_view viewOf(const int64_t *sizes, int32_t rank,
                            int32_t dtype = BRAID_RT_F32, int offset = 0) {
  return {memory + offset, sizes, dtype, rank};
}

static constexpr int64_t four[] = {4}, five[] = {5}, eight[] = {8};

TEST(BadOperands, AreRefusedWithWhatWasFoundAndExpected) {
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(four, 1), b = viewOf(five, 1);
                braid_rt_all_reduce(&worldGroup, 1, &a, &b, BRAID_RT_SUM,
                                    nullptr, nullptr);
              }),
              HasSubstr("the result is tensor<5xf32>, expected tensor<4xf32>"));
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(four, 1), b = viewOf(five, 1);
                braid_rt_all_gather(&worldGroup, 1, &a, &b, 0, nullptr);
              }),
              HasSubstr("the result is tensor<5xf32>, expected tensor<8xf32>"));
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(four, 1), b = viewOf(eight, 1);
                braid_rt_all_gather(&worldGroup, 1, &a, &b, 1, nullptr);
              }),
              HasSubstr("dim 1 is out of range for tensor<4xf32>"));
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(five, 1), b = viewOf(four, 1);
                braid_rt_reduce_scatter(&worldGroup, 1, &a, &b, BRAID_RT_SUM,
                                        nullptr, 0, nullptr);
              }),
              HasSubstr("size 5 of dimension 0 cannot be divided among 2"));
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(four, 1);
                braid_rt_view b = viewOf(four, 1, BRAID_RT_I32, 64);
                braid_rt_all_reduce(&worldGroup, 1, &a, &b, BRAID_RT_SUM,
                                    nullptr, nullptr);
              }),
              HasSubstr("the operand is tensor<4xf32>, the result "
                        "tensor<4xi32>"));
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(four, 1);
                braid_rt_broadcast(&worldGroup, 1, &a, &a, 2, nullptr);
              }),
              HasSubstr("root 2 is no index of a group of 2 ranks"));
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(four, 1, 77);
                braid_rt_broadcast(&worldGroup, 1, &a, &a, 0, nullptr);
              }),
              HasSubstr("77 is no element type"));
}

TEST(BadOperands, ReductionMustBeDefinedForTheType) {
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(four, 1);
                braid_rt_all_reduce(&worldGroup, 1, &a, &a, BRAID_RT_BAND,
                                    nullptr, nullptr);
              }),
              HasSubstr("band is not defined for f32"));
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(four, 1, BRAID_RT_COMPLEX_F32);
                braid_rt_all_reduce(&worldGroup, 1, &a, &a, BRAID_RT_MAX,
                                    nullptr, nullptr);
              }),
              HasSubstr("max is not defined for complex<f32>"));
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(four, 1);
                braid_rt_all_reduce(&worldGroup, 1, &a, &a, 42, nullptr,
                                    nullptr);
              }),
              HasSubstr("42 is no reduction"));
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(four, 1);
                braid_rt_all_reduce(&worldGroup, 1, &a, &a, BRAID_RT_PREMUL_SUM,
                                    nullptr, nullptr);
              }),
              HasSubstr("premul_sum has no scale"));
}

TEST(BadOperands, OverlappingBuffersAreRefused) {
  EXPECT_THAT(errorOf([](int32_t) {
                braid_rt_view a = viewOf(four, 1);
                braid_rt_view b = viewOf(four, 1, BRAID_RT_F32, 2);
                braid_rt_all_reduce(&worldGroup, 1, &a, &b, BRAID_RT_SUM,
                                    nullptr, nullptr);
              }),
              HasSubstr("the source and the destination overlap"));
}

TEST(BadOperands, OwnSliceOfTheResultMayBeTheSource) {
  std::vector<std::vector<float>> whole(2, std::vector<float>(8, -1.0F));
  for (int32_t rank = 0; rank < 2; ++rank)
    for (int i = 0; i < 4; ++i)
      whole[rank][rank * 4 + i] = static_cast<float>(rank * 4 + i);
  World world(2);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_view from = {whole[rank].data() + rank * 4, four, BRAID_RT_F32, 1};
    braid_rt_view to = {whole[rank].data(), eight, BRAID_RT_F32, 1};
    braid_rt_wait(braid_rt_all_gather(&worldGroup, 1, &from, &to, 0, nullptr),
                  nullptr);
  })) << world.error(0);
  for (int32_t rank = 0; rank < 2; ++rank)
    EXPECT_THAT(whole[rank], testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(BadOperands, SplitsMustAddUp) {
  EXPECT_THAT(errorOf([](int32_t) {
                int64_t in[] = {1, 2}, out[] = {2, 2};
                braid_rt_view a = viewOf(four, 1);
                braid_rt_view b = viewOf(four, 1, BRAID_RT_F32, 64);
                braid_rt_all_to_all_splits(&worldGroup, 1, &a, &b, 2, in, out,
                                           nullptr);
              }),
              HasSubstr("this rank's splits add up to 3, expected 4"));
  EXPECT_THAT(errorOf([](int32_t) {
                int64_t in[] = {1, 2, 1};
                braid_rt_view a = viewOf(four, 1);
                braid_rt_view b = viewOf(four, 1, BRAID_RT_F32, 64);
                braid_rt_all_to_all_splits(&worldGroup, 1, &a, &b, 3, in, in,
                                           nullptr);
              }),
              HasSubstr("3 splits, expected one for each of the 2 ranks"));
  EXPECT_THAT(errorOf([](int32_t) {
                int64_t in[] = {-1, 5};
                braid_rt_view a = viewOf(four, 1);
                braid_rt_view b = viewOf(four, 1, BRAID_RT_F32, 64);
                braid_rt_all_to_all_splits(&worldGroup, 1, &a, &b, 2, in, in,
                                           nullptr);
              }),
              HasSubstr("split -1 is negative"));
}

TEST(BadOperands, PairsOfAPermuteAreDistinctMembers) {
  EXPECT_THAT(errorOf([](int32_t) {
                int64_t pairs[] = {0, 1, 0, 0};
                braid_rt_view a = viewOf(four, 1);
                braid_rt_permute(&worldGroup, 1, &a, &a, 2, pairs, nullptr);
              }),
              HasSubstr("0 is twice a source"));
  EXPECT_THAT(errorOf([](int32_t) {
                int64_t pairs[] = {0, 2};
                braid_rt_view a = viewOf(four, 1);
                braid_rt_permute(&worldGroup, 1, &a, &a, 1, pairs, nullptr);
              }),
              HasSubstr("2 is no index of a group of 2 ranks"));
}
