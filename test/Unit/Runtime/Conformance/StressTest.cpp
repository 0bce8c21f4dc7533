//===- StressTest.cpp - Random programs on overlapping groups ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Harness.h"
#include "../RandomOps.h"

#include "gtest/gtest.h"

using namespace braid::test;

TEST(Stress, RandomProgramsOnOverlappingGroups) {
  BRAID_NEEDS_SHARED_WORLD(4);
  Group rows("rows", {{0, 1}, {2, 3}}), columns("columns", {{0, 2}, {1, 3}});
  const braid_rt_group *groups[] = {&worldGroup, rows.get(), columns.get()};
  std::mt19937 random(7);
  World &world = sharedWorld(4);
  // Other engines take ten times as long as inproc for a program.
  const int rounds = engineName() == "inproc" ? 100 : 25;
  for (int round = 0; round < rounds; ++round) {
    std::vector<RandomOp> ops = randomOps(random);
    ASSERT_TRUE(world.run(
        [&](int32_t rank) {
          std::vector<void *> requests(ops.size());
          for (size_t i = 0; i < ops.size() + 6; ++i) {
            if (i < ops.size())
              requests[i] = startOp(ops[i], groups[ops[i].group], rank);
            for (size_t j = 0; j < ops.size(); ++j)
              if (static_cast<size_t>(ops[j].waitAfter) == i)
                braid_rt_wait(requests[j], nullptr);
          }
        },
        {rows.get(), columns.get()}))
        << world.errors();
    for (size_t i = 0; i < ops.size(); ++i)
      for (int32_t rank : world.localRanks())
        ASSERT_EQ(countWrong(ops[i], i, rank), 0)
            << "round " << round << ", op " << i << ", rank " << rank;
  }
}
