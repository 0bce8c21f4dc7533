//===- UnitsTest.cpp - Times and rates as users write them ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/Units.h"

#include "gtest/gtest.h"

#include <limits>

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

TEST(Units, ParsesBytes) {
  constexpr int64_t gib = int64_t(1) << 30;
  EXPECT_EQ(parseBytes("80GiB"), 80 * gib);
  EXPECT_EQ(parseBytes("0.5TiB"), 512 * gib);
  EXPECT_EQ(parseBytes("1TB"), 1000000000000);
  EXPECT_EQ(parseBytes("64KB"), 64000);
  EXPECT_EQ(parseBytes("0B"), 0);
  EXPECT_EQ(parseBytes("4096"), 4096);
  for (llvm::StringRef text : {"", "GiB", "80 GiB", "-1GiB", "80GIB", "nan",
                               "inf", "1e300GB", "9223372036854775808", "0x10"})
    EXPECT_EQ(parseBytes(text), std::nullopt) << text.str();
}

TEST(Units, TakesPartsOfAnyTime) {
  constexpr int64_t longest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(takePart(100, 0.0), 0);
  EXPECT_EQ(takePart(100, 0.999), 99);
  EXPECT_EQ(takePart(100, 1.0), 100);
  EXPECT_EQ(takePart(longest, 1.0), longest);
  EXPECT_EQ(takePart(longest, 0.5), longest / 2 + 1);
}
