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
  EXPECT_EQ(escapeControls(std::string_view("\0", 1)), "\\00");
  // C1: U+0080, U+0085 and U+009F; U+00A0 and others are text.
  EXPECT_EQ(escapeControls("\xc2\x80 \xc2\x85 \xc2\x9f"),
            "\\C2\\80 \\C2\\85 \\C2\\9F");
  EXPECT_EQ(escapeControls("\xc2\xa0 \xc3\xa9 \xe2\x82\xac"),
            "\xc2\xa0 \xc3\xa9 \xe2\x82\xac");
  EXPECT_EQ(escapeControls("\\0A"), "\\\\0A");
  // Bytes that are no UTF-8: 9B alone begins a control sequence.
  EXPECT_EQ(escapeControls("\xc2 \x9b"), "\\C2 \\9B");
  EXPECT_EQ(escapeControls(""), "");
}

TEST(Text, MessagesKeepTheirLines) {
  EXPECT_EQ(makePrintable("a\n\tb\\ \x1b[31m\r"), "a\n\tb\\ \\1B[31m\\0D");
}

TEST(Text, KnowsUtf8) {
  for (const char *text : {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(replaceInvalidUtf8(text), text);
  // Cut, overlong, a surrogate, too large, a lone continuation.
  for (const char *text :
       {"\xc3", "\xe2\x82", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xff", "\x80"}) {
    std::string replaced = replaceInvalidUtf8(text);
    EXPECT_NE(replaced, text);
    EXPECT_EQ(replaceInvalidUtf8(replaced), replaced);
  }
  EXPECT_EQ(replaceInvalidUtf8("a\xff\xc3z"), "a\xef\xbf\xbd\xef\xbf\xbdz");
}

TEST(Text, ModulePassesHaveNoAnchor) {
  EXPECT_EQ(getModulePasses("builtin.module(a,func.func(b))"),
            "a,func.func(b)");
  EXPECT_EQ(getModulePasses("a,func.func(b)"), "a,func.func(b)");
  EXPECT_EQ(getModulePasses("builtin.module(a"), "builtin.module(a");
  EXPECT_EQ(getModulePasses(""), "");
}
