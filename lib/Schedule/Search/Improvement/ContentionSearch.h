//===- ContentionSearch.h - Exact search where ops share --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_CONTENTIONSEARCH_H
#define BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_CONTENTIONSEARCH_H

#include "Schedule/Model/FlatProblem.h"
#include "WindowSearch.h"

namespace braid {

/// Looks for an order with a makespan below `upperNs` within all limits, on a
/// machine whose ops slow each other down; graphs of at most 64 nodes.
///
/// Where ops slow each other down, a state that is nowhere later than another
/// may still end later, so there is no dominance: a depth-first branch and
/// bound follows one of all orders that lead to the very same state. What is
/// left takes at least as long as if nothing slowed it down. `tails` are those
/// of `getTails`; the longest goes first.
WindowSearch::Result searchWithContention(const FlatProblem &flat,
                                          llvm::ArrayRef<int64_t> tails,
                                          int64_t upperNs, uint64_t maxSteps,
                                          uint64_t &steps);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_CONTENTIONSEARCH_H
