//===- SegmentsTest.cpp - Graphs of calls between collectives -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCUDA.h"
#include "FakeNCCL.h"
#include "TestWorld.h"

#include "gtest/gtest.h"

using namespace braid::test;

namespace {
class Segments : public testing::Test {
protected:
  void SetUp() override {
    fake_cuda_reset();
    fake_nccl_reset();
  }
};
} // namespace

static void copy(float *to, const float *from) {
  braid_rt_copy(to, from, sizeof(float), nullptr);
}

TEST_F(Segments, StandBeforeAndAfterTheirCollectives) {
  TestWorld world(2, {{"compute-graphs", "2"}});
  ASSERT_EQ(world.prepare({&everyone}), "");
  std::vector<float *> memory = {world.allocate(0, 8), world.allocate(1, 8)};
  std::function<void(int32_t)> body = [&](int32_t rank) {
    float *at = memory[rank];
    copy(at + 1, at);
    copy(at + 2, at + 1);
    void *sum = startAllReduce(everyone, at + 2, at + 3, 1);
    copy(at + 4, at);
    copy(at + 5, at + 4);
    braid_rt_wait(sum, nullptr);
    copy(at + 6, at + 3);
    copy(at + 7, at + 6);
  };
  for (int round = 0; round < 5; ++round) {
    for (int32_t rank : world.locals)
      world.set(rank, memory[rank],
                {float(10 * round + rank), 0, 0, 0, 0, 0, 0, 0});
    fake_cuda_clear_log();
    ASSERT_TRUE(world.run(body)) << world.error(0) << world.error(1);
    // Three segments of each rank.
    EXPECT_EQ(countInLog("graph of 2 operations"), round < 2 ? 0U : 6U);
    for (int32_t rank : world.locals) {
      auto own = float(10 * round + rank), sum = float(20 * round + 1);
      EXPECT_EQ(world.get(rank, memory[rank], 8),
                (std::vector<float>{own, own, own, sum, own, own, sum, sum}))
          << round;
    }
  }
  for (int32_t rank : world.locals)
    world.release(rank, memory[rank]);
}

TEST_F(Segments, LetMessagesBeIssuedBeforeTheStreamIsFull) {
  // Rank 1 starts the collective after the message that rank 0 holds back.
  TestWorld world(2);
  ASSERT_EQ(world.prepare({&everyone}), "");
  std::vector<float *> memory = {world.allocate(0, 303),
                                 world.allocate(1, 303)};
  size_t issued = 0;
  std::function<void(int32_t)> body = [&](int32_t rank) {
    float *at = memory[rank];
    int64_t one = 1;
    braid_rt_view view = {at, &one, BRAID_RT_F32, 1};
    if (rank == 1) {
      braid_rt_wait(braid_rt_recv(&everyone, 1, &view, 0, nullptr), nullptr);
      braid_rt_wait(startAllReduce(everyone, at + 1, at + 2, 1), nullptr);
      return;
    }
    void *send = braid_rt_send(&everyone, 1, &view, 1, nullptr);
    braid_rt_wait(startAllReduce(everyone, at + 1, at + 2, 1), nullptr);
    for (int i = 0; i < 300; ++i)
      copy(at + 3 + i, at + 2);
    issued = countInLog("ncclSend");
    braid_rt_wait(send, nullptr);
  };
  for (int round = 0; round < 4; ++round) {
    fake_cuda_clear_log();
    ASSERT_TRUE(world.run(body)) << world.error(0) << world.error(1);
    EXPECT_EQ(issued, 1U) << round;
  }
  EXPECT_EQ(countInLog("graph of 128 operations"), 2U);
  for (int32_t rank : world.locals)
    world.release(rank, memory[rank]);
}
