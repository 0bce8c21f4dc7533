//===- SearchSchedule.h - Search for the best order -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search behind `comm-schedule`. It knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SEARCH_SEARCHSCHEDULE_H
#define BRAID_SCHEDULE_SEARCH_SEARCHSCHEDULE_H

#include "braid/Schedule/Search/SearchTypes.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braid {

/// The largest graphs that are searched exactly.
constexpr unsigned maxExactNodes = 64;

/// The limit of steps of a search with `effort`.
uint64_t getStepLimit(const SchedulingProblem &problem,
                      SearchEffort effort = SearchEffort::Default);

/// `SearchOptions::minGain` for the machine of `problem`: 0.01 where ops queue
/// for multiprocessors. Predicted steps of such machines were compared with
/// measured ones, and orders whose predictions differ by less came out either
/// way (docs/performance). 0 elsewhere, where the costs are taken as given.
double getDefaultMinGain(const SchedulingProblem &problem);

/// Searches for the legal order of least makespan within all limits of the
/// problem. Never longer than the program's order or than what any other pass
/// gives, as far as these keep the limits and but for `minGain`; among equals
/// the program's order wins. Legal orders are those of `isAllowedOrder`; if the
/// program's own order has too many operations in flight and nothing else was
/// found, it comes back.
SearchResult searchSchedule(const SchedulingProblem &problem,
                            const SearchOptions &options = {});

/// An order that some other pass gives.
struct ScheduleCandidate {
  std::string name;
  ScheduleOrder order;
};

/// The program's order and what the other passes make of the problem, in a
/// fixed sequence; legal in the graph, but not always within the limits.
std::vector<ScheduleCandidate>
getScheduleCandidates(const SchedulingProblem &problem);

/// The names of these, in the same sequence.
std::vector<llvm::StringRef> getScheduleCandidateNames();

/// The one called `name`; none if there is none of this name.
std::optional<ScheduleOrder>
getScheduleCandidate(const SchedulingProblem &problem, llvm::StringRef name);

} // namespace braid

#endif // BRAID_SCHEDULE_SEARCH_SEARCHSCHEDULE_H
