//===- InsertionMoves.cpp - Moves judged by simulation --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InsertionMoves.h"

#include "OrderLimits.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace braid;

void braid::searchInsertionMoves(
    const FlatProblem &flat, ScheduleEvaluator &evaluator, ScheduleOrder &order,
    ScheduleEvaluator::Value &value, int64_t targetNs, uint64_t maxSteps,
    std::mt19937_64 &engine, SearchStatistics &statistics) {
  unsigned size = flat.size();
  std::vector<unsigned> place(size);
  for (auto [where, node] : llvm::enumerate(order))
    place[node] = where;
  OrderLimits limits(flat);
  limits.assign(order, place);
  uint64_t stepsEach = uint64_t(size) * evaluator.getStepsPerNode();
  uint64_t most = maxSteps / std::max<uint64_t>(stepsEach, 1);
  // Far moves are rare.
  constexpr unsigned reaches[] = {2, 8, 32, 200};
  uint64_t failures = 0;
  for (uint64_t tried = 0; tried < most && value.makespanNs > targetNs &&
                           failures < 20 * uint64_t(size) + 1000;) {
    ++failures;
    unsigned from = engine() % size;
    unsigned reach = reaches[engine() % std::size(reaches)];
    unsigned node = order[from];
    unsigned first = from - std::min(from, reach);
    for (unsigned predecessor : flat.predecessors[node])
      first = std::max(first, place[predecessor] + 1);
    unsigned last = std::min(from + reach, size - 1);
    for (unsigned successor : flat.successors[node])
      last = std::min(last, place[successor] - 1);
    if (first == last)
      continue;
    unsigned to = first + engine() % (last - first);
    to += to >= from;

    auto move = [&](unsigned source, unsigned target) {
      auto begin = order.begin();
      if (source < target)
        std::rotate(begin + source, begin + source + 1, begin + target + 1);
      else
        std::rotate(begin + target, begin + source, begin + source + 1);
    };
    move(from, to);
    ++tried;
    ++statistics.movesTried;
    unsigned begin = std::min(from, to), end = std::max(from, to) + 1;
    ScheduleEvaluator::Value now = evaluator.evaluate(order);
    if (now.makespanNs > value.makespanNs || now.peakBytes > flat.maxMemory ||
        !limits.keeps(begin, llvm::ArrayRef(order).slice(begin, end - begin))) {
      move(to, from);
      continue;
    }
    ++statistics.movesMade;
    if (now.makespanNs < value.makespanNs)
      failures = 0;
    value = now;
    for (unsigned where = begin; where != end; ++where)
      place[order[where]] = where;
    limits.update(begin, end);
  }
}
