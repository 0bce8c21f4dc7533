//===- ProcessesTest.cpp - Ranks that a launcher has started --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Callers.h"
#include "FakeNCCL.h"
#include "FreePort.h"
#include "TestEngine.h"
#include "braid-rt/Memory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace braid::test;
using testing::AllOf;
using testing::Each;
using testing::Eq;
using testing::HasSubstr;

namespace {
using Body = std::function<std::string(int32_t rank)>;

void setVariable(const char *name, int64_t value) {
  setenv(name, std::to_string(value).c_str(), 1);
}

/// What the function says in each of these processes, which begin with the
/// variables of torchrun; `died` where one ends in another way. This process
/// itself never makes a world, so that it can fork.
std::vector<std::string> runProcesses(int32_t started, int32_t size,
                                      const Body &body) {
  int32_t port = freePort();
  char folder[] = "/tmp/braid-processes-XXXXXX";
  EXPECT_NE(mkdtemp(folder), nullptr);
  std::vector<pid_t> children;
  std::vector<int> outputs;
  for (int32_t rank = 0; rank < started; ++rank) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
      setVariable("RANK", rank);
      setVariable("WORLD_SIZE", size);
      setVariable("LOCAL_RANK", rank);
      setVariable("LOCAL_WORLD_SIZE", size);
      setenv("MASTER_ADDR", "127.0.0.1", 1);
      setVariable("MASTER_PORT", port);
      setenv("FAKE_NCCL_DIRECTORY", folder, 1);
      std::string text;
      try {
        text = body(rank);
      } catch (const std::exception &error) {
        text = error.what();
      }
      text = "says " + text;
      _exit(write(ends[1], text.data(), text.size()) ==
                    static_cast<ssize_t>(text.size())
                ? 0
                : 1);
    }
    close(ends[1]);
    children.push_back(child);
    outputs.push_back(ends[0]);
  }
  std::vector<std::string> results;
  for (size_t i = 0; i < children.size(); ++i) {
    std::string text;
    pollfd waiting = {outputs[i], POLLIN, 0};
    char buffer[4096];
    int status = 0;
    // A process that hangs is a failure; one that stopped itself says nothing.
    for (int tenths = 0; tenths < 600;) {
      if (poll(&waiting, 1, 100) == 0) {
        ++tenths;
        if (waitpid(children[i], &status, WNOHANG | WUNTRACED) > 0)
          break;
        continue;
      }
      ssize_t count = read(outputs[i], buffer, sizeof(buffer));
      if (count <= 0)
        break;
      text.append(buffer, static_cast<size_t>(count));
    }
    kill(children[i], SIGKILL);
    waitpid(children[i], nullptr, 0);
    close(outputs[i]);
    results.push_back(text.rfind("says ", 0) == 0 ? text.substr(5) : "died");
  }
  EXPECT_EQ(std::system(("rm -r " + std::string(folder)).c_str()), 0);
  return results;
}

/// An all-reduce of each rank's number; `before` is called first.
std::string reduceRanks(TestWorld &world, int32_t rank,
                        const std::function<void()> &before = {}) {
  std::string problem = world.prepare({&everyone});
  if (!problem.empty())
    return problem;
  float *memory = world.allocate(rank, 2);
  world.set(rank, memory, {float(rank + 1), 0});
  bool ok = world.run([&](int32_t) {
    braid_rt_site site = {"prog.mlir", "ar", 2, 3};
    // All have left what they prepare together.
    braid_rt_host_wait(braid_rt_barrier(&everyone, &site), &site);
    if (before)
      before();
    braid_rt_wait(startAllReduce(everyone, memory, memory + 1, 1, &site),
                  &site);
  });
  std::string result =
      ok ? std::to_string(world.get(rank, memory, 2)[1]) : world.error(rank);
  world.release(rank, memory);
  return result;
}
} // namespace

TEST(Processes, ReduceTogether) {
  std::vector<std::string> results = runProcesses(3, 3, [](int32_t rank) {
    TestWorld world(0);
    return reduceRanks(world, rank);
  });
  EXPECT_THAT(results, Each(testing::Eq("6.000000")));
}

TEST(Processes, DeregisterTheirBuffersTogether) {
  std::vector<std::string> results = runProcesses(3, 3, [](int32_t rank) {
    std::string text;
    {
      TestWorld world(0, {{"register-buffers", "1"}});
      // Freed by no one before the world ends.
      float *kept = world.allocate(rank, 2);
      text = reduceRanks(world, rank);
      EXPECT_GT(fake_nccl_registrations(), 0);
      (void)kept;
    }
    return text + (fake_nccl_communicators() == 0 ? "" : ", still open");
  });
  EXPECT_THAT(results, Each(testing::Eq("6.000000")));
}

TEST(Processes, AgreeOnWhatOneOfThemIsRefused) {
  for (const char *word : {"copy", "ctas", "nowindows", "windows"}) {
    std::vector<std::string> results =
        runProcesses(2, 2, [&](int32_t rank) -> std::string {
          if (rank == 1)
            setenv("FAKE_NCCL_REFUSE", word, 1);
          TestWorld world(0);
          const braid_rt_lane lane = {"copies", 8, BRAID_RT_TRANSPORT_COPY};
          const braid_rt_group group = {"tp", 1, 0, nullptr, nullptr, &lane};
          std::string problem = world.prepare({&group});
          if (!problem.empty())
            return problem;
          float *memory = world.allocate(rank, 2);
          world.set(rank, memory, {float(rank + 1), 0});
          if (!world.run([&](int32_t) {
                braid_rt_wait(startAllReduce(group, memory, memory + 1, 1),
                              nullptr);
              }))
            return world.error(rank);
          braid_rt_replacement found = {};
          braid_rt_find_replacement(world.context(rank), 0, &found);
          std::string text = std::to_string(world.get(rank, memory, 2)[1]) +
                             ", " + found.used + ", " + found.reason;
          world.release(rank, memory);
          return text;
        });
    EXPECT_THAT(results, Each(AllOf(HasSubstr("3.000000, "),
                                    HasSubstr(", rank 1: ncclComm"))));
    EXPECT_EQ(results[0], results[1]);
  }
}

TEST(Processes, RankThatIsKilledIsNamedByAllOthers) {
  std::vector<std::string> results = runProcesses(3, 3, [](int32_t rank) {
    TestWorld world(0);
    return reduceRanks(world, rank, [&]() {
      if (rank == 1)
        raise(SIGKILL);
    });
  });
  EXPECT_EQ(results[1], "died");
  for (size_t rank : {0, 2})
    EXPECT_EQ(results[rank],
              "prog.mlir:2:3 (ar): rank " + std::to_string(rank) +
                  ": rank 1 failed: its process has ended, or its connection "
                  "to the others");
}

/// Starts an all-reduce that follows a stream; `before` is called first, and
/// `after` when the run has returned.
static std::string
reduceBehindCallers(int32_t rank, const std::function<void()> &before = {},
                    const std::function<void()> &after = {}) {
  TestWorld world(0, {}, int64_t(1500) * 1000000);
  std::string problem = world.prepare({&everyone});
  if (!problem.empty())
    return problem;
  float *memory = world.allocate(rank, 2);
  world.set(rank, memory, {float(rank + 1), 0});
  std::string result;
  {
    Callers callers(world, {memory});
    callers.follow();
    if (before)
      before();
    if (!world.run([&](int32_t) {
          braid_rt_wait(startAllReduce(everyone, memory, memory + 1, 1),
                        nullptr);
        }))
      return world.error(rank);
    if (after)
      after();
    callers.streams[0].wait();
    result = std::to_string(world.get(rank, memory, 2)[1]);
  }
  world.release(rank, memory);
  return result;
}

TEST(Processes, FollowStreamsOfCallers) {
  std::vector<std::string> results = runProcesses(
      2, 2, [](int32_t rank) { return reduceBehindCallers(rank); });
  EXPECT_THAT(results, Each(testing::Eq("3.000000")));
}

TEST(Processes, EndWhereReturnedWorkNeedsADeadRank) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    if (rank == 0)
      return reduceBehindCallers(rank);
    auto block = []() { fake_cuda_block(1); };
    return reduceBehindCallers(rank, block, []() {
      // The run of rank 0 has returned, too.
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      raise(SIGKILL);
    });
  });
  EXPECT_THAT(results, Each(testing::Eq("died")));
}

TEST(Processes, ErrorOfNCCLThatTheEndOfAPeerCausesNamesThePeer) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    TestWorld world(0);
    return reduceRanks(world, rank, [&]() {
      if (rank == 0)
        return fake_nccl_fail("ncclGroupEnd", /*result=*/3, /*skipped=*/0);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      raise(SIGKILL);
    });
  });
  EXPECT_EQ(results[1], "died");
  EXPECT_EQ(results[0],
            "prog.mlir:2:3 (ar): rank 0: rank 1 failed: its process has ended, "
            "or its connection to the others");
}

TEST(Processes, Rank0ThatIsKilledIsNamedByAllOthers) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    TestWorld world(0);
    return reduceRanks(world, rank, [&]() {
      if (rank == 0)
        raise(SIGKILL);
    });
  });
  EXPECT_EQ(results[0], "died");
  EXPECT_THAT(results[1], HasSubstr("rank 1: rank 0 failed: its process has "
                                    "ended"));
}

TEST(Processes, RankThatIsStoppedDoesNotAnswer) {
  std::vector<std::string> results = runProcesses(3, 3, [](int32_t rank) {
    TestWorld world(0, {}, int64_t(1500) * 1000000);
    return reduceRanks(world, rank, [&]() {
      if (rank == 2)
        raise(SIGSTOP);
    });
  });
  for (size_t rank : {0, 1})
    EXPECT_THAT(results[rank],
                AllOf(HasSubstr("timed out after 1500 ms: rank 2 does not "
                                "answer; "),
                      HasSubstr("for all_reduce sum tensor<1xf32> at "
                                "prog.mlir:2:3 (ar)")));
}

TEST(Processes, RankThatIsLateIsNamedAndHearsOfIt) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    TestWorld world(0, {}, int64_t(1500) * 1000000);
    return reduceRanks(world, rank, [&]() {
      if (rank == 1)
        std::this_thread::sleep_for(std::chrono::seconds(6));
    });
  });
  for (size_t rank : {0, 1})
    EXPECT_EQ(
        results[rank],
        "prog.mlir:2:3 (ar): rank " + std::to_string(rank) +
            ": timed out after 1500 ms: rank 1 has not started collective "
            "number 2 of group @world; rank 0 waits for all_reduce sum "
            "tensor<1xf32> at prog.mlir:2:3 (ar)");
}

TEST(Processes, RankThatIsNotStartedIsNamed) {
  std::vector<std::string> results = runProcesses(2, 3, [](int32_t rank) {
    TestWorld world(0, {}, int64_t(1000) * 1000000);
    return std::to_string(rank);
  });
  for (const std::string &result : results)
    EXPECT_THAT(result, HasSubstr("rank 2 has not connected to the store of "
                                  "rank 0 at 127.0.0.1:"));
}

TEST(Processes, DifferentSchedulesAreRefusedOnAll) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    TestWorld world(0);
    return world.prepare({&everyone}, rank ? "cafe" : "beef");
  });
  for (const std::string &result : results)
    EXPECT_THAT(
        result,
        AllOf(HasSubstr("process 1 runs another program than process 0"),
              HasSubstr("schedule cafe"), HasSubstr("schedule beef")));
}

/// Rank 0 reduces with sum, rank 1 with max: NCCL does not notice it.
static std::string reduceDifferently(int32_t rank) {
  TestWorld world(0);
  std::string problem = world.prepare({&everyone});
  if (!problem.empty())
    return problem;
  float *memory = world.allocate(rank, 2);
  bool ok = world.run([&](int32_t) {
    braid_rt_site site = {"prog.mlir", "ar", 2, 3};
    int64_t one[] = {1};
    braid_rt_view source = {memory, one, BRAID_RT_F32, 1};
    braid_rt_view result = {memory + 1, one, BRAID_RT_F32, 1};
    braid_rt_wait(braid_rt_all_reduce(&everyone, 1, &source, &result,
                                      rank ? BRAID_RT_MAX : BRAID_RT_SUM,
                                      nullptr, &site),
                  &site);
  });
  std::string error = ok ? "" : world.error(rank);
  world.release(rank, memory);
  return error;
}

TEST(Processes, DetailNamesDisagreementsThatNCCLDoesNotNotice) {
  setenv("BRAID_DEBUG", "detail", 1);
  std::vector<std::string> results = runProcesses(2, 2, reduceDifferently);
  unsetenv("BRAID_DEBUG");
  for (size_t rank : {0, 1})
    EXPECT_EQ(results[rank],
              "prog.mlir:2:3 (ar): rank " + std::to_string(rank) +
                  ": the ranks of group @world disagree in collective number "
                  "1: rank 0 runs all_reduce sum tensor<1xf32> at "
                  "prog.mlir:2:3 (ar), rank 1 runs all_reduce max "
                  "tensor<1xf32> at prog.mlir:2:3 (ar)");
}

TEST(Processes, DetailLetsEqualOperationsRun) {
  setenv("BRAID_DEBUG", "detail", 1);
  std::vector<std::string> results = runProcesses(3, 3, [](int32_t rank) {
    TestWorld world(0);
    return reduceRanks(world, rank);
  });
  unsetenv("BRAID_DEBUG");
  EXPECT_THAT(results, Each(testing::Eq("6.000000")));
}

TEST(Processes, DetailNamesARankThatDoesNotStart) {
  setenv("BRAID_DEBUG", "detail", 1);
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    TestWorld world(0, {}, int64_t(1500) * 1000000);
    return reduceRanks(world, rank, [&]() {
      if (rank == 1)
        std::this_thread::sleep_for(std::chrono::seconds(6));
    });
  });
  unsetenv("BRAID_DEBUG");
  EXPECT_THAT(results[0], HasSubstr("timed out after 1500 ms: rank 1 has not "
                                    "started collective number 2 of group"));
}

TEST(Processes, UseTheDeviceOfTheirPlaceOnTheHost) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t) {
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    setenv("LOCAL_RANK", "5", 1);
    setenv("WORLD_SIZE", "8", 1);
    setenv("LOCAL_WORLD_SIZE", "8", 1);
    TestWorld world(0);
    return std::string();
  });
  EXPECT_EQ(results[1],
            "rank 1 is number 5 of its host, where 6 devices are needed, found "
            "2");
}

TEST(Processes, NumberOfRanksMustBeTheLaunchers) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t) {
    TestWorld world(3);
    return std::string();
  });
  EXPECT_THAT(results, Each(testing::Eq(
                           "torchrun has started 2 processes, expected 3")));
}

TEST(Processes, AgreeOnTheAlgorithmOfTheFirstMeasurementToEnd) {
  std::vector<std::string> results = runProcesses(3, 3, [](int32_t rank) {
    TestEngine engine(0);
    auto choose = [&](const std::function<int32_t()> &measure) {
      return std::to_string(engine.choose(0, measure));
    };
    std::string chosen;
    // Rank 0 measures from before rank 1 begins until it has ended.
    if (rank == 0)
      return choose([&]() {
        engine->exchange("rank 0 measures");
        engine->exchange("rank 1 has chosen");
        return 7;
      });
    engine->exchange("rank 0 measures");
    if (rank == 1)
      chosen = choose([]() { return 5; });
    engine->exchange("rank 1 has chosen");
    return rank == 1 ? chosen : choose([]() { return 9; });
  });
  EXPECT_THAT(results, Each(testing::Eq("5")));
}

TEST(Processes, AgreeOnAnAlgorithmWhereTheirHostsKeepOthers) {
  char name[] = "/tmp/braid-tuning-XXXXXX";
  std::string folder = mkdtemp(name);
  std::vector<std::string> results = runProcesses(3, 3, [&](int32_t rank) {
    std::string file = folder + "/" + std::to_string(rank);
    setenv("BRAID_TUNING_CACHE", file.c_str(), 1);
    if (rank != 2)
      std::ofstream(file) << "braid algorithms 1\na product\t" << 3 + rank
                          << "\n";
    TestEngine engine(0);
    // Rank 1 comes first, with what its host keeps.
    if (rank != 1)
      engine->exchange("rank 1 has chosen");
    int32_t chosen = engine.choose(0, []() { return 9; });
    if (rank == 1)
      engine->exchange("rank 1 has chosen");
    return std::to_string(chosen);
  });
  std::filesystem::remove_all(folder);
  EXPECT_THAT(results, Each(testing::Eq("4")));
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

namespace {
struct Memref {
  float *allocated, *aligned;
  int64_t offset = 0, size = 2, stride = 1;
};

int calls = 0;
bool isAwaitedByHost = false;

/// An all-reduce of each rank's number.
void reduce(void **args) {
  ++calls;
  float *at = static_cast<Memref *>(args[0])->aligned;
  void *sum = startAllReduce(everyone, at, at + 1, 1);
  isAwaitedByHost ? braid_rt_host_wait(sum, nullptr)
                  : braid_rt_wait(sum, nullptr);
}

/// A rank of a program of which all processes run one entry.
class Stepper {
public:
  Stepper(int32_t rank, const Options &options = {})
      : world(0, options), rank(rank) {
    braid_rt_program program = {};
    program.abiVersion = BRAID_RT_ABI_VERSION;
    program.target = BRAID_RT_TARGET_CUDA;
    program.name = "test";
    program.groupCount = 1;
    program.groups = groups;
    program.entryCount = 2;
    program.entries = entries;
    program.device = &device;
    char error[1024] = "";
    braid_rt_world_prepare(world.world.get(), &program, error, sizeof(error));
    if (*error)
      throw std::runtime_error(error);
    for (float *&at : memory)
      at = world.allocate(rank, 2);
  }
  ~Stepper() {
    for (float *at : memory)
      world.release(rank, at);
  }

  void call(const braid_rt_entry &entry, size_t place) {
    Memref memref = {memory[place], memory[place]};
    void *arguments[] = {&memref};
    void **ofRank[] = {arguments};
    if (braid_rt_world_run(world.world.get(), &entry, ofRank) != BRAID_RT_OK)
      throw std::runtime_error(world.error(rank));
  }

  /// Runs on one of two arguments with new values. Says how often the entry was
  /// called, and `wrong` if the sum is.
  std::string step(size_t place = 0) {
    int before = calls;
    float value = float(++steps);
    world.set(rank, memory[place], {value + float(rank), 0});
    call(entry, place);
    bool isRight = world.get(rank, memory[place], 2)[1] == 2 * value + 1;
    return std::to_string(calls - before) + (isRight ? "" : " wrong") + " ";
  }

  static void doNothing(void **) {}

  TestWorld world;
  const int32_t rank;
  float *memory[2] = {};
  const int64_t sizes[1] = {2};
  const braid_rt_argument argument = {"arg0", BRAID_RT_F32,   1,
                                      sizes,  BRAID_RT_INOUT, BRAID_RT_MEMREF};
  const braid_rt_entry entry = {"step", reduce, 1, &argument, nullptr};
  const braid_rt_entry alone = {"alone", doNothing, 1, &argument, nullptr};
  const braid_rt_entry *const entries[2] = {&entry, &alone};
  const braid_rt_group *const groups[1] = {&everyone};
  braid_rt_device_program device = {};
  int steps = 0;
};
} // namespace

TEST(Processes, RunAsGraphsWithEqualArguments) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    Stepper stepper(rank);
    std::string text;
    for (int i = 0; i < 5; ++i)
      text += stepper.step();
    return text;
  });
  EXPECT_THAT(results, Each(Eq("1 1 1 0 0 ")));
}

TEST(Processes, RecordTogetherWhereTheArgumentsOfOneMove) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    Stepper stepper(rank);
    std::string text;
    for (int i = 0; i < 9; ++i)
      text += stepper.step(/*place=*/rank == 1 && i > 3 && i < 8);
    return text;
  });
  EXPECT_THAT(results, Each(Eq("1 1 1 0 1 1 0 0 0 ")));
}

TEST(Processes, RecordAgainWhereOneHasFreedMemory) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    Stepper stepper(rank);
    std::string text;
    for (int i = 0; i < 7; ++i) {
      if (rank == 1 && i == 4)
        stepper.world.release(rank, stepper.world.allocate(rank, 2));
      text += stepper.step();
    }
    return text;
  });
  EXPECT_THAT(results, Each(Eq("1 1 1 0 1 1 0 ")));
}

TEST(Processes, RunAsItIsIfOneOfThemWantsNoGraphs) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    Stepper stepper(rank, {{"cuda-graph", rank == 1 ? "0" : "auto"}});
    std::string text;
    for (int i = 0; i < 4; ++i)
      text += stepper.step();
    return text;
  });
  EXPECT_THAT(results, Each(Eq("1 1 1 1 ")));
}

TEST(Processes, RunAsItIsIfOneOfThemCannotRecord) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    isAwaitedByHost = rank == 1;
    Stepper stepper(rank);
    std::string text;
    for (int i = 0; i < 4; ++i)
      text += stepper.step();
    return text;
  });
  // Each calls the entry again in place of its recording.
  EXPECT_THAT(results, Each(Eq("1 1 2 1 ")));
}

TEST(Processes, RunAnEntryAloneBesideGraphsOfAll) {
  std::vector<std::string> results = runProcesses(2, 2, [](int32_t rank) {
    Stepper stepper(rank);
    std::string text;
    for (int i = 0; i < 6; ++i) {
      if (rank == 1)
        stepper.call(stepper.alone, 1);
      text += stepper.step();
    }
    return text;
  });
  EXPECT_THAT(results, Each(Eq("1 1 1 0 0 0 ")));
}

TEST(Processes, KilledInAReplayIsNamedByAllOthers) {
  std::vector<std::string> results = runProcesses(3, 3, [](int32_t rank) {
    Stepper stepper(rank);
    for (int i = 0; i < 6; ++i) {
      if (rank == 1 && i == 5)
        raise(SIGKILL);
      stepper.step();
    }
    return std::string("no error");
  });
  EXPECT_EQ(results[1], "died");
  for (size_t rank : {0, 2})
    EXPECT_THAT(results[rank],
                HasSubstr("rank 1 failed: its process has ended, or its "
                          "connection to the others"));
}
