//===- StateSearch.h - Exact search where ops share -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shortest order of a small graph on a machine whose ops slow each other
// down, or, if it takes too many steps, a lower bound of all orders: best-first
// search (A*; P. E. Hart, N. J. Nilsson, B. Raphael, A formal basis for the
// heuristic determination of minimum cost paths, IEEE Transactions on Systems
// Science and Cybernetics 4, 1968). The least time of the orders that no state
// has ruled out is a bound at any time.
//
// A state is the set of issued nodes and the machine after them. An order whose
// state differs from another's by a later time alone is not followed: all that
// comes after takes as long. A state that is nowhere later but different may
// end later, so there is no more dominance. Without limits, of orders with the
// same times one is enough:
//
// 1. What takes no time on the stream follows as soon as it may.
// 2. Of waits for operations of one lane, that of the first one goes first.
// 3. A start whose lane is busy waits until the op on the stream during which
//    the lane becomes free is next. It may then be the next on the lane at no
//    loss: what is queued on a lane has no effect on the machine. A start that
//    others but those that await it have to follow is exempt.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BOUNDS_STATESEARCH_H
#define BRAID_LIB_SCHEDULE_BOUNDS_STATESEARCH_H

#include "Schedule/Model/FlatProblem.h"

namespace braid {

struct StateSearchResult {
  /// No order takes less; at most `makespanNs`.
  int64_t boundNs = 0;
  /// Of `order`; the given value if nothing less was found.
  int64_t makespanNs = 0;
  ScheduleOrder order;

  bool isComplete() const { return boundNs >= makespanNs; }
};

/// Graphs of more nodes have too many states.
constexpr unsigned maxStateNodes = 256;

/// Looks for an order below `upperNs` within all limits of `flat`, whose timing
/// is `Contended` and which has at most `maxStateNodes`. Takes about `maxSteps`
/// steps, which it adds to `steps`.
StateSearchResult searchStates(const FlatProblem &flat, int64_t upperNs,
                               uint64_t maxSteps, uint64_t &steps);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BOUNDS_STATESEARCH_H
