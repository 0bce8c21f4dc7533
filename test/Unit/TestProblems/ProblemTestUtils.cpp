//===- ProblemTestUtils.cpp - Problems for tests of lib/Schedule ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemTestUtils.h"

#include "llvm/ADT/STLExtras.h"

#include <random>

using namespace braid;
using namespace braid::test;

SchedulingProblem test::makeRandomProblem(uint64_t seed,
                                          const RandomProblemOptions &options) {
  std::mt19937_64 engine(seed);
  auto below = [&](int64_t bound) {
    return bound > 0 ? int64_t(engine() % uint64_t(bound)) : 0;
  };
  SchedulingProblem problem;
  std::vector<unsigned> starts;
  std::vector<std::pair<unsigned, unsigned>> edges;
  for (unsigned i = 0; i != options.numNodes; ++i) {
    ScheduleNode node;
    ResourceDemand demand;
    unsigned role = below(5);
    demand.memoryBytes = below(options.maxCost * 12);
    if (role <= 1) {
      node.kind = NodeKind::Start;
      node.lane = below(options.numLanes);
      node.cost = below(options.maxCost);
      demand.multiprocessors = below(8);
      demand.linkBytes = below(options.maxCost * 4);
      starts.push_back(i);
    } else if (role == 2 && !starts.empty()) {
      node.kind = NodeKind::Wait;
      unsigned start = starts[below(starts.size())];
      // Now and then of the iteration before.
      if (options.carried && below(2) == 0) {
        problem.carriedAwaits.push_back({i, start});
      } else {
        problem.awaits.emplace_back(i, start);
        edges.emplace_back(start, i);
      }
      demand = ResourceDemand();
    } else {
      node.cost = below(options.maxCost);
      demand.arithmeticNs = below(node.cost + 1);
      demand.tiles = below(40);
      if (!starts.empty() && below(6) == 0) {
        unsigned start = starts[below(starts.size())];
        problem.awaits.emplace_back(i, start);
        edges.emplace_back(start, i);
      }
      if (options.bodies && below(4) == 0)
        problem.leastNs.emplace_back(i, below(node.cost + 1));
    }
    problem.graph.addNode(node);
    if (options.contention)
      problem.demands.push_back(demand);
    for (unsigned j = 0; j != i; ++j)
      if (below(options.edgeEvery) == 0)
        edges.emplace_back(j, i);
  }
  // Starts carried from behind their waiters as well.
  if (options.carried)
    for (unsigned node = 0; node != options.numNodes; ++node)
      if (problem.graph[node].kind == NodeKind::Wait && below(2) == 0 &&
          !starts.empty())
        problem.carriedAwaits.push_back({node, starts[below(starts.size())]});
  for (auto [from, to] : edges)
    problem.graph.addEdge(from, to);
  problem.graph.finalize();
  if (options.launches)
    problem.machine.launchNs = below(6);
  if (options.contention) {
    problem.machine.multiprocessors = 16;
    problem.machine.memoryBandwidth = 3 + below(16);
    problem.machine.linkOfLane = {0, 0, -1};
    problem.machine.linkBandwidth = {double(1 + below(5))};
    if (below(2))
      problem.machine.linkOfLane.clear();
  }
  if (options.queued) {
    MachineModel &machine = problem.machine;
    machine.multiprocessorModel = MultiprocessorModel::Queued;
    if (below(2))
      machine.memoryBandwidth = 0;
    machine.processorGroups = below(4);
    machine.laneLaunchNs = below(2) ? below(12) : 0;
    if (below(2))
      machine.takenFromPairs = {{2, 4}, {5, 7}};
    for (auto &kind : machine.interference)
      for (Interference &both : kind)
        both = {1 + double(below(3)) / 4, 1 + double(below(5)) / 4};
    for (ResourceDemand &demand : problem.demands) {
      demand.isPersistent = below(4) != 0;
      demand.blocks = below(20);
      demand.clusterSize = below(4);
    }
  }
  return problem;
}

SchedulingProblem test::makeContended(SchedulingProblem problem,
                                      uint64_t seed) {
  problem.machine.multiprocessors = 132;
  problem.machine.memoryBandwidth = seed % 2 ? 100 : 0;
  problem.machine.launchNs = seed % 3;
  std::mt19937_64 engine(seed);
  for (unsigned node = 0; node != problem.graph.size(); ++node) {
    ResourceDemand &demand = problem.demands.emplace_back();
    const ScheduleNode &info = problem.graph[node];
    if (info.kind == NodeKind::Start) {
      demand.multiprocessors = engine() % 40;
    } else if (info.kind == NodeKind::Compute) {
      demand.arithmeticNs = info.cost;
      demand.tiles = engine() % 3 * 66;
    }
    demand.memoryBytes = int64_t(engine() % 100) * info.cost;
  }
  return problem;
}

void test::forEachOrder(
    const SchedulingProblem &problem,
    llvm::function_ref<void(llvm::ArrayRef<unsigned>)> visit) {
  const ScheduleGraph &graph = problem.graph;
  ScheduleOrder order;
  std::vector<bool> placed(graph.size(), false);
  auto extend = [&](auto &&self) -> void {
    if (order.size() == graph.size()) {
      if (isAllowedOrder(problem, order))
        visit(order);
      return;
    }
    for (unsigned node = 0; node != graph.size(); ++node) {
      if (placed[node] ||
          llvm::any_of(graph.predecessors(node),
                       [&](unsigned other) { return !placed[other]; }))
        continue;
      placed[node] = true;
      order.push_back(node);
      self(self);
      order.pop_back();
      placed[node] = false;
    }
  };
  extend(extend);
}
