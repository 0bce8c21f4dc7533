//===- ProfileReaderTest.cpp - Profiles from JSON -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Profile/Profile.h"

#include "gtest/gtest.h"

#include <random>

using namespace braid;
using llvm::Expected;
using llvm::StringRef;

static constexpr const char *good = R"json({
  "version": 1,
  "machine": "h200x8",
  "entries": [
    {"label": "gradients", "ns": 1500.5},
    {"label": "weights", "ns": [30, 10, 20]},
    {"signature": "comm.all_reduce sum bf16, 8 ranks, 1048576 bytes",
     "ns": [92000, 90000]},
    {"signature": "comm.all_reduce sum bf16, 8 ranks, 16777216 bytes", "ns": 177000},
    {"signature": "comm.all_reduce sum bf16, 8 ranks, 1048576 bytes", "ns": 100000},
    {"signature": "linalg.matmul(64x128xbf16, 128x32xbf16) -> (64x32xbf16)", "ns": 4e3}
  ]
})json";

static Profile read(StringRef text) {
  Expected<Profile> profile = readProfile(text);
  if (profile)
    return std::move(*profile);
  ADD_FAILURE() << llvm::toString(profile.takeError());
  return Profile();
}

/// The error of reading `text`, without an error an empty text.
static std::string getError(StringRef text) {
  Expected<Profile> profile = readProfile(text);
  if (profile)
    return "";
  return llvm::toString(profile.takeError());
}

/// The error of a profile with the one entry `entry`.
static std::string getEntryError(StringRef entry) {
  return getError(("{\"version\":1,\"entries\":[  " + entry + "]}").str());
}

TEST(ProfileReader, ReadsLabelsAndSignatures) {
  Profile profile = read(good);
  EXPECT_EQ(profile.getHardware(), "h200x8");
  EXPECT_EQ(profile.lookupLabel("gradients")->ns, 1501);
  EXPECT_EQ(profile
                .lookupSignature(
                    "linalg.matmul(64x128xbf16, 128x32xbf16) -> (64x32xbf16)")
                ->ns,
            4000);
}

TEST(ProfileReader, RepeatedMeasurementsGiveTheirMedian) {
  Profile profile = read(good);
  EXPECT_EQ(profile.lookupLabel("weights")->ns, 20);
  // Of all entries of a signature: 90000, 92000, 100000.
  EXPECT_EQ(
      profile
          .lookupSignature("comm.all_reduce sum bf16, 8 ranks, 1048576 bytes")
          ->ns,
      92000);
  // Of an even number, what lies between the two in the middle.
  Profile even = read(R"({"version": 1, "entries": [
    {"label": "x", "ns": [1, 100, 10, 20]}]})");
  EXPECT_EQ(even.lookupLabel("x")->ns, 15);
}

TEST(ProfileReader, AnEmptyProfileIsOne) {
  Profile profile = read(R"({"version": 1, "entries": []})");
  EXPECT_EQ(profile.getHardware(), "");
  EXPECT_FALSE(profile.lookupLabel(""));
}

TEST(ProfileReader, ALabelMayStandTwiceWithTheSameTime) {
  EXPECT_EQ(getError(R"({"version": 1, "entries": [
    {"label": "x", "ns": 10}, {"label": "x", "ns": 10}]})"),
            "");
}

TEST(ProfileReader, SyntaxErrorsHaveAPlace) {
  EXPECT_EQ(getError(""), "[1:0, byte=0]: Unexpected EOF");
  EXPECT_EQ(getError("{\n  \"version\": 1,\n  \"entries\": [1 2]\n}"),
            "[3:17, byte=35]: Expected , or ] after array element");
  EXPECT_EQ(getError("{\"version\": NaN}"),
            "[1:13, byte=13]: Invalid JSON value");
  EXPECT_EQ(getError(std::string(100000, '[')),
            "found more than 64 nested arrays and objects");
  EXPECT_EQ(getError("\xff"), "[1:0, byte=0]: Invalid UTF-8 sequence");
}

TEST(ProfileReader, HeaderErrors) {
  EXPECT_EQ(getError("[]"), "found an array, expected an object with the "
                            "fields \"version\" and \"entries\"");
  EXPECT_EQ(getError("{\"entries\": []}"),
            "no field \"version\", expected an integer from 1 to 2");
  EXPECT_EQ(getError("{\"version\": 3, \"entries\": []}"),
            "found 3 in field \"version\", expected an integer from 1 to 2");
  EXPECT_EQ(getError("{\"version\": \"1\", \"entries\": []}"),
            "found \"1\" in field \"version\", expected an integer from "
            "1 to 2");
  EXPECT_EQ(getError("{\"version\": 1}"),
            "no field \"entries\", expected a list");
  EXPECT_EQ(getError("{\"version\": 1, \"entries\": {}}"),
            "found an object in field \"entries\", expected a list");
  EXPECT_EQ(getError("{\"version\": 1, \"machine\": 3, \"entries\": []}"),
            "found 3 in field \"machine\", expected a string that is not "
            "empty");
  EXPECT_EQ(getError("{\"version\": 1,\n \"colour\": 3, \"entries\": []}"),
            "unknown field \"colour\", expected one of: entries machine "
            "version");
}

TEST(ProfileReader, EntryErrors) {
  EXPECT_EQ(getEntryError("7"), "entries[0]: found 7, expected an object");
  EXPECT_EQ(
      getEntryError(R"({"ns": 1})"),
      "entries[0]: neither of the fields \"label\" and \"signature\", expected "
      "one");
  EXPECT_EQ(
      getEntryError(R"({"label": "a", "signature": "b", "ns": 1})"),
      "entries[0]: both of the fields \"label\" and \"signature\", expected "
      "one");
  EXPECT_EQ(getEntryError(R"({"label": "a", "us": 1})"),
            "no field \"entries[0].ns\", expected nanoseconds of at least "
            "0 and below 2^63, or a list of such");
  EXPECT_EQ(getEntryError(R"({"label": "", "ns": 1})"),
            "found \"\" in field \"entries[0].label\", expected a string "
            "that is not empty");
  EXPECT_EQ(getEntryError(R"({"label": "a"})"),
            "no field \"entries[0].ns\", expected nanoseconds of at least "
            "0 and below 2^63, or a list of such");
  EXPECT_EQ(
      getEntryError(R"({"label": "a", "ns": 1}, {"label": "a", "ns": 2})"),
      "found \"a\" in field \"entries[1].label\", expected one entry "
      "with all times of a label");
  EXPECT_EQ(
      getEntryError(R"json({"signature": "f(0xf32) -> ()", "ns": 2})json"),
      "found \"f(0xf32) -> ()\" in field \"entries[0].signature\", "
      "expected sizes from 1 to 9223372036854775807, not 0");
}

TEST(ProfileReader, TimeErrors) {
  const std::string expected = " in field \"entries[0].ns\", expected "
                               "nanoseconds of at least 0 and below 2^63, or a "
                               "list of such";
  auto error = [](StringRef time) {
    return getEntryError(("{\"label\": \"a\", \"ns\": " + time + "}").str());
  };
  EXPECT_EQ(error("-1"), "found -1" + expected);
  EXPECT_EQ(error("1e999"), "found inf" + expected);
  EXPECT_EQ(error("9223372036854775808"),
            "found 9223372036854775808" + expected);
  EXPECT_EQ(error("null"), "found null" + expected);
  EXPECT_EQ(error("\"3us\""), "found \"3us\"" + expected);
  EXPECT_EQ(error("[]"), "found an array" + expected);
  EXPECT_EQ(error("[3, -0.5]"),
            "entries[0].ns[1]: found -0.5, expected nanoseconds of at "
            "least 0 and below 2^63, or a list of such");
}

/// Changes `text` in one of the ways in which files go wrong.
static void mutate(std::string &text, std::mt19937 &random) {
  // Distributions differ between standard libraries, the generator does not.
  auto below = [&](size_t limit) { return random() % limit; };
  static constexpr const char *pieces[] = {"{",       "}",
                                           "[",       "]",
                                           "\"",      ",",
                                           ":",       "-1",
                                           "0",       "1e999",
                                           "-1e-9",   "null",
                                           "NaN",     "true",
                                           "\\u0000", "\xff",
                                           "1x0xf32", "()",
                                           "->",      "(",
                                           ")",       "<",
                                           "\\",      "\"version\"",
                                           "\"ns\"",  "99999999999999999999",
                                           "8 ranks", "\"label\""};
  size_t place = below(text.size() + 1);
  switch (below(6)) {
  case 0: // cut off
    text.resize(place);
    break;
  case 1: // a byte
    if (place < text.size())
      text[place] = static_cast<char>(below(256));
    break;
  case 2: // lost
    text.erase(place, below(20));
    break;
  case 3: // twice
    text.insert(place, text.substr(below(text.size() + 1), below(60)));
    break;
  default:
    text.insert(place, pieces[below(std::size(pieces))]);
    break;
  }
}

TEST(ProfileReader, MutatedProfilesNeverCrash) {
  std::mt19937 random(20260101);
  size_t numRead = 0, numRejected = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (unsigned i = 0, e = 1 + random() % 4; i < e; ++i)
      mutate(text, random);
    Expected<Profile> profile = readProfile(text);
    if (!profile) {
      ++numRejected;
      EXPECT_NE(llvm::toString(profile.takeError()), "");
      continue;
    }
    // What is taken can be asked.
    ++numRead;
    for (const char *signature :
         {"comm.all_reduce sum bf16, 8 ranks, 2097152 bytes",
          "linalg.matmul(64x256xbf16, 256x32xbf16) -> (64x32xbf16)"})
      if (std::optional<ProfiledTime> time =
              profile->lookupSignature(signature))
        EXPECT_GE(time->ns, 0);
  }
  EXPECT_GT(numRead, 100u);
  EXPECT_GT(numRejected, 10000u);
}
