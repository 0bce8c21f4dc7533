//===- ProblemBuilder.h - From a block to a scheduling problem --*- C++ -*-===//
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

/// A scheduling problem and the ops that it is about.
struct BlockProblem {
  /// Its graph is empty: it is `problem.graph`.
  BlockGraph block;
  SchedulingProblem problem;
};

/// Describes how `block` may be ordered, and what an order costs at the figures
/// of `model` on its machine: the graph of `buildBlockGraph`, what each node
/// awaits, the operations that a loop carries from one iteration into the next,
/// and the memory that the block allocates, by the rules of `simulateRegion`;
/// memory of prologue comes to life with the first node that uses it.
///
/// Limits, and whether the order of the starts has to be kept, are left to the
/// caller (see `RankUniformity`).
///
/// Emits an error and returns failure as `buildBlockGraph` does.
llvm::FailureOr<BlockProblem> buildSchedulingProblem(mlir::Block &block,
                                                     CostModel &model,
                                                     CallEffects &calls);

/// Puts the ops of the problem's block in `order`, an allowed order of it; see
/// `applyOrder` of a `BlockGraph`.
bool applyOrder(const BlockProblem &problem, llvm::ArrayRef<unsigned> order);

} // namespace braid

#endif // BRAID_SCHEDULEIR_PROBLEMBUILDER_H
