//===- RenamedArgumentsTest.cpp - Tests of former options of tools --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/RenamedArguments.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid;
using testing::ElementsAre;
using testing::IsEmpty;

static std::optional<std::string> appendSeconds(const std::string &text) {
  return appendUnit(text, "s");
}

static const std::vector<RenamedArgument> renamed = {
    {"--bind", "--show-binding"},
    {"--beside", "--interleave-with", /*takesValue=*/true},
    {"--limit", "--limit", /*takesValue=*/true, appendSeconds},
    {"--each", "--verify", /*takesValue=*/false, convertVerifyEach}};

TEST(RenamedArguments, ReplacesNamesAndKeepsTheRest) {
  PresentArguments present =
      renameArguments({"p.so", "--bind", "--beside=a=b", "--bindings",
                       "--beside", "c", "-bind"},
                      renamed);
  EXPECT_THAT(present.arguments,
              ElementsAre("p.so", "--show-binding", "--interleave-with=a=b",
                          "--bindings", "--interleave-with=c",
                          "--show-binding"));
  ASSERT_EQ(present.warnings.size(), 4u);
  EXPECT_EQ(present.warnings[2],
            "'--beside=c' is the old spelling of '--interleave-with=c', "
            "expected the new one, which alone works from the next release on");
}

TEST(RenamedArguments, AppendsUnitsToNumbersOnly) {
  PresentArguments present = renameArguments(
      {"--limit=170", "--limit", "1.5", "--limit=3s", "--limit", "soon"},
      renamed);
  EXPECT_THAT(present.arguments, ElementsAre("--limit=170s", "--limit=1.5s",
                                             "--limit=3s", "--limit", "soon"));
  EXPECT_EQ(present.warnings.size(), 2u);
}

TEST(RenamedArguments, KeepsAnOptionWithoutItsValueAndAFlagThatIsOff) {
  EXPECT_THAT(renameArguments({"--beside"}, renamed).arguments,
              ElementsAre("--interleave-with"));
  EXPECT_THAT(renameArguments({"--each=true"}, renamed).arguments,
              ElementsAre("--verify=each"));
  PresentArguments off = renameArguments({"--each=false"}, renamed);
  EXPECT_THAT(off.arguments, ElementsAre("--each=false"));
  EXPECT_THAT(off.warnings, IsEmpty());
}

TEST(RenamedArguments, WarningsEscapeWhatUsersWrite) {
  EXPECT_THAT(renameArguments({"--beside=\x1b[31m"}, renamed).warnings.front(),
              testing::StartsWith("'--beside=\\1B[31m'"));
}
