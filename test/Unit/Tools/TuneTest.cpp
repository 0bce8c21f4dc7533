//===- TuneTest.cpp - Which schedules have run ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Tune.h"

#include "gtest/gtest.h"

using namespace braid::run;

TEST(TuningRounds, EndWhenAScheduleReturns) {
  TuningRounds rounds;
  EXPECT_TRUE(rounds.add("a", 3));
  EXPECT_TRUE(rounds.add("b", 2));
  EXPECT_FALSE(rounds.add("a", 1));
  EXPECT_EQ(rounds.count(), 3u);
}

TEST(TuningRounds, AProgramWithoutAScheduleIsLikeNone) {
  TuningRounds rounds;
  EXPECT_TRUE(rounds.add("", 3));
  EXPECT_TRUE(rounds.add("", 3));
}

TEST(TuningRounds, TheFastestRoundWinsAndNotTheLast) {
  TuningRounds rounds;
  rounds.add("a", 3);
  EXPECT_EQ(rounds.best(), 0u);
  rounds.add("b", 2);
  EXPECT_EQ(rounds.best(), 1u);
  rounds.add("c", 4);
  EXPECT_EQ(rounds.best(), 1u);
  EXPECT_EQ(rounds.bestMs(), 2);
}

TEST(TuningRounds, OfEqualRoundsTheFirstWins) {
  TuningRounds rounds;
  rounds.add("a", 2);
  rounds.add("b", 2);
  EXPECT_EQ(rounds.best(), 0u);
}
