//===- PassOption.h - Options of passes as text -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TOOLS_PASSOPTION_H
#define BRAID_TOOLS_BRAID_RUN_TOOLS_PASSOPTION_H

#include <string>

namespace braid::run {

/// `name=value` as MLIR reads an option of a pass. A value that MLIR would
/// split stands in braces. MLIR pairs quotation marks and parentheses also
/// within braces, so a value with one of them stands in quotation marks.
inline std::string passOption(const std::string &name,
                              const std::string &value) {
  if (value.find_first_of("'\"([") != std::string::npos) {
    char mark = value.find('\'') == std::string::npos ? '\'' : '"';
    return name + "=" + mark + value + mark;
  }
  bool isPlain = value.find_first_of(" ={},") == std::string::npos;
  return name + "=" + (isPlain ? value : "{" + value + "}");
}

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TOOLS_PASSOPTION_H
