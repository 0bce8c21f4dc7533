//===- GraphChoiceTest.cpp - Invocations that become graphs ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Communication/GraphChoice.h"
#include "Callers.h"
#include "FakeCUDA.h"
#include "FakeNCCL.h"
#include "braid-rt/Memory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <atomic>
#include <thread>

using namespace braid::rt;
using namespace braid::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {
/// The descriptor of the argument.
struct Memref {
  float *allocated, *aligned;
  int64_t offset = 0, size = 7, stride = 1;
};

/// A program whose entry adds the first elements of all ranks and copies the
/// sum.
class GraphChoiceTest : public testing::Test {
protected:
  void SetUp() override {
    fake_cuda_reset();
    fake_nccl_reset();
    calls = 0;
    isAwaitedByHost = exchanges = false;
  }
  void TearDown() override {
    for (const auto &[rank, memory] : allocated)
      world->release(rank, memory);
  }

  void open(const Options &options = {}, int64_t timeoutNs = 30000000000) {
    world = std::make_unique<TestWorld>(2, options, timeoutNs);
    program.abiVersion = BRAID_RT_ABI_VERSION;
    program.target = BRAID_RT_TARGET_CUDA;
    program.name = "test";
    program.groupCount = 1;
    program.groups = groups;
    program.entryCount = 1;
    program.entries = entries;
    program.device = &device;
    char error[1024] = "";
    braid_rt_world_prepare(world->world.get(), &program, error, sizeof(error));
    ASSERT_STREQ(error, "");
  }

  /// Memory of each rank for the argument.
  std::vector<float *> allocate() {
    std::vector<float *> found;
    for (int32_t rank : world->locals) {
      found.push_back(world->allocate(rank, 7));
      allocated.emplace_back(rank, found.back());
    }
    return found;
  }

  bool run(const std::vector<float *> &memory) {
    std::vector<Memref> memrefs;
    for (float *at : memory)
      memrefs.push_back({at, at});
    std::vector<void *> arguments;
    for (Memref &memref : memrefs)
      arguments.push_back(&memref);
    std::vector<void **> ofRanks;
    for (void *&argument : arguments)
      ofRanks.push_back(&argument);
    return braid_rt_world_run(world->world.get(), &entry, ofRanks.data()) ==
           BRAID_RT_OK;
  }

  /// Runs with new values, and expects the results. Returns how often the ranks
  /// have called the entry.
  int step(const std::vector<float *> &memory) {
    int before = calls;
    auto first = float(++steps);
    for (size_t i = 0; i < 2; ++i)
      world->set(int32_t(i), memory[i], {first + float(10 * i), 0, 0, 0});
    EXPECT_TRUE(run(memory)) << world->error(0) << world->error(1);
    for (size_t i = 0; i < 2; ++i) {
      float sum = 2 * first + 10;
      EXPECT_EQ(world->get(int32_t(i), memory[i], 3),
                (std::vector<float>{first + float(10 * i), sum, sum}))
          << "step " << steps;
    }
    return calls - before;
  }

  static void body(void **args) {
    ++calls;
    float *at = static_cast<Memref *>(args[0])->aligned;
    if (exchanges)
      exchange(at);
    void *sum = startAllReduce(everyone, at, at + 1, 1);
    if (isAwaitedByHost && braid_rt_current_rank() == 1)
      braid_rt_host_wait(sum, nullptr);
    else
      braid_rt_wait(sum, nullptr);
    braid_rt_copy(at + 2, at + 1, sizeof(float), nullptr);
  }

  /// Swaps the first elements of two ranks, then gathers and broadcasts them.
  static void exchange(float *at) {
    const int64_t one = 1, two = 2, pairs[] = {0, 1, 1, 0};
    braid_rt_view own = {at, &one, BRAID_RT_F32, 1};
    braid_rt_view other = {at + 3, &one, BRAID_RT_F32, 1};
    braid_rt_view both = {at + 4, &two, BRAID_RT_F32, 1};
    braid_rt_view last = {at + 6, &one, BRAID_RT_F32, 1};
    for (void *started :
         {braid_rt_permute(&everyone, 1, &own, &other, 2, pairs, nullptr),
          braid_rt_all_gather(&everyone, 1, &own, &both, 0, nullptr),
          braid_rt_broadcast(&everyone, 1, &own, &last, 1, nullptr)})
      braid_rt_wait(started, nullptr);
  }

  static std::atomic<int> calls;
  static bool isAwaitedByHost, exchanges;
  const int64_t sizes[1] = {7};
  const braid_rt_argument argument = {"arg0", BRAID_RT_F32,   1,
                                      sizes,  BRAID_RT_INOUT, BRAID_RT_MEMREF};
  const braid_rt_entry entry = {"step", body, 1, &argument, nullptr};
  const braid_rt_entry *const entries[1] = {&entry};
  const braid_rt_group *const groups[1] = {&everyone};
  braid_rt_device_program device = {};
  braid_rt_program program = {};
  std::unique_ptr<TestWorld> world;
  std::vector<std::pair<int32_t, float *>> allocated;
  int steps = 0;
};

std::atomic<int> GraphChoiceTest::calls{0};
bool GraphChoiceTest::isAwaitedByHost = false;
bool GraphChoiceTest::exchanges = false;
} // namespace

//===----------------------------------------------------------------------===//
// Recordings
//===----------------------------------------------------------------------===//

TEST_F(GraphChoiceTest, RecordsTheSecondRunOfAllRanks) {
  open();
  std::vector<float *> memory = allocate();
  EXPECT_EQ(step(memory), 2);
  EXPECT_EQ(countInLog("graph of"), 0U);
  EXPECT_EQ(step(memory), 2);
  EXPECT_EQ(countInLog("graph of"), 2U);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(step(memory), 0);
  EXPECT_EQ(countInLog("graph of"), 8U);
}

TEST_F(GraphChoiceTest, FollowsStreamsOfTheCaller) {
  open();
  std::vector<float *> memory = allocate();
  Callers callers(*world, memory);
  for (int i = 0; i < 4; ++i) {
    callers.follow();
    step(memory);
  }
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(countInLog("graph of"), 6U);
}

TEST_F(GraphChoiceTest, RunsAsItIsWithoutTheOption) {
  open({{"cuda-graph", "0"}});
  std::vector<float *> memory = allocate();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(step(memory), 2);
  EXPECT_EQ(countInLog("graph of"), 0U);
}

TEST_F(GraphChoiceTest, RunsAsItIsIfTheEnvironmentSaysSo) {
  setenv("BRAID_CUDA_GRAPH", "0", 1);
  open();
  std::vector<float *> memory = allocate();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(step(memory), 2);
  setenv("BRAID_CUDA_GRAPH", "2", 1);
  EXPECT_EQ(whyNoWorld(2), "BRAID_CUDA_GRAPH is '2', expected auto, 0 or 1");
  unsetenv("BRAID_CUDA_GRAPH");
}

TEST_F(GraphChoiceTest, RunsAsItIsWhereTheHostReads) {
  device.hostReadCount = 1;
  open();
  std::vector<float *> memory = allocate();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(step(memory), 2);
}

TEST_F(GraphChoiceTest, RunsAsItIsIfFaultsOfKernelsAreLookedFor) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  open();
  std::vector<float *> memory = allocate();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(step(memory), 2);
  setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
  EXPECT_EQ(step(memory), 2);
  EXPECT_EQ(step(memory), 2);
  EXPECT_EQ(step(memory), 0);
  unsetenv("CUDA_LAUNCH_BLOCKING");
}

TEST_F(GraphChoiceTest, RunsAsItIsIfOthersUseTheStream) {
  open();
  std::vector<float *> memory = allocate();
  EXPECT_EQ(step(memory), 2);
  std::function<void(int32_t)> use = [](int32_t) { braid_rt_stream(); };
  ASSERT_TRUE(world->run(use));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(step(memory), 2);
}

TEST_F(GraphChoiceTest, RunsAsItIsOnThreadsOfTheCaller) {
  open();
  std::vector<float *> memory = allocate();
  for (int i = 0; i < 3; ++i)
    step(memory);
  int before = calls;
  for (int i = 0; i < 3; ++i) {
    std::vector<std::thread> threads;
    for (int32_t rank : world->locals)
      threads.emplace_back([&, rank]() {
        Memref memref = {memory[size_t(rank)], memory[size_t(rank)]};
        void *args[] = {&memref};
        EXPECT_EQ(braid_rt_invoke(world->context(rank), &entry, args),
                  BRAID_RT_OK);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
  EXPECT_EQ(calls, before + 6);
  EXPECT_EQ(step(memory), 0);
}

//===----------------------------------------------------------------------===//
// Ranks that cannot
//===----------------------------------------------------------------------===//

TEST_F(GraphChoiceTest, RunsAsItIsOnAllRanksIfOneWaitsOnTheHost) {
  open();
  isAwaitedByHost = true;
  std::vector<float *> memory = allocate();
  EXPECT_EQ(step(memory), 2);
  testing::internal::CaptureStderr();
  // Each rank calls the entry again.
  EXPECT_EQ(step(memory), 4);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "[braid] warning: step runs without a graph: rank 1: the host waits "
      "for all_reduce sum tensor<1xf32>, which a graph cannot do\n");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(step(memory), 2);
  EXPECT_EQ(countInLog("graph of"), 0U);
  // The first try has left no numbers.
  EXPECT_EQ(braid_rt_sequence_number(world->context(0), &everyone), 5);
  EXPECT_EQ(braid_rt_sequence_number(world->context(1), &everyone), 5);
}

TEST_F(GraphChoiceTest, RunsAsItIsOnAllRanksIfTheDriverRefusesOne) {
  for (const char *function :
       {"cuStreamBeginCapture", "cuMemcpyDtoDAsync", "cuGraphInstantiate"}) {
    SCOPED_TRACE(function);
    open();
    std::vector<float *> memory = allocate();
    EXPECT_EQ(step(memory), 2);
    fake_cuda_fail(function, cuda::ERROR_OUT_OF_MEMORY, 0);
    testing::internal::CaptureStderr();
    int called = step(memory);
    EXPECT_EQ(called, function == std::string("cuStreamBeginCapture") ? 3 : 4);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                AllOf(HasSubstr("warning: step runs without a graph: rank "),
                      HasSubstr(function),
                      HasSubstr("CUDA_ERROR_OUT_OF_MEMORY")));
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(step(memory), 2);
    TearDown();
    allocated.clear();
    world.reset();
  }
}

//===----------------------------------------------------------------------===//
// Addresses that NCCL loses
//===----------------------------------------------------------------------===//

TEST_F(GraphChoiceTest, RegistersNothingForCollectivesAfterAnExchange) {
  exchanges = true;
  open();
  std::vector<float *> memory = allocate();
  for (int called : {2, 2, 0, 0}) {
    EXPECT_EQ(step(memory), called);
    auto first = float(steps), last = first + 10;
    EXPECT_EQ(world->get(0, memory[0] + 3, 4),
              (std::vector<float>{last, first, last, last}));
    EXPECT_EQ(world->get(1, memory[1] + 3, 4),
              (std::vector<float>{first, first, last, last}));
    // NCCL registers memory of recordings alone.
    std::string log = fake_nccl_log();
    EXPECT_EQ(log.find("ncclAllGather") != std::string::npos, steps == 1);
    fake_nccl_reset();
  }
}

//===----------------------------------------------------------------------===//
// Arguments that move
//===----------------------------------------------------------------------===//

TEST_F(GraphChoiceTest, RecordsEachSetOfArguments) {
  open();
  std::vector<float *> first = allocate(), second = allocate();
  // The arguments of rank 1 move, those of rank 0 stay.
  second[0] = first[0];
  EXPECT_EQ(step(first), 2);
  EXPECT_EQ(step(second), 2);
  EXPECT_EQ(step(first), 2);
  EXPECT_EQ(step(second), 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(step(second), 0);
    EXPECT_EQ(step(first), 0);
  }
}

TEST_F(GraphChoiceTest, HasFewRecordingsWhereArgumentsKeepMoving) {
  open();
  std::vector<std::vector<float *>> all;
  for (int i = 0; i < 12; ++i)
    all.push_back(allocate());
  for (const std::vector<float *> &memory : all)
    EXPECT_EQ(step(memory), 2);
  // None of these comes again.
  EXPECT_EQ(countInLog("graph of"), 0U);
  int recordings = cuda::GraphChoice::freeRecordings;
  for (size_t i = 0; i < all.size(); ++i) {
    step(all[i]);
    EXPECT_EQ(countInLog("graph of"), 2 * std::min<size_t>(i + 1, recordings));
  }
  // Replays allow more.
  for (int i = 0; i < cuda::GraphChoice::replaysOfRecording; ++i)
    EXPECT_EQ(step(all[0]), 0);
  EXPECT_EQ(step(all[10]), 2);
  EXPECT_EQ(step(all[10]), 0);
  EXPECT_EQ(step(all[11]), 2);
  EXPECT_EQ(step(all[11]), 2);
}

TEST_F(GraphChoiceTest, RecordsAgainWhereOneRankHasFreedMemory) {
  open();
  std::vector<float *> memory = allocate();
  float *other = world->allocate(1, 4);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(step(memory), 2);
  EXPECT_EQ(step(memory), 0);
  world->release(1, other);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(step(memory), 2);
  EXPECT_EQ(step(memory), 0);
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST_F(GraphChoiceTest, EndsAllRanksIfOneFailsInAReplay) {
  open({}, int64_t(20) * 1000000000);
  std::vector<float *> memory = allocate();
  for (int i = 0; i < 3; ++i)
    step(memory);
  fake_cuda_fail("cuGraphLaunch", cuda::ERROR_OUT_OF_MEMORY, 0);
  EXPECT_FALSE(run(memory));
  int secondary = 0;
  std::string errors;
  for (int32_t rank : world->locals) {
    secondary += braid_rt_error_is_secondary(world->context(rank));
    errors += world->error(rank);
  }
  EXPECT_EQ(secondary, 1);
  EXPECT_THAT(errors, HasSubstr("cuGraphLaunch failed"));
}

TEST_F(GraphChoiceTest, EndsAllRanksIfNCCLFailsInAReplay) {
  open({}, int64_t(20) * 1000000000);
  std::vector<float *> memory = allocate();
  for (int i = 0; i < 3; ++i)
    step(memory);
  fake_cuda_fail("cuEventRecord", cuda::ERROR_OUT_OF_MEMORY, 0);
  EXPECT_FALSE(run(memory));
  EXPECT_THAT(world->error(0) + world->error(1), HasSubstr("cuEventRecord"));
}
