//===- SearchDefaults.cpp - How long to search and what counts ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Search/SearchSchedule.h"

#include <algorithm>

using namespace braid;

/// The limit of a search that spends all its steps.
static uint64_t getHighStepLimit(const SchedulingProblem &problem) {
  int64_t size = problem.graph.size();
  // With contention, bounds prove little, and the search spends all steps. The
  // limit is the highest for 20,000 nodes: on larger graphs a step takes
  // longer.
  if (problem.machine.hasContention())
    return size <= 20'000 ? 250'000'000 + 7'500 * size
                          : std::max(1'500 * size, 462'500'000 - 3'125 * size);
  return std::max<int64_t>(150'000'000, 50'000'000 + 1000 * size);
}

uint64_t braid::getStepLimit(const SchedulingProblem &problem,
                             SearchEffort effort) {
  if (effort == SearchEffort::High)
    return getHighStepLimit(problem);
  uint64_t size = problem.graph.size();
  uint64_t limit =
      15'000'000 + 1'500 * size + 1'000 * std::min<uint64_t>(size, 20'000);
  return effort == SearchEffort::Low ? limit / 8 : limit;
}

double braid::getDefaultMinGain(const SchedulingProblem &problem) {
  return problem.machine.isQueued() ? 0.01 : 0;
}
