//===- ProblemTestUtils.h - Problems for tests of lib/Schedule --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_TESTPROBLEMS_PROBLEMTESTUTILS_H
#define BRAID_TEST_UNIT_TESTPROBLEMS_PROBLEMTESTUTILS_H

#include "braid/Schedule/Model/SchedulingProblem.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>

namespace braid::test {

/// What a random problem is made of.
struct RandomProblemOptions {
  unsigned numNodes = 8;
  unsigned numLanes = 2;
  /// One node in so many depends on any given one before it.
  unsigned edgeEvery = 4;
  int64_t maxCost = 50;
  /// A machine on which everything is shared, and demands.
  bool contention = false;
  /// With `contention`: ops queue for multiprocessors.
  bool queued = false;
  bool launches = false;
  bool bodies = false;
  /// The body of a loop, with starts that the next iteration awaits.
  bool carried = false;
};

/// A problem that depends on `seed` and `options` alone.
SchedulingProblem makeRandomProblem(uint64_t seed,
                                    const RandomProblemOptions &options);

/// `problem` on a machine whose ops slow each other down, with demands that
/// depend on `seed` and the nodes alone.
SchedulingProblem makeContended(SchedulingProblem problem, uint64_t seed);

/// Calls `visit` with every allowed order.
void forEachOrder(const SchedulingProblem &problem,
                  llvm::function_ref<void(llvm::ArrayRef<unsigned>)> visit);

} // namespace braid::test

#endif // BRAID_TEST_UNIT_TESTPROBLEMS_PROBLEMTESTUTILS_H
