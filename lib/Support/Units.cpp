//===- Units.cpp - Times and rates as users write them --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/Units.h"

#include "llvm/ADT/ArrayRef.h"

#include <cmath>
#include <utility>

using namespace braid;
using llvm::StringRef;

/// The number before the first unit of `units` at the end of `text`, times the
/// size of the unit.
static std::optional<double>
parseWithUnit(StringRef text,
              llvm::ArrayRef<std::pair<StringRef, double>> units) {
  for (auto [unit, factor] : units) {
    StringRef number = text;
    if (!number.consume_back(unit))
      continue;
    double value;
    // getAsDouble also accepts "inf" and hexadecimal numbers.
    if (number.empty() ||
        number.find_first_not_of("0123456789.eE+-") != StringRef::npos ||
        number.getAsDouble(value) || !std::isfinite(value) || value < 0.0)
      return std::nullopt;
    return value * factor;
  }
  return std::nullopt;
}

std::optional<double> braid::parseDurationNs(StringRef text) {
  return parseWithUnit(text,
                       {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}});
}

std::optional<double> braid::parseBandwidth(StringRef text) {
  return parseWithUnit(text, {{"KB/s", 1e3},
                              {"MB/s", 1e6},
                              {"GB/s", 1e9},
                              {"TB/s", 1e12},
                              {"B/s", 1.0}});
}

std::optional<int64_t> braid::parseBytes(StringRef text) {
  std::optional<double> bytes = parseWithUnit(text, {{"KiB", 0x1p10},
                                                     {"MiB", 0x1p20},
                                                     {"GiB", 0x1p30},
                                                     {"TiB", 0x1p40},
                                                     {"KB", 1e3},
                                                     {"MB", 1e6},
                                                     {"GB", 1e9},
                                                     {"TB", 1e12},
                                                     {"B", 1.0},
                                                     {"", 1.0}});
  if (!bytes || *bytes >= 0x1p63)
    return std::nullopt;
  return static_cast<int64_t>(*bytes);
}
