//===- Sha256Test.cpp - Digests and message authentication ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Sha256.h"

#include "gtest/gtest.h"

using namespace braid::rt;

static std::string hexOf(const std::string &bytes) {
  return toHex(sha256(bytes));
}

TEST(Sha256, ExamplesOfNIST) {
  EXPECT_EQ(hexOf(""), "e3b0c44298fc1c149afbf4c8996fb924"
                       "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hexOf("abc"), "ba7816bf8f01cfea414140de5dae2223"
                          "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hexOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hexOf("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                  "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(hexOf(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, LengthsAroundABlock) {
  // `python3 -c "import hashlib; print(hashlib.sha256(b'x' * n).hexdigest())"`
  EXPECT_EQ(hexOf(std::string(55, 'x')),
            "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(hexOf(std::string(56, 'x')),
            "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(hexOf(std::string(63, 'x')),
            "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
  EXPECT_EQ(hexOf(std::string(64, 'x')),
            "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
  EXPECT_EQ(hexOf(std::string(65, 'x')),
            "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
  EXPECT_EQ(hexOf(std::string(119, 'x')),
            "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c");
}

TEST(Sha256, PiecesAreTheSameAsTheWhole) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += static_cast<char>(i);
  for (size_t piece : {1, 3, 63, 64, 65, 200}) {
    Sha256 digest;
    for (size_t at = 0; at < text.size(); at += piece)
      digest.add(std::string_view(text).substr(at, piece));
    EXPECT_EQ(digest.finish(), sha256(text)) << piece;
  }
}

/// RFC 4231 without its case 5, which truncates.
TEST(Hmac, ExamplesOfRFC4231) {
  auto hex = [](const std::string &key, const std::string &data) {
    HmacKey hmac(key);
    return toHex(hmac.finish(hmac.begin().add(data)));
  };
  EXPECT_EQ(hex(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::string counted;
  for (char c = 1; c <= 25; ++c)
    counted += c;
  EXPECT_EQ(hex(counted, std::string(50, '\xcd')),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  EXPECT_EQ(hex(std::string(131, '\xaa'),
                "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(hex(std::string(131, '\xaa'),
                "This is a test using a larger than block-size key and a "
                "larger than block-size data. The key needs to be hashed "
                "before being used by the HMAC algorithm."),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(Hmac, DigestsAreComparedWhole) {
  Digest digest = sha256("abc");
  for (size_t i = 0; i < digest.size(); ++i) {
    Digest other = digest;
    other[i] ^= 1;
    EXPECT_FALSE(areEqual(digest, other));
  }
  EXPECT_TRUE(areEqual(digest, digest));
}
