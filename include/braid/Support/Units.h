//===- Units.h - Times and rates --------------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsers of times, rates and sizes, and saturating sums of times.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_UNITS_H
#define BRAID_SUPPORT_UNITS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace braid {

/// Nanoseconds of a time such as `20us`, `1.5ms`, `600ns` or `2s`; none if
/// `text` is no number of at least 0 with one of these units.
std::optional<double> parseDurationNs(llvm::StringRef text);

/// Bytes per second of a rate such as `10GB/s`, `1.5TB/s`, `800MB/s`, `64KB/s`
/// or `100B/s` (powers of 1000); none if `text` is no number of at least 0 with
/// one of these units.
std::optional<double> parseBandwidth(llvm::StringRef text);

/// Bytes of a size such as `80GiB`, `1.5GB`, `512KiB`, `100B` or `100` (KB, MB,
/// GB, TB: powers of 1000; KiB, MiB, GiB, TiB: of 1024), rounded down; none if
/// `text` is no number of at least 0, with one of these units or none, or is
/// too large for 63 bits.
std::optional<int64_t> parseBytes(llvm::StringRef text);

/// The saturating sum of two numbers of nanoseconds or bytes, both at least 0.
inline int64_t addNs(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? std::numeric_limits<int64_t>::max()
                                      : sum;
}

/// a - b, or 0 if b is larger, for differences of saturated sums. Both are at
/// least 0.
inline int64_t subtractNs(int64_t a, int64_t b) {
  return std::max<int64_t>(0, a - b);
}

/// The fraction `part` (0 to 1) of `ns`, rounded down. A double cannot
/// represent the longest times exactly, so the function returns `ns` itself for
/// all of it.
inline int64_t takePart(int64_t ns, double part) {
  double taken = static_cast<double>(ns) * part;
  return taken < static_cast<double>(ns) ? static_cast<int64_t>(taken) : ns;
}

/// `ns` less the fraction `gain` (0 to 1).
inline int64_t lessGain(int64_t ns, double gain) {
  return takePart(ns, 1 - gain);
}

/// The saturating product of two numbers, both at least 0.
inline int64_t multiplyNs(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max()
                                          : product;
}

} // namespace braid

#endif // BRAID_SUPPORT_UNITS_H
