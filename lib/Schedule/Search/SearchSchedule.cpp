//===- SearchSchedule.cpp - Search for the best order ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Search/SearchSchedule.h"

#include "Construction/AlapWaits.h"
#include "Construction/BeamSearch.h"
#include "Construction/ListScheduler.h"
#include "Construction/PriorityRules.h"
#include "Improvement/ContentionLocalSearch.h"
#include "Improvement/ContentionSearch.h"
#include "Improvement/LocalSearch.h"
#include "Improvement/MemorySchedule.h"
#include "Improvement/StopRule.h"
#include "Improvement/WindowSearch.h"
#include "LeastMemory.h"
#include "RelaxedSearch.h"
#include "Schedule/Model/FlatProblem.h"
#include "Schedule/Simulation/ScheduleEvaluator.h"
#include "braid/Schedule/Bounds/LowerBound.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>

using namespace braid;

static constexpr int64_t never = std::numeric_limits<int64_t>::max();

namespace {

/// One search.
class ScheduleSearch {
public:
  ScheduleSearch(const SchedulingProblem &problem, const SearchParts &options);

  SearchResult run();

private:
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
        considerUnchecked(getOrderWithAlapWaits(flat, order), method);
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

} // namespace

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

/// Puts waits as late as they may stand where that costs neither time nor
/// memory: an operation that takes longer than estimated then exposes less.
void ScheduleSearch::sinkWaitsOfResult() {
  if (isProgramOrder(result.order))
    return;
  ScheduleOrder order = getOrderWithAlapWaits(flat, result.order);
  otherSteps += flat.size();
  if (order == result.order || !isAllowedOrder(problem, order))
    return;
  ScheduleEvaluator::Value value = evaluator.evaluate(order);
  if (value.makespanNs > result.makespanNs ||
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

/// Looks for an order within the memory limit, by all means.
void ScheduleSearch::findFittingOrder() {
  auto isFound = [&] {
    return hasResult && result.peakBytes <= flat.maxMemory;
  };
  ScheduleOrder order;
  for (MemoryTieBreak tieBreak :
       {MemoryTieBreak::Program, MemoryTieBreak::Latest}) {
    if (!options.useLeastMemoryLists)
      break;
    otherSteps += flat.size();
    if (scheduleForMemory(flat, tieBreak, order))
      consider(order, "least memory first");
  }
  if (options.useDepthFirst)
    considerUnchecked(scheduleDepthFirst(flat), "depth first");
  if (isFound())
    return;
  // Exact on small graphs.
  if (flat.size() <= maxExactNodes) {
    std::vector<unsigned> position;
    std::vector<int64_t> zeros;
    ScheduleOrder program = getProgramOrder(problem.graph);
    ScheduleWindow window = getWholeWindow(flat, program, position, zeros);
    for (unsigned width : {100u, 5'000u, 100'000u}) {
      WindowSearch::Result found = windows.searchPeak(
          window, hasResult ? result.peakBytes : flat.maxMemory + 1, width,
          getLeftSteps());
      if (found.improved)
        consider(found.order, "least memory by exact search");
      if (found.complete && !isFound()) {
        result.excess.emplace();
        result.excess->proven = true;
        result.excess->leastPeakBytes = result.peakBytes;
      }
      if (found.complete || isFound() || getLeftSteps() == 0)
        return;
    }
  }
  if (!hasResult || !options.usePeakWindows)
    return;
  order = result.order;
  lowerPeak(flat, windows, flat.maxMemory, getLeftSteps() / 2, order);
  consider(order, "least memory by windows");
}

/// A list schedule within all limits: follows the order that is known to keep
/// them the more closely the more often it runs into a dead end.
bool ScheduleSearch::schedule(PriorityRule rule, ScheduleOrder &order) {
  if (base.empty())
    return scheduler.schedule(rule, order);
  rule.base = base;
  for (unsigned lead = flat.size();; lead /= 4) {
    rule.maxLead = lead;
    if (scheduler.schedule(rule, order))
      return true;
    if (lead == 0)
      return false;
  }
}

void ScheduleSearch::runListRules() {
  for (const RuleParameters &parameters : listRules.getTable()) {
    if (isDone())
      return;
    int64_t makespanNs = tryList(parameters);
    auto isShorter = [](int64_t ns, const auto &entry) {
      return ns < entry.first;
    };
    lists.insert(llvm::upper_bound(lists, makespanNs, isShorter),
                 {makespanNs, parameters});
    if (!options.useListRules)
      return;
  }
}

/// Simulates the list schedule that goes by `parameters`. Returns its makespan,
/// or the largest value if it does not keep the limits.
int64_t ScheduleSearch::tryList(const RuleParameters &parameters) {
  ScheduleOrder order;
  if (!schedule(listRules.getRule(parameters), order))
    return never;
  return considerList(order, parameters.name);
}

/// Changes the best rule, and others, as long as that gives something better.
void ScheduleSearch::tuneListRules() {
  uint64_t kept = getLeftSteps() - getLeftSteps() / 4;
  stopRule.begin(getSteps(), result.makespanNs);
  // Rules that are next to one another often give the same order.
  for (size_t first = 0; first < (lists.size() + 1) / 2; first += 7) {
    auto [makespanNs, parameters] = lists[first];
    for (unsigned failures = 0; failures != 100; ++failures) {
      if (isDone() || getLeftSteps() < kept ||
          stopRule.shouldStop(getSteps(), result.makespanNs))
        return;
      RuleParameters changed = listRules.change(parameters, engine);
      changed.name = "tuned list";
      // What a list takes per node beside what it counts itself: it jumps about
      // in memory as no window does, and out of the caches in large graphs.
      otherSteps += uint64_t(6 + flat.size() / 16'384) * flat.size();
      int64_t changedNs = tryList(changed);
      if (changedNs > makespanNs)
        continue;
      if (changedNs < makespanNs)
        failures = 0;
      makespanNs = changedNs;
      parameters = changed;
    }
  }
}

/// Searches with a beam by several guides, and goes on with the better half of
/// them and twice the width.
void ScheduleSearch::runBeam() {
  if (flat.size() <= maxExactNodes)
    return;
  constexpr uint64_t leastWidth = 4, mostWidth = 64;
  BeamSearch beam(flat);
  std::vector<BeamParameters> table =
      listRules.getBeamTable(lists.front().second);
  uint64_t width = 0;
  for (; !table.empty(); table.resize(table.size() / 2)) {
    uint64_t numRounds = llvm::Log2_64_Ceil(table.size()) + 1;
    width = getLeftSteps() / 2 /
            (numRounds * table.size() * beam.getStepsPerWidth());
    if (width >= leastWidth)
      break;
  }
  width = std::min(width, mostWidth);
  // Makespans and which of the table.
  std::vector<std::pair<int64_t, unsigned>> entries;
  for (unsigned which = 0, end = table.size(); which != end; ++which)
    entries.emplace_back(never, which);
  ScheduleOrder order;
  for (; !entries.empty(); entries.resize(entries.size() / 2), width *= 2) {
    for (auto &[makespanNs, which] : entries) {
      if (isDone())
        return;
      const BeamParameters &parameters = table[which];
      BeamGuide guide = {listRules.getRule(parameters.list).priorities,
                         parameters.divisor, parameters.countsTails};
      uint64_t before = beam.getSteps();
      makespanNs = beam.search(guide, width, order)
                       ? considerList(order, "beam search")
                       : never;
      otherSteps += beam.getSteps() - before;
    }
    llvm::sort(entries);
  }
}

void ScheduleSearch::runExact() {
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
  if (flat.timing == TimingModel::Contended) {
    use(searchWithContention(flat, tails, result.makespanNs, getLeftSteps() / 2,
                             otherSteps));
    return;
  }
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
    if (options.useContentionWindows || options.useContentionMoves)
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

/// Says how far the search is.
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
  // The program has too many operations in flight, and every list has run into
  // a dead end. Without an order to begin from there is only the exact search.
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
  // More lists and beams know no contention: local search does better with
  // their steps.
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
