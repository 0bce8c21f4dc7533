//===- ProfiledMachine.cpp - The machine of a profile -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tools/ProfiledMachine.h"

#include <regex>

using namespace braid::run;

std::string braid::run::findProfile(const std::string &passes) {
  // Quotation marks or braces enclose a name with spaces (see PassOption.h).
  static const std::regex option(
      R"x((?:^|[{\s])profile=(?:'([^']*)'|"([^"]*)"|\{([^}]*)\}|([^\s}]+)))x");
  std::smatch match;
  if (!std::regex_search(passes, match, option))
    return "";
  // One of the groups matches, and the others are empty.
  return match[1].str() + match[2].str() + match[3].str() + match[4].str();
}

std::string braid::run::findProfiledGpu(const std::string &profile) {
  static const std::regex field(R"x("gpu"\s*:\s*"([^"]*)")x");
  std::smatch match;
  return std::regex_search(profile, match, field) ? match[1].str() : "";
}
