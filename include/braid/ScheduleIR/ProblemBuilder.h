//===- ProblemBuilder.h - The scheduling problem of a block -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULEIR_PROBLEMBUILDER_H
#define BRAID_SCHEDULEIR_PROBLEMBUILDER_H

#include "braid/Schedule/Model/SchedulingProblem.h"
#include "braid/ScheduleIR/CostModel.h"
#include "braid/ScheduleIR/GraphBuilder.h"

namespace braid {

/// The scheduling problem of a block, and the ops of its nodes.
struct BlockProblem {
  /// Everything but the graph, which is `problem.graph`.
  BlockGraph block;
  SchedulingProblem problem;
};

/// Builds the scheduling problem of `block` at the costs of `model`: the graph
/// of `buildBlockGraph`, whether starts keep their order because ranks may take
/// different paths, the machine, the operations that each node awaits, the
/// operations that a loop carries from one iteration into the next, and the
/// memory that the block allocates, by the rules of `simulateRegion`. Memory of
/// a transparent op becomes live with the first node that uses the op.
///
/// The caller sets the limits.
///
/// Emits an error and returns failure as `buildBlockGraph` does.
llvm::FailureOr<BlockProblem>
buildSchedulingProblem(mlir::Block &block, CostModel &model, CallEffects &calls,
                       RankUniformity &uniformity);

/// `problem.problem` at the costs that its ops have in `order`: one kernel may
/// compute neighbours, and messages share a launch. None if all costs stay the
/// same. Moves the ops of the block, and moves them back. `model` is the one
/// that gave the costs, and the nested blocks are as they were then.
std::optional<SchedulingProblem> repriceOrder(const BlockProblem &problem,
                                              llvm::ArrayRef<unsigned> order,
                                              CostModel &model);

/// Moves the ops of the problem's block into `order`; see `applyOrder` of a
/// `BlockGraph`.
bool applyOrder(const BlockProblem &problem, llvm::ArrayRef<unsigned> order);

} // namespace braid

#endif // BRAID_SCHEDULEIR_PROBLEMBUILDER_H
