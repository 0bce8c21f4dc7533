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

/// `text` as a line of a terminal may show it: control characters (C0, DEL and
/// C1, which could end the line or change what the terminal does) as a
/// backslash and two hexadecimal digits for each byte, as MLIR prints strings;
/// a backslash as two.
std::string escapeControls(llvm::StringRef text);

} // namespace braid

#endif // BRAID_SUPPORT_TEXT_H
