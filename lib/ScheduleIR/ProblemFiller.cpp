//===- ProblemFiller.cpp - Problems of graphs of ops ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemFiller.h"

#include "Analysis/Tokens/AwaitedTokens.h"
#include "Cost/IR/MessageBatch.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace braid;
using namespace mlir;

std::optional<unsigned> ProblemFiller::findNode(Operation *op) const {
  auto it = nodes.find(op);
  return it == nodes.end() ? std::nullopt : std::optional(it->second);
}

Cost ProblemFiller::getCost(Operation *op) {
  auto [known, isNew] = costs.try_emplace(op);
  if (!isNew)
    return known->second;
  Cost cost = model.getCost(op);
  costs[op] = cost;
  return cost;
}

void ProblemFiller::addNode(Operation *op, bool allocates) {
  unsigned node = ops.size();
  ops.push_back(op);
  nodes[op] = node;
  memory.add(op, allocates ? std::optional(node) : std::nullopt);
}

SmallVector<Operation *, 1> ProblemFiller::addAwaits() {
  unsigned node = ops.size() - 1;
  TokenOrigins awaited = getAwaitedTokens(ops[node], region);
  SmallVector<unsigned> starts;
  auto addStart = [&](Operation *start) {
    if (std::optional<unsigned> number = findNode(start))
      starts.push_back(*number);
  };
  for (Operation *start : awaited.starts) {
    addStart(start);
    // A message ends with its launch.
    auto collective = dyn_cast<comm::CollectiveOpInterface>(start);
    if (collective && collective.isPointToPoint())
      addStart(getLastOfBatch(collective));
  }
  llvm::sort(starts);
  starts.erase(llvm::unique(starts), starts.end());
  for (unsigned start : starts)
    problem.awaits.emplace_back(node, start);
  for (BlockArgument argument : awaited.arguments)
    for (Operation *start : getCarriedStarts(argument))
      carried.emplace_back(node, start);
  return awaited.starts;
}

std::optional<TimelineTotals> ProblemFiller::addBody() {
  unsigned node = ops.size() - 1;
  Operation *op = ops[node];
  if (op->getNumRegions() == 0 && !isa<CallOpInterface>(op))
    return std::nullopt;
  if (!getCost(op).isOfBody())
    return std::nullopt;
  std::optional<TimelineTotals> body = model.getBodyTotals(op);
  if (!body)
    return std::nullopt;
  problem.leastNs.emplace_back(node, body->lowerBoundNs);
  if (body->peakBytes > 0)
    problem.transientBytes.emplace_back(node, body->peakBytes);
  return body;
}

void ProblemFiller::finish() {
  for (auto [waiter, start] : carried)
    if (std::optional<unsigned> node = findNode(start))
      problem.carriedAwaits.push_back({waiter, *node});

  problem.liveBytes = memory.getArgumentBytes();
  for (const BodyMemory::Piece &piece : memory.getPieces())
    if (!piece.users.empty() && piece.bytes > 0)
      problem.buffers.push_back({piece.bytes, piece.escapes, piece.users});

  const ScheduleGraph &graph = problem.graph;
  SmallVector<Operation *> firstStarts;
  // Lanes are numbered in the order of their first starts.
  for (unsigned start : graph.starts())
    if (size_t(graph[start].lane) == firstStarts.size())
      firstStarts.push_back(ops[start]);
  problem.machine = model.getMachine(firstStarts);
  if (!problem.machine.hasContention())
    return;
  for (auto [node, op] : llvm::enumerate(ops))
    problem.demands.push_back(getDemand(graph[node], op, model, getCost(op)));
}

ResourceDemand ProblemFiller::getDemand(const ScheduleNode &node, Operation *op,
                                        CostModel &model,
                                        std::optional<Cost> known) {
  return node.kind == NodeKind::Start || node.cost != 0
             ? model.getDemand(op, known)
             : ResourceDemand();
}
