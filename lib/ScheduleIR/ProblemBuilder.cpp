//===- ProblemBuilder.cpp - Build the scheduling problem of a block -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/ProblemBuilder.h"

#include "ProblemFiller.h"
#include "braid/ScheduleIR/ScheduleChanges.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace braid;

FailureOr<BlockProblem>
braid::buildSchedulingProblem(Block &block, CostModel &model,
                              CallEffects &calls, RankUniformity &uniformity) {
  BlockProblem result;
  ProblemFiller filler(result.problem, model, *block.getParent(),
                       BodyMemory(block, model.getOptions().sizes));
  auto cost = [&](Operation *op) { return filler.getCost(op).ns; };
  FailureOr<BlockGraph> graph = buildBlockGraph(block, cost, calls, uniformity);
  if (failed(graph))
    return failure();
  result.block = std::move(*graph);
  result.problem.graph = std::move(result.block.graph);
  result.problem.keepOrderOfStarts = !uniformity.areReachedTogether(block);

  ArrayRef<Operation *> ops = result.block.ops;
  for (Operation &op : block) {
    if (ops.empty() || ops.front() != &op) {
      filler.addOther(&op);
      continue;
    }
    ops = ops.drop_front();
    filler.addNode(&op);
    if (comm::getAsyncStart(&op))
      continue;
    filler.addAwaits();
    filler.addBody();
  }
  filler.finish();
  return result;
}

std::optional<SchedulingProblem>
braid::repriceOrder(const BlockProblem &problem, ArrayRef<unsigned> order,
                    CostModel &model) {
  ArrayRef<Operation *> ops = problem.block.ops;
  ScheduleChanges trial;
  trial.applyOrder(problem.block, order);
  llvm::scope_exit restore([&]() { trial.undo(); });
  std::optional<SchedulingProblem> repriced;
  for (auto [node, op] : llvm::enumerate(ops)) {
    int64_t cost = model.getCost(op).ns;
    if (cost == problem.problem.graph[node].cost)
      continue;
    if (!repriced)
      repriced = problem.problem;
    repriced->graph.setCost(node, cost);
  }
  if (repriced && !repriced->demands.empty())
    for (auto [node, op] : llvm::enumerate(ops))
      repriced->demands[node] =
          ProblemFiller::getDemand(repriced->graph[node], op, model);
  return repriced;
}

bool braid::applyOrder(const BlockProblem &problem, ArrayRef<unsigned> order) {
  assert(isAllowedOrder(problem.problem, order) && "the order is allowed");
  return applyOrder(problem.block, order);
}
