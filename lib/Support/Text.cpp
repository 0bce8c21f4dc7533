//===- Text.cpp - Text of users in messages -------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/Text.h"

#include "llvm/ADT/StringExtras.h"

using namespace braid;
using llvm::StringRef;

std::string braid::escapeControls(StringRef text) {
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    auto escape = [&](unsigned char byte) {
      escaped += '\\';
      escaped += llvm::hexdigit(byte >> 4);
      escaped += llvm::hexdigit(byte & 15);
    };
    auto byte = static_cast<unsigned char>(text[i]);
    // C1 is U+0080 to U+009F: two bytes in UTF-8.
    bool isC1 = byte == 0xC2 && i + 1 < text.size() &&
                (static_cast<unsigned char>(text[i + 1]) & 0xE0) == 0x80;
    if (byte < 0x20 || byte == 0x7F) {
      escape(byte);
    } else if (isC1) {
      escape(byte);
      escape(text[++i]);
    } else {
      escaped += text[i];
      if (text[i] == '\\')
        escaped += '\\';
    }
  }
  return escaped;
}
