//===- SearchTestUtils.h - What parts of the search are worth ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_TESTPROBLEMS_SEARCHTESTUTILS_H
#define BRAID_TEST_UNIT_TESTPROBLEMS_SEARCHTESTUTILS_H

#include "Schedule/Search/SearchParts.h"
#include "braid/Schedule/Search/SearchSchedule.h"

namespace braid::test {

/// What two searches find that differ in parts alone.
struct PartComparison {
  SearchResult without, with;
};

/// Searches `problem` as `options` say, once without and once with `parts`.
inline PartComparison compareParts(const SchedulingProblem &problem,
                                   SearchParts options,
                                   llvm::ArrayRef<bool SearchParts::*> parts) {
  PartComparison result;
  for (bool SearchParts::*part : parts)
    options.*part = false;
  result.without = searchWithParts(problem, options);
  for (bool SearchParts::*part : parts)
    options.*part = true;
  result.with = searchWithParts(problem, options);
  return result;
}

/// Options of a search that ends before it changes orders.
inline SearchParts makeConstructiveOptions(uint64_t maxSteps) {
  SearchParts options;
  options.maxSteps = maxSteps;
  options.useWindows = options.useMoves = false;
  return options;
}

} // namespace braid::test

#endif // BRAID_TEST_UNIT_TESTPROBLEMS_SEARCHTESTUTILS_H
