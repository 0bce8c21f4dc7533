//===- FollowTest.cpp - Runs that return before the end of their work -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Callers.h"
#include "FakeCUDA.h"
#include "FakeNCCL.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <thread>

using namespace braid::test;
using testing::HasSubstr;

namespace {
class Follow : public testing::Test {
protected:
  void SetUp() override {
    fake_cuda_reset();
    fake_nccl_reset();
    world = std::make_unique<TestWorld>(2);
    ASSERT_EQ(world->prepare({&everyone}), "");
    for (int32_t rank : world->locals) {
      memory.push_back(world->allocate(rank, 2));
      world->set(rank, memory.back(), {float(rank + 1), 0});
    }
  }
  void TearDown() override {
    for (int32_t rank : world->locals)
      world->release(rank, memory[size_t(rank)]);
  }

  /// Adds up the ranks' numbers.
  void reduce(int32_t rank) {
    float *own = memory[size_t(rank)];
    braid_rt_wait(startAllReduce(everyone, own, own + 1, 1), nullptr);
  }

  std::unique_ptr<TestWorld> world;
  std::vector<float *> memory;
};
} // namespace

TEST_F(Follow, ReturnedWorkEndsBeforeALaterRunThatFails) {
  Callers callers(*world, memory);
  for (int device : {0, 1})
    fake_cuda_block(device);
  callers.follow();
  ASSERT_TRUE(world->run([this](int32_t rank) { reduce(rank); }));
  // The GPU of the last rank is current.
  EXPECT_TRUE(callers.streams[1].hasWork());
  std::thread later([]() {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    for (int device : {0, 1})
      fake_cuda_unblock(device);
  });
  callers.follow();
  EXPECT_FALSE(world->run([](int32_t rank) {
    if (rank == 1)
      braid_rt_fail("broken", nullptr);
  }));
  later.join();
  EXPECT_THAT(world->error(1), HasSubstr("broken"));
  for (int32_t rank : world->locals)
    EXPECT_EQ(world->get(rank, memory[size_t(rank)], 2)[1], 3);
}
