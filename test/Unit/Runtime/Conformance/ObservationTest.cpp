//===- ObservationTest.cpp - Sequence numbers, traces and logs ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Harness.h"

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

/// The events of a category in a rank's trace.
static std::vector<braid_rt_event> eventsOf(const World &world, int32_t rank,
                                            int32_t category) {
  int64_t count = 0;
  const braid_rt_event *events = braid_rt_trace(world.context(rank), &count);
  std::vector<braid_rt_event> result;
  for (int64_t i = 0; i < count; ++i)
    if (events[i].category == category)
      result.push_back(events[i]);
  return result;
}

TEST(Trace, RecordsStartsWaitsAndCollectivesWithTheirSites) {
  BRAID_NEEDS_OWN_WORLD(2);
  World world(2, [](braid_rt_config &config) { config.trace = 1; });
  // Times on a device's clock are related to the host's within this.
  const int64_t clockErrorNs = world.has("host-memory") ? 0 : 1000000;
  ASSERT_TRUE(world.run([](int32_t) {
    braid_rt_site site = siteAt(7, "sync");
    braid_rt_wait(braid_rt_barrier(&worldGroup, &site), &site);
  }));
  for (int32_t rank : world.localRanks()) {
    int64_t startNs = 0;
    for (int32_t category : {BRAID_RT_EVENT_START, BRAID_RT_EVENT_COLLECTIVE,
                             BRAID_RT_EVENT_WAIT}) {
      std::vector<braid_rt_event> events = eventsOf(world, rank, category);
      ASSERT_EQ(events.size(), 1U);
      EXPECT_STREQ(events[0].name, "sync");
      EXPECT_STREQ(events[0].signature, "barrier");
      EXPECT_STREQ(events[0].lane, "world");
      EXPECT_EQ(events[0].site.line, 7);
      EXPECT_EQ(events[0].sequence, 1);
      EXPECT_EQ(events[0].groupSize, 2);
      EXPECT_EQ(events[0].dtype, -1);
      EXPECT_LE(events[0].beginNs, events[0].endNs);
      if (category == BRAID_RT_EVENT_START)
        startNs = events[0].beginNs;
      else
        EXPECT_LE(startNs, events[0].endNs + clockErrorNs);
    }
  }
}

TEST(Trace, SaysWhatACollectiveMovesAndAmongWhom) {
  BRAID_NEEDS_OWN_WORLD(3);
  World world(3, [](braid_rt_config &config) { config.trace = 1; });
  Group group("pair", {{2, 0}, {1}});
  ASSERT_TRUE(world.run(
      [&](int32_t rank) {
        if (rank == 1)
          return;
        int64_t sizes[] = {2, 3}, gathered[] = {4, 3};
        float part[6] = {}, whole[12] = {};
        braid_rt_view source = {part, sizes, BRAID_RT_F32, 2};
        braid_rt_view destination = {whole, gathered, BRAID_RT_F32, 2};
        braid_rt_wait(braid_rt_all_gather(group.get(), 1, &source, &destination,
                                          0, nullptr),
                      nullptr);
      },
      {group.get()}));
  for (int32_t rank : world.localRanks()) {
    std::vector<braid_rt_event> events =
        eventsOf(world, rank, BRAID_RT_EVENT_COLLECTIVE);
    ASSERT_EQ(events.size(), rank == 1 ? 0U : 1U);
    if (rank == 1)
      continue;
    EXPECT_EQ(events[0].kind, BRAID_RT_ALL_GATHER);
    EXPECT_EQ(events[0].dtype, BRAID_RT_F32);
    EXPECT_EQ(events[0].reduction, -1);
    EXPECT_EQ(events[0].sourceElements, 6);
    EXPECT_EQ(events[0].destinationElements, 12);
    EXPECT_EQ(events[0].bytes, 48);
    ASSERT_EQ(events[0].groupSize, 2);
    EXPECT_EQ(events[0].ranks[0], 2);
    EXPECT_EQ(events[0].ranks[1], 0);
  }
}

TEST(Trace, HoldsTheWholeInvocation) {
  BRAID_NEEDS_OWN_WORLD(2);
  World world(2, [](braid_rt_config &config) { config.trace = 1; });
  ASSERT_TRUE(world.run([](int32_t) { barrier(&worldGroup); }));
  for (int32_t rank : world.localRanks()) {
    std::vector<braid_rt_event> whole =
        eventsOf(world, rank, BRAID_RT_EVENT_INVOCATION);
    std::vector<braid_rt_event> waits =
        eventsOf(world, rank, BRAID_RT_EVENT_WAIT);
    ASSERT_EQ(whole.size(), 1U);
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_LE(whole[0].beginNs, waits[0].beginNs);
    EXPECT_GE(whole[0].endNs, waits[0].endNs);
    EXPECT_EQ(whole[0].kind, -1);
  }
}

/// What a sum of 1 over the ranks leaves in a result that was 7.
static std::vector<int64_t> sumOfOnes(World &world) {
  std::vector<int64_t> results(world.size(), 0);
  EXPECT_TRUE(world.run([&](int32_t rank) {
    int64_t one = 1, sum = 7;
    braid_rt_view source = {&one, nullptr, BRAID_RT_I64, 0};
    braid_rt_view destination = {&sum, nullptr, BRAID_RT_I64, 0};
    braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &source, &destination,
                                      BRAID_RT_SUM, nullptr, nullptr),
                  nullptr);
    results[rank] = sum;
  })) << world.errors();
  return results;
}

TEST(Skip, CommunicationIsLeftOutUntilItIsNot) {
  BRAID_NEEDS_SHARED_WORLD(2);
  World &world = sharedWorld(2);
  if (!world.has("host-memory"))
    GTEST_SKIP() << "the operands are memory of the host";
  char error[256] = "";
  ASSERT_EQ(braid_rt_world_skip(world.get(), BRAID_RT_SKIP_COMMUNICATION, error,
                                sizeof(error)),
            BRAID_RT_OK)
      << error;
  std::vector<int64_t> skipped = sumOfOnes(world);
  ASSERT_EQ(braid_rt_world_skip(world.get(), BRAID_RT_SKIP_NOTHING, error,
                                sizeof(error)),
            BRAID_RT_OK);
  std::vector<int64_t> whole = sumOfOnes(world);
  for (int32_t rank : world.localRanks()) {
    EXPECT_EQ(skipped[rank], 7);
    EXPECT_EQ(whole[rank], 2);
  }
}

TEST(Skip, AnInvocationWhoseConditionsNeedCommunicationEnds) {
  BRAID_NEEDS_OWN_WORLD(2);
  World world(2);
  if (!world.has("host-memory"))
    GTEST_SKIP() << "the operands are memory of the host";
  // Doubles a number until it is large. Without communication it stays 1.
  static braid_rt_entry entry = {
      "double",
      [](void **) {
        for (int64_t number = 1; number < 8;) {
          int64_t sum = number;
          braid_rt_view source = {&number, nullptr, BRAID_RT_I64, 0};
          braid_rt_view destination = {&sum, nullptr, BRAID_RT_I64, 0};
          braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &source,
                                            &destination, BRAID_RT_SUM, nullptr,
                                            nullptr),
                        nullptr);
          number = sum;
        }
      },
      0, nullptr, nullptr};
  auto run = [&](braid_rt_skip what) {
    char error[256] = "";
    EXPECT_EQ(braid_rt_world_skip(world.get(), what, error, sizeof(error)),
              BRAID_RT_OK)
        << error;
    std::vector<void **> none(world.localRanks().size(), nullptr);
    return braid_rt_world_run(world.get(), &entry, none.data());
  };
  EXPECT_EQ(run(BRAID_RT_SKIP_NOTHING), BRAID_RT_OK) << world.errors();
  EXPECT_EQ(run(BRAID_RT_SKIP_COMMUNICATION), BRAID_RT_FAILED);
  EXPECT_THAT(std::string(world.errors()),
              HasSubstr("without communication the program has started 1007 "
                        "operations, far more than with it"));
}

TEST(Skip, ComputeOnTheHostCannotBeLeftOut) {
  BRAID_NEEDS_SHARED_WORLD(2);
  World &world = sharedWorld(2);
  if (!world.has("host-memory"))
    GTEST_SKIP() << "kernels are launched";
  char error[256] = "";
  EXPECT_EQ(braid_rt_world_skip(world.get(), BRAID_RT_SKIP_COMPUTE, error,
                                sizeof(error)),
            BRAID_RT_FAILED);
  EXPECT_THAT(
      std::string(error),
      AllOf(HasSubstr("compute cannot be left out on engine " + engineName()),
            HasSubstr("functions of the program")));
  EXPECT_EQ(braid_rt_world_skip(world.get(), 9, error, sizeof(error)),
            BRAID_RT_FAILED);
}
