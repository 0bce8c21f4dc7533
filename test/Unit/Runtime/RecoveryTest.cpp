//===- RecoveryTest.cpp - Worlds that are used again after a failure ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only engines with the capability `recovery` can do this. Bodies are left by
// longjmp: everything with a destructor stands outside.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "RandomOps.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid::test;
using testing::HasSubstr;

static void barrier() {
  braid_rt_wait(braid_rt_barrier(&worldGroup, nullptr), nullptr);
}

TEST(Recovery, WorldWorksAgainAfterAFailure) {
  World world(2);
  EXPECT_FALSE(world.run([&](int32_t rank) {
    if (rank == 0)
      barrier();
  }));
  EXPECT_TRUE(world.run([&](int32_t rank) { barrier(); }));
  EXPECT_EQ(world.error(0), "");
}

TEST(Recovery, RanksOfDifferentSpeedDoNotMixUpInvocations) {
  // One rank runs ahead into the next invocation while the other still waits:
  // with one collective fewer than the other it must fail, not match the next.
  World world(2);
  for (int round = 0; round < 20; ++round)
    EXPECT_TRUE(world.run([&](int32_t rank) { barrier(); }));
  EXPECT_FALSE(world.run([&](int32_t rank) {
    barrier();
    if (rank == 1)
      barrier();
  }));
  EXPECT_THAT(world.error(1), HasSubstr("rank 0 has ended its program"));
}

TEST(Recovery, FailuresAtRandomPlacesNeverHang) {
  // One rank fails after a random number of steps; all must end with an error.
  constexpr int32_t ranks = 4;
  Group rows("rows", {{0, 1}, {2, 3}}), columns("columns", {{0, 2}, {1, 3}});
  const braid_rt_group *groups[] = {&worldGroup, rows.get(), columns.get()};
  std::mt19937 random(8);
  World &world = sharedWorld(ranks);
  for (int round = 0; round < 200; ++round) {
    std::vector<RandomOp> ops = randomOps(random);
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
      barrier();
    }));
    for (int32_t rank = 0; rank < ranks; ++rank)
      EXPECT_NE(world.error(rank).find("rank " + std::to_string(failing)),
                std::string::npos)
          << world.error(rank);
  }
}
