//===- Search.cpp - Searches and algorithms -------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Objects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <string>

using namespace braid;

braid_monitor *braid_monitor_create(void) { return new braid_monitor(); }

void braid_monitor_destroy(braid_monitor *monitor) { delete monitor; }

void braid_monitor_stop(braid_monitor *monitor) {
  if (monitor)
    monitor->stop = true;
}

int32_t braid_monitor_get_progress(const braid_monitor *monitor,
                                   braid_progress *progress,
                                   braid_error *error) {
  if (!isGiven(monitor, "monitor", error) ||
      !hasSize(progress, "progress", error))
    return BRAID_INVALID_ARGUMENT;
  braid_progress result = {};
  result.steps = monitor->progress.steps;
  result.max_steps = monitor->progress.maxSteps;
  result.makespan_ns = monitor->progress.makespanNs;
  result.lower_bound_ns = monitor->progress.lowerBoundNs;
  write(result, *progress);
  return BRAID_OK;
}

int32_t braid_search(const braid_problem *problem,
                     const braid_search_options *options,
                     braid_monitor *monitor, int64_t *order,
                     braid_search_summary *summary, braid_error *error) {
  if (!isGiven(problem, "problem", error) || !isGiven(order, "order", error) ||
      !hasSize(summary, "summary", error))
    return BRAID_INVALID_ARGUMENT;
  SearchOptions search;
  if (options) {
    if (!hasSize(options, "options", error))
      return BRAID_INVALID_ARGUMENT;
    braid_search_options given = read(*options);
    if (given.effort < BRAID_EFFORT_LOW || given.effort > BRAID_EFFORT_HIGH)
      return fail(error, BRAID_INVALID_ARGUMENT,
                  "found the effort " + llvm::Twine(given.effort) +
                      ", expected 0 to 2");
    search.maxSteps = given.max_steps;
    search.seed = given.seed;
    search.effort = static_cast<SearchEffort>(given.effort);
  }
  if (monitor) {
    search.progress = &monitor->progress;
    search.stop = &monitor->stop;
  }
  SearchResult found = searchSchedule(problem->problem, search);
  // If no order keeps `maxInFlight`, the search returns the program order.
  std::string reason;
  if (!found.excess && !isAllowedOrder(problem->problem, found.order, &reason))
    return fail(error, BRAID_NO_ORDER,
                "found no order within max_in_flight=" +
                    llvm::Twine(problem->problem.maxInFlight) +
                    "; in the program's, " +
                    llvm::StringRef(reason).split(": ").second);
  writeOrder(found.order, order);
  braid_search_summary result = {};
  result.makespan_ns = found.makespanNs;
  result.lower_bound_ns = found.lowerBoundNs;
  result.peak_bytes = found.peakBytes;
  if (found.excess) {
    result.excess_bytes = found.excess->bytes;
    result.least_peak_bytes = found.excess->leastPeakBytes;
    result.excess_proven = found.excess->proven;
  }
  result.steps = found.statistics.steps;
  result.orders_tried = found.statistics.ordersTried;
  result.optimal = found.optimal;
  result.stopped = search.isStopped();
  found.method.copy(result.method, sizeof(result.method) - 1);
  write(result, *summary);
  return BRAID_OK;
}

/// The names of the candidates, with hyphens in place of spaces.
static const std::vector<std::string> &getNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (llvm::StringRef name : getScheduleCandidateNames()) {
      std::string word;
      for (char c : name)
        if (c != ',')
          word += c == ' ' ? '-' : c;
      result.push_back(std::move(word));
    }
    return result;
  }();
  return names;
}

int64_t braid_algorithm_count(void) { return getNames().size(); }

const char *braid_algorithm_name(int64_t index) {
  if (index < 0 || index >= braid_algorithm_count())
    return nullptr;
  return getNames()[index].c_str();
}

int32_t braid_algorithm_run(const braid_problem *problem, const char *name,
                            int64_t *order, braid_error *error) {
  if (!isGiven(problem, "problem", error) || !isGiven(order, "order", error))
    return BRAID_INVALID_ARGUMENT;
  llvm::StringRef wanted = name ? name : "";
  const std::vector<std::string> &names = getNames();
  auto known = llvm::find(names, wanted);
  if (known == names.end())
    return fail(error, BRAID_UNKNOWN_NAME,
                "found no algorithm called '" + wanted +
                    "', expected one of: " + llvm::join(names, " "));
  llvm::StringRef candidate =
      getScheduleCandidateNames()[known - names.begin()];
  writeOrder(*getScheduleCandidate(problem->problem, candidate), order);
  return BRAID_OK;
}
