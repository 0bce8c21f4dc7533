//===- Text.h - Text of users in messages -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without LLVM, because the runtime and braid-run use these functions as well.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_TEXT_H
#define BRAID_SUPPORT_TEXT_H

#include <string>
#include <string_view>

namespace braid {

/// `text` with U+FFFD in place of each byte that is not part of UTF-8 (without
/// surrogates and overlong forms): what JSON may have.
std::string replaceInvalidUtf8(std::string_view text);

/// Escapes `text` for one line of a terminal. Control characters (C0, DEL and
/// C1, which could end the line or control the terminal) and bytes that are not
/// part of UTF-8 become a backslash and two hexadecimal digits for each byte,
/// as in strings that MLIR prints. A backslash becomes two.
std::string escapeControls(std::string_view text);

/// The same for a message that quotes texts of users and may have several
/// lines: newlines, tabs and backslashes stay.
std::string makePrintable(std::string_view message);

/// The passes in `text`, a list of passes or a pipeline as MLIR's option
/// `--pass-pipeline` takes it: `builtin.module(...)` around the list.
std::string getModulePasses(const std::string &text);

} // namespace braid

#endif // BRAID_SUPPORT_TEXT_H
