//===- EngineTest.cpp - Worlds, operations and failures of the engine -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCUDA.h"
#include "FakeNCCL.h"
#include "TestEngine.h"
#include "TestWorld.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

using namespace braid::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

namespace {
class Engine : public testing::Test {
protected:
  void SetUp() override {
    fake_cuda_reset();
    fake_nccl_reset();
  }
};
} // namespace

TEST_F(Engine, WorldTellsWhatItIs) {
  TestWorld world(2);
  EXPECT_EQ(world.locals, (std::vector<int32_t>{0, 1}));
  for (const char *capability : {"transports", "graphs"})
    EXPECT_TRUE(braid_rt_world_has(world.world.get(), capability));
  for (const char *capability :
       {"host-memory", "processes", "recovery", "link-rehearsal"})
    EXPECT_FALSE(braid_rt_world_has(world.world.get(), capability));
}

TEST_F(Engine, RanksNeedADeviceEach) {
  fake_cuda_set_devices(2);
  EXPECT_EQ(whyNoWorld(4), "4 ranks need 4 devices, found 2");
}

TEST_F(Engine, OptionDevicePlacesARankAlone) {
  TestWorld world(1, {{"device", "3"}});
  float *memory = world.allocate(0, 4);
  EXPECT_EQ(fake_cuda_memory_device(memory), 3);
  world.release(0, memory);
  EXPECT_THAT(whyNoWorld(2, {{"device", "1"}}),
              HasSubstr("ranks that are threads use devices 0 to 1"));
  EXPECT_THAT(whyNoWorld(1, {{"device", "9"}}),
              HasSubstr("there is no device 9"));
}

TEST_F(Engine, UnknownOptionIsRefused) {
  EXPECT_THAT(whyNoWorld(1, {{"progress", "none"}}),
              AllOf(HasSubstr("engine cuda has no option 'progress'"),
                    HasSubstr("flight-recorder")));
}

TEST_F(Engine, MissingNCCLIsNamedWithWhatToDo) {
  useFakes();
  TestWorld alone(1);
  setenv("BRAID_NCCL_LIBRARY", "/nowhere/libnccl.so.2", 1);
  braid_rt_config config;
  char error[1024] = "";
  braid_rt_config_init(&config, error, sizeof(error));
  config.engine = "cuda";
  config.ranks = 2;
  EXPECT_EQ(braid_rt_world_create(&config, error, sizeof(error)), nullptr);
  EXPECT_THAT(std::string(error), AllOf(HasSubstr("NCCL cannot be loaded"),
                                        HasSubstr("/nowhere/libnccl.so.2"),
                                        HasSubstr("BRAID_NCCL_LIBRARY")));
}

TEST_F(Engine, NothingIsLeftBehind) {
  {
    TestWorld world(3);
    EXPECT_EQ(world.prepare({&everyone}), "");
    std::vector<float *> memory;
    for (int32_t rank : world.locals) {
      memory.push_back(world.allocate(rank, 8));
      world.set(rank, memory.back(), std::vector<float>(8, 1.0F));
    }
    EXPECT_TRUE(world.run([&](int32_t rank) {
      braid_rt_wait(startAllReduce(everyone, memory[rank], memory[rank] + 4, 4),
                    nullptr);
    }));
    EXPECT_EQ(world.get(1, memory[1] + 4, 1)[0], 3.0F);
    // One for collectives and one for messages, for each rank.
    EXPECT_EQ(fake_nccl_communicators(), 6);
    for (int32_t rank : world.locals)
      world.release(rank, memory[rank]);
  }
  EXPECT_EQ(fake_nccl_communicators(), 0);
  EXPECT_STREQ(fake_cuda_leaks(), "");
}

TEST_F(Engine, OperandsStandInForResultsOfSkippedCollectives) {
  TestWorld world(2);
  ASSERT_EQ(world.prepare({&everyone}), "");
  char error[256] = "";
  ASSERT_EQ(braid_rt_world_skip(world.world.get(), BRAID_RT_SKIP_COMMUNICATION,
                                error, sizeof(error)),
            BRAID_RT_OK)
      << error;
  std::vector<float *> memory;
  for (int32_t rank : world.locals) {
    memory.push_back(world.allocate(rank, 4));
    world.set(rank, memory.back(), {float(rank + 1), 5, 0, 0});
  }
  EXPECT_TRUE(world.run([&](int32_t rank) {
    braid_rt_wait(startAllReduce(everyone, memory[rank], memory[rank] + 2, 2),
                  nullptr);
  })) << world.error(0);
  for (int32_t rank : world.locals) {
    EXPECT_EQ(world.get(rank, memory[rank] + 2, 2),
              (std::vector<float>{float(rank + 1), 5}));
    world.release(rank, memory[rank]);
  }
}

TEST_F(Engine, CommunicatorsThatDoNotBlockAreAwaited) {
  TestWorld world(2, {{"blocking", "0"}});
  ASSERT_EQ(world.prepare({&everyone}), "");
  std::vector<float *> memory;
  for (int32_t rank : world.locals) {
    memory.push_back(world.allocate(rank, 64));
    world.set(rank, memory.back(), std::vector<float>(64, float(rank + 1)));
  }
  EXPECT_TRUE(world.run([&](int32_t rank) {
    void *requests[16];
    for (int i = 0; i < 16; ++i)
      requests[i] = startAllReduce(everyone, memory[rank] + 2 * i,
                                   memory[rank] + 2 * i + 1, 1);
    for (void *request : requests)
      braid_rt_wait(request, nullptr);
  })) << world.error(0);
  for (int32_t rank : world.locals) {
    std::vector<float> values = world.get(rank, memory[rank], 32);
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(values[static_cast<size_t>(2 * i + 1)], 3.0F);
    world.release(rank, memory[rank]);
  }
}

TEST_F(Engine, ErrorThatNCCLReturnsNamesTheCallAndReachesAllRanks) {
  TestWorld world(2);
  ASSERT_EQ(world.prepare({&everyone}), "");
  std::vector<float *> memory = {world.allocate(0, 4), world.allocate(1, 4)};
  fake_nccl_fail("ncclAllReduce", 2, 0);
  braid_rt_site site = {"prog.mlir", "ar", 4, 5};
  EXPECT_FALSE(world.run([&](int32_t rank) {
    braid_rt_wait(
        startAllReduce(everyone, memory[rank], memory[rank] + 2, 2, &site),
        &site);
    if (rank >= 0)
      braid_rt_wait(braid_rt_barrier(&everyone, &site), &site);
  }));
  std::string both = world.error(0) + world.error(1);
  EXPECT_THAT(both, AllOf(HasSubstr("ncclAllReduce failed: unhandled system "
                                    "error (injected failure)"),
                          HasSubstr("prog.mlir:4:5 (ar): rank "),
                          HasSubstr(" failed: prog.mlir:4:5 (ar)")));
  EXPECT_THAT(world.error(0), StartsWith("prog.mlir:4:5 (ar): rank 0: "));
  EXPECT_THAT(world.error(1), StartsWith("prog.mlir:4:5 (ar): rank 1: "));
  // The group that the call had begun is over.
  fake_nccl_reset();
  TestWorld next(2);
  EXPECT_EQ(next.prepare({&everyone}), "");
  EXPECT_TRUE(next.run([&](int32_t) {
    braid_rt_wait(braid_rt_barrier(&everyone, nullptr), nullptr);
  })) << next.error(0);
}

TEST_F(Engine, ErrorThatNCCLReportsByItselfEndsTheWorld) {
  TestWorld world(2);
  ASSERT_EQ(world.prepare({&everyone}), "");
  braid_rt_site site = {"prog.mlir", nullptr, 4, 5};
  EXPECT_FALSE(world.run([&](int32_t rank) {
    if (rank == 1) {
      // The peer's kernel waits; then NCCL notices something.
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      fake_nccl_break(1, 6);
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
    }
    braid_rt_wait(braid_rt_barrier(&everyone, &site), &site);
  }));
  EXPECT_THAT(world.error(1),
              HasSubstr("NCCL reports for the communicator of @world: remote "
                        "process exited"));
  EXPECT_THAT(world.error(0), HasSubstr("rank 1 failed: NCCL reports"));
}

TEST_F(Engine, RanksMayUseTheHostWhileTheyWait) {
  // A wait is the device's: the host of rank 0 gets past it before rank 1
  // comes.
  TestWorld world(2);
  ASSERT_EQ(world.prepare({&everyone}), "");
  std::atomic<bool> isPast{false};
  EXPECT_TRUE(world.run([&](int32_t rank) {
    if (rank == 1)
      while (!isPast)
        std::this_thread::yield();
    braid_rt_wait(braid_rt_barrier(&everyone, nullptr), nullptr);
    isPast = true;
  }));
}

TEST_F(Engine, MeasurementOfARankDoesNotHoldUpAnotherOne) {
  TestEngine engine(2);
  // Rank 0 measures until rank 1 has chosen.
  EXPECT_EQ(engine.choose(0,
                          [&]() {
                            EXPECT_EQ(engine.choose(1, []() { return 5; }), 5);
                            return 7;
                          }),
            5);
  EXPECT_EQ(engine.choose(1,
                          []() {
                            ADD_FAILURE() << "it has been measured";
                            return 9;
                          }),
            5);
}

TEST_F(Engine, AWaitForACollectiveDoesNotDivideAnExchange) {
  // A send alone would wait for a receive that its rank starts later.
  TestWorld world(2, {}, /*timeoutNs=*/int64_t(2) * 1000000000);
  ASSERT_EQ(world.prepare({&everyone}), "");
  std::vector<float *> memory = {world.allocate(0, 4), world.allocate(1, 4)};
  for (int32_t rank : world.locals)
    world.set(rank, memory[rank], {float(rank + 1), 0, 0, 0});
  fake_cuda_clear_log();
  EXPECT_TRUE(world.run([&](int32_t rank) {
    int64_t one = 1;
    braid_rt_view from = {memory[rank], &one, BRAID_RT_F32, 1};
    braid_rt_view to = {memory[rank] + 1, &one, BRAID_RT_F32, 1};
    void *sum = startAllReduce(everyone, memory[rank], memory[rank] + 2, 1);
    void *send = braid_rt_send(&everyone, 1, &from, 1 - rank, nullptr);
    braid_rt_wait(sum, nullptr);
    void *receive = braid_rt_recv(&everyone, 1, &to, 1 - rank, nullptr);
    braid_rt_wait(send, nullptr);
    braid_rt_wait(receive, nullptr);
  })) << world.error(0);
  EXPECT_EQ(countInLog("ncclSend"), 2U) << fake_cuda_log();
  for (int32_t rank : world.locals) {
    std::vector<float> values = world.get(rank, memory[rank], 3);
    EXPECT_EQ(values[1], float(2 - rank));
    EXPECT_EQ(values[2], 3.0F);
    world.release(rank, memory[rank]);
  }
}

TEST_F(Engine, AWaitForAMessageIssuesTheMessagesOfItsGroupAlone) {
  const int32_t offsets[] = {0, 2}, ranks[] = {0, 1};
  const braid_rt_group pair = {"pair", 0, 1, offsets, ranks, nullptr};
  TestWorld world(2, {}, /*timeoutNs=*/int64_t(2) * 1000000000);
  ASSERT_EQ(world.prepare({&everyone, &pair}), "");
  std::vector<float *> memory = {world.allocate(0, 4), world.allocate(1, 4)};
  fake_cuda_clear_log();
  EXPECT_TRUE(world.run([&](int32_t rank) {
    int64_t one = 1;
    braid_rt_view from = {memory[rank], &one, BRAID_RT_F32, 1};
    braid_rt_view to = {memory[rank] + 1, &one, BRAID_RT_F32, 1};
    braid_rt_view again = {memory[rank] + 2, &one, BRAID_RT_F32, 1};
    void *send = braid_rt_send(&everyone, 1, &from, 1 - rank, nullptr);
    void *other = rank ? braid_rt_recv(&pair, 1, &again, 0, nullptr)
                       : braid_rt_send(&pair, 1, &from, 1, nullptr);
    braid_rt_wait(other, nullptr);
    void *receive = braid_rt_recv(&everyone, 1, &to, 1 - rank, nullptr);
    braid_rt_wait(send, nullptr);
    braid_rt_wait(receive, nullptr);
  })) << world.error(0);
  // Two exchanges, and the send and the receive of the other group.
  EXPECT_EQ(countInLog("ncclSend") + countInLog("ncclRecv"), 4U)
      << fake_cuda_log();
  for (int32_t rank : world.locals)
    world.release(rank, memory[rank]);
}

TEST_F(Engine, MessagesAreIssuedBeforeTheStreamIsFull) {
  // Rank 1 starts the collective after the message that rank 0 holds back.
  TestWorld world(2);
  ASSERT_EQ(world.prepare({&everyone}), "");
  std::vector<float *> memory = {world.allocate(0, 4), world.allocate(1, 4)};
  fake_cuda_clear_log();
  size_t issuedEarly = 1, issuedInTime = 0;
  EXPECT_TRUE(world.run([&](int32_t rank) {
    int64_t one = 1;
    braid_rt_view view = {memory[rank], &one, BRAID_RT_F32, 1};
    if (rank == 1) {
      braid_rt_wait(braid_rt_recv(&everyone, 1, &view, 0, nullptr), nullptr);
      braid_rt_wait(
          startAllReduce(everyone, memory[rank] + 1, memory[rank] + 2, 1),
          nullptr);
      return;
    }
    void *send = braid_rt_send(&everyone, 1, &view, 1, nullptr);
    braid_rt_wait(
        startAllReduce(everyone, memory[rank] + 1, memory[rank] + 2, 1),
        nullptr);
    for (int i = 0; i < 100; ++i)
      braid_rt_copy(memory[rank] + 3, memory[rank] + 2, sizeof(float), nullptr);
    issuedEarly = countInLog("ncclSend");
    for (int i = 0; i < 200; ++i)
      braid_rt_copy(memory[rank] + 3, memory[rank] + 2, sizeof(float), nullptr);
    issuedInTime = countInLog("ncclSend");
    braid_rt_wait(send, nullptr);
  })) << world.error(0);
  EXPECT_EQ(issuedEarly, 0U);
  EXPECT_EQ(issuedInTime, 1U);
  for (int32_t rank : world.locals)
    world.release(rank, memory[rank]);
}

TEST_F(Engine, MessagesAreIssuedTogetherAtTheNextWait) {
  TestWorld world(2);
  ASSERT_EQ(world.prepare({&everyone}), "");
  std::vector<float *> memory = {world.allocate(0, 4), world.allocate(1, 4)};
  fake_cuda_clear_log();
  EXPECT_TRUE(world.run([&](int32_t rank) {
    int64_t one = 1;
    void *requests[4];
    for (int i = 0; i < 2; ++i) {
      braid_rt_view from = {memory[rank] + i, &one, BRAID_RT_F32, 1};
      braid_rt_view to = {memory[rank] + 2 + i, &one, BRAID_RT_F32, 1};
      requests[2 * i] = braid_rt_send(&everyone, 1, &from, 1 - rank, nullptr);
      requests[2 * i + 1] = braid_rt_recv(&everyone, 1, &to, 1 - rank, nullptr);
    }
    for (void *request : requests)
      braid_rt_wait(request, nullptr);
  })) << world.error(0);
  std::string log = fake_cuda_log();
  size_t units = 0;
  for (size_t at = log.find("ncclSend"); at != std::string::npos;
       at = log.find("ncclSend", at + 1))
    ++units;
  EXPECT_EQ(units, 2U) << log;
  for (int32_t rank : world.locals)
    world.release(rank, memory[rank]);
}

TEST_F(Engine, OperationsThatNCCLLacksAreRefusedByName) {
  struct Case {
    int32_t reduction, dtype;
    const char *text;
  };
  const Case cases[] = {
      {BRAID_RT_BAND, BRAID_RT_I32, "NCCL has no band of i32"},
      {BRAID_RT_SUM, BRAID_RT_I16, "NCCL has no sum of i16"},
      {BRAID_RT_AVG, BRAID_RT_I64, "NCCL has no avg of i64"},
      {BRAID_RT_BXOR, BRAID_RT_I1, "NCCL has no bxor of i1"}};
  for (const Case &c : cases) {
    TestWorld world(2);
    ASSERT_EQ(world.prepare({&everyone}), "");
    int64_t memory[4];
    EXPECT_FALSE(world.run([&](int32_t rank) {
      if (rank == 1)
        return;
      int64_t one = 1;
      braid_rt_view view = {memory, &one, c.dtype, 1};
      braid_rt_site site = {"prog.mlir", nullptr, 7, 1};
      braid_rt_all_reduce(&everyone, 1, &view, &view, c.reduction, nullptr,
                          &site);
    }));
    EXPECT_THAT(world.error(0), AllOf(StartsWith("prog.mlir:7:1: rank 0: "),
                                      HasSubstr(c.text)));
    EXPECT_EQ(world.error(1), "");
  }
}

TEST_F(Engine, OneRankScalesNo8BitFloats) {
  TestWorld world(1);
  ASSERT_EQ(world.prepare({&everyone}), "");
  EXPECT_FALSE(world.run([&](int32_t) {
    int64_t memory = 0, one = 1;
    braid_rt_view view = {&memory, &one, BRAID_RT_F8E5M2, 1};
    uint8_t scale = 0;
    braid_rt_all_reduce(&everyone, 1, &view, &view, BRAID_RT_PREMUL_SUM, &scale,
                        nullptr);
  }));
  EXPECT_THAT(world.error(0), HasSubstr("NCCL has no premul_sum of f8E5M2 in a "
                                        "group of one rank"));
}

TEST_F(Engine, AnotherDimensionIsRefusedByNameWhereItsPartsAreApart) {
  TestWorld world(2);
  ASSERT_EQ(world.prepare({&everyone}), "");
  std::vector<float *> memory = {world.allocate(0, 16), world.allocate(1, 16)};
  auto gather = [&](int32_t rank, int64_t rows) {
    int64_t from[] = {rows, 3}, to[] = {rows, 6};
    braid_rt_view source = {memory[rank], from, BRAID_RT_F32, 2};
    braid_rt_view result = {memory[rank] + 6, to, BRAID_RT_F32, 2};
    braid_rt_wait(
        braid_rt_all_gather(&everyone, 1, &source, &result, 1, nullptr),
        nullptr);
  };
  // With one row the parts follow each other.
  EXPECT_TRUE(world.run([&](int32_t rank) { gather(rank, 1); }));
  EXPECT_FALSE(world.run([&](int32_t rank) { gather(rank, 2); }));
  EXPECT_THAT(world.error(0),
              HasSubstr("all_gather dim 1 tensor<2x3xf32> -> tensor<2x6xf32>: "
                        "NCCL joins and splits along dimension 0 alone"));
}

TEST_F(Engine, FailureWritesTheLastOperationsOfEachRank) {
  std::string prefix = testing::TempDir() + "braid-flight-";
  {
    TestWorld world(2, {{"flight-recorder", prefix}});
    ASSERT_EQ(world.prepare({&everyone}), "");
    EXPECT_FALSE(world.run([&](int32_t rank) {
      braid_rt_site site = {"prog.mlir", "b", 9, 1};
      braid_rt_host_wait(braid_rt_barrier(&everyone, &site), &site);
      if (rank == 0)
        braid_rt_fail("broken", nullptr);
      braid_rt_wait(braid_rt_barrier(&everyone, &site), &site);
    }));
  }
  for (int rank : {0, 1}) {
    std::string path = prefix + std::to_string(rank) + ".json";
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_THAT(text.str(),
                AllOf(HasSubstr("\"rank\": " + std::to_string(rank)),
                      HasSubstr("rank 0: broken"),
                      HasSubstr("\"sequence\": 1, \"invocation\": 1, "
                                "\"operation\": \"barrier\", \"fingerprint\":"),
                      HasSubstr("\"site\": \"prog.mlir:9:1 (b)\"")));
    std::remove(path.c_str());
  }
}

/// The collectives and copies of a rank's last invocation, by name.
static std::map<std::string, std::vector<braid_rt_event>>
traceOf(const TestWorld &world, int32_t rank) {
  std::map<std::string, std::vector<braid_rt_event>> events;
  int64_t count = 0;
  const braid_rt_event *all = braid_rt_trace(world.context(rank), &count);
  for (int64_t i = 0; i < count; ++i)
    if (all[i].category == BRAID_RT_EVENT_COLLECTIVE ||
        all[i].category == BRAID_RT_EVENT_COPY)
      events[all[i].name].push_back(all[i]);
  return events;
}

TEST_F(Engine, TraceShowsTheCollectivesOfEveryReplay) {
  for (const char *timing : {"cupti", "events"}) {
    bool hasActivities = timing == std::string("cupti");
    TestWorld world(2, {{"cuda-graph", "1"}, {"timing", timing}},
                    int64_t(30) * 1000000000, /*trace=*/true);
    EXPECT_EQ(braid_rt_world_has(world.world.get(), "activities"),
              hasActivities);
    ASSERT_EQ(world.prepare({&everyone}), "");
    std::vector<float *> memory = {world.allocate(0, 8), world.allocate(1, 8)};
    std::function<void(int32_t)> body = [&](int32_t rank) {
      int64_t one = 1;
      braid_rt_site site = {"prog.mlir", "sum", 9, 1};
      void *sum =
          startAllReduce(everyone, memory[rank], memory[rank] + 1, 1, &site);
      braid_rt_view from = {memory[rank], &one, BRAID_RT_F32, 1};
      braid_rt_view to = {memory[rank] + 2, &one, BRAID_RT_F32, 1};
      void *send = braid_rt_send(&everyone, 1, &from, 1 - rank, nullptr);
      void *receive = braid_rt_recv(&everyone, 1, &to, 1 - rank, nullptr);
      for (void *request : {send, receive, sum})
        braid_rt_wait(request, nullptr);
      braid_rt_copy(memory[rank] + 4, memory[rank] + 1, 4, &site);
    };
    std::map<int32_t, int64_t> lastNs;
    // The third round and the fourth one replay the second one.
    for (size_t round = 1; round <= 4; ++round) {
      ASSERT_TRUE(world.run(body)) << world.error(0) << world.error(1);
      for (int32_t rank : world.locals) {
        auto events = traceOf(world, rank);
        size_t wanted = hasActivities || round <= 2 ? 1 : 0;
        for (const char *name : {"sum", "send", "recv"})
          EXPECT_EQ(events[name].size(), wanted) << timing << name << round;
        EXPECT_EQ(events["Memcpy DtoD"].size(),
                  hasActivities || round == 1 ? 1 : 0);
        if (!hasActivities)
          continue;
        const braid_rt_event &sum = events["sum"].back();
        EXPECT_GE(sum.endNs, sum.beginNs);
        EXPECT_EQ(sum.site.line, 9);
        // What follows the collective has waited for it.
        EXPECT_GE(events["Memcpy DtoD"].back().beginNs, sum.endNs);
        EXPECT_GT(sum.beginNs, lastNs[rank]);
        lastNs[rank] = sum.endNs;
      }
    }
    for (int32_t rank : world.locals)
      world.release(rank, memory[rank]);
  }
}

TEST_F(Engine, TimingThatIsUnknownIsRefused) {
  EXPECT_EQ(whyNoWorld(1, {{"timing", "clock"}}),
            "option 'timing' of engine cuda is 'clock', expected auto, cupti "
            "or events");
}

TEST_F(Engine, GraphReplaysCollectivesAndMessages) {
  TestWorld world(2, {{"cuda-graph", "1"}});
  ASSERT_EQ(world.prepare({&everyone}), "");
  std::vector<float *> memory = {world.allocate(0, 8), world.allocate(1, 8)};
  std::atomic<int> entered{0};
  std::function<void(int32_t)> body = [&](int32_t rank) {
    ++entered;
    int64_t one = 1;
    void *sum = startAllReduce(everyone, memory[rank], memory[rank] + 1, 1);
    braid_rt_view from = {memory[rank], &one, BRAID_RT_F32, 1};
    braid_rt_view to = {memory[rank] + 2, &one, BRAID_RT_F32, 1};
    void *send = braid_rt_send(&everyone, 1, &from, 1 - rank, nullptr);
    void *receive = braid_rt_recv(&everyone, 1, &to, 1 - rank, nullptr);
    for (void *request : {send, receive, sum})
      braid_rt_wait(request, nullptr);
  };
  for (int round = 0; round < 5; ++round) {
    for (int32_t rank : world.locals)
      world.set(rank, memory[rank], {float(10 * round + rank), 0, 0});
    ASSERT_TRUE(world.run(body)) << world.error(0) << world.error(1);
    for (int32_t rank : world.locals) {
      std::vector<float> values = world.get(rank, memory[rank], 3);
      EXPECT_EQ(values[1], float(20 * round + 1)) << round;
      EXPECT_EQ(values[2], float(10 * round + 1 - rank)) << round;
    }
  }
  // The warm-up and the recording, on two ranks.
  EXPECT_EQ(entered, 4);
  for (int32_t rank : world.locals)
    world.release(rank, memory[rank]);
}
