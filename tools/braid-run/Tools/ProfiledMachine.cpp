//===- ProfiledMachine.cpp - The machine of a profile -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tools/ProfiledMachine.h"

#include <algorithm>
#include <string_view>

using namespace braid::run;

static constexpr std::string_view spaces = " \t\n\r\f\v";

/// The text up to `mark`; nothing if there is no such mark.
static bool takeUntil(std::string_view text, char mark, std::string &value) {
  size_t end = text.find(mark);
  if (end == std::string_view::npos)
    return false;
  value = text.substr(0, end);
  return true;
}

/// The value of an option at the beginning of `text`. Quotation marks or braces
/// enclose a name with spaces (see PassOption.h).
static std::string readValue(std::string_view text) {
  std::string value;
  for (const char *marks : {"''", "\"\"", "{}"})
    if (!text.empty() && text.front() == marks[0] &&
        takeUntil(text.substr(1), marks[1], value))
      return value;
  return std::string(text.substr(0, text.find_first_of(" \t\n\r\f\v}")));
}

std::string braid::run::findProfile(const std::string &passes) {
  static constexpr std::string_view name = "profile=";
  std::string_view text = passes;
  for (size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    bool isOption = at == 0 || text[at - 1] == '{' ||
                    spaces.find(text[at - 1]) != std::string_view::npos;
    if (!isOption)
      continue;
    if (std::string value = readValue(text.substr(at + name.size()));
        !value.empty())
      return value;
  }
  return "";
}

/// Removes spaces, then `word`. Returns false if another word follows.
static bool takeWord(std::string_view &text, char word) {
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  if (text.empty() || text.front() != word)
    return false;
  text.remove_prefix(1);
  return true;
}

std::string braid::run::findProfiledGpu(const std::string &profile) {
  static constexpr std::string_view field = "\"gpu\"";
  std::string value;
  for (size_t at = profile.find(field); at != std::string::npos;
       at = profile.find(field, at + 1)) {
    std::string_view rest = std::string_view(profile).substr(at + field.size());
    if (takeWord(rest, ':') && takeWord(rest, '"') &&
        takeUntil(rest, '"', value))
      return value;
  }
  return "";
}
