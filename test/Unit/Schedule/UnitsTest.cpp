//===- UnitsTest.cpp - Times and rates as users write them ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Units.h"

#include "gtest/gtest.h"

using namespace braid;

TEST(Units, ParsesDurations) {
  EXPECT_EQ(parseDurationNs("600ns"), 600.0);
  EXPECT_EQ(parseDurationNs("20us"), 20000.0);
  EXPECT_EQ(parseDurationNs("1.5ms"), 1500000.0);
  EXPECT_EQ(parseDurationNs("2s"), 2e9);
  EXPECT_EQ(parseDurationNs("0us"), 0.0);
  EXPECT_EQ(parseDurationNs("1e1us"), 10000.0);
}

TEST(Units, ParsesBandwidths) {
  EXPECT_EQ(parseBandwidth("10GB/s"), 10e9);
  EXPECT_EQ(parseBandwidth("1.5TB/s"), 1.5e12);
  EXPECT_EQ(parseBandwidth("800MB/s"), 800e6);
  EXPECT_EQ(parseBandwidth("64KB/s"), 64e3);
  EXPECT_EQ(parseBandwidth("100B/s"), 100.0);
}

TEST(Units, RefusesEverythingElse) {
  for (llvm::StringRef text :
       {"", "us", "20", "20 us", "-1us", "20min", "infs", "nanus", "0x10us",
        "20us ", "1e999s", "--1us", "1.2.3us"})
    EXPECT_EQ(parseDurationNs(text), std::nullopt) << text.str();
  for (llvm::StringRef text :
       {"", "GB/s", "10", "10GB", "10Gb/s", "-1GB/s", "10 GB/s", "10GiB/s"})
    EXPECT_EQ(parseBandwidth(text), std::nullopt) << text.str();
}
