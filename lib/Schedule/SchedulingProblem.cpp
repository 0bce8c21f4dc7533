//===- SchedulingProblem.cpp - What a schedule is judged by ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/SchedulingProblem.h"

#include "braid/Schedule/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <cassert>

using namespace braid;
using namespace llvm;

SmallVector<unsigned, 2>
SchedulingProblem::getAwaitedStarts(unsigned node) const {
  SmallVector<unsigned, 2> starts;
  for (auto it = llvm::lower_bound(awaits, std::pair(node, 0u));
       it != awaits.end() && it->first == node; ++it)
    starts.push_back(it->second);
  return starts;
}

std::vector<SimulatedOp>
braid::getSimulatedOps(const SchedulingProblem &problem,
                       ArrayRef<unsigned> order) {
  const ScheduleGraph &graph = problem.graph;
  assert(order.size() == graph.size() && "an order has all nodes");
  std::vector<unsigned> position(graph.size());
  for (auto [index, node] : llvm::enumerate(order))
    position[node] = index;

  std::vector<SimulatedOp> ops(graph.size());
  for (auto [index, node] : llvm::enumerate(order)) {
    const ScheduleNode &info = graph[node];
    SimulatedOp &op = ops[index];
    op.costNs = info.cost;
    if (info.kind == NodeKind::Start) {
      op.role = StreamRole::Start;
      op.lane = info.lane;
    } else if (info.kind == NodeKind::Wait) {
      op.role = StreamRole::Wait;
    }
    for (unsigned predecessor : graph.predecessors(node))
      op.predecessors.push_back(position[predecessor]);
    if (!problem.demands.empty())
      op.demand = problem.demands[node];
  }
  for (auto [node, start] : problem.awaits)
    ops[position[node]].awaits.push_back(position[start]);
  for (auto [node, ns] : problem.leastNs)
    ops[position[node]].leastNs = ns;
  for (auto [node, bytes] : problem.transientBytes)
    ops[position[node]].transientBytes = bytes;
  for (const GraphBuffer &buffer : problem.buffers) {
    auto positions = llvm::map_range(
        buffer.users, [&](unsigned user) { return position[user]; });
    auto [first, last] =
        std::minmax_element(positions.begin(), positions.end());
    SimulatedOp &allocator = ops[*first];
    allocator.allocatedBytes = addNs(allocator.allocatedBytes, buffer.bytes);
    if (buffer.escapes)
      continue;
    SimulatedOp &releaser = ops[*last];
    releaser.freedBytes = addNs(releaser.freedBytes, buffer.bytes);
  }
  return ops;
}

Simulation braid::simulateOrder(const SchedulingProblem &problem,
                                ArrayRef<unsigned> order) {
  return simulate(getSimulatedOps(problem, order), problem.machine,
                  problem.liveBytes);
}

std::vector<unsigned> braid::getLiveBuffers(const SchedulingProblem &problem,
                                            ArrayRef<unsigned> order,
                                            unsigned position) {
  std::vector<unsigned> positions(order.size());
  for (auto [index, node] : llvm::enumerate(order))
    positions[node] = index;
  std::vector<unsigned> live;
  for (auto [index, buffer] : llvm::enumerate(problem.buffers)) {
    unsigned first = order.size(), last = 0;
    for (unsigned user : buffer.users) {
      first = std::min(first, positions[user]);
      last = std::max(last, positions[user]);
    }
    if (first <= position && (buffer.escapes || position <= last))
      live.push_back(index);
  }
  llvm::sort(live, [&](unsigned a, unsigned b) {
    return std::pair(-problem.buffers[a].bytes, a) <
           std::pair(-problem.buffers[b].bytes, b);
  });
  return live;
}

bool braid::isAllowedOrder(const SchedulingProblem &problem,
                           ArrayRef<unsigned> order, std::string *reason) {
  const ScheduleGraph &graph = problem.graph;
  if (!isLegalOrder(graph, order, reason))
    return false;
  auto fail = [&](const Twine &text) {
    if (reason)
      *reason = text.str();
    return false;
  };
  if (problem.keepOrderOfStarts && !keepsOrderOfStarts(graph, order))
    return fail("the starts do not keep the order of the program");
  if (problem.maxInFlight == 0)
    return true;

  // An operation is in flight until the first node that awaits it.
  std::vector<bool> awaited(graph.size(), false);
  SmallVector<unsigned> inFlight;
  for (unsigned node : order) {
    for (unsigned start : problem.getAwaitedStarts(node)) {
      if (!awaited[start])
        --inFlight[graph[start].lane];
      awaited[start] = true;
    }
    if (graph[node].kind != NodeKind::Start)
      continue;
    unsigned lane = graph[node].lane;
    if (lane >= inFlight.size())
      inFlight.resize(lane + 1, 0);
    if (++inFlight[lane] > problem.maxInFlight)
      return fail("node " + Twine(node) + " is operation " +
                  Twine(inFlight[lane]) + " in flight on lane " + Twine(lane) +
                  ", which may have " + Twine(problem.maxInFlight));
  }
  return true;
}
