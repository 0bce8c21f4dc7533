//===- PartsTest.cpp - Loops on the threads of a rank -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "braid-rt/Parts.h"
#include "gtest/gtest.h"

using namespace braid::test;

/// Marks iterations with the begin of their part.
static void mark(const void *arguments, int64_t begin, int64_t end) {
  auto *iterations = *static_cast<std::vector<int64_t> *const *>(arguments);
  for (int64_t i = begin; i < end; ++i)
    (*iterations)[i] += begin;
}

TEST(Parts, AreTheSameForEveryNumberOfThreads) {
  for (int32_t threads = 1; threads <= 4; ++threads) {
    World world(2,
                [&](braid_rt_config &config) { config.blasThreads = threads; });
    ASSERT_TRUE(world.run([&](int32_t rank) {
      for (int32_t round = 0; round < 50; ++round) {
        std::vector<int64_t> iterations(103 + rank), expected;
        for (size_t i = 0; i < iterations.size(); ++i)
          expected.push_back(static_cast<int64_t>(i) / 10 * 10);
        auto *arguments = &iterations;
        braid_rt_run_parts(mark, &arguments,
                           static_cast<int64_t>(iterations.size()), 10);
        EXPECT_EQ(iterations, expected);
      }
    })) << world.error(0);
  }
}

TEST(Parts, OfNoIterationsAreNotCalled) {
  World &world = sharedWorld(1);
  ASSERT_TRUE(world.run([](int32_t) {
    braid_rt_run_parts(
        [](const void *, int64_t, int64_t) { ADD_FAILURE() << "was called"; },
        nullptr, 0, 10);
  }));
}
