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

/// Moves the node at `from` to `to`, past all between, if that makes nothing
/// longer.
bool LocalSearch::tryMove(unsigned from, unsigned to) {
  unsigned begin = std::min(from, to), end = std::max(from, to) + 1;
  auto nodes = timed.getOrder().slice(begin, end - begin);
  scratch.assign(nodes.begin(), nodes.end());
  if (from < to)
    std::rotate(scratch.begin(), scratch.begin() + 1, scratch.end());
  else
    std::rotate(scratch.begin(), scratch.end() - 1, scratch.end());
  ++statistics.movesTried;
  if (timed.evaluate(begin, scratch) > timed.evaluate(begin, nodes) ||
      !timed.keepsLimits(begin, scratch))
    return false;
  ++statistics.movesMade;
  timed.replace(begin, scratch);
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
    unsigned node = timed.getOrder()[from];
    // How far it may go.
    unsigned first = from - std::min(from, reach);
    for (unsigned predecessor : flat.predecessors[node])
      first = std::max(first, timed.getPlace(predecessor) + 1);
    unsigned last = std::min(from + reach, size - 1);
    for (unsigned successor : flat.successors[node])
      last = std::min(last, timed.getPlace(successor) - 1);
    if (first == last)
      continue;
    unsigned to = first + engine() % (last - first);
    to += to >= from;
    int64_t nowNs = timed.getMakespanNs();
    if (tryMove(from, to) && timed.getMakespanNs() < nowNs)
      failures = 0;
  }
  return timed.getMakespanNs() < beforeNs;
}

void LocalSearch::improve(llvm::ArrayRef<unsigned> order,
                          const SearchOptions &options, int64_t targetNs,
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
