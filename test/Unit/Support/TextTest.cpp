//===- TextTest.cpp - Text of users in messages ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/Text.h"

#include "gtest/gtest.h"

using namespace braid;

TEST(Text, EscapesControlCharacters) {
  EXPECT_EQ(escapeControls("a\nb\t\x1b[31m\x7f"), "a\\0Ab\\09\\1B[31m\\7F");
  EXPECT_EQ(escapeControls(llvm::StringRef("\0", 1)), "\\00");
  // C1: U+0080, U+0085 and U+009F; U+00A0 and others are text.
  EXPECT_EQ(escapeControls("\xc2\x80 \xc2\x85 \xc2\x9f"),
            "\\C2\\80 \\C2\\85 \\C2\\9F");
  EXPECT_EQ(escapeControls("\xc2\xa0 \xc3\xa9 \xe2\x82\xac"),
            "\xc2\xa0 \xc3\xa9 \xe2\x82\xac");
  EXPECT_EQ(escapeControls("\\0A"), "\\\\0A");
  EXPECT_EQ(escapeControls("\xc2"), "\xc2");
  EXPECT_EQ(escapeControls(""), "");
}
