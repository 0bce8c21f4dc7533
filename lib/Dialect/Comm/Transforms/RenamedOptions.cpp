//===- RenamedOptions.cpp - Former names of pass options ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/Transforms/RenamedOptions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/WithColor.h"

#include <algorithm>

using namespace braid;
using llvm::StringRef;

namespace {
/// An option that had another name or other values.
struct RenamedOption {
  StringRef oldName;
  StringRef newName;
  /// Converts an old value; returns an empty text for a value that has the
  /// present spelling. Null if values have not changed.
  std::string (*convert)(StringRef value) = nullptr;
};
} // namespace

/// Adds the sign to an old percentage. The present numbers are fractions: a
/// gain of a tenth or more is what nobody asks for, so a number from 0.1 on is
/// an old one.
static std::string convertPercentage(StringRef value) {
  constexpr double leastPercentage = 0.1;
  double number;
  value = value.trim("{}'\"");
  if (value == "-1")
    return "auto";
  if (value.getAsDouble(number) || !(number >= leastPercentage) ||
      number > 100.0)
    return "";
  return (value + "%").str();
}

/// The model by the machine has a name that says what happens.
static std::string convertModel(StringRef value) {
  return value.trim("{}'\"") == "hardware" ? "auto" : "";
}

static constexpr RenamedOption renamedOptions[] = {
    {"hardware", "machine"},
    {"world-size", "ranks"},
    {"alternative", "plan"},
    {"min-gain", "min-gain", convertPercentage},
    {"collective-model", "collective-model", convertModel}};

/// The place behind the quoted or braced text that begins at `begin` in `text`,
/// which no space ends.
static size_t skipNested(StringRef text, size_t begin) {
  char open = text[begin];
  if (open == '\'' || open == '"') {
    size_t end = text.find(open, begin + 1);
    // As in MLIR, a quote without an end is a character like others.
    return end == StringRef::npos ? begin + 1 : end + 1;
  }
  if (open != '{')
    return begin + 1;
  size_t end = begin + 1;
  for (unsigned depth = 1; end < text.size() && depth > 0;) {
    if (text[end] == '\'' || text[end] == '"') {
      end = skipNested(text, end);
      continue;
    }
    depth += text[end] == '{';
    depth -= text[end] == '}';
    ++end;
  }
  return end;
}

/// The length of the first option in `text`: a name, or a name with a value.
static size_t getOptionLength(StringRef text) {
  size_t end = std::min(text.find_first_of(" ="), text.size());
  while (end < text.size() && text[end] != ' ')
    end = skipNested(text, end);
  return end;
}

/// The present spelling of `option`, a name with or without a value; `option`
/// itself if that is the present one.
static std::string renameOption(StringRef option) {
  auto [name, value] = option.split('=');
  for (const RenamedOption &renamed : renamedOptions) {
    if (name != renamed.oldName)
      continue;
    std::string converted = renamed.convert ? renamed.convert(value) : "";
    return (renamed.newName + option.drop_front(name.size()).take_front(1) +
            (converted.empty() ? value : StringRef(converted)))
        .str();
  }
  return option.str();
}

std::string braid::comm::renameOptions(StringRef pass, StringRef options,
                                       llvm::raw_ostream &warnings) {
  std::string result;
  while (!options.empty()) {
    size_t space =
        std::min(options.find_first_not_of(" \n\r\t"), options.size());
    result += options.take_front(space);
    options = options.drop_front(space);
    StringRef option = options.take_front(getOptionLength(options));
    options = options.drop_front(option.size());
    std::string renamed = renameOption(option);
    if (option != renamed)
      llvm::WithColor::warning(warnings)
          << pass << ": '" << option << "' is the old spelling of '" << renamed
          << "', expected the new one, which alone works from the next release "
             "on\n";
    result += renamed;
  }
  return result;
}
