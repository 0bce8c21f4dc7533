//===- SearchSchedule.cpp - Search for the best order ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Search/SearchSchedule.h"

#include "Improvement/ContentionLocalSearch.h"
#include "Improvement/LocalSearch.h"
#include "Improvement/MemorySchedule.h"
#include "RelaxedSearch.h"
#include "Schedule/Bounds/StateSearch.h"
#include "ScheduleSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace braid;

/// The limit of a search that spends all its steps.
static uint64_t getHighStepLimit(const SchedulingProblem &problem) {
  int64_t size = problem.graph.size();
  // With contention, bounds prove little, and the search spends all steps. The
  // limit is the highest for 20,000 nodes: on larger graphs a step takes
  // longer.
  if (problem.machine.hasContention())
    return size <= 20'000 ? 250'000'000 + 7'500 * size
                          : std::max(1'500 * size, 462'500'000 - 3'125 * size);
  return std::max<int64_t>(150'000'000, 50'000'000 + 1000 * size);
}

uint64_t braid::getStepLimit(const SchedulingProblem &problem,
                             SearchEffort effort) {
  if (effort == SearchEffort::High)
    return getHighStepLimit(problem);
  uint64_t size = problem.graph.size();
  uint64_t limit =
      15'000'000 + 1'500 * size + 1'000 * std::min<uint64_t>(size, 20'000);
  return effort == SearchEffort::Low ? limit / 8 : limit;
}

double braid::getDefaultMinGain(const SchedulingProblem &problem) {
  return problem.machine.isQueued() ? 0.01 : 0;
}

ScheduleSearch::ScheduleSearch(const SchedulingProblem &problem,
                               const SearchParts &options)
    : problem(problem), options(options),
      maxSteps(options.maxSteps ? options.maxSteps
                                : getStepLimit(problem, options.effort)),
      flat(problem), evaluator(flat), scheduler(flat), windows(flat),
      tails(getTails(flat)), listRules(flat, scheduler, tails),
      engine(options.seed),
      stopRule(options.effort == SearchEffort::High ? 0 : maxSteps / 32) {}

int64_t ScheduleSearch::consider(llvm::ArrayRef<unsigned> order,
                                 llvm::StringRef method) {
  otherSteps += order.size() * evaluator.getStepsPerNode();
  ScheduleEvaluator::Value value = evaluator.evaluate(order);
  bool fitsNow = fits(value), fitBefore = result.peakBytes <= flat.maxMemory;
  int64_t makespanNs = fitsNow ? value.makespanNs : never;
  bool better;
  if (!hasResult)
    better = true;
  else if (fitsNow != fitBefore)
    better = fitsNow;
  else if (fitsNow)
    better = value.makespanNs < result.makespanNs;
  else
    better = value.peakBytes < result.peakBytes;
  if (!better) {
    tell();
    return makespanNs;
  }
  hasResult = true;
  result.order.assign(order.begin(), order.end());
  result.makespanNs = value.makespanNs;
  result.peakBytes = value.peakBytes;
  result.method = method.str();
  result.optimal = fitsNow && value.makespanNs <= result.lowerBoundNs;
  tell();
  return makespanNs;
}

int64_t ScheduleSearch::considerUnchecked(llvm::ArrayRef<unsigned> order,
                                          llvm::StringRef method) {
  otherSteps += order.size();
  return isAllowedOrder(problem, order) ? consider(order, method) : never;
}

/// Puts waits as late as they may stand where that costs no memory and hardly
/// any time: an operation that takes longer than estimated then exposes less.
void ScheduleSearch::sinkWaitsOfResult() {
  constexpr int64_t mostLost = 1000; // A fraction of the makespan.
  if (isProgramOrder(result.order))
    return;
  ScheduleOrder order = sinkWaitsIn(problem.graph, result.order);
  otherSteps += flat.size();
  if (order == result.order || !isAllowedOrder(problem, order))
    return;
  ScheduleEvaluator::Value value = evaluator.evaluate(order);
  int64_t lost = value.makespanNs - result.makespanNs;
  if (lost > (result.optimal ? 0 : result.makespanNs / mostLost) ||
      value.peakBytes > result.peakBytes)
    return;
  result.order = std::move(order);
  result.makespanNs = value.makespanNs;
  result.peakBytes = value.peakBytes;
}

void ScheduleSearch::considerPasses() {
  for (ScheduleCandidate &candidate : getScheduleCandidates(problem)) {
    otherSteps += flat.size();
    int64_t makespanNs = considerUnchecked(candidate.order, candidate.name);
    if (options.minGain <= 0 || makespanNs == never)
      continue;
    bestPassNs = std::min(bestPassNs, makespanNs);
    passOrders.emplace_back(makespanNs, std::move(candidate));
  }
}

/// Keeps the order of a pass unless the search has gained `minGain`.
void ScheduleSearch::preferOrderOfPass() {
  llvm::SmallVector<int64_t> makespansNs, peakBytes(passOrders.size());
  for (const auto &[makespanNs, candidate] : passOrders)
    makespansNs.push_back(makespanNs);
  std::optional<size_t> best = findLeastMemory(
      makespansNs, result.makespanNs, options.minGain, [&](size_t which) {
        const ScheduleOrder &order = passOrders[which].second.order;
        return peakBytes[which] = evaluator.evaluate(order).peakBytes;
      });
  if (!best)
    return;
  ScheduleCandidate &candidate = passOrders[*best].second;
  result.order = std::move(candidate.order);
  result.method = std::move(candidate.name);
  result.peakBytes = peakBytes[*best];
  result.makespanNs = makespansNs[*best];
  result.optimal = result.makespanNs <= result.lowerBoundNs;
}

void ScheduleSearch::runExact() {
  if (flat.timing == TimingModel::Contended) {
    if (flat.size() > maxStateNodes)
      return;
    StateSearchResult found =
        searchStates(flat, result.makespanNs, getLeftSteps() / 4, otherSteps);
    if (!found.order.empty())
      consider(found.order, "exact search");
    result.lowerBoundNs = std::max(result.lowerBoundNs, found.boundNs);
    result.optimal |= found.isComplete();
    return;
  }
  if (flat.size() > maxExactNodes)
    return;
  auto use = [&](const WindowSearch::Result &found) {
    if (found.improved)
      consider(found.order, "exact search");
    if (found.complete) {
      result.optimal = true;
      result.lowerBoundNs = result.makespanNs;
    }
  };
  if (flat.timing != TimingModel::Additive)
    return;
  std::vector<unsigned> position;
  std::vector<int64_t> zeros;
  ScheduleOrder program = getProgramOrder(problem.graph);
  ScheduleWindow window = getWholeWindow(flat, program, position, zeros);
  // Wider layers take too much memory.
  for (unsigned width = 16; !isDone() && width <= 65'536; width *= 8) {
    use(windows.search(window, result.makespanNs, width, getLeftSteps() / 2));
    if (getLeftSteps() < maxSteps / 100)
      return;
  }
}

void ScheduleSearch::improveWithContention() {
  // Makespans and orders.
  using Start = std::pair<int64_t, ScheduleOrder>;
  std::vector<Start> starts = {{result.makespanNs, result.order}};
  if (options.useMultipliers && !isDone())
    for (ScheduleOrder &order :
         searchWithMultipliers(problem, options, getLeftSteps() / 8, otherSteps,
                               searchWithParts)) {
      int64_t makespanNs = consider(order, "relaxed contention");
      starts.emplace_back(makespanNs, std::move(order));
    }
  llvm::erase_if(starts,
                 [](const Start &start) { return start.first == never; });

  ContentionLocalSearch local(flat, result.statistics);
  local.improveBestOf(starts, options, result.lowerBoundNs, getLeftSteps(),
                      engine);
  otherSteps += local.getSteps();
  consider(local.getOrder(), "local search");
}

void ScheduleSearch::runLocalSearch() {
  if (flat.size() < 3)
    return;
  if (flat.timing == TimingModel::Contended) {
    if (options.useContentionMoves)
      improveWithContention();
    return;
  }
  if (flat.timing != TimingModel::Additive) {
    if (!options.useInsertionMoves)
      return;
    ScheduleOrder order = result.order;
    ScheduleEvaluator::Value value = {result.makespanNs, result.peakBytes};
    uint64_t before = evaluator.getNumOrders();
    searchInsertionMoves(flat, evaluator, order, value, result.lowerBoundNs,
                         getLeftSteps(), engine, result.statistics);
    otherSteps += (evaluator.getNumOrders() - before) * flat.size() *
                  evaluator.getStepsPerNode();
    consider(order, "moves");
    return;
  }
  if (!options.useWindows && !options.useMoves)
    return;
  LocalSearch local(flat, windows, result.statistics);
  auto improve = [&](llvm::ArrayRef<unsigned> order, uint64_t most) {
    uint64_t before = local.getSteps();
    local.improve(order, options, result.lowerBoundNs,
                  std::min(getLeftSteps(), most), engine);
    otherSteps += local.getSteps() - before;
  };
  stopRule.begin(getSteps(), result.makespanNs);
  improve(result.order, maxSteps / 4);
  consider(local.getOrder(), "local search");

  // Again from orders near the best: lists in its order, with some nodes moved
  // up.
  ScheduleOrder order;
  std::vector<int64_t> priorities(flat.size());
  while (!isDone() && !stopRule.shouldStop(getSteps(), result.makespanNs)) {
    uint64_t before = getLeftSteps();
    int64_t noise = int64_t(4) << (engine() % 6);
    bool anywhere = engine() % 2;
    unsigned first = engine() % flat.size();
    unsigned length = 50 + engine() % 200;
    for (auto [where, node] : llvm::enumerate(result.order)) {
      priorities[node] = -int64_t(where);
      if (anywhere || (where >= first && where < first + length))
        priorities[node] += engine() % noise;
    }
    PriorityRule rule{priorities, /*eagerStarts=*/engine() % 2 == 0};
    rule.fitsEnds = engine() % 2 == 0;
    if (!schedule(rule, order))
      return;
    improve(order, maxSteps / 16);
    consider(local.getOrder(), "repeated local search");
    if (getLeftSteps() + flat.size() > before)
      return;
  }
}

/// Reports progress to the observer.
void ScheduleSearch::tell() const {
  SearchProgress *progress = options.progress;
  if (!progress)
    return;
  constexpr auto relaxed = std::memory_order_relaxed;
  progress->steps.store(std::min(getSteps(), maxSteps), relaxed);
  progress->maxSteps.store(maxSteps, relaxed);
  progress->makespanNs.store(result.makespanNs, relaxed);
  progress->lowerBoundNs.store(result.lowerBoundNs, relaxed);
}

SearchResult ScheduleSearch::run() {
  options.boundParts.states = false; // As `runExact` does that.
  std::optional<LowerBoundFinder> bounds(std::in_place, problem,
                                         options.boundParts);
  result.lowerBoundNs = bounds->find(never, LowerBoundEffort::Quick).best();
  if (options.usePasses)
    considerPasses();
  else
    considerUnchecked(getProgramOrder(problem.graph), "program order");
  if (flat.hasMemoryLimit() &&
      !(hasResult && result.peakBytes <= flat.maxMemory))
    findFittingOrder();
  if (!hasResult && flat.maxInFlight != 0) {
    ScheduleOrder order;
    if (scheduler.schedule({tails, true, 0}, order))
      consider(order, "longest tail");
    else if (scheduleForMemory(flat, MemoryTieBreak::Program, order))
      consider(order, "least memory first");
    for (const RuleParameters &parameters : listRules.getTable())
      if (!hasResult &&
          scheduler.schedule(listRules.getRule(parameters), order))
        consider(order, parameters.name);
  }
  // The program order exceeds the limit on operations in flight, and no list
  // found an order within it: only the exact search can.
  if (!hasResult) {
    consider(getProgramOrder(problem.graph), "program order");
    SearchResult program = result;
    result.makespanNs = never / 4;
    result.optimal = false;
    if (result.peakBytes <= flat.maxMemory && options.useExact)
      runExact();
    if (result.order == program.order) {
      result = std::move(program);
      result.optimal = false;
      if (result.peakBytes > flat.maxMemory)
        explainExcess(flat, result);
      result.statistics.steps = std::min(getSteps(), maxSteps);
      return std::move(result);
    }
  }
  if (result.peakBytes > flat.maxMemory) {
    explainExcess(flat, result);
    result.statistics.steps = std::min(getSteps(), maxSteps);
    return std::move(result);
  }
  if (flat.hasLimits())
    base = result.order;

  if (!isDone())
    runListRules();
  if (!isDone()) {
    result.lowerBoundNs =
        bounds->find(result.makespanNs, getBoundEffort()).best();
    result.optimal = result.makespanNs <= result.lowerBoundNs;
    bounds.reset(); // Some MB that are needed no more.
  }
  if (!isDone() && options.useExact)
    runExact();
  // More lists and beams ignore contention, so the steps are better spent on
  // local search.
  if (flat.timing != TimingModel::Contended) {
    if (!isDone() && options.useTunedLists)
      tuneListRules();
    if (!isDone() && options.useBeam)
      runBeam();
  }
  if (!isDone())
    runLocalSearch();
  preferOrderOfPass();
  sinkWaitsOfResult();
  result.statistics.steps = std::min(getSteps(), maxSteps);
  result.statistics.ordersTried = evaluator.getNumOrders();
  return std::move(result);
}

SearchResult braid::searchWithParts(const SchedulingProblem &problem,
                                    const SearchParts &parts) {
  return ScheduleSearch(problem, parts).run();
}

SearchResult braid::searchSchedule(const SchedulingProblem &problem,
                                   const SearchOptions &options) {
  return searchWithParts(problem, options);
}
