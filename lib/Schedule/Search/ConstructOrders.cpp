//===- ConstructOrders.cpp - Orders from nothing --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Construction/BeamSearch.h"
#include "Improvement/MemorySchedule.h"
#include "ScheduleSearch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace braid;

/// Tries every construction in turn until an order is within the memory limit.
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
