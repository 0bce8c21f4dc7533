//===- ClockTest.cpp - The clocks of several hosts --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timing/Clock.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace braid::run;

namespace {

/// Two processes exchange `rounds` times, with delays of up to `delayNs`; the
/// second's clock shows `offsetNs` less than the first's.
std::pair<ExchangeTimes, ExchangeTimes> simulate(int rounds, int64_t offsetNs,
                                                 int64_t delayNs) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> delay(0, delayNs);
  ExchangeTimes first, second;
  int64_t now = 1000000;
  for (int i = 0; i < rounds; ++i) {
    int64_t firstEnters = now + delay(random);
    int64_t secondEnters = now + delay(random);
    int64_t met = std::max(firstEnters, secondEnters);
    int64_t firstLeaves = met + delay(random);
    int64_t secondLeaves = met + delay(random);
    first.emplace_back(firstEnters, firstLeaves);
    second.emplace_back(secondEnters - offsetNs, secondLeaves - offsetNs);
    now = std::max(firstLeaves, secondLeaves);
  }
  return {first, second};
}

TEST(ClockTest, OffsetIsWithinTheStatedErrorWhateverTheDelays) {
  for (int64_t offset : {int64_t(-5000000000), int64_t(0), int64_t(123456789)})
    for (int64_t delay : {1, 1000, 1000000}) {
      auto [first, second] = simulate(32, offset, delay);
      ClockOffset found = estimateOffset(first, second);
      EXPECT_LE(std::abs(found.ns - offset), found.errorNs + 1);
      EXPECT_LE(found.errorNs, delay);
    }
}

TEST(ClockTest, MoreExchangesNarrowTheError) {
  auto [first, second] = simulate(1, 1000, 1000000);
  auto [firstMany, secondMany] = simulate(64, 1000, 1000000);
  EXPECT_LT(estimateOffset(firstMany, secondMany).errorNs,
            estimateOffset(first, second).errorNs);
}

TEST(ClockTest, OffsetLiesInTheMiddleOfTheNarrowestBounds) {
  // The second is seen to be between 10 and 30 ahead, then between 20 and 50.
  ExchangeTimes first = {{100, 140}, {200, 260}};
  ExchangeTimes second = {{110, 90}, {210, 180}};
  ClockOffset found = estimateOffset(first, second);
  EXPECT_EQ(found.ns, 25);
  EXPECT_EQ(found.errorNs, 5);
}

TEST(ClockTest, ProcessesOfOneHostReadOneClock) {
  EXPECT_THAT(clockName(), testing::Not(testing::IsEmpty()));
  EXPECT_EQ(clockName(), clockName());
}

} // namespace
