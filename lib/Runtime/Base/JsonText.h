//===- JsonText.h - Texts in JSON -------------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_BASE_JSONTEXT_H
#define BRAID_RUNTIME_BASE_JSONTEXT_H

#include "braid/Support/Text.h"

#include <cstdio>
#include <string>

namespace braid::rt {

/// `text` between quotation marks, as JSON writes it. JSON is UTF-8: U+FFFD
/// takes the place of bytes that are not.
inline std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : replaceInvalidUtf8(text)) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      result += escape;
    } else {
      result += c;
    }
  }
  return result + '"';
}

} // namespace braid::rt

#endif // BRAID_RUNTIME_BASE_JSONTEXT_H
