//===- ComputeExchange.cpp - Which compute runs beside operations ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ComputeExchange.h"

#include "Schedule/Model/Contention.h"
#include "Schedule/Simulation/SimulationSums.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>
#include <set>

using namespace braid;

/// Measured: a node of an order that is played, and of one that is made.
static constexpr unsigned stepsPerNode = 6;

ComputeExchange::ComputeExchange(const FlatProblem &flat)
    : flat(flat), movable(flat.size(), false), suffering(flat.size(), 0),
      ops(getOpsByNode(flat.problem)), times(flat.size()),
      machine(ops, flat.problem.machine, times) {
  const ScheduleGraph &graph = flat.problem.graph;
  // Edges go from lower to higher numbers.
  int64_t workNs = 0, movableNs = 0;
  for (unsigned node = flat.size(); node-- != 0;) {
    movable[node] = graph[node].kind == NodeKind::Compute &&
                    flat.awaited[node].empty() &&
                    llvm::all_of(flat.successors[node],
                                 [&](unsigned next) { return movable[next]; });
    if (flat.isStart(node))
      continue;
    workNs += flat.cost[node];
    if (movable[node])
      movableNs += flat.cost[node];
  }
  constexpr int64_t leastPercent = 1;
  if (movableNs <= workNs / 100 * leastPercent)
    return;
  rankByContention();
}

void ComputeExchange::rankByContention() {
  const SchedulingProblem &problem = flat.problem;
  std::vector<unsigned> starts;
  for (unsigned start : problem.graph.starts())
    if (problem.graph[start].cost > 0)
      starts.push_back(start);
  if (starts.empty())
    return;
  // A few from everywhere say what all of them do.
  constexpr size_t numBeside = 8;
  std::array<RunningOp, 2> running;
  std::vector<double> linkDemand;
  int64_t least = 0, most = 0;
  for (unsigned node = 0, end = flat.size(); node != end; ++node) {
    int64_t costNs = problem.graph[node].cost;
    if (!movable[node] || costNs == 0)
      continue;
    double stretch = 0;
    for (size_t i = 0; i != numBeside; ++i) {
      unsigned start = starts[i * starts.size() / numBeside];
      running[0] = {costNs, &problem.demands[node], -1, 1};
      running[1] = {problem.graph[start].cost, &problem.demands[start],
                    int32_t(problem.graph[start].lane), 1};
      shareMachine(running, problem.machine, linkDemand);
      stretch += 1 / running[0].rate;
    }
    suffering[node] = int64_t(1000 * stretch / numBeside + 0.5);
    least = least == 0 ? suffering[node] : std::min(least, suffering[node]);
    most = std::max(most, suffering[node]);
  }
  useful = least < most;
}

ScheduleOrder ComputeExchange::exchange(llvm::ArrayRef<unsigned> order) {
  steps += uint64_t(stepsPerNode) * order.size();
  machine.play(order);
  std::vector<TimeInterval> busy;
  for (unsigned node : order)
    if (flat.isStart(node))
      busy.emplace_back(times[node].startNs, times[node].endNs);
  busy = mergeIntervals(std::move(busy));

  unsigned size = flat.size();
  missing.resize(size);
  place.resize(size);
  for (auto [where, node] : llvm::enumerate(order)) {
    place[node] = where;
    missing[node] = flat.predecessors[node].size();
  }
  // What is ready: how much it suffers, and its place in `order`.
  std::set<std::pair<int64_t, unsigned>> ready;
  auto add = [&](unsigned node) {
    if (missing[node] == 0 && movable[node])
      ready.emplace(suffering[node], place[node]);
  };
  ScheduleOrder result;
  result.reserve(size);
  auto put = [&](unsigned node) {
    result.push_back(node);
    for (unsigned successor : flat.successors[node]) {
      --missing[successor];
      add(successor);
    }
  };
  auto takeMost = [&] { return ready.lower_bound({ready.rbegin()->first, 0}); };
  for (unsigned node : order)
    add(node);

  // How much more compute there was up to here than there is now.
  int64_t owedNs = 0;
  auto nextBusy = busy.begin();
  for (unsigned node : order) {
    if (!movable[node]) {
      put(node);
      continue;
    }
    owedNs += flat.cost[node];
    while (nextBusy != busy.end() && nextBusy->second <= times[node].startNs)
      ++nextBusy;
    bool isBeside =
        nextBusy != busy.end() && nextBusy->first < times[node].endNs;
    while (!ready.empty()) {
      auto chosen = isBeside ? ready.begin() : takeMost();
      unsigned next = order[chosen->second];
      // At least half of it has to be owed.
      if (flat.cost[next] > 2 * std::max<int64_t>(owedNs, 0))
        break;
      owedNs -= flat.cost[next];
      ready.erase(chosen);
      put(next);
    }
  }
  while (!ready.empty()) {
    auto chosen = takeMost();
    unsigned next = order[chosen->second];
    ready.erase(chosen);
    put(next);
  }
  return result;
}
