//===- StressTest.cpp - Random programs on overlapping groups ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "gtest/gtest.h"

#include <random>

using namespace braid::test;

namespace {
constexpr int32_t ranks = 4;

/// One collective of a random program. Every rank's operand is filled with
/// 1000 * op + 10 * rank + position % 7, so that the result is known.
struct Op {
  int group;     ///< 0: all, 1: rows, 2: columns.
  int kind;      ///< 0: all_reduce, 1: all_gather, 2: reduce to root 0.
  int64_t size;  ///< Elements of an operand.
  int waitAfter; ///< The op after whose start it is awaited.
  std::vector<std::vector<int64_t>> sources, results;
};
} // namespace

static int64_t valueOf(size_t op, int32_t rank, int64_t position) {
  return 1000 * static_cast<int64_t>(op) + 10 * rank + position % 7;
}

/// The members of the rank's list.
static std::vector<int32_t> membersOf(int group, int32_t rank) {
  if (group == 0)
    return {0, 1, 2, 3};
  if (group == 1)
    return rank < 2 ? std::vector<int32_t>{0, 1} : std::vector<int32_t>{2, 3};
  return rank % 2 ? std::vector<int32_t>{1, 3} : std::vector<int32_t>{0, 2};
}

static std::vector<Op> randomProgram(std::mt19937 &random) {
  std::vector<Op> ops(20);
  for (size_t i = 0; i < ops.size(); ++i) {
    Op &op = ops[i];
    op.group = static_cast<int>(random() % 3);
    op.kind = static_cast<int>(random() % 3);
    // Small ones are done on the spot, large ones by many.
    op.size = static_cast<int64_t>(random() % (random() % 4 ? 100 : 40000));
    op.waitAfter = static_cast<int>(i + random() % 6);
    for (int32_t rank = 0; rank < ranks; ++rank) {
      size_t factor = op.kind == 1 ? membersOf(op.group, rank).size() : 1;
      op.sources.emplace_back(op.size);
      op.results.emplace_back(static_cast<size_t>(op.size) * factor, -1);
      for (int64_t p = 0; p < op.size; ++p)
        op.sources[rank][p] = valueOf(i, rank, p);
    }
  }
  return ops;
}

static void *startOp(Op &op, const braid_rt_group *group, int32_t rank) {
  int64_t sizes[] = {op.size};
  auto resultSize = static_cast<int64_t>(op.results[rank].size());
  braid_rt_view from = {op.sources[rank].data(), sizes, BRAID_RT_I64, 1};
  braid_rt_view to = {op.results[rank].data(), &resultSize, BRAID_RT_I64, 1};
  if (op.kind == 1)
    return braid_rt_all_gather(group, 1, &from, &to, 0, nullptr);
  if (op.kind == 2)
    return braid_rt_reduce(group, 1, &from, &to, BRAID_RT_SUM, nullptr, 0,
                           nullptr);
  return braid_rt_all_reduce(group, 1, &from, &to, BRAID_RT_SUM, nullptr,
                             nullptr);
}

/// The number of wrong elements of one rank's result.
static int64_t countWrong(const Op &op, size_t number, int32_t rank) {
  std::vector<int32_t> members = membersOf(op.group, rank);
  int64_t wrong = 0;
  for (size_t i = 0; i < op.results[rank].size(); ++i) {
    auto position = static_cast<int64_t>(i);
    int64_t expected = 0;
    if (op.kind == 1)
      expected = valueOf(number, members[i / op.size], position % op.size);
    else if (op.kind == 2 && rank != members[0])
      expected = valueOf(number, rank, position);
    else
      for (int32_t member : members)
        expected += valueOf(number, member, position);
    wrong += op.results[rank][i] != expected;
  }
  return wrong;
}

TEST(Stress, RandomProgramsOnOverlappingGroups) {
  Group rows("rows", {{0, 1}, {2, 3}}), columns("columns", {{0, 2}, {1, 3}});
  const braid_rt_group *groups[] = {&worldGroup, rows.get(), columns.get()};
  std::mt19937 random(7);
  World &world = sharedWorld(ranks);
  for (int round = 0; round < 100; ++round) {
    std::vector<Op> ops = randomProgram(random);
    ASSERT_TRUE(world.run([&](int32_t rank) {
      std::vector<void *> requests(ops.size());
      for (size_t i = 0; i < ops.size() + 6; ++i) {
        if (i < ops.size())
          requests[i] = startOp(ops[i], groups[ops[i].group], rank);
        for (size_t j = 0; j < ops.size(); ++j)
          if (static_cast<size_t>(ops[j].waitAfter) == i)
            braid_rt_wait(requests[j], nullptr);
      }
    })) << world.error(0);
    for (size_t i = 0; i < ops.size(); ++i)
      for (int32_t rank = 0; rank < ranks; ++rank)
        ASSERT_EQ(countWrong(ops[i], i, rank), 0)
            << "round " << round << ", op " << i << ", rank " << rank;
  }
}

TEST(Stress, FailuresAtRandomPlacesNeverHang) {
  // One rank fails after a random number of steps; all must end with an error.
  Group rows("rows", {{0, 1}, {2, 3}}), columns("columns", {{0, 2}, {1, 3}});
  const braid_rt_group *groups[] = {&worldGroup, rows.get(), columns.get()};
  std::mt19937 random(8);
  World &world = sharedWorld(ranks);
  for (int round = 0; round < 200; ++round) {
    std::vector<Op> ops = randomProgram(random);
    auto failing = static_cast<int32_t>(random() % ranks);
    size_t place = random() % ops.size();
    // Without destructors: an error leaves by longjmp.
    std::vector<std::vector<void *>> requests(ranks,
                                              std::vector<void *>(ops.size()));
    EXPECT_FALSE(world.run([&](int32_t rank) {
      for (size_t i = 0; i < ops.size() + 6; ++i) {
        if (rank == failing && i == place)
          braid_rt_fail("here", nullptr);
        if (i < ops.size())
          requests[rank][i] = startOp(ops[i], groups[ops[i].group], rank);
        for (size_t j = 0; j < ops.size(); ++j)
          if (static_cast<size_t>(ops[j].waitAfter) == i)
            braid_rt_wait(requests[rank][j], nullptr);
      }
      // Whoever has not met the failing rank before meets it here.
      braid_rt_wait(braid_rt_barrier(&worldGroup, nullptr), nullptr);
    }));
    for (int32_t rank = 0; rank < ranks; ++rank)
      EXPECT_NE(world.error(rank).find("rank " + std::to_string(failing)),
                std::string::npos)
          << world.error(rank);
  }
}
