//===- PassOption.h - Options of passes as text -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TOOLS_PASSOPTION_H
#define BRAID_TOOLS_BRAID_RUN_TOOLS_PASSOPTION_H

#include "Common/Failure.h"

#include <cstring>
#include <string>

namespace braid::run {

/// True if each brace of `value` has its partner.
inline bool hasBracesInPairs(const std::string &value) {
  int depth = 0;
  for (char c : value) {
    depth += (c == '{') - (c == '}');
    if (depth < 0)
      return false;
  }
  return depth == 0;
}

/// `name=value` as MLIR reads an option of a pass. A value that MLIR would
/// split stands in braces. MLIR pairs quotation marks and parentheses also
/// within braces, so a value with one of them stands in quotation marks. MLIR
/// knows no escapes: throws a UsageError for a value that no text gives.
inline std::string passOption(const std::string &name,
                              const std::string &value) {
  constexpr const char *blanks = " \t\n\v\f\r";
  bool hasBlankEnd = !value.empty() && (std::strchr(blanks, value.front()) ||
                                        std::strchr(blanks, value.back()));
  bool hasBothMarks = value.find('\'') != std::string::npos &&
                      value.find('"') != std::string::npos;
  bool isPipeline = name == "passes";
  if ((!isPipeline && (hasBlankEnd || hasBothMarks)) ||
      !hasBracesInPairs(value))
    throw UsageError("'" + value + "' cannot be the value of the option " +
                     name +
                     " of a pass, expected no blanks at its ends, braces in "
                     "pairs, and one kind of quotation marks");
  if (hasBothMarks)
    return name + "={" + value + "}";
  if (value.find_first_of("'\"([") != std::string::npos) {
    char mark = value.find('\'') == std::string::npos ? '\'' : '"';
    return name + "=" + mark + value + mark;
  }
  bool isPlain = value.find_first_of(" ={},\t\n\v\f\r") == std::string::npos;
  return name + "=" + (isPlain ? value : "{" + value + "}");
}

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TOOLS_PASSOPTION_H
