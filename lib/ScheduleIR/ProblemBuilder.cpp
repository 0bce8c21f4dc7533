//===- ProblemBuilder.cpp - Build the scheduling problem of a block -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/ProblemBuilder.h"

#include "ProblemFiller.h"

using namespace mlir;
using namespace braid;

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

  ProblemFiller filler(result.problem, model, *block.getParent(),
                       BodyMemory(block, model.getOptions().sizes));
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

bool braid::applyOrder(const BlockProblem &problem, ArrayRef<unsigned> order) {
  assert(isAllowedOrder(problem.problem, order) && "the order is allowed");
  return applyOrder(problem.block, order);
}
