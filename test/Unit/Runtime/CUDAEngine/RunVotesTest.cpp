//===- RunVotesTest.cpp - Agreement before each invocation ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/RunVotes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <thread>

using braid::rt::cuda::RunVotes;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {
using Numbers = std::vector<uint64_t>;
constexpr int64_t longNs = int64_t(60) * 1000 * 1000 * 1000;
constexpr int64_t shortNs = 20 * 1000 * 1000;

bool never() { return false; }

/// Two ranks with shared memory.
class RunVotesTest : public testing::Test {
protected:
  void SetUp() override {
    first = RunVotes::create(2);
    ASSERT_NE(first, nullptr);
    second = RunVotes::open(first->name(), 1, 2);
    ASSERT_NE(second, nullptr);
  }

  /// What both get.
  std::pair<Numbers, Numbers> vote(uint32_t ofFirst, uint32_t ofSecond,
                                   size_t entry = 0) {
    Numbers all;
    std::thread thread(
        [&]() { all = first->vote(entry, ofFirst, never, longNs); });
    Numbers others = second->vote(entry, ofSecond, never, longNs);
    thread.join();
    return {all, others};
  }

  std::unique_ptr<RunVotes> first, second;
};
} // namespace

TEST_F(RunVotesTest, AllGetTheNumbersOfAll) {
  for (uint32_t i = 0; i < 100; ++i) {
    auto [ofFirst, ofSecond] = vote(i, 7 * i, /*entry=*/i % 3);
    EXPECT_THAT(ofFirst, ElementsAre(i, 7 * i));
    EXPECT_EQ(ofFirst, ofSecond);
  }
}

TEST_F(RunVotesTest, WhoIsLateRunsAlone) {
  EXPECT_THAT(first->vote(0, 1, never, shortNs), IsEmpty());
  EXPECT_THAT(second->vote(0, 1, never, longNs), IsEmpty());
  // Both are at the same invocation again.
  EXPECT_THAT(vote(3, 4).first, ElementsAre(3, 4));
}

TEST_F(RunVotesTest, WhoRunsLessOftenIsNotAwaitedForever) {
  for (uint32_t i = 0; i < RunVotes::mostMissed; ++i)
    EXPECT_THAT(first->vote(0, 1, never, shortNs), IsEmpty());
  EXPECT_THAT(first->vote(0, 1, never, longNs), IsEmpty());
  for (uint32_t i = 0; i < 2 * RunVotes::mostMissed; ++i)
    EXPECT_THAT(second->vote(0, 1, never, longNs), IsEmpty());
  // Another entry has its own votes, and another program begins anew.
  EXPECT_THAT(vote(5, 6, /*entry=*/1).first, ElementsAre(5, 6));
  first->reset();
  second->reset();
  EXPECT_THAT(vote(1, 2).first, ElementsAre(1, 2));
}

TEST_F(RunVotesTest, SlowReaderStillGetsItsNumbers) {
  EXPECT_THAT(vote(1, 2).first, ElementsAre(1, 2));
  std::atomic<bool> isBehind{false}, mayGoOn{false};
  Numbers all;
  // The second rank votes, and sleeps before it looks.
  std::thread thread([&]() {
    int looks = 0;
    all = second->vote(
        0, 4,
        [&]() {
          if (++looks == 2) {
            isBehind = true;
            while (!mayGoOn)
              std::this_thread::yield();
          }
          return false;
        },
        longNs);
  });
  while (!isBehind)
    std::this_thread::yield();
  EXPECT_THAT(first->vote(0, 3, never, longNs), ElementsAre(3, 4));
  for (uint32_t i = 0; i < 3 * RunVotes::mostMissed; ++i)
    EXPECT_THAT(first->vote(0, 9, never, shortNs / 10), IsEmpty());
  mayGoOn = true;
  thread.join();
  EXPECT_THAT(all, ElementsAre(3, 4));
}

TEST_F(RunVotesTest, FailureEndsTheWait) {
  EXPECT_THAT(first->vote(0, 1, []() { return true; }, longNs), IsEmpty());
}

TEST_F(RunVotesTest, MemoryHasNoNameOnceAllHaveIt) {
  std::string name = first->name();
  first->hide();
  EXPECT_EQ(RunVotes::open(name, 1, 2), nullptr);
  EXPECT_THAT(vote(1, 2).first, ElementsAre(1, 2));
}
