//===- ScheduleSearch.h - One search for the best order ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SEARCH_SCHEDULESEARCH_H
#define BRAID_SCHEDULE_SEARCH_SCHEDULESEARCH_H

#include "Construction/ListScheduler.h"
#include "Construction/PriorityRules.h"
#include "Improvement/StopRule.h"
#include "Improvement/WindowSearch.h"
#include "LeastMemory.h"
#include "Schedule/Model/FlatProblem.h"
#include "Schedule/Simulation/ScheduleEvaluator.h"
#include "SearchParts.h"
#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Search/SearchSchedule.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <limits>
#include <random>

namespace braid {

/// One search.
class ScheduleSearch {
public:
  ScheduleSearch(const SchedulingProblem &problem, const SearchParts &options);

  SearchResult run();

private:
  /// The makespan of what is not allowed.
  static constexpr int64_t never = std::numeric_limits<int64_t>::max();

  bool isDone() const {
    return result.optimal || isGoodEnough() || keepsOrderOfPass() ||
           getLeftSteps() == 0;
  }
  /// The last ten-thousandth is not worth the time on large graphs, nor where
  /// contention keeps proofs from being exact.
  bool isGoodEnough() const {
    constexpr unsigned largeNodes = 2'000;
    bool proofsAreRare =
        flat.timing == TimingModel::Contended && flat.size() > maxExactNodes;
    return (proofsAreRare || flat.size() > largeNodes) && hasResult &&
           result.peakBytes <= flat.maxMemory &&
           result.makespanNs - result.lowerBoundNs <=
               result.lowerBoundNs / 10'000;
  }
  /// No order gains `minGain` over the best one of a pass.
  bool keepsOrderOfPass() const {
    return !passOrders.empty() &&
           !gainsEnough(bestPassNs, result.lowerBoundNs, options.minGain);
  }
  uint64_t getSteps() const {
    return otherSteps + scheduler.getSteps() + windows.getSteps();
  }
  uint64_t getLeftSteps() const {
    if (options.isStopped())
      return 0;
    uint64_t spent = getSteps();
    return spent < maxSteps ? maxSteps - spent : 0;
  }
  LowerBoundEffort getBoundEffort() const {
    switch (options.effort) {
    case SearchEffort::Low:
      return LowerBoundEffort::Quick;
    case SearchEffort::Default:
      return std::min(options.boundEffort, LowerBoundEffort::Normal);
    case SearchEffort::High:
      return options.boundEffort;
    }
    llvm_unreachable("unknown effort");
  }
  bool fits(const ScheduleEvaluator::Value &value) const {
    return value.peakBytes <= flat.maxMemory;
  }
  /// Simulates a legal order and keeps it if it is the best so far. Returns its
  /// makespan, or the largest value if it does not keep the limit on memory.
  int64_t consider(llvm::ArrayRef<unsigned> order, llvm::StringRef method);
  /// The same for an order that may have too many operations in flight.
  int64_t considerUnchecked(llvm::ArrayRef<unsigned> order,
                            llvm::StringRef method);
  /// The same for a list schedule. Lists know nothing of what the body of a
  /// loop awaits from the iteration before, so waits go down there.
  int64_t considerList(llvm::ArrayRef<unsigned> order, llvm::StringRef method) {
    if (problem.carriedAwaits.empty())
      return consider(order, method);
    int64_t sunkNs =
        considerUnchecked(sinkWaitsIn(flat.problem.graph, order), method);
    return std::min(sunkNs, consider(order, method));
  }
  void sinkWaitsOfResult();
  void considerPasses();
  void preferOrderOfPass();
  void findFittingOrder();
  void runListRules();
  int64_t tryList(const RuleParameters &parameters);
  void tuneListRules();
  void runBeam();
  void runExact();
  void runLocalSearch();
  void improveWithContention();
  bool schedule(PriorityRule rule, ScheduleOrder &order);
  void tell() const;

  const SchedulingProblem &problem;
  SearchParts options;
  uint64_t maxSteps;
  FlatProblem flat;
  ScheduleEvaluator evaluator;
  ListScheduler scheduler;
  WindowSearch windows;
  std::vector<int64_t> tails;
  PriorityRules listRules;
  uint64_t otherSteps = 0;
  std::mt19937_64 engine;

  StopRule stopRule;

  SearchResult result;
  bool hasResult = false;
  /// If there are limits: an order that keeps them.
  ScheduleOrder base;
  /// If `minGain` is set: what the passes gave within all limits, with the
  /// makespans.
  std::vector<std::pair<int64_t, ScheduleCandidate>> passOrders;
  /// The least of these makespans.
  int64_t bestPassNs = never;
  /// The rules of the table and what they gave, the shortest first.
  std::vector<std::pair<int64_t, RuleParameters>> lists;
};

} // namespace braid

#endif // BRAID_SCHEDULE_SEARCH_SCHEDULESEARCH_H
