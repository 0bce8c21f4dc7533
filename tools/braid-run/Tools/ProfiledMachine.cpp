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
  static const std::regex option(R"((?:^|[{\s])profile=([^\s}]+))");
  std::smatch match;
  return std::regex_search(passes, match, option) ? match[1].str() : "";
}

std::string braid::run::findProfiledGpu(const std::string &profile) {
  static const std::regex field(R"x("gpu"\s*:\s*"([^"]*)")x");
  std::smatch match;
  return std::regex_search(profile, match, field) ? match[1].str() : "";
}
