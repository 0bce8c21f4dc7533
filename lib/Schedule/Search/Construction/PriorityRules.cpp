//===- PriorityRules.cpp - Rules of list schedules ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PriorityRules.h"

#include <algorithm>
#include <limits>

using namespace braid;

using Priority = RuleParameters::Priority;

PriorityRules::PriorityRules(const FlatProblem &flat, ListScheduler &scheduler,
                             llvm::ArrayRef<int64_t> tails)
    : flat(flat), tails(tails), nearestStarts(getNearestStarts(flat)) {
  int64_t totalNs = 0;
  for (int64_t cost : flat.cost) {
    totalNs += cost;
    longestNs = std::max(longestNs, cost);
  }
  for (int64_t tail : tails)
    spanNs = std::max(spanNs, tail);
  meanNs = flat.size() ? totalNs / flat.size() : 0;
  scheduler.scheduleBackward(tails, backwardTails);

  int64_t ordinal = 0;
  firstStarts.assign(flat.size(), std::numeric_limits<int64_t>::min());
  for (unsigned node = flat.size(); node-- != 0;) {
    if (flat.isStart(node))
      firstStarts[node] = ++ordinal;
    for (unsigned successor : flat.successors[node])
      firstStarts[node] = std::max(firstStarts[node], firstStarts[successor]);
  }
}

std::vector<RuleParameters> PriorityRules::getTable() const {
  std::vector<RuleParameters> priorities(4);
  priorities[0].name = "longest tail";
  priorities[1].name = "longest backward schedule";
  priorities[1].priority = Priority::BackwardTail;
  priorities[2].name = "program order without stalls";
  priorities[2].programPercent = 100;
  priorities[3].name = "first start that needs it";
  priorities[3].priority = Priority::FirstStart;
  for (unsigned percent : {25, 50, 75, 90}) {
    RuleParameters &mixture = priorities.emplace_back();
    mixture.name = "longest tail and program order";
    mixture.programPercent = percent;
  }

  // Of many more, those without which the best of all would be longer on some
  // training step.
  std::vector<RuleParameters> table = {priorities.front()};
  for (const RuleParameters &priority : priorities) {
    for (auto [maxInsertedIdleNs, maxInsertedLaneIdleNs] :
         {std::pair(meanNs / 2, int64_t(0)),
          std::pair(int64_t(0), longestNs / 8),
          std::pair(meanNs, longestNs / 8)}) {
      RuleParameters &rule = table.emplace_back(priority);
      rule.maxInsertedIdleNs = maxInsertedIdleNs;
      rule.maxInsertedLaneIdleNs = maxInsertedLaneIdleNs;
    }
    RuleParameters &fitting = table.emplace_back(priority);
    fitting.name = "what fits before the next end";
    fitting.maxInsertedIdleNs = meanNs;
    fitting.fitsEnds = true;
    for (auto [backlogNs, maxInsertedLaneIdleNs] :
         {std::pair(longestNs, longestNs / 8),
          std::pair(4 * longestNs, int64_t(0)),
          std::pair(4 * longestNs, longestNs / 8)}) {
      RuleParameters &rule = table.emplace_back(priority);
      rule.name = "nearest start first";
      rule.maxInsertedLaneIdleNs = maxInsertedLaneIdleNs;
      rule.nearestStarts = true;
      rule.backlogNs = backlogNs;
    }
  }
  return table;
}

std::vector<BeamParameters>
PriorityRules::getBeamTable(const RuleParameters &best) const {
  auto mix = [](Priority priority, unsigned percent) {
    RuleParameters parameters;
    parameters.priority = priority;
    parameters.programPercent = percent;
    return parameters;
  };
  return {{mix(Priority::Tail, 0), 256, true},
          {mix(Priority::Tail, 55), 8, false},
          {mix(Priority::Tail, 15), 32, true},
          {mix(Priority::BackwardTail, 15), 8, false},
          {best, 16, false},
          {mix(Priority::Tail, 30), 8, true},
          {mix(Priority::Tail, 80), 16, false},
          {mix(Priority::BackwardTail, 0), 16, true}};
}

PriorityRule PriorityRules::getRule(const RuleParameters &parameters) {
  PriorityRule rule;
  switch (parameters.priority) {
  case Priority::Tail:
    rule.priorities = tails;
    break;
  case Priority::BackwardTail:
    rule.priorities = backwardTails;
    break;
  case Priority::FirstStart:
    rule.priorities = firstStarts;
    break;
  }
  if (int64_t percent = parameters.programPercent) {
    // Mix in the place in the program, whose whole is worth the longest tail.
    uint64_t parts = parameters.programParts ? parameters.programParts
                                             : std::max(flat.size(), 1u);
    double partNs = double(spanNs) * percent / 100 / parts;
    mixed.resize(flat.size());
    for (unsigned node = 0, end = flat.size(); node != end; ++node)
      mixed[node] = rule.priorities[node] / 100 * (100 - percent) +
                    int64_t(partNs * (parts - node * parts / end));
    rule.priorities = mixed;
  }
  rule.maxInsertedIdleNs = parameters.maxInsertedIdleNs;
  rule.maxInsertedLaneIdleNs = parameters.maxInsertedLaneIdleNs;
  rule.fitsEnds = parameters.fitsEnds;
  if (parameters.nearestStarts)
    rule.urgentPriorities = nearestStarts;
  rule.backlogNs = parameters.backlogNs;
  return rule;
}

RuleParameters PriorityRules::change(RuleParameters parameters,
                                     std::mt19937_64 &engine) const {
  auto below = [&](int64_t bound) {
    return int64_t(engine() % std::max<uint64_t>(bound, 1));
  };
  // Zero with probability 1/2.
  auto upTo = [&](int64_t bound) { return below(2) ? below(bound) : 0; };
  for (int64_t changes = 1 + below(2); changes != 0; --changes)
    switch (below(8)) {
    case 0:
      parameters.priority = below(2) ? Priority::Tail : Priority::BackwardTail;
      break;
    case 1:
      parameters.programPercent = below(101);
      break;
    case 2:
      parameters.programPercent = std::clamp<int64_t>(
          int64_t(parameters.programPercent) + below(11) - 5, 0, 100);
      break;
    case 3:
      parameters.programParts = below(2) ? 0 : 2 + below(7);
      break;
    case 4:
      parameters.maxInsertedIdleNs = upTo(longestNs);
      break;
    case 5:
      parameters.maxInsertedLaneIdleNs = upTo(longestNs / 2);
      break;
    case 6:
      parameters.nearestStarts = below(4) != 0;
      parameters.backlogNs = below(4 * longestNs);
      break;
    case 7:
      parameters.fitsEnds = !parameters.fitsEnds;
      break;
    }
  return parameters;
}
