//===- LinkTest.cpp - The link model and its rehearsal ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "gtest/gtest.h"

#include <ctime>

using namespace braid::test;

TEST(LinkModel, StepsAndBytesOfTheRingFormulas) {
  EXPECT_EQ(braid_rt_link_steps(BRAID_RT_ALL_REDUCE, 4), 6.0);
  EXPECT_EQ(braid_rt_link_steps(BRAID_RT_ALL_GATHER, 4), 3.0);
  EXPECT_EQ(braid_rt_link_steps(BRAID_RT_BARRIER, 4), 6.0);
  EXPECT_EQ(braid_rt_link_steps(BRAID_RT_SEND, 4), 1.0);
  EXPECT_EQ(braid_rt_link_bytes(BRAID_RT_ALL_REDUCE, 4, 1000), 1500.0);
  EXPECT_EQ(braid_rt_link_bytes(BRAID_RT_ALL_GATHER, 4, 1000), 750.0);
  EXPECT_EQ(braid_rt_link_bytes(BRAID_RT_REDUCE_SCATTER, 4, 1000), 750.0);
  EXPECT_EQ(braid_rt_link_bytes(BRAID_RT_ALL_TO_ALL, 4, 1000), 750.0);
  EXPECT_EQ(braid_rt_link_bytes(BRAID_RT_BROADCAST, 4, 1000), 1000.0);
  EXPECT_EQ(braid_rt_link_bytes(BRAID_RT_BARRIER, 4, 1000), 0.0);
}

TEST(LinkModel, UnknownKindTakesNoTime) {
  EXPECT_EQ(braid_rt_get_traits(-1), nullptr);
  EXPECT_EQ(braid_rt_get_traits(BRAID_RT_KIND_COUNT), nullptr);
  EXPECT_EQ(braid_rt_link_steps(BRAID_RT_KIND_COUNT, 4), 0.0);
  EXPECT_EQ(braid_rt_link_bytes(-1, 4, 1000), 0.0);
}

TEST(LinkModel, TimeIsStepsTimesLatencyPlusBytesOverBandwidth) {
  // 6 steps of 10 us, and 1.5 MB at 1 GB/s.
  EXPECT_DOUBLE_EQ(
      braid_rt_link_time_ns(BRAID_RT_ALL_REDUCE, 4, 1e6, 10e3, 1e9),
      60e3 + 1.5e6);
  EXPECT_EQ(braid_rt_link_time_ns(BRAID_RT_ALL_REDUCE, 4, 1e6, 0, 0), 0.0);
  EXPECT_EQ(braid_rt_link_time_ns(BRAID_RT_ALL_REDUCE, 1, 1e6, 10e3, 1e9), 0.0);
}

namespace {
struct Rehearsal {
  World world{2, [](braid_rt_config &config) {
                static const braid_rt_option link[] = {
                    {"link-latency", "2000000"}, {"link-bandwidth", "1e9"}};
                config.options = link;
                config.optionCount = 2;
                config.trace = 1;
              }};
  Buffer buffers[2] = {Buffer(BRAID_RT_I8, {1000000}),
                       Buffer(BRAID_RT_I8, {1000000})};
};
} // namespace

static int64_t processorTimeNs() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * int64_t(1000000000) + time.tv_nsec;
}

TEST(Link, CollectiveTakesNoLessThanTheLinkNeedsWithoutBurningACore) {
  Rehearsal r;
  ASSERT_TRUE(r.world.run([](int32_t) {}));
  int64_t before = processorTimeNs();
  // 20 collectives of 2 steps of 2 ms, and 1 us for 1,000 bytes each.
  ASSERT_TRUE(r.world.run([&](int32_t rank) {
    for (int i = 0; i < 20; ++i) {
      int64_t sizes[] = {1000};
      braid_rt_view view = {r.buffers[rank].data.data(), sizes, BRAID_RT_I8, 1};
      braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &view, &view,
                                        BRAID_RT_SUM, nullptr, nullptr),
                    nullptr);
    }
  }));
  EXPECT_GE(braid_rt_world_elapsed_ns(r.world.get()), 20 * 4001 * 1000);
  // Two ranks that spun would have used twice the 80 ms.
  EXPECT_LT(processorTimeNs() - before, 80 * 1000 * 1000);
}

TEST(Link, CollectivesOfOneGroupFollowOneAnotherOthersDoNot) {
  Group a("a", {{0, 1}}), b("b", {{0, 1}});
  for (bool sameLane : {true, false}) {
    Rehearsal r;
    ASSERT_TRUE(r.world.run([&](int32_t) {
      void *first = braid_rt_barrier(a.get(), nullptr);
      void *second = braid_rt_barrier(sameLane ? a.get() : b.get(), nullptr);
      braid_rt_wait(second, nullptr);
      braid_rt_wait(first, nullptr);
    }));
    int64_t count = 0;
    const braid_rt_event *events = braid_rt_trace(r.world.context(0), &count);
    int64_t begin[2] = {}, end[2] = {}, found = 0;
    for (int64_t i = 0; i < count; ++i)
      if (events[i].category == BRAID_RT_EVENT_COLLECTIVE && found < 2) {
        begin[found] = events[i].beginNs;
        end[found++] = events[i].endNs;
      }
    ASSERT_EQ(found, 2);
    // Awaited, and so recorded, in reverse: [0] is the second one.
    EXPECT_GE(end[0] - begin[0], 4 * 1000 * 1000);
    if (sameLane)
      EXPECT_EQ(begin[0], begin[1] + 4 * 1000 * 1000);
    else
      EXPECT_LT(begin[0], begin[1] + 4 * 1000 * 1000);
  }
}

TEST(Link, ComputeHidesTheCollective) {
  Rehearsal r;
  ASSERT_TRUE(r.world.run([&](int32_t) {
    void *request = braid_rt_barrier(&worldGroup, nullptr); // 4 ms
    timespec time = {0, 20 * 1000 * 1000};
    nanosleep(&time, nullptr);
    braid_rt_wait(request, nullptr);
  }));
  braid_rt_statistics statistics;
  braid_rt_get_statistics(r.world.context(0), &statistics);
  EXPECT_LT(statistics.waitNs, 4 * 1000 * 1000);
}
