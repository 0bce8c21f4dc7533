//===- ProfileTest.cpp - Measured times of ops ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Profile/Profile.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace braid;
using llvm::StringRef;

static Profile
makeProfile(std::vector<std::pair<std::string, double>> measurements) {
  Profile profile;
  for (const auto &[text, ns] : measurements) {
    std::string error;
    std::optional<ParsedSignature> signature =
        ParsedSignature::parse(text, error);
    EXPECT_TRUE(signature) << text << ": expected " << error;
    if (signature)
      profile.setSignature(*signature, ns);
  }
  return profile;
}

static std::string allReduce(int64_t bytes) {
  return llvm::formatv("comm.all_reduce sum bf16, 8 ranks, {0} bytes", bytes);
}

static std::string matmul(int64_t m, int64_t n, int64_t k) {
  return llvm::formatv(
      "linalg.matmul({0}x{2}xbf16, {2}x{1}xbf16) -> ({0}x{1}xbf16)", m, n, k);
}

static void expectTime(const Profile &profile, StringRef signature, int64_t ns,
                       ProfileMatch match) {
  std::optional<ProfiledTime> time = profile.lookupSignature(signature);
  ASSERT_TRUE(time) << signature.str();
  EXPECT_EQ(time->ns, ns) << signature.str();
  EXPECT_EQ(time->match, match) << signature.str();
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static std::string describe(StringRef text) {
  std::string error;
  std::optional<ParsedSignature> signature =
      ParsedSignature::parse(text, error);
  if (!signature)
    return "expected " + error;
  std::string sizes;
  for (size_t i = 0; i < signature->sizes.size(); ++i)
    sizes += llvm::formatv(" {0}@{1}", signature->sizes[i],
                           signature->typeOfSize[i]);
  return llvm::formatv("{0} | {1} |{2}", signature->op, signature->family,
                       sizes);
}

TEST(ProfileSignature, TakesTypesApart) {
  EXPECT_EQ(describe("linalg.matmul(2x3xbf16, 3x4xbf16) -> (2x4xf32)"),
            "linalg.matmul | linalg.matmul(?x?xbf16, ?x?xbf16) -> (?x?xf32) | "
            "2@0 3@0 3@1 4@1 2@2 4@2");
  EXPECT_EQ(describe("linalg.generic#0123abcd() -> ()"),
            "linalg.generic | linalg.generic#0123abcd() -> () |");
  // Spaces do not matter, nor do scalars and unknown types.
  EXPECT_EQ(describe("  a.b( f32,4xcomplex<f32> )->( !d.t<1x2, (3)>) "),
            "a.b | a.b(f32, ?xcomplex<f32>) -> (!d.t<1x2, (3)>) | 4@1");
  // A number that is not followed by an x is no size.
  EXPECT_EQ(describe("a(4) -> (4y)"), "a | a(4) -> (4y) |");
  // A kernel may be called anything.
  EXPECT_EQ(describe("comm.compute \"a(1x2), \\\" \"(2xf32) -> (2xf32)"),
            "comm.compute | comm.compute \"a(1x2), \\\" \"(?xf32) -> (?xf32) | "
            "2@0 2@1");
}

TEST(ProfileSignature, TakesCollectivesApart) {
  EXPECT_EQ(describe("comm.all_reduce sum bf16, 8 ranks, 1024 bytes"),
            "comm.all_reduce | comm.all_reduce sum bf16, 8 ranks, ? bytes | "
            "1024@0");
  // What moves nothing has no size.
  EXPECT_EQ(describe("comm.barrier, 16 ranks on 2 nodes"),
            "comm.barrier | comm.barrier, 16 ranks on 2 nodes |");
  EXPECT_EQ(describe("comm.barrier, 8 ranks"),
            "comm.barrier | comm.barrier, 8 ranks |");
}

TEST(ProfileSignature, SaysWhatWasExpected) {
  const char *neither =
      "expected 'OP(TYPES) -> (TYPES)' or 'OP, N bytes', as comm-report prints "
      "it with format=json";
  const char *size = "expected sizes from 1 to 9223372036854775807, not ";
  EXPECT_EQ(describe(""), "expected the name of an op first");
  EXPECT_EQ(describe("(f32) -> ()"), "expected the name of an op first");
  EXPECT_EQ(describe("linalg.matmul"), neither);
  EXPECT_EQ(describe("comm.barrier, 0 bytes"), neither);
  EXPECT_EQ(describe("comm.barrier, -5 bytes"), neither);
  EXPECT_EQ(describe("comm.barrier, 9223372036854775808 bytes"), neither);
  EXPECT_EQ(describe("a(2x0xf32) -> ()"), size + std::string("0"));
  EXPECT_EQ(describe("a(9223372036854775808xf32) -> ()"),
            size + std::string("9223372036854775808"));
  EXPECT_EQ(describe("a(2xf32"), "expected ')' after types");
  EXPECT_EQ(describe("a(2xf32, ) -> ()"),
            "expected a type between commas and parentheses");
  EXPECT_EQ(describe("a(2x) -> ()"),
            "expected a type between commas and parentheses");
  EXPECT_EQ(describe("a(f32)"),
            "expected '->' between the types of what is read and of what is "
            "written");
  EXPECT_EQ(describe("a(f32) -> f32"), "expected '(' before types");
  EXPECT_EQ(describe("a(f32) -> (f32) x"),
            "expected nothing after the types of what is written");
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

TEST(Profile, GivesWhatWasMeasured) {
  Profile profile = makeProfile({{allReduce(1024), 5000},
                                 {allReduce(4096), 0},
                                 {matmul(64, 64, 64), 700.5}});
  EXPECT_TRUE(profile.setLabel("ar0", 12));
  EXPECT_TRUE(profile.setLabel("ar0", 12));
  EXPECT_FALSE(profile.setLabel("ar0", 13));
  EXPECT_EQ(profile.lookupLabel("ar0")->ns, 12);
  EXPECT_EQ(profile.lookupLabel("ar0")->match, ProfileMatch::Label);
  EXPECT_FALSE(profile.lookupLabel("ar1"));
  expectTime(profile, allReduce(1024), 5000, ProfileMatch::Signature);
  expectTime(profile, allReduce(4096), 0, ProfileMatch::Signature);
  expectTime(profile, matmul(64, 64, 64), 701, ProfileMatch::Signature);
  EXPECT_TRUE(profile.hasSignatureOf("linalg.matmul"));
  EXPECT_FALSE(profile.hasSignatureOf("linalg"));
}

TEST(Profile, OneMeasurementSaysNothingOfOtherSizes) {
  Profile profile = makeProfile({{allReduce(1024), 5000}});
  EXPECT_FALSE(profile.lookupSignature(allReduce(1025)));
  EXPECT_FALSE(profile.lookupSignature(allReduce(1023)));
}

TEST(Profile, FamiliesDoNotMix) {
  Profile profile =
      makeProfile({{allReduce(1024), 1000}, {allReduce(4096), 2000}});
  for (const char *other : {"comm.all_reduce sum f32, 8 ranks, 2048 bytes",
                            "comm.all_reduce max bf16, 8 ranks, 2048 bytes",
                            "comm.all_reduce sum bf16, 4 ranks, 2048 bytes",
                            "comm.all_gather bf16, 8 ranks, 2048 bytes"})
    EXPECT_FALSE(profile.lookupSignature(other)) << other;
}

TEST(Profile, InterpolatesOnALogScale) {
  // From 1 KiB to 16 KiB the time doubles; halfway on a log scale is 4 KiB.
  Profile profile =
      makeProfile({{allReduce(1 << 10), 1000}, {allReduce(1 << 14), 2000}});
  expectTime(profile, allReduce(1 << 12), 1414, ProfileMatch::Interpolated);
  // A quarter of the way: 1000 * 2^0.25.
  expectTime(profile, allReduce(1 << 11), 1189, ProfileMatch::Interpolated);
}

TEST(Profile, InterpolatesBetweenTheNearest) {
  Profile profile = makeProfile({{allReduce(1 << 10), 1000},
                                 {allReduce(1 << 12), 1000},
                                 {allReduce(1 << 14), 4000},
                                 {allReduce(1 << 20), 8000}});
  expectTime(profile, allReduce(1 << 11), 1000, ProfileMatch::Interpolated);
  expectTime(profile, allReduce(1 << 13), 2000, ProfileMatch::Interpolated);
}

TEST(Profile, ExtrapolatesAlongTheNearestSegment) {
  // Slope 1/2 in log and log.
  Profile profile = makeProfile({{allReduce(1 << 10), 1000},
                                 {allReduce(1 << 20), 1000},
                                 {allReduce(1 << 22), 2000}});
  expectTime(profile, allReduce(1 << 24), 4000, ProfileMatch::Extrapolated);
  // Below, the time stays.
  expectTime(profile, allReduce(1 << 8), 1000, ProfileMatch::Extrapolated);
}

TEST(Profile, ExtrapolatesNoFurtherThanFourTimes) {
  Profile profile =
      makeProfile({{allReduce(1 << 20), 1000}, {allReduce(1 << 22), 2000}});
  EXPECT_TRUE(profile.lookupSignature(allReduce(1 << 24)));
  EXPECT_FALSE(profile.lookupSignature(allReduce((1 << 24) + 1)));
  EXPECT_TRUE(profile.lookupSignature(allReduce(1 << 18)));
  EXPECT_FALSE(profile.lookupSignature(allReduce((1 << 18) - 1)));
}

TEST(Profile, BoundsTheSlopeBeyondTheMeasurements) {
  // Collectives: no more than proportional, no faster for more.
  Profile steep =
      makeProfile({{allReduce(1 << 20), 1000}, {allReduce(1 << 21), 8000}});
  expectTime(steep, allReduce(1 << 22), 16000, ProfileMatch::Extrapolated);
  expectTime(steep, allReduce(1 << 19), 500, ProfileMatch::Extrapolated);
  Profile falling =
      makeProfile({{allReduce(1 << 20), 2000}, {allReduce(1 << 21), 1000}});
  expectTime(falling, allReduce(1 << 22), 1000, ProfileMatch::Extrapolated);
  expectTime(falling, allReduce(1 << 19), 2000, ProfileMatch::Extrapolated);
  // A cube of a matmul has four times the bytes and eight times the operations.
  Profile cubes = makeProfile(
      {{matmul(512, 512, 512), 1000}, {matmul(1024, 1024, 1024), 64000}});
  expectTime(cubes, matmul(2048, 2048, 2048), 512000,
             ProfileMatch::Extrapolated);
}

TEST(Profile, SizesThatDifferByOneFactorAreCompared) {
  // m alone, n alone, and all three.
  Profile profile = makeProfile({{matmul(1024, 4096, 2048), 1000},
                                 {matmul(4096, 4096, 2048), 4000},
                                 {matmul(2048, 1024, 2048), 500},
                                 {matmul(1000, 3000, 2000), 123},
                                 {matmul(512, 512, 512), 100},
                                 {matmul(2048, 2048, 2048), 6400}});
  // Half way between 1024 and 4096 rows. That 2048x1024 has less columns says
  // nothing of more of them: there is one such measurement only.
  expectTime(profile, matmul(2048, 4096, 2048), 2000,
             ProfileMatch::Interpolated);
  expectTime(profile, matmul(1024, 1024, 1024), 800,
             ProfileMatch::Interpolated);
  EXPECT_FALSE(profile.lookupSignature(matmul(1111, 2222, 3333)));
}

TEST(Profile, PrefersTheClosestMeasurements) {
  // 1024 rows lie between 512 and 2048 rows, and closer between 768 and 1536
  // columns; more depth was measured beyond only.
  Profile profile = makeProfile({{matmul(512, 1024, 64), 100},
                                 {matmul(2048, 1024, 64), 400},
                                 {matmul(1024, 768, 64), 300},
                                 {matmul(1024, 1536, 64), 300},
                                 {matmul(1024, 1024, 65), 7},
                                 {matmul(1024, 1024, 66), 7}});
  expectTime(profile, matmul(1024, 1024, 64), 300, ProfileMatch::Interpolated);
}

TEST(Profile, HugeSizesDoNotOverflow) {
  int64_t most = std::numeric_limits<int64_t>::max();
  Profile profile =
      makeProfile({{allReduce(most), 0x1p62}, {allReduce(most / 2), 0x1p61}});
  EXPECT_GT(profile.lookupSignature(allReduce(most / 4))->ns, 0);
  Profile shapes =
      makeProfile({{matmul(most, most, most), 0x1p62},
                   {matmul(most - 1, most - 1, most - 1), 0x1p60}});
  EXPECT_GT(shapes.lookupSignature(matmul(most - 2, most - 2, most - 2))->ns,
            0);
}

TEST(Profile, RedoesPublishedTimesBetweenThem) {
  // NCCL's all-reduce on 8 H200, MiB to ns; leaving one out, the others give it
  // back within 9 %.
  const std::vector<std::pair<int64_t, double>> measured = {
      {4, 54e3},   {8, 78e3},   {16, 122e3},
      {32, 215e3}, {64, 375e3}, {128, 712e3}};
  for (size_t left = 1; left + 1 < measured.size(); ++left) {
    std::vector<std::pair<std::string, double>> others;
    for (size_t i = 0; i < measured.size(); ++i)
      if (i != left)
        others.emplace_back(allReduce(measured[i].first << 20),
                            measured[i].second);
    std::optional<ProfiledTime> time = makeProfile(others).lookupSignature(
        allReduce(measured[left].first << 20));
    ASSERT_TRUE(time);
    EXPECT_EQ(time->match, ProfileMatch::Interpolated);
    EXPECT_NEAR(static_cast<double>(time->ns) / measured[left].second, 1.0,
                0.09);
  }
}
