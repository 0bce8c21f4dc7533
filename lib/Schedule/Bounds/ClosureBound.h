//===- ClosureBound.h - Bound of a maximum closure --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lower bound for programs whose phases need resources in different ratios,
// such as a forward pass that waits for its lane and a backward pass that
// waits for the stream.
//
// Take any order, its makespan C and a time t. Let D be the stream nodes that
// have begun before t. All that they depend on has ended by t: on a lane, that
// is at most t of work. After t, the stream still has to do what is not in D:
//
//   C >= t + work(stream) - work(D).
//
// D is not known, but closed under dependence, and all in it can begin before
// t. The most work that such a set may have is found by relaxation: for every
// factor f >= 0,
//
//   work(D) <= f t + max over closed sets D of (work(D) - f lane work(D)),
//
// and the latter is the work of all nodes that may be in D less a maximum flow
// from nodes of the stream to operations on the lane that come before them (the
// maximum closure of J.-C. Picard, Management Science 22, 1976). Any flow gives
// a valid bound; a greedy one is found in nearly linear time. The roles of
// stream and lane may be swapped, and so may beginning and end; what is lost at
// the beginning and at the end adds up if the two times do not overlap.
//
// What is wanted and cannot begin before t does not begin at t if the lane is
// to be busy all the time until then. Let s be the first of these nodes to
// begin, at T >= t, and follow the longest chain that leads to it. Between two
// of its own operations the lane runs others in one piece: sums of whole
// operations. A gap of g on the chain, with the largest such sum a <= g and the
// least b >= g, either costs the lane g - a, or is b long, so that s begins b -
// g later. For f < 1, with d for what delays s, and w for what the lane loses,
//
//   idle >= T - max work(D) >= (1 - f) head(s) - max(work(D) - f lane work(D))
//             + sum over gaps of ((1 - f) d + f w),
//
// where each of the sum is at least min(f (g - a), (1 - f) (b - g)). That is
// the formula from above for a later t, up to which the stream is idle so long
// even if s begins after it.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BOUNDS_CLOSUREBOUND_H
#define BRAID_LIB_SCHEDULE_BOUNDS_CLOSUREBOUND_H

#include "PrecedenceDag.h"

namespace braid {

/// Nanoseconds that no order can go below, for a problem that is not the body
/// of a loop; at least `knownNs`, which no order can go below either. `after`
/// is the transpose of `before`. Looks at about `maxVisits` vertices.
int64_t getClosureBound(const PrecedenceDag &before, const PrecedenceDag &after,
                        int64_t knownNs, size_t maxVisits);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BOUNDS_CLOSUREBOUND_H
