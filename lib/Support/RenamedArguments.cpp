//===- RenamedArguments.cpp - Former options of tools ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/RenamedArguments.h"
#include "braid/Support/Text.h"

#include <algorithm>
#include <cstdio>

using namespace braid;

/// `-name` and `--name` are one option, as in LLVM's tools.
static std::string normalizeName(const std::string &name) {
  bool hasOneDash = name.size() > 2 && name[0] == '-' && name[1] != '-';
  return hasOneDash ? "-" + name : name;
}

/// The present spelling of the option `name` with `text` behind; no result if
/// that is the present one.
static std::optional<std::string>
renameArgument(const std::string &name, const std::string &text,
               const std::vector<RenamedArgument> &renamed) {
  for (const RenamedArgument &option : renamed) {
    if (name != option.oldName)
      continue;
    std::optional<std::string> present =
        option.convert ? option.convert(text) : text;
    if (present && option.newName + *present != name + text)
      return option.newName + *present;
  }
  return std::nullopt;
}

PresentArguments
braid::renameArguments(const std::vector<std::string> &arguments,
                       const std::vector<RenamedArgument> &renamed) {
  PresentArguments present;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    size_t end = std::min(argument.find('='), argument.size());
    std::string name = normalizeName(argument.substr(0, end));
    std::string text = argument.substr(end);
    bool takesNext =
        text.empty() && i + 1 < arguments.size() &&
        std::any_of(renamed.begin(), renamed.end(),
                    [&](const RenamedArgument &option) {
                      return option.takesValue && name == option.oldName;
                    });
    if (takesNext)
      text = "=" + arguments[i + 1];
    std::optional<std::string> found = renameArgument(name, text, renamed);
    if (!found) {
      present.arguments.push_back(argument);
      continue;
    }
    i += takesNext;
    present.warnings.push_back("'" + escapeControls(name + text) +
                               "' is the old spelling of '" +
                               escapeControls(*found) +
                               "', expected the new one, which alone works "
                               "from the next release on");
    present.arguments.push_back(*found);
  }
  return present;
}

std::string braid::appendUnit(const std::string &text, const char *unit) {
  bool isNumber =
      text.size() > 1 &&
      text.find_first_not_of("0123456789.-", 1) == std::string::npos;
  return isNumber ? text + unit : text;
}

std::optional<std::string> braid::convertVerifyEach(const std::string &text) {
  bool isSet = text.empty() || text == "=true" || text == "=1";
  return isSet ? std::optional<std::string>("=each") : std::nullopt;
}

ArgumentList::ArgumentList(const char *tool, int argc, char **argv,
                           const std::vector<RenamedArgument> &renamed) {
  if (argc > 0)
    texts.emplace_back(argv[0]);
  PresentArguments present = renameArguments(
      std::vector<std::string>(argv + std::min(argc, 1), argv + argc), renamed);
  texts.insert(texts.end(), present.arguments.begin(), present.arguments.end());
  for (const std::string &warning : present.warnings)
    std::fprintf(stderr, "%s: warning: %s\n", tool, warning.c_str());
  for (std::string &text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
}
