//===- ExhaustiveSearch.h - Best orders of small graphs ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All orders of a small graph on the machine without contention, for tests and
// benchmarks of the search. Shares nothing with it: only orders that lead to
// the very same state are taken together.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_TESTPROBLEMS_EXHAUSTIVESEARCH_H
#define BRAID_TEST_UNIT_TESTPROBLEMS_EXHAUSTIVESEARCH_H

#include "braid/Schedule/Model/SchedulingProblem.h"

#include <optional>

namespace braid::test {

/// The least makespan of all orders that keep all limits; none if none does.
/// Graphs of at most 32 nodes. `knownNs` is the makespan of some order, if one
/// is known: what cannot become shorter is not followed.
std::optional<int64_t>
findLeastMakespanExhaustively(const SchedulingProblem &problem,
                              std::optional<int64_t> knownNs = std::nullopt);

/// The least peak of memory of all orders that keep all other limits.
std::optional<int64_t>
findLeastPeakExhaustively(const SchedulingProblem &problem);

} // namespace braid::test

#endif // BRAID_TEST_UNIT_TESTPROBLEMS_EXHAUSTIVESEARCH_H
