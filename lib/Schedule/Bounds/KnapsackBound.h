//===- KnapsackBound.h - Bound of a knapsack of chains ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BOUNDS_KNAPSACKBOUND_H
#define BRAID_LIB_SCHEDULE_BOUNDS_KNAPSACKBOUND_H

#include "PrecedenceDag.h"

namespace braid {

/// The resource is idle for at least `idleNs` during [0, `timeNs`].
struct IdleTime {
  int64_t timeNs;
  int64_t idleNs;
};

/// The least idle time of `resource` for lack of work: what it can do by a time
/// depends on what `supplier`, another resource, has done by then. Every order
/// takes at least all work of the resource and one of the idle times. At every
/// time in the result, some of its work has to be left.
///
/// `heads` are those of `dag`, -1 for vertices that do not count. Empty if
/// nothing on `resource` depends on anything on `supplier`. The more `steps`,
/// the better.
std::vector<IdleTime> getIdleTimes(const PrecedenceDag &dag,
                                   llvm::ArrayRef<int64_t> heads,
                                   int32_t resource, int32_t supplier,
                                   size_t steps);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BOUNDS_KNAPSACKBOUND_H
