//===- Text.cpp - Text of users in messages -------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/Text.h"

/// The length of the character of UTF-8 that `text`, which is not empty, begins
/// with; 0 if there is none.
static size_t characterLength(std::string_view text) {
  auto byteAt = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byteAt(0);
  if (first < 0x80)
    return 1;
  size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byteAt(i) & 0xC0) != 0x80)
      return 0;
  // Overlong forms, surrogates, and what is behind the last character.
  unsigned char second = byteAt(1);
  bool isWrong =
      (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return isWrong ? 0 : length;
}

/// Calls `visit(character, isValid)` for each character, and for each byte that
/// is not part of one.
template <typename Visit>
static void forEachCharacter(std::string_view text, const Visit &visit) {
  while (!text.empty()) {
    size_t length = characterLength(text);
    visit(text.substr(0, length == 0 ? 1 : length), length != 0);
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

std::string braid::replaceInvalidUtf8(std::string_view text) {
  std::string result;
  forEachCharacter(text, [&](std::string_view character, bool isValid) {
    result += isValid ? character : "\xEF\xBF\xBD";
  });
  return result;
}

/// Appends `character`, or its bytes as hexadecimal digits if it could control
/// a terminal.
static void appendPrintable(std::string &result, std::string_view character,
                            bool isValid) {
  auto first = static_cast<unsigned char>(character[0]);
  // C1 is U+0080 to U+009F: two bytes in UTF-8.
  bool isC1 = first == 0xC2 && character.size() == 2 &&
              (static_cast<unsigned char>(character[1]) & 0xE0) == 0x80;
  if (isValid && first >= 0x20 && first != 0x7F && !isC1) {
    result += character;
    return;
  }
  static constexpr char digits[] = "0123456789ABCDEF";
  for (char c : character) {
    auto byte = static_cast<unsigned char>(c);
    result += '\\';
    result += digits[byte >> 4];
    result += digits[byte & 15];
  }
}

std::string braid::escapeControls(std::string_view text) {
  std::string escaped;
  forEachCharacter(text, [&](std::string_view character, bool isValid) {
    appendPrintable(escaped, character, isValid);
    if (character == "\\")
      escaped += '\\';
  });
  return escaped;
}

std::string braid::makePrintable(std::string_view message) {
  std::string result;
  forEachCharacter(message, [&](std::string_view character, bool isValid) {
    if (character == "\n" || character == "\t")
      result += character;
    else
      appendPrintable(result, character, isValid);
  });
  return result;
}

std::string braid::getModulePasses(const std::string &text) {
  const std::string anchor = "builtin.module(";
  if (text.rfind(anchor, 0) != 0 || text.back() != ')')
    return text;
  return text.substr(anchor.size(), text.size() - anchor.size() - 1);
}
