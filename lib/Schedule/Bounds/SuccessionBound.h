//===- SuccessionBound.h - One resource after another -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lower bound for jobs that come after others on another resource, such as
// the all-reduces over nodes of gradients that were reduced and scattered
// inside of them before.
//
// Take any order, two resources a and b, and let v(1), ..., v(n) be the jobs of
// b as they begin. When v(j) begins, all that v(1), ..., v(j) depend on has
// ended, and all work of b but that of v(1), ..., v(j - 1) is left:
//
//   C >= head + work(a jobs before S) + work(b) - work(S) + work(v(j)) + tail,
//
// with S = {v(1), ..., v(j)}, the least head of jobs of a, and the least tail
// of jobs of b. S is not known, but j is. Some jobs of a come before a single
// job of b; say that those of v take p(v), and that all others before v take
// q(v). Then work(a jobs before S) >= max over S of q + sum over S of p, so
// that for every j it is enough to look at each v that may have the largest q,
// with the j - 1 others of least p(v) - work(v) and no larger q.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BOUNDS_SUCCESSIONBOUND_H
#define BRAID_LIB_SCHEDULE_BOUNDS_SUCCESSIONBOUND_H

#include "PrecedenceDag.h"

namespace braid {

/// Nanoseconds that no order can go below, as far as jobs of lanes come after
/// those of other lanes. `heads` and `tails` are by vertex of `dag`; vertices
/// without a tail (-1) do not count. 0 if there are fewer than two lanes, or if
/// more than about `maxVisits` vertices had to be looked at.
int64_t getSuccessionBound(const PrecedenceDag &dag,
                           llvm::ArrayRef<int64_t> heads,
                           llvm::ArrayRef<int64_t> tails, size_t maxVisits);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BOUNDS_SUCCESSIONBOUND_H
