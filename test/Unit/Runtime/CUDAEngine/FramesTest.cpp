//===- FramesTest.cpp - The messages of a store, as bytes -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/Frames.h"
#include "Base/Bytes.h"
#include "CUDA/Processes/Introduction.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace braid::rt;
using namespace braid::rt::cuda;
using testing::HasSubstr;

static const Digest sealKey = sha256("the key of a seal");

/// What a parser makes of the bytes: the bodies of its frames, and its problem.
static std::string parse(FrameParser &parser, const std::string &bytes) {
  std::string text;
  parser.add(bytes.data(), bytes.size());
  while (std::optional<Frame> frame = parser.next())
    text += std::to_string(frame->kind) + ":" + frame->body + ";";
  return text + parser.problem();
}

static FrameParser sealedParser(Side side = Side::RankZero) {
  FrameParser parser(side);
  parser.expectSeal(Seal(sealKey));
  return parser;
}

static std::string handshakeFrame() {
  return encodeFrame({Handshake, 0, 0, toBytes(Greeting())}, nullptr);
}

TEST(Frames, AreReadInPiecesOfAnySize) {
  Seal seal(sealKey);
  std::string bytes = encodeFrame({Post, 1, 0, "first"}, &seal) +
                      encodeFrame({Part, 0, 1, ""}, &seal) +
                      encodeFrame({Goodbye, 0, 0, ""}, &seal);
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    FrameParser parser = sealedParser();
    std::string text;
    for (size_t at = 0; at < bytes.size(); at += piece)
      text += parse(parser, bytes.substr(at, piece));
    EXPECT_EQ(text, std::to_string(Post) + ":first;" + std::to_string(Part) +
                        ":;" + std::to_string(Goodbye) + ":;");
    EXPECT_TRUE(parser.isEmpty());
  }
}

TEST(Frames, EveryChangedBitOfASealedFrameIsFound) {
  Seal seal(sealKey);
  const std::string bytes = encodeFrame({Post, 1, 0, "body"}, &seal);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    FrameParser parser = sealedParser();
    std::string text = parse(parser, changed);
    // A longer body waits for its end.
    EXPECT_TRUE(!parser.problem().empty() || text.empty()) << bit << text;
    EXPECT_EQ(text.find("body"), std::string::npos) << bit;
  }
}

TEST(Frames, ArePassedOnOnceAndInTheirOrder) {
  Seal seal(sealKey);
  std::string first = encodeFrame({Post, 0, 0, "one"}, &seal);
  std::string second = encodeFrame({Post, 0, 0, "two"}, &seal);
  const char *const problem =
      "does not come from the sender, or not in its turn";
  for (const std::string &bytes : {first + first, second, second + first}) {
    FrameParser parser = sealedParser();
    EXPECT_THAT(parse(parser, bytes), HasSubstr(problem));
  }
  // Nor do they go back to their sender, or to another connection.
  FrameParser other(Side::RankZero);
  other.expectSeal(Seal(sha256("another key")));
  EXPECT_THAT(parse(other, first), HasSubstr(problem));
}

TEST(Frames, OnlyTheIntroductionIsUnsealed) {
  for (uint32_t kind = 0; kind < 40; ++kind)
    for (Side side : {Side::RankZero, Side::OtherRank}) {
      size_t size = kind == Handshake  ? handshakeBytes
                    : kind == WrongKey ? 0
                                       : 32;
      FrameParser parser(side);
      parse(parser, encodeFrame({kind, 0, 0, std::string(size, 'x')}, nullptr));
      bool toZero = kind == Handshake || kind == Proof;
      bool fromZero = kind == Challenge || kind == Welcome || kind == WrongKey;
      EXPECT_EQ(parser.problem().empty(),
                side == Side::RankZero ? toZero : fromZero)
          << kind;
    }
}

TEST(Frames, RankZeroTakesNothingThatOnlyRankZeroSends) {
  for (uint32_t kind : {Accepted, Refused, Parts, Failed, Lost, Challenge}) {
    Seal seal(sealKey);
    FrameParser parser = sealedParser();
    EXPECT_THAT(parse(parser, encodeFrame({kind, 1, 0, ""}, &seal)),
                HasSubstr("a message of kind"));
  }
}

TEST(Frames, LengthsAreNotBelieved) {
  std::string frame = handshakeFrame();
  for (uint64_t size :
       {uint64_t(0), uint64_t(handshakeBytes - 1), uint64_t(handshakeBytes + 1),
        uint64_t(1) << 32, ~uint64_t(0), ~uint64_t(0) - 31}) {
    std::string bytes = frame.substr(0, 32);
    std::memcpy(bytes.data() + 24, &size, sizeof(size));
    FrameParser parser(Side::RankZero);
    EXPECT_THAT(parse(parser, bytes), HasSubstr("a message Handshake has"))
        << size;
  }
  std::string bytes = encodeFrame({Part, 0, 1, ""}, nullptr);
  uint64_t size = longestPart + 1;
  std::memcpy(bytes.data() + 24, &size, sizeof(size));
  FrameParser parser = sealedParser();
  EXPECT_THAT(parse(parser, bytes), HasSubstr("a message Part has 1073741825"));
}

TEST(Frames, FirstForeignByteIsEnough) {
  for (const char *bytes : {"G", "BRAIDST1", "BRAIDSx"}) {
    FrameParser parser(Side::RankZero);
    parse(parser, bytes);
    EXPECT_TRUE(parser.isForeign()) << bytes;
    EXPECT_EQ(parser.size(), 0u);
  }
  FrameParser parser(Side::RankZero);
  EXPECT_EQ(parse(parser, "BRAIDST"), "");
}

TEST(Frames, ParserKeepsLittleBeforeTheIntroduction) {
  FrameParser parser(Side::RankZero);
  std::string handshake = handshakeFrame();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_LE(parser.room(), 1024u);
    parse(parser, handshake.substr(0, parser.room()));
    ASSERT_LE(parser.size(), 2048u);
  }
}

TEST(Introduction, ProofsDependOnEverything) {
  Greeting greeting = {1, 2, sha256("job"), sha256("hello")};
  std::string challenge(bytesOf(sha256("challenge")));
  Introduction one(HmacKey("key"), toBytes(greeting), challenge);
  Introduction same(HmacKey("key"), toBytes(greeting), challenge);
  EXPECT_EQ(one.ofRank, same.ofRank);
  EXPECT_EQ(one.toRankZero, same.toRankZero);
  // The four values stand for different uses.
  std::vector<Digest> all = {one.ofRank, one.ofRankZero, one.toRankZero,
                             one.fromRankZero};
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(all[i], all[j]);
  auto differs = [&](const HmacKey &key, Greeting other,
                     const std::string &asked) {
    Introduction changed(key, toBytes(other), asked);
    return changed.ofRank != one.ofRank &&
           changed.ofRankZero != one.ofRankZero &&
           changed.toRankZero != one.toRankZero &&
           changed.fromRankZero != one.fromRankZero;
  };
  EXPECT_TRUE(differs(HmacKey("kex"), greeting, challenge));
  EXPECT_TRUE(
      differs(HmacKey("key"), greeting, std::string(bytesOf(sha256("other")))));
  for (int field = 0; field < 4; ++field) {
    Greeting other = greeting;
    if (field == 0)
      other.rank = 0;
    else if (field == 1)
      other.size = 3;
    else
      (field == 2 ? other.job : other.nonce)[31] ^= 1;
    EXPECT_TRUE(differs(HmacKey("key"), other, challenge)) << field;
  }
}

TEST(Introduction, NumbersAreUsedOnce) { EXPECT_NE(drawNonce(), drawNonce()); }

TEST(Introduction, OnlyTheWholeProofCounts) {
  Digest proof = sha256("proof");
  std::string bytes(bytesOf(proof));
  EXPECT_TRUE(isProof(bytes, proof));
  EXPECT_FALSE(isProof(bytes.substr(0, 31), proof));
  EXPECT_FALSE(isProof(bytes + "x", proof));
  EXPECT_FALSE(isProof("", proof));
}
