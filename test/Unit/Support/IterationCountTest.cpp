//===- IterationCountTest.cpp ---------------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/IterationCount.h"

#include "llvm/ADT/APInt.h"
#include "gtest/gtest.h"
#include <limits>

using namespace braid;
using llvm::APInt;

static constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
static constexpr int64_t highest = std::numeric_limits<int64_t>::max();

static std::optional<uint64_t> count(int64_t lower, int64_t upper, int64_t step,
                                     unsigned width = 64,
                                     bool isUnsigned = false) {
  auto get = [&](int64_t number) {
    return APInt(width, number, /*isSigned=*/true);
  };
  return countIterations(get(lower), get(upper), get(step), isUnsigned);
}

TEST(IterationCount, APartOfAStepIsAnIteration) {
  EXPECT_EQ(count(0, 10, 5), 2u);
  EXPECT_EQ(count(0, 11, 5), 3u);
  EXPECT_EQ(count(-3, 3, 2), 3u);
}

TEST(IterationCount, ALoopWithoutDistanceDoesNotRun) {
  EXPECT_EQ(count(3, 3, 1), 0u);
  EXPECT_EQ(count(4, 3, 1), 0u);
  EXPECT_EQ(count(0, 0, 0), 0u);
  EXPECT_EQ(count(highest, lowest, 1), 0u);
}

TEST(IterationCount, AStepIsPositive) {
  EXPECT_EQ(count(0, 1, 0), std::nullopt);
  EXPECT_EQ(count(0, 1, -1), std::nullopt);
  EXPECT_EQ(count(0, 1, 0, 64, /*isUnsigned=*/true), std::nullopt);
}

TEST(IterationCount, DistancesFillTheWidth) {
  EXPECT_EQ(count(lowest, highest, 1), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(count(lowest, highest, highest), 3u);
  EXPECT_EQ(count(-128, 127, 1, 8), 255u);
}

TEST(IterationCount, UnsignedNumbersAreNotNegative) {
  EXPECT_EQ(count(1, -1, 1, 8, /*isUnsigned=*/true), 254u);
  EXPECT_EQ(count(1, -1, -2, 8, /*isUnsigned=*/true), 1u);
  EXPECT_EQ(count(-1, 1, 1, 8, /*isUnsigned=*/true), 0u);
}

TEST(IterationCount, MoreThan64BitsAreTheLargestNumber) {
  APInt zero(128, 0), one(128, 1);
  EXPECT_EQ(countIterations(zero, one.shl(100), one, /*isUnsigned=*/false),
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(countIterations(zero, one.shl(100), one.shl(98),
                            /*isUnsigned=*/false),
            4u);
}
