//===- ProfiledMachineTest.cpp - The machine of a profile -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tools/ProfiledMachine.h"

#include "gtest/gtest.h"

using namespace braid::run;

namespace {

TEST(ProfiledMachineTest, FindsTheProfile) {
  EXPECT_EQ(findProfile("profile=a.json"), "a.json");
  EXPECT_EQ(findProfile("braid-overlap{profile=a.json}"), "a.json");
  EXPECT_EQ(findProfile("p{x=1 profile=a.json y=2}"), "a.json");
  EXPECT_EQ(findProfile("p{profile={a b.json} y=2}"), "a b.json");
  EXPECT_EQ(findProfile("p{profile='a {b.json' y=2}"), "a {b.json");
  EXPECT_EQ(findProfile("p{profile=\"a 'b.json\"}"), "a 'b.json");
  EXPECT_EQ(findProfile("p{measured-profile=a.json profile=b.json}"), "b.json");
  EXPECT_EQ(findProfile("p{profile= profile=b.json}"), "b.json");
}

TEST(ProfiledMachineTest, FindsNoProfile) {
  for (const char *passes : {"", "none", "measured-profile=a", "profile",
                             "p{profile=}", "profile=''"})
    EXPECT_EQ(findProfile(passes), "") << passes;
  // A mark that nothing closes belongs to the name.
  EXPECT_EQ(findProfile("p{profile='a.json}"), "'a.json");
}

TEST(ProfiledMachineTest, FindsTheGpu) {
  EXPECT_EQ(findProfiledGpu(R"({"machine": {"gpu": "NVIDIA H200"}})"),
            "NVIDIA H200");
  EXPECT_EQ(findProfiledGpu("{\"gpu\"\n : \t\"a\"}"), "a");
  EXPECT_EQ(findProfiledGpu(R"({"x": "gpu", "gpu": "b"})"), "b");
  for (const char *profile :
       {"", R"({"gpus": 2})", R"({"gpu": 2})", R"({"gpu": "open)", R"({"gpu")"})
    EXPECT_EQ(findProfiledGpu(profile), "") << profile;
}

TEST(ProfiledMachineTest, NamesMayBeLong) {
  std::string name(4 << 20, 'x');
  EXPECT_EQ(findProfile("p{profile=" + name + "}"), name);
  EXPECT_EQ(findProfiledGpu("{\"gpu\": \"" + name + "\"}"), name);
  EXPECT_EQ(findProfiledGpu("{\"gpu\": \"" + name), "");
}

} // namespace
