//===- Text.h - Text of users in messages -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_TEXT_H
#define BRAID_SUPPORT_TEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace braid {

/// Escapes `text` for one line of a terminal. Control characters (C0, DEL and
/// C1, which could end the line or control the terminal) become a backslash and
/// two hexadecimal digits for each byte, as in strings that MLIR prints. A
/// backslash becomes two.
std::string escapeControls(llvm::StringRef text);

} // namespace braid

#endif // BRAID_SUPPORT_TEXT_H
