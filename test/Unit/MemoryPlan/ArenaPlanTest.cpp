//===- ArenaPlanTest.cpp - Places of buffers in one arena -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/MemoryPlan/ArenaPlan.h"

#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <gmock/gmock.h>
#include <random>

using namespace braid;
using testing::ElementsAre;

namespace {

constexpr int64_t alignment = 256;

/// Fails if two buffers that live at one time overlap, or one has no place.
void expectLegal(llvm::ArrayRef<ArenaBuffer> buffers, const ArenaPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  EXPECT_GE(plan.bytes, plan.lowerBound);
  for (size_t a = 0; a < buffers.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % alignment, 0);
    EXPECT_LE(plan.offsets[a] + buffers[a].bytes, plan.bytes);
    for (size_t b = a + 1; b < buffers.size(); ++b) {
      bool apart = buffers[a].end < buffers[b].begin ||
                   buffers[b].end < buffers[a].begin ||
                   plan.offsets[a] + buffers[a].bytes <= plan.offsets[b] ||
                   plan.offsets[b] + buffers[b].bytes <= plan.offsets[a];
      ASSERT_TRUE(apart) << "buffers " << a << " and " << b;
    }
  }
}

std::vector<ArenaBuffer> makeRandom(unsigned count, int64_t maxLifetime,
                                    unsigned seed) {
  std::mt19937 random(seed);
  std::vector<ArenaBuffer> buffers(count);
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    buffer.bytes = static_cast<int64_t>(random() % 100000);
    buffer.begin = static_cast<int64_t>(index);
    buffer.end =
        buffer.begin + static_cast<int64_t>(random() % (maxLifetime + 1));
  }
  return buffers;
}

TEST(ArenaPlanTest, PlansNothingForNoBuffers) {
  ArenaPlan plan = planArena({}, alignment);
  EXPECT_EQ(plan.bytes, 0);
  EXPECT_EQ(plan.lowerBound, 0);
}

TEST(ArenaPlanTest, SharesMemoryOfBuffersThatLiveOneAfterTheOther) {
  ArenaBuffer buffers[] = {{1000, 0, 1}, {1000, 2, 3}};
  ArenaPlan plan = planArena(buffers, alignment);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 0));
  EXPECT_EQ(plan.bytes, 1024);
  EXPECT_EQ(plan.lowerBound, 1024);
}

TEST(ArenaPlanTest, SeparatesBuffersThatMeetAtOneTime) {
  ArenaBuffer buffers[] = {{1000, 0, 2}, {1000, 2, 3}};
  ArenaPlan plan = planArena(buffers, alignment);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 1024));
  EXPECT_EQ(plan.bytes, 2048);
}

TEST(ArenaPlanTest, TakesTheSmallestRangeThatFits) {
  // When the last one begins, ranges of 1024 and 512 bytes are free.
  ArenaBuffer buffers[] = {
      {1024, 0, 3}, {256, 1, 9}, {512, 2, 3}, {256, 3, 9}, {512, 4, 9}};
  ArenaPlan plan = planArena(buffers, alignment);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 1024, 1280, 1792, 1280));
  EXPECT_EQ(plan.bytes, 2048);
  expectLegal(buffers, plan);
}

TEST(ArenaPlanTest, ExtendsAFreeRangeAtTheTop) {
  ArenaBuffer buffers[] = {{256, 0, 9}, {256, 0, 1}, {512, 2, 9}};
  ArenaPlan plan = planArena(buffers, alignment);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 256, 256));
  EXPECT_EQ(plan.bytes, plan.lowerBound);
}

TEST(ArenaPlanTest, PlacesLargeBuffersFirstWhereThatIsSmaller) {
  // In the order of time the third has no room in front of the second.
  ArenaBuffer buffers[] = {{256, 0, 1}, {256, 1, 3}, {512, 2, 3}};
  ArenaPlan plan = planArena(buffers, alignment);
  EXPECT_EQ(plan.lowerBound, 768);
  EXPECT_EQ(plan.bytes, 768);
  expectLegal(buffers, plan);
}

TEST(ArenaPlanTest, GivesEmptyBuffersNoMemory) {
  ArenaBuffer buffers[] = {{0, 0, 5}, {256, 1, 2}};
  ArenaPlan plan = planArena(buffers, alignment);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 0));
  EXPECT_EQ(plan.bytes, 256);
}

TEST(ArenaPlanTest, PlansRandomLifetimesLegallyAndNearTheLowerBound) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::vector<ArenaBuffer> buffers = makeRandom(300, 20, seed);
    ArenaPlan plan = planArena(buffers, alignment);
    expectLegal(buffers, plan);
    EXPECT_LE(plan.bytes, plan.lowerBound * 5 / 4) << "seed " << seed;
  }
}

TEST(ArenaPlanTest, GivesEqualPlansForEqualBuffers) {
  std::vector<ArenaBuffer> buffers = makeRandom(1000, 40, 7);
  ArenaPlan first = planArena(buffers, alignment);
  ArenaPlan second = planArena(buffers, alignment);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(first.bytes, second.bytes);
}

TEST(ArenaPlanTest, PlansTenThousandBuffersInWellUnderASecond) {
  for (int64_t maxLifetime : {20, 10000}) {
    std::vector<ArenaBuffer> buffers = makeRandom(10000, maxLifetime, 3);
    auto begin = std::chrono::steady_clock::now();
    ArenaPlan plan = planArena(buffers, alignment);
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - begin;
    // Typically 0.01 s and 0.03 s; the limit is for busy machines.
    EXPECT_LT(elapsed.count(), 2.0);
    EXPECT_GE(plan.bytes, plan.lowerBound);
  }
}

} // namespace
