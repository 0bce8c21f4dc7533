//===- RelaxedSearch.h - Orders of relaxed problems -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where ops slow each other down, list rules and beams that add up costs see
// wrong times. With a multiplier for communication beside compute
// (LagrangianRelaxation.h) there is no contention any more, and costs are right
// wherever communication runs beside ops with a small slowdown. So the search
// works on that problem, and local search begins with the orders that it finds.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_RELAXEDSEARCH_H
#define BRAID_LIB_SCHEDULE_SEARCH_RELAXEDSEARCH_H

#include "SearchParts.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace braid {

/// A search of a problem without contention.
using InnerSearch = llvm::function_ref<SearchResult(const SchedulingProblem &,
                                                    const SearchParts &)>;

/// Runs `search` with several multipliers, with at most `maxSteps` for all of
/// them together. Orders within all limits of `problem`, the best ones for each
/// multiplier; none without contention. Adds the steps taken to `steps`.
std::vector<ScheduleOrder>
searchWithMultipliers(const SchedulingProblem &problem,
                      const SearchParts &options, uint64_t maxSteps,
                      uint64_t &steps, InnerSearch search);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_RELAXEDSEARCH_H
