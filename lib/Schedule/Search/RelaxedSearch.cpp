//===- RelaxedSearch.cpp - Orders of relaxed problems ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RelaxedSearch.h"

#include "Schedule/Bounds/LagrangianRelaxation.h"

#include <algorithm>

using namespace braid;

std::vector<ScheduleOrder>
braid::searchWithMultipliers(const SchedulingProblem &problem,
                             const SearchParts &options, uint64_t maxSteps,
                             uint64_t &steps, InnerSearch search) {
  // The best multiplier for the work of the stream, 7/8 of it, and half of it.
  constexpr double all[] = {1, 0.875, 0.5};
  // Drops multipliers rather than starving each one's budget. This is about
  // what the lists take.
  constexpr uint64_t leastStepsPerNode = 80;
  uint64_t count = maxSteps / (leastStepsPerNode * problem.graph.size() + 1);
  llvm::ArrayRef<double> factors =
      llvm::ArrayRef(all).take_front(std::max<uint64_t>(count, 1));
  std::vector<ScheduleOrder> orders;
  SearchParts inner = options;
  inner.maxSteps = std::max<uint64_t>(maxSteps / factors.size(), 1);
  inner.boundEffort = LowerBoundEffort::Quick;
  // Its makespans are those of another problem.
  inner.progress = nullptr;
  // The passes were tried already.
  inner.usePasses = false;
  for (RelaxedProblem &relaxed : getRelaxedProblems(problem, factors)) {
    relaxed.problem.transientBytes = problem.transientBytes;
    relaxed.problem.buffers = problem.buffers;
    relaxed.problem.liveBytes = problem.liveBytes;
    relaxed.problem.maxMemory = problem.maxMemory;
    relaxed.problem.maxInFlight = problem.maxInFlight;
    SearchResult found = search(relaxed.problem, inner);
    steps += found.statistics.steps;
    // What comes back if there is nothing else may have too many in flight.
    if (!found.excess && isAllowedOrder(relaxed.problem, found.order))
      orders.push_back(std::move(found.order));
  }
  return orders;
}
