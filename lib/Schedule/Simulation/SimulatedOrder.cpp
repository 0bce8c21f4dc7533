//===- SimulatedOrder.cpp - Simulates an order of a problem ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace braid;
using namespace llvm;

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

std::vector<SimulatedOp> braid::getOpsByNode(const SchedulingProblem &problem) {
  // In program order the ops are numbered like the nodes.
  return getSimulatedOps(problem, getProgramOrder(problem.graph));
}
