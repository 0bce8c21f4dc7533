//===- TwoJobBound.h - Akers' bound of two jobs -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lower bound for programs with two long chains of dependences that take
// turns on the stream and on lanes, such as the forward passes of two
// micro-batches: where the compute of one is not as long as the communication
// of the other, the stream stands idle however they interleave.
//
// Two chains alone are a job shop with two jobs, which has a geometrical
// solution (S. B. Akers, A graphical approach to production scheduling
// problems, Operations Research 4, 1956; P. Brucker, An efficient algorithm for
// the job-shop problem with two jobs, Computing 40, 1988): how far both have
// come is a point in the plane, pairs of jobs on one resource are rectangles
// that no path may enter, and a path goes on diagonally until it meets one,
// which it has to pass on either side.
//
// All other work of the stream fills what the chains leave free, in pieces of
// any size, as soon as what it depends on in the chains has ended. That can
// only make orders better: take any order, and let both chains keep the order
// in which they use each resource but begin everything as early as they can;
// then at every time both have come at least as far, and so has the filling, as
// it has more to choose from. So the makespan is at least all work of the
// stream and the least time that it stands idle on any path.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BOUNDS_TWOJOBBOUND_H
#define BRAID_LIB_SCHEDULE_BOUNDS_TWOJOBBOUND_H

#include "PrecedenceDag.h"

namespace braid {

/// The least idle time of the stream, or `mostIdle` if that is less. 0 if there
/// are no two chains that communicate. Looks at no more than `maxPoints`
/// points; of chains that need more, only the beginning counts.
int64_t getTwoJobIdle(const PrecedenceDag &dag, int64_t mostIdle,
                      size_t maxPoints);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BOUNDS_TWOJOBBOUND_H
