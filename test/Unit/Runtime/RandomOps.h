//===- RandomOps.h - Random collectives on overlapping groups ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_RANDOMOPS_H
#define BRAID_TEST_UNIT_RUNTIME_RANDOMOPS_H

#include "Harness.h"

#include <random>

namespace braid::test {

/// One collective of a random program on four ranks. Every rank's operand is
/// filled with 1000 * op + 10 * rank + position % 7, so that the result is
/// known.
struct RandomOp {
  int group;     ///< 0: all, 1: rows {0, 1}, {2, 3}, 2: columns {0, 2}, {1, 3}.
  int kind;      ///< 0: all_reduce, 1: all_gather, 2: reduce to root 0.
  int64_t size;  ///< Elements of an operand.
  int waitAfter; ///< The op after whose start it is awaited.
  std::vector<std::vector<int64_t>> sources, results;
};

std::vector<RandomOp> randomOps(std::mt19937 &random);

void *startOp(RandomOp &op, const braid_rt_group *group, int32_t rank);

/// The number of wrong elements of one rank's result.
int64_t countWrong(const RandomOp &op, size_t number, int32_t rank);

} // namespace braid::test

#endif // BRAID_TEST_UNIT_RUNTIME_RANDOMOPS_H
