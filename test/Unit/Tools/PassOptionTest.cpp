//===- PassOptionTest.cpp - Options of passes as text -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tools/PassOption.h"

#include <gmock/gmock.h>

using namespace braid::run;

namespace {

TEST(PassOptionTest, PlainValuesStandAlone) {
  EXPECT_EQ(passOption("trace", "/tmp/t.json"), "trace=/tmp/t.json");
  EXPECT_EQ(passOption("passes", "comm-sink-waits"), "passes=comm-sink-waits");
}

TEST(PassOptionTest, BracesKeepValuesTogether) {
  EXPECT_EQ(passOption("trace", "/tmp/a b"), "trace={/tmp/a b}");
  EXPECT_EQ(passOption("trace", "/tmp/a,b"), "trace={/tmp/a,b}");
  EXPECT_EQ(passOption("passes", "braid-overlap{ranks=2 profile={a b}}"),
            "passes={braid-overlap{ranks=2 profile={a b}}}");
}

TEST(PassOptionTest, QuotationMarksEnclosePunctuationInPairs) {
  EXPECT_EQ(passOption("trace", "/it's"), "trace=\"/it's\"");
  EXPECT_EQ(passOption("trace", "/a \"b"), "trace='/a \"b'");
  EXPECT_EQ(passOption("trace", "/a(b"), "trace='/a(b'");
}

TEST(PassOptionTest, ValuesThatNoTextGivesAreErrors) {
  for (const char *value : {" a", "a\n", "a}b", "{a", "it's \"a\""})
    EXPECT_THROW(passOption("trace", value), UsageError) << value;
}

TEST(PassOptionTest, PipelinesHaveBothMarksInBraces) {
  EXPECT_EQ(passOption("passes", "a{x='1' y=\"2\"}"),
            "passes={a{x='1' y=\"2\"}}");
}

} // namespace
