//===- PricedSearch.cpp - Orders for a price of contention ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PricedSearch.h"

#include "Schedule/Bounds/PricedProblem.h"

#include <algorithm>

using namespace braid;

std::vector<ScheduleOrder>
braid::searchWithPrices(const SchedulingProblem &problem,
                        const SearchOptions &options, uint64_t maxSteps,
                        uint64_t &steps, InnerSearch search) {
  // The best price for the work of the stream, 7/8 of it, and half of it.
  constexpr double all[] = {1, 0.875, 0.5};
  // Fewer of them rather than none in earnest: about what the lists take.
  constexpr uint64_t leastStepsPerNode = 80;
  uint64_t count = maxSteps / (leastStepsPerNode * problem.graph.size() + 1);
  llvm::ArrayRef<double> factors =
      llvm::ArrayRef(all).take_front(std::max<uint64_t>(count, 1));
  std::vector<ScheduleOrder> orders;
  SearchOptions inner = options;
  inner.maxSteps = std::max<uint64_t>(maxSteps / factors.size(), 1);
  inner.boundEffort = LowerBoundEffort::Quick;
  // Its makespans are those of another problem.
  inner.progress = nullptr;
  // The passes were tried already.
  inner.usePasses = false;
  for (PricedProblem &priced : getPricedProblems(problem, factors)) {
    priced.problem.transientBytes = problem.transientBytes;
    priced.problem.buffers = problem.buffers;
    priced.problem.liveBytes = problem.liveBytes;
    priced.problem.maxMemory = problem.maxMemory;
    priced.problem.maxInFlight = problem.maxInFlight;
    SearchResult found = search(priced.problem, inner);
    steps += found.statistics.steps;
    // What comes back if there is nothing else may have too many in flight.
    if (!found.excess && isAllowedOrder(priced.problem, found.order))
      orders.push_back(std::move(found.order));
  }
  return orders;
}
