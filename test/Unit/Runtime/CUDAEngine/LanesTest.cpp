//===- LanesTest.cpp - Lanes and windows ----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCUDA.h"
#include "FakeNCCL.h"
#include "TestWorld.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace braid::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

static const braid_rt_lane latency = {"latency", 4, BRAID_RT_TRANSPORT_DEFAULT};
static const braid_rt_lane copies = {"copies", 0, BRAID_RT_TRANSPORT_COPY};
static const braid_rt_lane symmetric = {"sym", 8, BRAID_RT_TRANSPORT_SYMMETRIC};
static braid_rt_group groupOf(const braid_rt_lane &lane) {
  return {"tp", 1, 0, nullptr, nullptr, &lane};
}
static const braid_rt_group onLatency = groupOf(latency),
                            onCopies = groupOf(copies),
                            onSymmetric = groupOf(symmetric);

/// Runs an all-reduce and an all-gather on each of the lanes of two ranks, and
/// returns what NCCL was asked for.
static std::string runLanes(const Options &options) {
  fake_cuda_reset();
  fake_nccl_reset();
  TestWorld world(2, options);
  EXPECT_EQ(world.prepare({&onLatency, &onCopies, &onSymmetric}), "");
  std::vector<float *> memory;
  for (int32_t rank : world.locals) {
    memory.push_back(world.allocate(rank, 16));
    world.set(rank, memory.back(), std::vector<float>(16, float(rank + 1)));
  }
  bool ok = world.run([&](int32_t rank) {
    int64_t one = 1, two = 2;
    const braid_rt_group *groups[] = {&onLatency, &onCopies, &onSymmetric};
    for (int i = 0; i < 3; ++i) {
      float *base = memory[rank] + 4 * i;
      braid_rt_wait(startAllReduce(*groups[i], base, base + 1, 1), nullptr);
      braid_rt_view from = {base, &one, BRAID_RT_F32, 1};
      braid_rt_view to = {base + 2, &two, BRAID_RT_F32, 1};
      braid_rt_wait(braid_rt_all_gather(groups[i], 1, &from, &to, 0, nullptr),
                    nullptr);
    }
  });
  EXPECT_TRUE(ok) << world.error(0);
  for (int32_t rank : world.locals) {
    std::vector<float> values = world.get(rank, memory[rank], 12);
    for (size_t i = 0; i < 12; i += 4) {
      EXPECT_EQ(values[i + 1], 3.0F);
      EXPECT_EQ(values[i + 2], 1.0F);
      EXPECT_EQ(values[i + 3], 2.0F);
    }
    world.release(rank, memory[rank]);
  }
  return fake_nccl_log();
}

TEST(Lanes, CapsAndTransportsReachNCCL) {
  EXPECT_THAT(
      runLanes({}),
      AllOf(
          HasSubstr("tp latency: ncclAllReduce 1 on device 1, CTAs 4, kernel"),
          HasSubstr("tp copies: ncclAllGather 1 on device 0, copy engines"),
          // Reductions have no copy engines.
          HasSubstr("tp copies: ncclAllReduce 1 on device 0, symmetric "
                    "kernel"),
          HasSubstr("tp sym: ncclAllReduce 1 on device 0, CTAs 8, symmetric "
                    "kernel")));
}

extern "C" unsigned cuMemAlloc_v2(uint64_t *pointer, size_t bytes);

/// Gathers memory that the engine has not allocated, and returns what NCCL was
/// asked for.
static std::string gatherArguments(int32_t transport) {
  fake_cuda_reset();
  fake_nccl_reset();
  TestWorld world(2);
  const braid_rt_lane lane = {"weights", 0, transport, 0};
  const braid_rt_group group = groupOf(lane);
  EXPECT_EQ(world.prepare({&group}), "");
  std::vector<float *> results;
  for (int32_t rank : world.locals)
    results.push_back(world.allocate(rank, 16));
  bool ok = world.run([&](int32_t rank) {
    uint64_t memory = 0;
    EXPECT_EQ(cuMemAlloc_v2(&memory, 8 * sizeof(float)), 0U);
    auto *argument = reinterpret_cast<float *>(memory);
    std::fill_n(argument, 7, float(rank + 1));
    argument[7] = float(10 * (rank + 1));
    int64_t four = 4, eight = 8;
    braid_rt_view from[] = {{argument, &four, BRAID_RT_F32, 1},
                            {argument + 4, &four, BRAID_RT_F32, 1}};
    braid_rt_view to[] = {{results[rank], &eight, BRAID_RT_F32, 1},
                          {results[rank] + 8, &eight, BRAID_RT_F32, 1}};
    for (int i = 0; i < 2; ++i) {
      void *gather = braid_rt_all_gather(&group, 2, from, to, 0, nullptr);
      braid_rt_wait(gather, nullptr);
      braid_rt_wait(gather, nullptr);
    }
  });
  EXPECT_TRUE(ok) << world.error(0);
  std::vector<float> expected = {1, 1, 1, 1,  2, 2, 2, 2,
                                 1, 1, 1, 10, 2, 2, 2, 20};
  for (int32_t rank : world.locals) {
    EXPECT_EQ(world.get(rank, results[rank], 16), expected);
    world.release(rank, results[rank]);
  }
  return fake_nccl_log();
}

TEST(Lanes, ArgumentsAreGatheredFromTheirPlaceInTheResult) {
  EXPECT_THAT(gatherArguments(BRAID_RT_TRANSPORT_COPY),
              AllOf(HasSubstr("tp weights: ncclAllGather 4 on device 0, copy "
                              "engines"),
                    HasSubstr("tp weights: ncclAllGather 4 on device 1, copy "
                              "engines"),
                    Not(HasSubstr("kernel"))));
  EXPECT_THAT(gatherArguments(BRAID_RT_TRANSPORT_SYMMETRIC),
              HasSubstr("tp weights: ncclAllGather 4 on device 0, symmetric"));
}

/// Broadcasts such memory of 16 bytes on a lane with so many bytes of staging
/// memory, and returns what NCCL was asked for.
static std::string broadcastArgument(int64_t staging) {
  fake_cuda_reset();
  fake_nccl_reset();
  TestWorld world(2);
  const braid_rt_lane lane = {"weights", 0, BRAID_RT_TRANSPORT_SYMMETRIC,
                              staging};
  const braid_rt_group group = groupOf(lane);
  EXPECT_EQ(world.prepare({&group}), "");
  std::vector<float *> results;
  for (int32_t rank : world.locals)
    results.push_back(world.allocate(rank, 4));
  bool ok = world.run([&](int32_t rank) {
    uint64_t memory = 0;
    EXPECT_EQ(cuMemAlloc_v2(&memory, 4 * sizeof(float)), 0U);
    auto *argument = reinterpret_cast<float *>(memory);
    std::fill_n(argument, 4, float(rank + 1));
    int64_t four = 4;
    braid_rt_view from = {argument, &four, BRAID_RT_F32, 1},
                  to = {results[rank], &four, BRAID_RT_F32, 1};
    braid_rt_wait(braid_rt_broadcast(&group, 1, &from, &to, 0, nullptr),
                  nullptr);
  });
  EXPECT_TRUE(ok) << world.error(0);
  for (int32_t rank : world.locals) {
    EXPECT_EQ(world.get(rank, results[rank], 4), std::vector<float>(4, 1.0F));
    world.release(rank, results[rank]);
  }
  return fake_nccl_log();
}

TEST(Lanes, ArgumentsAreSentFromStagingMemoryThatHoldsThem) {
  EXPECT_NE(broadcastArgument(256), broadcastArgument(0));
}

TEST(Lanes, OptionsOverrideTheProgram) {
  EXPECT_THAT(
      runLanes({{"lane.latency", "ctas=2,transport=copy"},
                {"lane.copies", "transport=default"}}),
      AllOf(HasSubstr("tp latency: ncclAllGather 1 on device 1, CTAs 2, copy "
                      "engines"),
            HasSubstr("tp copies: ncclAllGather 1 on device 0, kernel"),
            Not(HasSubstr("tp copies: ncclAllGather 1 on device 0, copy"))));
}

TEST(Lanes, OptionThatCannotBeReadIsRefused) {
  for (const char *value :
       {"", "ctas=0", "ctas=65", "ctas=x", "ctas:8", "transport=fast", "fast"})
    EXPECT_THAT(whyNoWorld(1, {{"lane.latency", value}}),
                AllOf(HasSubstr("option 'lane.latency' of engine cuda is '"),
                      HasSubstr("expected ctas=N")))
        << value;
}

/// Runs the lanes where the fake refuses `words`.
static std::string runRefusing(const char *words, const Options &options = {}) {
  setenv("FAKE_NCCL_REFUSE", words, 1);
  std::string log = runLanes(options);
  unsetenv("FAKE_NCCL_REFUSE");
  return log;
}

TEST(Lanes, RefusedCopyEnginesAreSymmetricKernels) {
  for (const char *words : {"copy", "copy@1"})
    EXPECT_THAT(
        runRefusing(words),
        AllOf(HasSubstr("tp copies: ncclAllGather 1 on device 0, symmetric"),
              HasSubstr("tp copies: ncclAllGather 1 on device 1, symmetric"),
              Not(HasSubstr("copy engines"))))
        << words;
}

TEST(Lanes, RefusedLimitLeavesTheTransport) {
  for (const char *words : {"ctas", "ctas@0"})
    EXPECT_THAT(runRefusing(words),
                AllOf(HasSubstr("tp sym: ncclAllGather 1 on device 0, symm"),
                      HasSubstr("tp sym: ncclAllGather 1 on device 1, symm"),
                      HasSubstr("tp latency: ncclAllReduce 1 on device 0, ker"),
                      HasSubstr("tp copies: ncclAllGather 1 on device 1, copy"),
                      Not(HasSubstr("CTAs"))))
        << words;
}

TEST(Lanes, RefusedWindowsLeaveTheLimit) {
  for (const char *words : {"windows", "nowindows", "windows@1", "nowindows@0"})
    for (const char *blocking : {"0", "1"})
      EXPECT_THAT(
          runRefusing(words, {{"blocking", blocking}}),
          AllOf(HasSubstr("tp sym: ncclAllGather 1 on device 0, CTAs 8, kern"),
                HasSubstr("tp sym: ncclAllGather 1 on device 1, CTAs 8, kern"),
                HasSubstr("tp copies: ncclAllGather 1 on device 1, kernel"),
                Not(HasSubstr("symmetric"))))
          << words;
}

TEST(Lanes, RanksTellWhatTheyReplace) {
  fake_cuda_reset();
  fake_nccl_reset();
  TestWorld world(2);
  fake_nccl_refuse("copy@1");
  ASSERT_EQ(world.prepare({&onLatency, &onCopies}), "");
  // The second preparation creates no communicator.
  ASSERT_EQ(world.prepare({&onLatency, &onCopies}), "");
  for (int32_t rank : world.locals) {
    braid_rt_replacement found;
    ASSERT_EQ(braid_rt_find_replacement(world.context(rank), 0, &found),
              BRAID_RT_OK);
    EXPECT_STREQ(found.resource, "lane tp copies");
    EXPECT_STREQ(found.planned, "transport copy");
    EXPECT_STREQ(found.used, "transport symmetric");
    EXPECT_STREQ(found.reason, "rank 1: ncclCommInitRankConfig failed: invalid "
                               "argument (no such CTA policy)");
    EXPECT_EQ(braid_rt_find_replacement(world.context(rank), 1, &found),
              BRAID_RT_FAILED);
  }
}

TEST(Lanes, MembersOfUnannouncedGroupsAgree) {
  for (const char *words : {"copy@1", "nowindows@0", "windows@1", ""}) {
    fake_cuda_reset();
    fake_nccl_reset();
    TestWorld world(2);
    fake_nccl_refuse(words);
    std::vector<float *> memory;
    for (int32_t rank : world.locals) {
      memory.push_back(world.allocate(rank, 2));
      world.set(rank, memory.back(), {float(rank + 1), 0});
    }
    EXPECT_TRUE(world.run([&](int32_t rank) {
      braid_rt_wait(startAllReduce(onCopies, memory[rank], memory[rank] + 1, 1),
                    nullptr);
    })) << world.error(0);
    braid_rt_replacement found;
    for (int32_t rank : world.locals) {
      EXPECT_EQ(world.get(rank, memory[rank], 2)[1], 3.0F);
      EXPECT_EQ(braid_rt_find_replacement(world.context(rank), 0, &found),
                *words ? BRAID_RT_OK : BRAID_RT_FAILED);
      world.release(rank, memory[rank]);
    }
  }
}

TEST(Lanes, MemoryThatIsAllocatedLaterGetsAWindow) {
  fake_cuda_reset();
  fake_nccl_reset();
  TestWorld world(2);
  ASSERT_EQ(world.prepare({&onSymmetric}), "");
  for (int round = 0; round < 3; ++round) {
    std::vector<float *> memory;
    for (int32_t rank : world.locals) {
      memory.push_back(world.allocate(rank, 2));
      world.set(rank, memory.back(), {1.0F, 0.0F});
    }
    EXPECT_TRUE(world.run([&](int32_t rank) {
      braid_rt_wait(
          startAllReduce(onSymmetric, memory[rank], memory[rank] + 1, 1),
          nullptr);
    })) << world.error(0);
    // The window goes first: else the fake ends the process.
    for (int32_t rank : world.locals)
      world.release(rank, memory[rank]);
  }
  EXPECT_THAT(std::string(fake_nccl_log()), Not(HasSubstr(", kernel")));
}

TEST(Lanes, RegisteredBuffersAreDeregisteredBeforeACommunicatorEnds) {
  fake_cuda_reset();
  fake_nccl_reset();
  for (bool registers : {false, true}) {
    {
      TestWorld world(2, {{"register-buffers", registers ? "1" : "0"}});
      ASSERT_EQ(world.prepare({&onLatency}), "");
      std::vector<float *> memory, other;
      for (int32_t rank : world.locals) {
        memory.push_back(world.allocate(rank, 2));
        other.push_back(world.allocate(rank, 2));
        world.set(rank, memory.back(), {float(rank + 1), 0.0F});
      }
      EXPECT_TRUE(world.run([&](int32_t rank) {
        braid_rt_wait(
            startAllReduce(onLatency, memory[rank], memory[rank] + 1, 1),
            nullptr);
      })) << world.error(0);
      for (int32_t rank : world.locals)
        EXPECT_EQ(world.get(rank, memory[rank], 2)[1], 3.0F);
      int before = fake_nccl_registrations();
      EXPECT_EQ(before > 0, registers);
      // Memory that is freed is deregistered first. The other is still
      // registered at the end of the world: the fake ends the process if one
      // rank frees its communicator then.
      for (int32_t rank : world.locals)
        world.release(rank, other[rank]);
      EXPECT_EQ(fake_nccl_registrations() < before, registers);
      EXPECT_EQ(fake_nccl_registrations() > 0, registers);
    }
    EXPECT_EQ(fake_nccl_communicators(), 0);
  }
}

TEST(Lanes, MessagesOfALaneConcernTheirTwoRanksAlone) {
  fake_cuda_reset();
  fake_nccl_reset();
  TestWorld world(3);
  ASSERT_EQ(world.prepare({&onSymmetric}), "");
  std::vector<float *> memory;
  for (int32_t rank : world.locals) {
    memory.push_back(world.allocate(rank, 1));
    world.set(rank, memory.back(), {float(rank + 1)});
  }
  EXPECT_TRUE(world.run([&](int32_t rank) {
    int64_t one = 1;
    braid_rt_view view = {memory[rank], &one, BRAID_RT_F32, 1};
    if (rank == 0)
      braid_rt_wait(braid_rt_send(&onSymmetric, 1, &view, 2, nullptr), nullptr);
    if (rank == 2)
      braid_rt_wait(braid_rt_recv(&onSymmetric, 1, &view, 0, nullptr), nullptr);
  })) << world.error(0);
  EXPECT_EQ(world.get(2, memory[2], 1)[0], 1.0F);
  for (int32_t rank : world.locals)
    world.release(rank, memory[rank]);
}

TEST(Lanes, CollectivesOfALaneDoNotWaitForThoseOfAnother) {
  // Ranks start two lanes in different orders, and wait in the same order.
  fake_cuda_reset();
  fake_nccl_reset();
  TestWorld world(2);
  ASSERT_EQ(world.prepare({&onLatency, &everyone}), "");
  std::vector<float *> memory = {world.allocate(0, 4), world.allocate(1, 4)};
  for (int32_t rank : world.locals)
    world.set(rank, memory[rank], {1, 0, 1, 0});
  EXPECT_TRUE(world.run([&](int32_t rank) {
    const braid_rt_group *groups[] = {&onLatency, &everyone};
    void *requests[2];
    for (int i : {rank, 1 - rank})
      requests[i] = startAllReduce(*groups[i], memory[rank] + 2 * i,
                                   memory[rank] + 2 * i + 1, 1);
    for (void *request : requests)
      braid_rt_wait(request, nullptr);
  })) << world.error(0);
  for (int32_t rank : world.locals) {
    EXPECT_EQ(world.get(rank, memory[rank], 4),
              (std::vector<float>{1, 2, 1, 2}));
    world.release(rank, memory[rank]);
  }
}
