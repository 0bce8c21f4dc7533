//===- FailuresTest.cpp - Ranks that disagree, fail or do not come --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bodies here are left by longjmp: everything with a destructor stands outside.
//
//===----------------------------------------------------------------------===//

#include "../Harness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <thread>

using namespace braid::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

static void shortTimeout(braid_rt_config &config) {
  config.timeoutNs = 50 * 1000 * 1000;
}
/// Long behind that timeout, also where the other ranks get a core late.
static constexpr std::chrono::milliseconds beyondTimeout(1000);

namespace {
/// Operands with `rows` rows of four floats for each rank, and a site per rank.
struct Data {
  explicit Data(int32_t ranks, int64_t rows = 16)
      : source(ranks), destination(ranks), site(ranks) {
    for (int32_t rank = 0; rank < ranks; ++rank) {
      source[rank] = Buffer(BRAID_RT_F32, {rows, 4});
      destination[rank] = Buffer(BRAID_RT_F32, {4 * rows, 4});
      site[rank] = siteAt(10 + rank, "ar");
    }
  }

  /// Starts and awaits an all-reduce of `rows` rows.
  void allReduce(int32_t rank, int64_t rows = 4, int32_t dtype = BRAID_RT_F32,
                 int32_t reduction = BRAID_RT_SUM,
                 const braid_rt_group *group = &worldGroup) {
    int64_t sizes[] = {rows, 4};
    braid_rt_view from = {source[rank].data.data(), sizes, dtype, 2};
    braid_rt_view to = {destination[rank].data.data(), sizes, dtype, 2};
    void *request = braid_rt_all_reduce(group, 1, &from, &to, reduction,
                                        nullptr, &site[rank]);
    braid_rt_wait(request, &site[rank]);
  }

  void broadcast(int32_t rank, int64_t root) {
    int64_t sizes[] = {4, 4};
    braid_rt_view from = {source[rank].data.data(), sizes, BRAID_RT_F32, 2};
    braid_rt_view to = {destination[rank].data.data(), sizes, BRAID_RT_F32, 2};
    void *request =
        braid_rt_broadcast(&worldGroup, 1, &from, &to, root, &site[rank]);
    braid_rt_wait(request, &site[rank]);
  }

  void gather(int32_t rank, int64_t dim) {
    int64_t from[] = {4, 4};
    int64_t to[] = {4, 4};
    to[dim] *= 2;
    braid_rt_view source4 = {source[rank].data.data(), from, BRAID_RT_F32, 2};
    braid_rt_view result = {destination[rank].data.data(), to, BRAID_RT_F32, 2};
    void *request = braid_rt_all_gather(&worldGroup, 1, &source4, &result, dim,
                                        &site[rank]);
    braid_rt_wait(request, &site[rank]);
  }

  std::vector<Buffer> source, destination;
  std::vector<braid_rt_site> site;
};
} // namespace

/// Checks what a rank reports, on the process of that rank.
static void expectError(const World &world, int32_t rank,
                        const testing::Matcher<std::string> &matcher) {
  if (world.isLocal(rank))
    EXPECT_THAT(world.error(rank), matcher);
}

/// Runs the body, which must fail on all ranks with texts that contain both
/// signatures, ranks and sites.
static void expectDisagreement(int32_t ranks, const Body &body,
                               const std::string &first,
                               const std::string &second) {
  World world(ranks);
  world.run(body);
  for (int32_t rank : world.localRanks()) {
    std::string prefix = "prog.mlir:" + std::to_string(10 + rank) +
                         ":3 (ar): rank " + std::to_string(rank) + ": ";
    EXPECT_THAT(world.error(rank),
                AllOf(StartsWith(prefix), HasSubstr("@world disagree"),
                      HasSubstr(first), HasSubstr(second)));
    EXPECT_FALSE(world.isSecondary(rank)) << world.error(rank);
  }
}

TEST(Disagreement, OfKind) {
  BRAID_NEEDS_OWN_WORLD(2);
  Data data(2);
  expectDisagreement(
      2,
      [&](int32_t rank) {
        if (rank == 0)
          data.allReduce(rank);
        else
          data.broadcast(rank, 0);
      },
      "rank 0 runs all_reduce sum tensor<4x4xf32> at prog.mlir:10:3 (ar)",
      "rank 1 runs broadcast root 0 tensor<4x4xf32> at prog.mlir:11:3 (ar)");
}

TEST(Disagreement, OfElementType) {
  BRAID_NEEDS_OWN_WORLD(2);
  Data data(2);
  expectDisagreement(
      2,
      [&](int32_t rank) {
        data.allReduce(rank, 4, rank ? BRAID_RT_I32 : BRAID_RT_F32);
      },
      "rank 0 runs all_reduce sum tensor<4x4xf32>",
      "rank 1 runs all_reduce sum tensor<4x4xi32>");
}

TEST(Disagreement, OfSize) {
  BRAID_NEEDS_OWN_WORLD(2);
  Data data(2);
  expectDisagreement(
      2, [&](int32_t rank) { data.allReduce(rank, rank ? 2 : 4); },
      "tensor<4x4xf32>", "tensor<2x4xf32>");
}

TEST(Disagreement, OfReductionOfLargeOperands) {
  BRAID_NEEDS_OWN_WORLD(2);
  Data data(2, 8192);
  expectDisagreement(
      2,
      [&](int32_t rank) {
        data.allReduce(rank, 8192, BRAID_RT_F32,
                       rank ? BRAID_RT_MAX : BRAID_RT_SUM);
      },
      "rank 0 runs all_reduce sum tensor<8192x4xf32>",
      "rank 1 runs all_reduce max tensor<8192x4xf32>");
}

TEST(Disagreement, OfSizeOfLargeOperands) {
  BRAID_NEEDS_OWN_WORLD(2);
  Data data(2, 8192);
  expectDisagreement(
      2, [&](int32_t rank) { data.allReduce(rank, rank ? 1024 : 8192); },
      "tensor<8192x4xf32>", "tensor<1024x4xf32>");
}

TEST(Disagreement, OfReduction) {
  BRAID_NEEDS_OWN_WORLD(2);
  Data data(2);
  expectDisagreement(
      2,
      [&](int32_t rank) {
        data.allReduce(rank, 4, BRAID_RT_F32,
                       rank ? BRAID_RT_MAX : BRAID_RT_SUM);
      },
      "all_reduce sum", "all_reduce max");
}

TEST(Disagreement, OfRoot) {
  BRAID_NEEDS_OWN_WORLD(2);
  Data data(2);
  expectDisagreement(
      2, [&](int32_t rank) { data.broadcast(rank, rank); },
      "rank 0 runs broadcast root 0", "rank 1 runs broadcast root 1");
}

TEST(Disagreement, OfDimension) {
  BRAID_NEEDS_OWN_WORLD(2);
  BRAID_NEEDS(whyNoDimension(1));
  Data data(2);
  expectDisagreement(
      2, [&](int32_t rank) { data.gather(rank, rank); },
      "all_gather dim 0 tensor<4x4xf32> -> tensor<8x4xf32>",
      "all_gather dim 1 tensor<4x4xf32> -> tensor<4x8xf32>");
}

TEST(Disagreement, OfOrderIsFoundAtTheFirstDifference) {
  BRAID_NEEDS_OWN_WORLD(2);
  Data data(2);
  expectDisagreement(
      2,
      [&](int32_t rank) {
        data.allReduce(rank);
        if (rank == 0) {
          data.allReduce(rank);
          data.broadcast(rank, 0);
        } else {
          data.broadcast(rank, 0);
          data.allReduce(rank);
        }
      },
      "collective number 2: rank", "broadcast root 0");
}

TEST(Disagreement, ReachesAllOfEightRanks) {
  BRAID_NEEDS_OWN_WORLD(8);
  Data data(8);
  World world(8);
  world.run([&](int32_t rank) { data.allReduce(rank, rank == 5 ? 3 : 4); });
  for (int32_t rank : world.localRanks())
    EXPECT_THAT(world.error(rank),
                AllOf(HasSubstr("rank 5 runs all_reduce sum tensor<3x4xf32>"),
                      HasSubstr("tensor<4x4xf32>")));
}

TEST(Disagreement, OfSplitsNamesBothSides) {
  BRAID_NEEDS_OWN_WORLD(2);
  Data data(2);
  int64_t sent[2][2] = {{1, 3}, {2, 2}}, expected[2][2] = {{1, 2}, {2, 2}};
  int64_t resultRows[] = {3, 4};
  World world(2);
  world.run([&](int32_t rank) {
    int64_t from[] = {4, 4}, to[] = {resultRows[rank], 4};
    braid_rt_view source = {data.source[rank].data.data(), from, BRAID_RT_F32,
                            2};
    braid_rt_view result = {data.destination[rank].data.data(), to,
                            BRAID_RT_F32, 2};
    void *request = braid_rt_all_to_all_splits(&worldGroup, 1, &source, &result,
                                               2, sent[rank], expected[rank],
                                               &data.site[rank]);
    braid_rt_wait(request, &data.site[rank]);
  });
  if (!world.has("host-memory") && world.errors().empty())
    GTEST_SKIP() << "NCCL has ended small messages of different sizes";
  for (int32_t rank : world.localRanks())
    EXPECT_THAT(
        world.error(rank),
        AllOf(HasSubstr("rank 0 sends 3 rows to rank 1, which expects 2"),
              HasSubstr("rank 0 runs all_to_all splits [1, 3] into [1, 2]"),
              HasSubstr("rank 1 runs all_to_all splits [2, 2] into [2, 2]")));
}

TEST(Missing, RankThatNeverComesIsNamedAfterTheTimeout) {
  BRAID_NEEDS_OWN_WORLD(3);
  Data data(3);
  World world(3, shortTimeout);
  auto begin = std::chrono::steady_clock::now();
  // Rank 2 neither comes nor ends until the others have given up.
  world.run([&](int32_t rank) {
    if (rank != 2)
      data.allReduce(rank);
    else
      std::this_thread::sleep_for(beyondTimeout);
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  for (int32_t rank : {0, 1})
    expectError(
        world, rank,
        AllOf(HasSubstr("timed out after 50 ms"),
              HasSubstr("rank 2 has not started collective number 1 of group "
                        "@world"),
              HasSubstr("ranks 0 and 1 wait for all_reduce sum "
                        "tensor<4x4xf32> at prog.mlir:1")));
  expectError(world, 2, testing::IsEmpty());
}

TEST(Missing, RankThatComesAfterTheTimeoutGetsTheErrorToo) {
  BRAID_NEEDS_OWN_WORLD(2);
  Data data(2);
  World world(2, shortTimeout);
  world.run([&](int32_t rank) {
    if (rank == 1)
      std::this_thread::sleep_for(beyondTimeout);
    data.allReduce(rank);
  });
  expectError(world, 0, HasSubstr("timed out"));
  expectError(world, 1,
              AllOf(StartsWith("prog.mlir:11:3 (ar): rank 1: timed out"),
                    HasSubstr("rank 1 has not started collective number 1"),
                    HasSubstr("rank 0 waits for all_reduce")));
}

TEST(Missing, RankThatComesAfterTheTimeoutWritesToNoMemory) {
  BRAID_NEEDS_OWN_WORLD(2);
  constexpr int64_t rows = 8192;
  Data data(2, rows);
  std::vector<int32_t> local;
  {
    World world(2, shortTimeout);
    world.run([&](int32_t rank) {
      if (rank == 1)
        std::this_thread::sleep_for(beyondTimeout);
      int64_t part[] = {rows, 4}, whole[] = {2 * rows, 4};
      braid_rt_view from = {data.source[rank].data.data(), part, BRAID_RT_F32,
                            2};
      braid_rt_view to = {data.destination[rank].data.data(), whole,
                          BRAID_RT_F32, 2};
      void *request =
          braid_rt_all_gather(&worldGroup, 1, &from, &to, 0, &data.site[rank]);
      braid_rt_wait(request, &data.site[rank]);
    });
    local = world.localRanks();
    for (int32_t rank : local) {
      expectError(world, rank, HasSubstr("timed out"));
      auto &bytes = data.destination[rank].data;
      std::fill(bytes.begin(), bytes.end(), 77);
    }
    // The others may still come, and the engine goes on until all have left.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  for (int32_t rank : local)
    EXPECT_THAT(data.destination[rank].data, testing::Each(77));
}

TEST(Missing, RankThatHasEndedIsNamedAtOnce) {
  BRAID_NEEDS_OWN_WORLD(3);
  Data data(3);
  World world(3); // 30 s
  auto begin = std::chrono::steady_clock::now();
  world.run([&](int32_t rank) {
    if (rank != 1)
      data.allReduce(rank);
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  for (int32_t rank : {0, 2})
    expectError(world, rank,
                AllOf(HasSubstr("rank 1 has ended its program without starting "
                                "collective number 1 of group @world"),
                      HasSubstr("all_reduce sum tensor<4x4xf32>")));
  expectError(world, 1, testing::IsEmpty());
}

TEST(Missing, FailureOfARankReachesThoseWhoWait) {
  BRAID_NEEDS_OWN_WORLD(4);
  Data data(4);
  World world(4);
  world.run([&](int32_t rank) {
    if (rank == 3) {
      braid_rt_site site = siteAt(99);
      braid_rt_fail("assertion failed", &site);
    }
    data.allReduce(rank);
  });
  expectError(world, 3,
              testing::Eq("prog.mlir:99:3: rank 3: assertion failed"));
  for (int32_t rank : {0, 1, 2})
    expectError(world, rank,
                HasSubstr("rank 3 failed: prog.mlir:99:3: rank 3: assertion "
                          "failed"));
  for (int32_t rank : world.localRanks())
    EXPECT_EQ(world.isSecondary(rank), rank != 3);
}

TEST(Missing, FailureTravelsThroughGroupsThatShareARank) {
  BRAID_NEEDS_OWN_WORLD(3);
  // 0 waits for 1, 1 for 2, and 2 fails: all hear of the first cause.
  Group left("left", {{0, 1}}), right("right", {{1, 2}});
  Data data(3);
  World world(3);
  world.run(
      [&](int32_t rank) {
        if (rank == 2)
          braid_rt_fail("broken", nullptr);
        if (rank == 1)
          data.allReduce(rank, 4, BRAID_RT_F32, BRAID_RT_SUM, right.get());
        data.allReduce(rank, 4, BRAID_RT_F32, BRAID_RT_SUM, left.get());
      },
      {left.get(), right.get()});
  for (int32_t rank : {0, 1})
    expectError(world, rank, HasSubstr("rank 2 failed: rank 2: broken"));
  expectError(world, 2, testing::Eq("rank 2: broken"));
}

TEST(Missing, RanksThatWaitForEachOtherDoNotHang) {
  BRAID_NEEDS_OWN_WORLD(2);
  Group a("a", {{0, 1}}), b("b", {{1, 0}});
  Data data(2);
  World world(2); // 30 s: it must be found without the timeout
  auto begin = std::chrono::steady_clock::now();
  world.run(
      [&](int32_t rank) {
        data.allReduce(rank, 4, BRAID_RT_F32, BRAID_RT_SUM,
                       rank ? a.get() : b.get());
      },
      {a.get(), b.get()});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  for (int32_t rank : world.localRanks())
    EXPECT_THAT(world.error(rank),
                AllOf(HasSubstr("every rank waits for another one"),
                      HasSubstr("rank 0 for all_reduce sum tensor<4x4xf32> at "
                                "prog.mlir:10:3"),
                      HasSubstr("rank 1 for all_reduce")));
}

TEST(Missing, RanksThatWaitForEachOtherAreToldWhileAnotherComputes) {
  BRAID_NEEDS_OWN_WORLD(3);
  Group a("a", {{0, 1}}), b("b", {{1, 0}});
  Data data(3);
  World world(3); // 30 s
  // Rank 2 ends before a failed rank of another process ends the job, after 1
  // s.
  auto begin = std::chrono::steady_clock::now();
  world.run(
      [&](int32_t rank) {
        if (rank == 2)
          std::this_thread::sleep_for(std::chrono::milliseconds(500));
        else
          data.allReduce(rank, 4, BRAID_RT_F32, BRAID_RT_SUM,
                         rank ? a.get() : b.get());
      },
      {a.get(), b.get()});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  for (int32_t rank : {0, 1})
    expectError(world, rank,
                AllOf(HasSubstr("ranks 0 and 1 wait for each other: rank 0 for "
                                "all_reduce sum tensor<4x4xf32> at "
                                "prog.mlir:10:3"),
                      HasSubstr(", rank 1 for all_reduce")));
  expectError(world, 2, testing::IsEmpty());
}

TEST(Missing, RankThatWaitsForADeadlockIsNamedToo) {
  BRAID_NEEDS_OWN_WORLD(4);
  // 2 waits for 0, which waits for 1; 3 computes.
  Group a("a", {{0, 1}}), b("b", {{1, 0}}), c("c", {{0, 2}});
  Data data(4);
  World world(4);
  world.run(
      [&](int32_t rank) {
        if (rank == 3)
          std::this_thread::sleep_for(std::chrono::milliseconds(500));
        else
          data.allReduce(rank, 4, BRAID_RT_F32, BRAID_RT_SUM,
                         rank == 0   ? a.get()
                         : rank == 1 ? b.get()
                                     : c.get());
      },
      {a.get(), b.get(), c.get()});
  // It may come after the other two have failed.
  for (int32_t rank : {0, 1})
    expectError(world, rank, HasSubstr(" wait for each other: rank 0 for "));
  expectError(world, 2,
              testing::AnyOf(HasSubstr("ranks 0, 1 and 2 wait for each other"),
                             HasSubstr("rank 0 failed")));
  expectError(world, 3, testing::IsEmpty());
}

TEST(Missing, RanksThatWaitInAChainForOneThatComputesAreNoDeadlock) {
  BRAID_NEEDS_OWN_WORLD(3);
  // 0 waits for 1, which waits for 2, which comes late, and then for 0.
  Group left("left", {{0, 1}}), right("right", {{1, 2}}),
      ends("ends", {{0, 2}});
  Data data(3);
  World world(3);
  auto reduce = [&](int32_t rank, Group &group) {
    data.allReduce(rank, 4, BRAID_RT_F32, BRAID_RT_SUM, group.get());
  };
  world.run(
      [&](int32_t rank) {
        if (rank == 2)
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
        if (rank != 0)
          reduce(rank, right);
        if (rank != 2)
          reduce(rank, left);
        if (rank != 1)
          reduce(rank, ends);
      },
      {left.get(), right.get(), ends.get()});
  for (int32_t rank : {0, 1, 2})
    expectError(world, rank, testing::IsEmpty());
}

TEST(Missing, ErrorComesFromTheRequestThatFailedNotFromTheOneAwaited) {
  BRAID_NEEDS_OWN_WORLD(2);
  // Rank 0 starts two and awaits the second; the first disagrees.
  Data data(2);
  World world(2);
  world.run([&](int32_t rank) {
    int64_t sizes[] = {4, 4};
    braid_rt_view from = {data.source[rank].data.data(), sizes, BRAID_RT_F32,
                          2};
    braid_rt_view to = {data.destination[rank].data.data(), sizes, BRAID_RT_F32,
                        2};
    braid_rt_site first = siteAt(1, "first"), second = siteAt(2, "second");
    void *a = braid_rt_all_reduce(&worldGroup, 1, &from, &to,
                                  rank ? BRAID_RT_MAX : BRAID_RT_SUM, nullptr,
                                  &first);
    void *b = braid_rt_barrier(&worldGroup, &second);
    braid_rt_wait(b, &second);
    braid_rt_wait(a, &first);
  });
  for (int32_t rank : world.localRanks())
    EXPECT_THAT(world.error(rank),
                AllOf(StartsWith("prog.mlir:1:3 (first): rank"),
                      HasSubstr("all_reduce max"),
                      HasSubstr("all_reduce sum")));
}

TEST(Prepare, ProgramsThatDifferAreRefusedOnEveryProcess) {
  BRAID_NEEDS_OWN_WORLD(2);
  World world(2);
  if (!world.has("processes"))
    GTEST_SKIP() << "one process has one program";
  const char *const names[] = {"here", "elsewhere"};
  braid_rt_entry entry = {names[world.localRanks()[0]], nullptr, 0, nullptr,
                          nullptr};
  const braid_rt_entry *entries[] = {&entry};
  braid_rt_program program = world.emptyProgram("p");
  program.entryCount = 1;
  program.entries = entries;
  char error[512] = "";
  EXPECT_EQ(braid_rt_world_prepare(world.get(), &program, error, sizeof(error)),
            BRAID_RT_FAILED);
  EXPECT_THAT(std::string(error),
              AllOf(HasSubstr("process 1 runs another program than process 0"),
                    HasSubstr("elsewhere"), HasSubstr("entry here")));
}
