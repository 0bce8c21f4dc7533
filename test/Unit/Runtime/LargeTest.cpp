//===- LargeTest.cpp - Collectives that are cut into many pieces ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Reference.h"

#include "gtest/gtest.h"

#include <chrono>
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

TEST(Large, AllReduceOfManyUnitsInAndOutOfPlace) {
  for (int32_t ranks : {2, 3})
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
        for (int32_t rank = 0; rank < ranks; ++rank)
          EXPECT_TRUE((inPlace ? sources : results)[rank].data ==
                      expected.data);
      }
    }
}

TEST(Large, StreamedResultsAreWhole) {
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
    for (int32_t rank : {0, 1})
      wrong += results[rank].as<int32_t>()[i] !=
               sources[0].as<int32_t>()[i] + sources[1].as<int32_t>()[i];
  EXPECT_EQ(wrong, 0);
}

TEST(Large, ReduceScatterAndAllGatherAlongEachDimension) {
  for (int64_t dim : {0, 1, 2}) {
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
    for (int32_t rank = 0; rank < 3; ++rank)
      EXPECT_TRUE(gathered[rank].data == expected.data) << dim;
  }
}

TEST(Large, AllToAllAndPermuteInPlace) {
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
  for (int32_t rank = 0; rank < 3; ++rank) {
    std::vector<Buffer> parts;
    for (const Buffer &source : sources)
      parts.push_back(slice(source, 0, (rank + 2) % 3, 3));
    EXPECT_TRUE(buffers[rank].data == concatenate(parts, 0).data);
  }
}

TEST(Large, CollectiveAdvancesWhileTheRanksCompute) {
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
    advanced = true;
    for (int32_t rank : {0, 1}) {
      int64_t count = 0, end = 0, waitBegin = 0;
      const braid_rt_event *events =
          braid_rt_trace(world.context(rank), &count);
      for (int64_t i = 0; i < count; ++i) {
        if (events[i].category == BRAID_RT_EVENT_COLLECTIVE)
          end = events[i].endNs;
        if (events[i].category == BRAID_RT_EVENT_WAIT)
          waitBegin = events[i].beginNs;
      }
      advanced &= end > 0 && end < waitBegin;
    }
  }
  EXPECT_TRUE(advanced);
  for (const Buffer &result : results)
    EXPECT_TRUE(result.data == expected.data);
}

TEST(Large, SameBitsAtEveryRun) {
  std::vector<Buffer> sources = makeBuffers(8, BRAID_RT_F32, {50000}, true);
  std::vector<Buffer> results = makeBuffers(8, BRAID_RT_F32, {50000}, false);
  std::vector<char> first;
  World &world = sharedWorld(8);
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(world.run([&](int32_t rank) {
      if (rank == round % 8)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      braid_rt_view from = sources[rank].view(), to = results[rank].view();
      braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &from, &to,
                                        BRAID_RT_SUM, nullptr, nullptr),
                    nullptr);
    }));
    if (first.empty())
      first = results[0].data;
    for (const Buffer &result : results)
      EXPECT_TRUE(result.data == first);
  }
}
