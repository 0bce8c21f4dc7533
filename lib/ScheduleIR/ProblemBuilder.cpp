//===- ProblemBuilder.cpp - Build the scheduling problem of a block -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/ProblemBuilder.h"

#include "Analysis/AwaitedTokens.h"
#include "Analysis/BodyMemory.h"
#include "Cost/IR/MachineBuilder.h"

using namespace mlir;
using namespace braid;

namespace {
/// Adds costs, machine, awaits and memory to a problem with a graph.
class ProblemBuilder {
public:
  ProblemBuilder(BlockProblem &result, CostModel &model)
      : result(result), block(*result.block.block), model(model),
        memory(block, model.getOptions().sizes) {
    for (auto [index, op] : llvm::enumerate(result.block.ops))
      nodes[op] = index;
  }

  void build();

private:
  void addNode(Operation *op, unsigned node);
  void addBody(Operation *op, unsigned node);
  void setMachine();

  BlockProblem &result;
  Block &block;
  CostModel &model;
  BodyMemory memory;
  DenseMap<Operation *, unsigned> nodes;
};
} // namespace

/// Adds the properties of a node with a body.
void ProblemBuilder::addBody(Operation *op, unsigned node) {
  if (op->getNumRegions() == 0 && !isa<CallOpInterface>(op))
    return;
  if (!model.getCost(op).isOfBody())
    return;
  std::optional<TimelineTotals> totals = model.getBodyTotals(op);
  if (!totals)
    return;
  result.problem.leastNs.emplace_back(node, totals->lowerBoundNs);
  if (totals->peakBytes > 0)
    result.problem.transientBytes.emplace_back(node, totals->peakBytes);
}

void ProblemBuilder::addNode(Operation *op, unsigned node) {
  if (result.problem.graph[node].kind == NodeKind::Start)
    return;
  TokenOrigins awaited = getAwaitedTokens(op, *block.getParent());
  SmallVector<unsigned> starts;
  for (Operation *start : awaited.starts)
    if (auto it = nodes.find(start); it != nodes.end())
      starts.push_back(it->second);
  llvm::sort(starts);
  for (unsigned start : starts)
    result.problem.awaits.emplace_back(node, start);

  for (BlockArgument argument : awaited.arguments)
    for (Operation *start : getCarriedStarts(argument))
      if (auto it = nodes.find(start); it != nodes.end())
        result.problem.carriedAwaits.push_back({node, it->second});
  addBody(op, node);
}

void ProblemBuilder::setMachine() {
  SchedulingProblem &problem = result.problem;
  SmallVector<Operation *> firstStarts;
  // Lanes are numbered in the order of their first starts.
  for (unsigned start : problem.graph.starts())
    if (static_cast<size_t>(problem.graph[start].lane) == firstStarts.size())
      firstStarts.push_back(result.block.ops[start]);
  problem.machine = buildMachine(model, firstStarts);
  if (problem.machine.hasContention())
    for (Operation *op : result.block.ops)
      problem.demands.push_back(model.getDemand(op));
}

void ProblemBuilder::build() {
  for (Operation &op : block) {
    auto it = nodes.find(&op);
    if (it == nodes.end()) {
      memory.add(&op, std::nullopt);
      continue;
    }
    memory.add(&op, it->second);
    addNode(&op, it->second);
  }
  setMachine();
  result.problem.liveBytes = memory.getArgumentBytes();
  for (const BodyMemory::Piece &piece : memory.getPieces())
    if (!piece.users.empty() && piece.bytes > 0)
      result.problem.buffers.push_back(
          {piece.bytes, piece.escapes, piece.users});
}

FailureOr<BlockProblem>
braid::buildSchedulingProblem(Block &block, CostModel &model,
                              CallEffects &calls, RankUniformity &uniformity) {
  auto cost = [&](Operation *op) { return model.getCost(op).ns; };
  FailureOr<BlockGraph> graph = buildBlockGraph(block, cost, calls, uniformity);
  if (failed(graph))
    return failure();
  BlockProblem result;
  result.block = std::move(*graph);
  result.problem.graph = std::move(result.block.graph);
  result.problem.keepOrderOfStarts = !uniformity.areReachedTogether(block);
  ProblemBuilder(result, model).build();
  return result;
}

bool braid::applyOrder(const BlockProblem &problem, ArrayRef<unsigned> order) {
  assert(isAllowedOrder(problem.problem, order) && "the order is allowed");
  return applyOrder(problem.block, order);
}
