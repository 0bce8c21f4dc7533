//===- LeastMemory.h - Less memory within a margin of time ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_LEASTMEMORY_H
#define BRAID_LIB_SCHEDULE_SEARCH_LEASTMEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>

namespace braid {

/// True if an order of `shortestNs` is shorter than one of `makespanNs` by at
/// least the share `minGain` of `makespanNs`.
inline bool gainsEnough(int64_t makespanNs, int64_t shortestNs,
                        double minGain) {
  auto gain = double(makespanNs - shortestNs);
  return gain > 0 && gain >= minGain * double(makespanNs);
}

/// Among orders with these makespans, the number of the one with the lowest
/// peak memory, and of those that need as much the shortest, then the first.
/// Counts only orders over which `shortestNs` gains less than the share
/// `minGain` of their makespans; nothing if there is none. Asks only for the
/// peak memory of these orders.
inline std::optional<size_t>
findLeastMemory(llvm::ArrayRef<int64_t> makespansNs, int64_t shortestNs,
                double minGain,
                llvm::function_ref<int64_t(size_t)> getPeakBytes) {
  std::optional<size_t> best;
  std::pair<int64_t, int64_t> least;
  for (size_t i = 0; i != makespansNs.size(); ++i) {
    if (gainsEnough(makespansNs[i], shortestNs, minGain))
      continue;
    std::pair value(getPeakBytes(i), makespansNs[i]);
    if (best && value >= least)
      continue;
    best = i;
    least = value;
  }
  return best;
}

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_LEASTMEMORY_H
