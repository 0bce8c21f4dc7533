//===- ObservationTest.cpp - Sequence numbers, traces and logs ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <mutex>

using namespace braid::test;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

static void barrier(const braid_rt_group *group) {
  braid_rt_wait(braid_rt_barrier(group, nullptr), nullptr);
}

TEST(SequenceNumbers, AreEqualOnAllMembersAndCountCollectives) {
  // The case of c10d's tests.
  BRAID_NEEDS_SHARED_WORLD(4);
  Group group("counted", {{0, 1, 2}});
  World &world = sharedWorld(4);
  int64_t before[4], after[4], sub[4];
  ASSERT_TRUE(world.run(
      [&](int32_t rank) {
        auto number = [&](const braid_rt_group *of) {
          return braid_rt_sequence_number(world.context(rank), of);
        };
        before[rank] = number(&worldGroup);
        for (int i = 0; i < 3; ++i)
          barrier(&worldGroup);
        if (rank < 3)
          barrier(group.get());
        after[rank] = number(&worldGroup);
        sub[rank] = number(group.get());
      },
      {group.get()}))
      << world.errors();
  for (int32_t rank : world.localRanks()) {
    EXPECT_EQ(after[rank], before[rank] + 3);
    EXPECT_EQ(sub[rank], rank < 3 ? 1 : -1);
  }
  // Rank 1 is one collective ahead of ranks 0 and 2, until they follow.
  int64_t ahead[4] = {}, end[4] = {};
  ASSERT_TRUE(world.run([&](int32_t rank) {
    if (rank == 3)
      return;
    void *request =
        rank == 1 ? braid_rt_barrier(group.get(), nullptr) : nullptr;
    ahead[rank] = braid_rt_sequence_number(world.context(rank), group.get());
    if (rank != 1)
      request = braid_rt_barrier(group.get(), nullptr);
    braid_rt_wait(request, nullptr);
    end[rank] = braid_rt_sequence_number(world.context(rank), group.get());
  })) << world.errors();
  for (int32_t rank : world.localRanks()) {
    if (rank == 3)
      continue;
    EXPECT_EQ(ahead[rank], rank == 1 ? 2 : 1);
    EXPECT_EQ(end[rank], 2);
  }
}

TEST(SequenceNumbers, MessagesDoNotCount) {
  BRAID_NEEDS_SHARED_WORLD(2);
  World &world = sharedWorld(2);
  int64_t value = 1, received = 0, before[2], after[2];
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_view view = {rank ? &received : &value, nullptr, BRAID_RT_I64, 0};
    before[rank] = braid_rt_sequence_number(world.context(rank), &worldGroup);
    braid_rt_wait(rank ? braid_rt_recv(&worldGroup, 1, &view, 0, nullptr)
                       : braid_rt_send(&worldGroup, 1, &view, 1, nullptr),
                  nullptr);
    after[rank] = braid_rt_sequence_number(world.context(rank), &worldGroup);
  })) << world.errors();
  for (int32_t rank : world.localRanks())
    EXPECT_EQ(after[rank], before[rank]);
}

TEST(Log, DetailTellsOfEveryStartAndWait) {
  BRAID_NEEDS_OWN_WORLD(2);
  struct Log {
    std::mutex mutex;
    std::vector<std::string> lines;
  } log;
  World world(2, [&](braid_rt_config &config) {
    config.debug = BRAID_RT_DEBUG_DETAIL;
    config.logData = &log;
    config.log = [](void *data, const char *line) {
      Log &log = *static_cast<Log *>(data);
      std::lock_guard<std::mutex> lock(log.mutex);
      log.lines.emplace_back(line);
    };
  });
  ASSERT_TRUE(world.run([](int32_t) {
    braid_rt_site site = siteAt(3, "sync");
    braid_rt_wait(braid_rt_barrier(&worldGroup, &site), &site);
  }));
  std::lock_guard<std::mutex> lock(log.mutex);
  EXPECT_THAT(log.lines, Contains(HasSubstr("world of 2 ranks")));
  EXPECT_THAT(log.lines, Contains(HasSubstr("communicator of group @world")));
  for (int32_t rank : world.localRanks()) {
    std::string prefix = "rank " + std::to_string(rank) + ": ";
    EXPECT_THAT(log.lines,
                AllOf(Contains(HasSubstr("prog.mlir:3:3 (sync): " + prefix +
                                         "starts barrier on @world, number 1")),
                      Contains(HasSubstr(prefix + "has barrier on @world"))));
  }
}

TEST(Trace, RecordsStartsWaitsAndCollectivesWithTheirSites) {
  BRAID_NEEDS_OWN_WORLD(2);
  World world(2, [](braid_rt_config &config) { config.trace = 1; });
  ASSERT_TRUE(world.run([](int32_t) {
    braid_rt_site site = siteAt(7, "sync");
    braid_rt_wait(braid_rt_barrier(&worldGroup, &site), &site);
  }));
  for (int32_t rank : world.localRanks()) {
    int64_t count = 0;
    const braid_rt_event *events = braid_rt_trace(world.context(rank), &count);
    ASSERT_EQ(count, 3);
    EXPECT_EQ(events[0].category, BRAID_RT_EVENT_START);
    EXPECT_EQ(events[1].category, BRAID_RT_EVENT_COLLECTIVE);
    EXPECT_EQ(events[2].category, BRAID_RT_EVENT_WAIT);
    for (int i = 0; i < 3; ++i) {
      EXPECT_STREQ(events[i].name, "sync");
      EXPECT_STREQ(events[i].signature, "barrier");
      EXPECT_STREQ(events[i].lane, "world");
      EXPECT_EQ(events[i].site.line, 7);
      EXPECT_EQ(events[i].sequence, 1);
      EXPECT_LE(events[i].beginNs, events[i].endNs);
    }
    EXPECT_LE(events[0].beginNs, events[1].beginNs);
  }
}
