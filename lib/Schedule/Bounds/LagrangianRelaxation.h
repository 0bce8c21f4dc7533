//===- LagrangianRelaxation.h - Contention as multipliers -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes of a problem on a machine where ops slow each other down one where they
// do not, whose bounds are bounds of the first.
//
// Simulate any order on the machine. Let T be its makespan. Let each operation
// on a lane have a multiplier u(i) for each ns of its cost, such that those of
// operations that can run at once add up to at most 1, and each op on the
// stream a multiplier v(j). Look at the same schedule on a clock that runs
// slower while ops with multipliers make progress: with p(i) and q(j) the rates
// of those that run,
//
//   d(clock) = (1 - sum(u(i) p(i)) - v(j) q(j)) dt,
//
// so that it shows T - sum(u(i) cost(i)) - sum(v(j) cost(j)) at the end. On
// this clock
//
//  - an operation i takes at least cost(i) * stretch(i), where stretch(i) is
//  the
//    least (1 - u(i) p(i) - u of others beside it) / p(i) without an op on the
//    stream. Beside op j that is so if v(j) is at most
//    (1 - sum(u(i) p(i)) - stretch(i) p(i)) / q(j), which v(j) is chosen to be
//    for all that may run beside j;
//  - an op on the stream takes at least cost * min over sets s of operations
//    that may run beside it of (1 - sum over s of u(i) p(i, s)) / q(s), where
//    p(i, s) and q(s) are the highest rates that they and the op can have then,
//    less v(j) cost(j);
//  - a launch gap takes at least 1 - the most that multipliers u of what may
//    run beside its op can be, and the launch of an operation less v of ops
//    beside it.
//
// A persistent kernel that waits for multiprocessors makes progress at its rate
// over the time D >= cost that its tiles take (KernelOverlap.h): v(j) q(j) is
// then v(j) q(j) cost(j) / D, which is less, and the sum is the same.
//
// So what the clock shows is a schedule, by the same rules, of a problem with
// these costs on a machine without contention, and
//
//   T >= sum(u(i) cost(i)) + sum(v(j) cost(j))
//        + any lower bound of that problem.
//
// With the work of the stream as that bound this is the dual of the linear
// program that places communication beside compute as cheaply as possible.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BOUNDS_LAGRANGIANRELAXATION_H
#define BRAID_LIB_SCHEDULE_BOUNDS_LAGRANGIANRELAXATION_H

#include "braid/Schedule/Model/SchedulingProblem.h"

#include <vector>

namespace braid {

/// A problem on a machine without contention.
struct RelaxedProblem {
  /// Its times are in parts of `unitsPerNs`. Without memory.
  SchedulingProblem problem;
  /// The sum of all multipliers, less what rounding may hide.
  double multipliersNs = 0;
  /// By node: its part of that sum.
  std::vector<double> multiplierNs;

  static constexpr int64_t unitsPerNs = 16;

  /// The bound of the machine with contention, in ns, from one of `problem`.
  int64_t getBound(int64_t boundOfProblem) const;
  /// The reverse: the least value of a bound of `problem` that gives `boundNs`.
  int64_t getBoundOfProblem(int64_t boundNs) const;
};

/// Problems with the multipliers that are the best for the work of the stream,
/// times each of `factors`; none if `problem` has no contention, or if times
/// are so long that sums overflow.
std::vector<RelaxedProblem> getRelaxedProblems(const SchedulingProblem &problem,
                                               llvm::ArrayRef<double> factors);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BOUNDS_LAGRANGIANRELAXATION_H
