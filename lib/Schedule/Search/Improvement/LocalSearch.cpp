//===- LocalSearch.cpp - Better orders near a good one --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>

using namespace braid;

LocalSearch::LocalSearch(const FlatProblem &flat, WindowSearch &windows,
                         SearchStatistics &statistics)
    : flat(flat), windows(windows), statistics(statistics), timed(flat) {}

bool LocalSearch::searchWindows(unsigned length, unsigned width,
                                int64_t targetNs, uint64_t maxSteps) {
  unsigned size = flat.size();
  int64_t beforeNs = timed.getMakespanNs();
  uint64_t spent = 0;
  length = std::min(length, size);
  unsigned stride = std::max(length / 2, 1u);
  // The windows that have changed since they were searched.
  unsigned numWindows = size > length ? (size - length - 1) / stride + 2 : 1;
  std::vector<bool> changed(numWindows, true);
  for (bool any = true; any;) {
    any = false;
    for (unsigned index = 0; index != numWindows; ++index) {
      if (!changed[index])
        continue;
      changed[index] = false;
      if (spent >= maxSteps || timed.getMakespanNs() <= targetNs)
        return timed.getMakespanNs() < beforeNs;
      unsigned begin = std::min(index * stride, size - length);
      auto nodes = timed.getOrder().slice(begin, length);
      uint64_t stepsBefore = windows.getSteps() + timed.getSteps();
      int64_t nowNs = timed.evaluate(begin, nodes);
      ++statistics.windowsTried;
      WindowSearch::Result result =
          windows.search(timed.getWindow(begin, begin + length), nowNs, width,
                         maxSteps - spent);
      if (result.improved) {
        ++statistics.windowsImproved;
        timed.replace(begin, result.order);
        any = true;
        if (index != 0)
          changed[index - 1] = true;
        if (index + 1 != numWindows)
          changed[index + 1] = true;
        changed[index] = !result.complete;
      }
      spent += windows.getSteps() + timed.getSteps() - stepsBefore;
    }
  }
  return timed.getMakespanNs() < beforeNs;
}

void NodeMove::apply(llvm::MutableArrayRef<unsigned> nodes) const {
  std::rotate(nodes.begin(), from < to ? nodes.begin() + 1 : nodes.end() - 1,
              nodes.end());
}

/// A random move of the node at `from`, by at most `reach` places, that keeps
/// the edges; none if the node cannot move.
static std::optional<NodeMove> pickMove(const FlatProblem &flat,
                                        llvm::ArrayRef<unsigned> order,
                                        llvm::ArrayRef<unsigned> place,
                                        unsigned from, unsigned reach,
                                        std::mt19937_64 &engine) {
  unsigned first = from - std::min(from, reach);
  for (unsigned predecessor : flat.predecessors[order[from]])
    first = std::max(first, place[predecessor] + 1);
  unsigned last = std::min(from + reach, flat.size() - 1);
  for (unsigned successor : flat.successors[order[from]])
    last = std::min(last, place[successor] - 1);
  if (first == last)
    return std::nullopt;
  unsigned to = first + engine() % (last - first);
  return NodeMove{from, to + (to >= from)};
}

/// Makes `move` if that makes nothing longer.
bool LocalSearch::tryMove(NodeMove move) {
  auto nodes = timed.getOrder().slice(move.begin(), move.end() - move.begin());
  scratch.assign(nodes.begin(), nodes.end());
  move.apply(scratch);
  ++statistics.movesTried;
  if (timed.evaluate(move.begin(), scratch) >
          timed.evaluate(move.begin(), nodes) ||
      !timed.keepsLimits(move.begin(), scratch))
    return false;
  ++statistics.movesMade;
  timed.replace(move.begin(), scratch);
  return true;
}

bool LocalSearch::moveNodes(unsigned reach, int64_t targetNs, uint64_t maxSteps,
                            std::mt19937_64 &engine) {
  unsigned size = flat.size();
  int64_t beforeNs = timed.getMakespanNs();
  uint64_t firstStep = timed.getSteps();
  unsigned failures = 0;
  while (failures < 4 * size && timed.getSteps() - firstStep < maxSteps &&
         timed.getMakespanNs() > targetNs) {
    ++failures;
    unsigned from = engine() % size;
    if (!timed.isCritical(from))
      continue;
    std::optional<NodeMove> move = pickMove(
        flat, timed.getOrder(), timed.getPlaces(), from, reach, engine);
    if (!move)
      continue;
    int64_t nowNs = timed.getMakespanNs();
    if (tryMove(*move) && timed.getMakespanNs() < nowNs)
      failures = 0;
  }
  return timed.getMakespanNs() < beforeNs;
}

void LocalSearch::improve(llvm::ArrayRef<unsigned> order,
                          const SearchParts &options, int64_t targetNs,
                          uint64_t maxSteps, std::mt19937_64 &engine) {
  auto getSpent = [&] { return windows.getSteps() + timed.getSteps(); };
  uint64_t lastStep = getSpent() + maxSteps;
  auto getLeft = [&] {
    return options.isStopped() ? 0 : lastStep - std::min(lastStep, getSpent());
  };
  assign(order);
  for (unsigned length = 12; length <= 48 && getLeft() != 0;) {
    bool improved = false;
    if (options.useWindows)
      improved |= searchWindows(length, 64, targetNs, getLeft());
    if (options.useMoves && getMakespanNs() > targetNs && getLeft() != 0)
      improved |= moveNodes(200, targetNs, getLeft() / 2, engine);
    if (!improved)
      length *= 2;
    if (getMakespanNs() <= targetNs)
      break;
  }
}

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
    std::optional<NodeMove> move =
        pickMove(flat, order, place, from, reach, engine);
    if (!move)
      continue;
    unsigned begin = move->begin(), length = move->end() - begin;
    auto nodes = llvm::MutableArrayRef(order).slice(begin, length);
    move->apply(nodes);
    ++tried;
    ++statistics.movesTried;
    ScheduleEvaluator::Value now = evaluator.evaluate(order);
    if (now.makespanNs > value.makespanNs || now.peakBytes > flat.maxMemory ||
        !limits.keeps(begin, nodes)) {
      NodeMove{move->to, move->from}.apply(nodes);
      continue;
    }
    ++statistics.movesMade;
    if (now.makespanNs < value.makespanNs)
      failures = 0;
    value = now;
    for (auto [where, node] : llvm::enumerate(nodes))
      place[node] = begin + where;
    limits.update(begin, begin + length);
  }
}
