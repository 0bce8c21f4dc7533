//===- ContentionSearch.cpp - Exact search where ops share ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContentionSearch.h"

#include "Schedule/Model/LimitTracker.h"
#include "Schedule/Simulation/ContentionSimulator.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <set>

using namespace braid;

namespace {

class BranchAndBound {
public:
  BranchAndBound(const FlatProblem &flat, llvm::ArrayRef<int64_t> tails,
                 int64_t upperNs, uint64_t maxSteps, uint64_t &steps);

  WindowSearch::Result run();

private:
  /// Tries all that may follow the nodes of `mask`.
  void follow(const ContentionMachine &machine, uint64_t mask);
  int64_t getBound(int64_t nowNs, uint64_t mask) const;

  const FlatProblem &flat;
  llvm::ArrayRef<int64_t> tails;
  uint64_t lastStep;
  uint64_t &steps;
  std::vector<SimulatedOp> ops;
  std::vector<SimulatedTimes> times;
  /// Nodes, the longest tail first.
  std::vector<unsigned> byTail;
  std::vector<uint64_t> predecessors;
  /// After the nodes of `order`.
  LimitTracker limits;
  std::set<std::vector<int64_t>> seen;
  std::vector<unsigned> order;
  WindowSearch::Result result;
};

} // namespace

/// Memory for so many states; each has some hundreds of bytes.
static constexpr size_t maxStates = 500'000;

BranchAndBound::BranchAndBound(const FlatProblem &flat,
                               llvm::ArrayRef<int64_t> tails, int64_t upperNs,
                               uint64_t maxSteps, uint64_t &steps)
    : flat(flat), tails(tails), lastStep(steps + maxSteps), steps(steps),
      ops(getOpsByNode(flat.problem)), times(flat.size()), limits(flat) {
  assert(flat.size() <= 64 && "sets of nodes are words");
  result.value = upperNs;
  result.complete = true;
  for (unsigned node = 0, end = flat.size(); node != end; ++node) {
    byTail.push_back(node);
    uint64_t &before = predecessors.emplace_back(0);
    for (unsigned predecessor : flat.predecessors[node])
      before |= bit(predecessor);
  }
  llvm::sort(byTail, [&](unsigned a, unsigned b) {
    return std::pair(-tails[a], a) < std::pair(-tails[b], b);
  });
}

int64_t BranchAndBound::getBound(int64_t nowNs, uint64_t mask) const {
  int64_t longestNs = 0, streamNs = 0;
  llvm::SmallVector<int64_t, 8> laneNs(flat.numLanes, 0);
  for (unsigned node = 0, end = flat.size(); node != end; ++node) {
    if (mask & bit(node))
      continue;
    longestNs = std::max(longestNs, tails[node]);
    (flat.isStart(node) ? laneNs[flat.lane[node]] : streamNs) +=
        flat.cost[node];
  }
  for (int64_t workNs : laneNs)
    longestNs = std::max(longestNs, workNs);
  return nowNs + std::max(longestNs, streamNs);
}

void BranchAndBound::follow(const ContentionMachine &machine, uint64_t mask) {
  if (order.size() == flat.size()) {
    ContentionMachine last = machine;
    last.drain();
    if (last.getNowNs() < result.value) {
      result.improved = true;
      result.value = last.getNowNs();
      result.order = order;
    }
    return;
  }
  for (unsigned node : byTail) {
    if ((mask & bit(node)) || (predecessors[node] & ~mask))
      continue;
    if (steps >= lastStep || seen.size() >= maxStates) {
      result.complete = false;
      return;
    }
    if (!limits.fits(node))
      continue;
    // The events of one node, the bound, and the copy of the machine.
    steps += 20;
    ContentionMachine next = machine;
    next.issue(node);
    uint64_t newMask = mask | bit(node);
    if (getBound(next.getNowNs(), newMask) >= result.value)
      continue;
    std::vector<int64_t> state = {int64_t(newMask)};
    next.appendState(state);
    if (!seen.insert(std::move(state)).second)
      continue;
    order.push_back(node);
    limits.place(node);
    follow(next, newMask);
    limits.unplace(node);
    order.pop_back();
  }
}

WindowSearch::Result BranchAndBound::run() {
  ContentionMachine machine(ops, flat.problem.machine, times);
  follow(machine, 0);
  return std::move(result);
}

WindowSearch::Result braid::searchWithContention(const FlatProblem &flat,
                                                 llvm::ArrayRef<int64_t> tails,
                                                 int64_t upperNs,
                                                 uint64_t maxSteps,
                                                 uint64_t &steps) {
  return BranchAndBound(flat, tails, upperNs, maxSteps, steps).run();
}
