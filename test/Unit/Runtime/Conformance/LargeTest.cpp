//===- LargeTest.cpp - Collectives that are cut into many pieces ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Harness.h"
#include "../Reference.h"

#include "gtest/gtest.h"

#include <chrono>
#include <cstdlib>
#include <thread>

using namespace braid::test;

static std::vector<Buffer> makeBuffers(int32_t ranks, int32_t dtype,
                                       const std::vector<int64_t> &sizes,
                                       bool filled) {
  std::vector<Buffer> buffers;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    buffers.emplace_back(dtype, sizes);
    if (filled)
      buffers.back().fill(static_cast<uint64_t>(rank) + 1);
  }
  return buffers;
}

namespace {
class LargeTest : public testing::TestWithParam<int32_t> {};
} // namespace

TEST_P(LargeTest, AllReduceOfManyUnitsInAndOutOfPlace) {
  const int32_t ranks = GetParam();
  BRAID_NEEDS_SHARED_WORLD(ranks);
  for (int32_t dtype : {BRAID_RT_F32, BRAID_RT_BF16, BRAID_RT_COMPLEX_F64}) {
    std::vector<Buffer> sources = makeBuffers(ranks, dtype, {123457}, true);
    std::vector<Buffer> results = makeBuffers(ranks, dtype, {123457}, false);
    Buffer expected = reduceReference(BRAID_RT_AVG, sources, {});
    World &world = sharedWorld(ranks);
    for (bool inPlace : {false, true}) {
      ASSERT_TRUE(world.run([&](int32_t rank) {
        braid_rt_view from = sources[rank].view();
        braid_rt_view to = inPlace ? from : results[rank].view();
        braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &from, &to,
                                          BRAID_RT_AVG, nullptr, nullptr),
                      nullptr);
      }));
      for (int32_t rank : world.localRanks())
        EXPECT_TRUE(
            isReduced((inPlace ? sources : results)[rank], expected, ranks));
    }
  }
}

TEST(Large, StreamedResultsAreWhole) {
  BRAID_NEEDS_SHARED_WORLD(2);
  // Beyond the size from which results bypass the caches.
  constexpr int64_t count = (int64_t(12) << 20) / 4 + 13;
  std::vector<Buffer> sources = makeBuffers(2, BRAID_RT_I32, {count}, true);
  std::vector<Buffer> results = makeBuffers(2, BRAID_RT_I32, {count}, false);
  World &world = sharedWorld(2);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_view from = sources[rank].view(), to = results[rank].view();
    braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &from, &to, BRAID_RT_SUM,
                                      nullptr, nullptr),
                  nullptr);
  }));
  int64_t wrong = 0;
  for (int64_t i = 0; i < count; ++i)
    for (int32_t rank : world.localRanks())
      wrong += results[rank].as<int32_t>()[i] !=
               sources[0].as<int32_t>()[i] + sources[1].as<int32_t>()[i];
  EXPECT_EQ(wrong, 0);
}

TEST(Large, ReduceScatterAndAllGatherAlongEachDimension) {
  BRAID_NEEDS_SHARED_WORLD(3);
  for (int64_t dim : {0, 1, 2}) {
    if (!whyNoDimension(dim).empty())
      continue;
    std::vector<int64_t> whole = {30, 60, 90};
    std::vector<Buffer> sources = makeBuffers(3, BRAID_RT_F32, whole, true);
    std::vector<int64_t> part = whole;
    part[dim] /= 3;
    std::vector<Buffer> parts = makeBuffers(3, BRAID_RT_F32, part, false);
    std::vector<Buffer> gathered = makeBuffers(3, BRAID_RT_F32, whole, false);
    World &world = sharedWorld(3);
    ASSERT_TRUE(world.run([&](int32_t rank) {
      braid_rt_view from = sources[rank].view(), mine = parts[rank].view(),
                    all = gathered[rank].view();
      braid_rt_wait(braid_rt_reduce_scatter(&worldGroup, 1, &from, &mine,
                                            BRAID_RT_SUM, nullptr, dim,
                                            nullptr),
                    nullptr);
      braid_rt_wait(
          braid_rt_all_gather(&worldGroup, 1, &mine, &all, dim, nullptr),
          nullptr);
    }));
    Buffer expected = reduceReference(BRAID_RT_SUM, sources, {});
    for (int32_t rank : world.localRanks())
      EXPECT_TRUE(isReduced(gathered[rank], expected, 3)) << dim;
  }
}

TEST(Large, AllToAllAndPermuteInPlace) {
  BRAID_NEEDS_SHARED_WORLD(3);
  std::vector<Buffer> sources = makeBuffers(3, BRAID_RT_I16, {99, 999}, true);
  std::vector<Buffer> buffers = sources;
  int64_t ring[] = {0, 1, 1, 2, 2, 0};
  World &world = sharedWorld(3);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_view view = buffers[rank].view();
    braid_rt_wait(braid_rt_all_to_all(&worldGroup, 1, &view, &view, nullptr),
                  nullptr);
    braid_rt_wait(
        braid_rt_permute(&worldGroup, 1, &view, &view, 3, ring, nullptr),
        nullptr);
  }));
  for (int32_t rank : world.localRanks()) {
    std::vector<Buffer> parts;
    for (const Buffer &source : sources)
      parts.push_back(slice(source, 0, (rank + 2) % 3, 3));
    EXPECT_TRUE(buffers[rank].data == concatenate(parts, 0).data);
  }
}

TEST(Large, CollectiveAdvancesWhileTheRanksCompute) {
  BRAID_NEEDS_OWN_WORLD(2);
  if (engineName() == "cuda")
    GTEST_SKIP() << "the trace of engine cuda shows the host's times";
  // Nobody waits while the ranks are busy: only the progress threads can move
  // the data. How long they need depends on the machine; try longer and longer.
  std::vector<Buffer> sources = makeBuffers(2, BRAID_RT_F32, {1 << 20}, true);
  std::vector<Buffer> results = makeBuffers(2, BRAID_RT_F32, {1 << 20}, false);
  Buffer expected = reduceReference(BRAID_RT_SUM, sources, {});
  World world(2, [](braid_rt_config &config) { config.trace = 1; });
  bool advanced = false;
  for (int busyMs = 10; busyMs < 6000 && !advanced; busyMs *= 2) {
    ASSERT_TRUE(world.run([&](int32_t rank) {
      braid_rt_view from = sources[rank].view(), to = results[rank].view();
      void *request = braid_rt_all_reduce(&worldGroup, 1, &from, &to,
                                          BRAID_RT_SUM, nullptr, nullptr);
      std::this_thread::sleep_for(std::chrono::milliseconds(busyMs));
      braid_rt_wait(request, nullptr);
    }));
    std::vector<int64_t> advances(2);
    for (int32_t rank : world.localRanks()) {
      int64_t count = 0, end = 0, waitBegin = 0;
      const braid_rt_event *events =
          braid_rt_trace(world.context(rank), &count);
      for (int64_t i = 0; i < count; ++i) {
        if (events[i].category == BRAID_RT_EVENT_COLLECTIVE)
          end = events[i].endNs;
        if (events[i].category == BRAID_RT_EVENT_WAIT)
          waitBegin = events[i].beginNs;
      }
      advances[rank] = end > 0 && end < waitBegin;
    }
    // On all ranks, so that all agree whether to try again.
    advances = world.collect(advances);
    advanced = advances[0] && advances[1];
  }
  EXPECT_TRUE(advanced);
  for (int32_t rank : world.localRanks())
    EXPECT_TRUE(results[rank].data == expected.data);
}

TEST_P(LargeTest, SameBitsAtEveryRun) {
  const int32_t ranks = GetParam();
  BRAID_NEEDS_SHARED_WORLD(ranks);
  std::vector<Buffer> sources = makeBuffers(ranks, BRAID_RT_F32, {50000}, true);
  std::vector<Buffer> results =
      makeBuffers(ranks, BRAID_RT_F32, {50000}, false);
  Buffer expected = reduceReference(BRAID_RT_SUM, sources, {});
  World &world = sharedWorld(ranks);
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(world.run([&](int32_t rank) {
      if (rank == round % ranks)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      braid_rt_view from = sources[rank].view(), to = results[rank].view();
      braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &from, &to,
                                        BRAID_RT_SUM, nullptr, nullptr),
                    nullptr);
    }));
    for (int32_t rank : world.localRanks())
      if (round == 0 && !reducesInOrder()) {
        EXPECT_TRUE(isReduced(results[rank], expected, ranks));
        expected = results[rank];
      } else {
        EXPECT_TRUE(results[rank].data == expected.data) << "round " << round;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, LargeTest, testing::Values(2, 3, 4, 8),
                         testing::PrintToStringParamName());

TEST(Large, MoreElementsThanAnIntCounts) {
  // 2 GiB a rank: only on request.
  BRAID_NEEDS_SHARED_WORLD(2);
  if (!std::getenv("BRAID_TEST_HUGE"))
    GTEST_SKIP() << "BRAID_TEST_HUGE is not set";
  constexpr int64_t count = (int64_t(1) << 31) + 5;
  World &world = sharedWorld(2);
  std::vector<std::vector<int8_t>> data(2);
  for (int32_t rank : world.localRanks())
    data[rank].assign(count, static_cast<int8_t>(rank + 1));
  ASSERT_TRUE(world.run([&](int32_t rank) {
    int64_t sizes[] = {count};
    braid_rt_view view = {data[rank].data(), sizes, BRAID_RT_I8, 1};
    if (rank == 1)
      data[rank][count - 1] = 9;
    braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &view, &view,
                                      BRAID_RT_SUM, nullptr, nullptr),
                  nullptr);
    braid_rt_wait(braid_rt_broadcast(&worldGroup, 1, &view, &view, 1, nullptr),
                  nullptr);
    braid_rt_wait(rank ? braid_rt_recv(&worldGroup, 1, &view, 0, nullptr)
                       : braid_rt_send(&worldGroup, 1, &view, 1, nullptr),
                  nullptr);
  })) << world.errors();
  for (int32_t rank : world.localRanks()) {
    int64_t wrong = data[rank][count - 1] != 10;
    for (int64_t i = 0; i + 1 < count; ++i)
      wrong += data[rank][i] != 3;
    EXPECT_EQ(wrong, 0);
  }
}
