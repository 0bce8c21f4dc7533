//===- ReportFormat.cpp - Formats of numbers in reports -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportFormat.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

using namespace braid;
using llvm::StringRef;

std::string braid::formatFixed(double value, unsigned digits) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%.*f", static_cast<int>(digits), value);
  return text;
}

std::string braid::formatPercent(double fraction) {
  return formatFixed(fraction * 100, 1) + " %";
}

/// Formats `value` in the largest of `units` in which it is at least 1. `units`
/// have names and sizes, the smallest first.
static std::string
formatInUnit(int64_t value,
             llvm::ArrayRef<std::pair<StringRef, double>> units) {
  auto number = static_cast<double>(value);
  std::pair<StringRef, double> unit = units.front();
  for (const auto &candidate : units)
    if (number >= candidate.second)
      unit = candidate;
  if (unit.second == 1)
    return std::to_string(value) + " " + unit.first.str();
  double scaled = number / unit.second;
  unsigned digits = scaled < 10 ? 3 : scaled < 100 ? 2 : scaled < 1000 ? 1 : 0;
  return formatFixed(scaled, digits) + " " + unit.first.str();
}

std::string braid::formatTime(int64_t ns) {
  return formatInUnit(ns, {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}});
}

std::string braid::formatBytes(int64_t bytes) {
  return formatInUnit(bytes, {{"B", 1},
                              {"KiB", 1024.0},
                              {"MiB", 1024.0 * 1024},
                              {"GiB", 1024.0 * 1024 * 1024},
                              {"TiB", 1024.0 * 1024 * 1024 * 1024}});
}

std::string braid::escapeXml(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f)
      result += "\xEF\xBF\xBD"; // U+FFFD
    else
      result += c;
  }
  return result;
}

void braid::printFraction(llvm::json::OStream &json, StringRef key,
                          std::optional<double> value) {
  json.attributeBegin(key);
  if (value)
    json.rawValue(formatFixed(*value, 6));
  else
    json.value(nullptr);
  json.attributeEnd();
}
