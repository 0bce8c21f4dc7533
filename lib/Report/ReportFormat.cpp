//===- ReportFormat.cpp - Formats of numbers in reports -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportFormat.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

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

void braid::printFraction(llvm::json::OStream &json, StringRef key,
                          std::optional<double> value) {
  json.attributeBegin(key);
  if (value)
    json.rawValue(formatFixed(*value, 6));
  else
    json.value(nullptr);
  json.attributeEnd();
}
