//===- StopRule.h - When a search part ends ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_STOPRULE_H
#define BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_STOPRULE_H

#include <cstdint>

namespace braid {

/// Ends a part of a search that gains too little: compares the makespan after
/// an interval of steps with that after 2, 4, 8, ... intervals. The part ends
/// at the first of these checkpoints that gains less than 0.1 percent over the
/// one before. It depends on steps alone, never on time.
class StopRule {
public:
  /// `firstInterval` 0: never stops.
  explicit StopRule(uint64_t firstInterval) : firstInterval(firstInterval) {}

  /// Begins a part of the search.
  void begin(uint64_t steps, int64_t makespanNs) {
    firstStep = steps;
    interval = firstInterval;
    lastNs = makespanNs;
  }

  /// True if the part should end: it has taken `steps` and reached
  /// `makespanNs`.
  bool shouldStop(uint64_t steps, int64_t makespanNs) {
    if (firstInterval == 0 || steps - firstStep < interval)
      return false;
    bool pays =
        makespanNs < lastNs && lastNs - makespanNs >= lastNs / leastGainPart;
    lastNs = makespanNs;
    while (steps - firstStep >= interval)
      interval *= 2;
    return !pays;
  }

private:
  /// 0.1 percent.
  static constexpr int64_t leastGainPart = 1000;

  uint64_t firstInterval;
  uint64_t firstStep = 0, interval = 0;
  int64_t lastNs = 0;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_STOPRULE_H
