//===- ProblemFiller.h - Problems of graphs of ops --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULEIR_PROBLEMFILLER_H
#define BRAID_LIB_SCHEDULEIR_PROBLEMFILLER_H

#include "Analysis/Memory/BodyMemory.h"
#include "braid/Schedule/Model/SchedulingProblem.h"
#include "braid/ScheduleIR/CostModel.h"

namespace braid {

/// Adds to the graph of a problem what the simulator needs beside it: the
/// operations that nodes await, the bounds and the memory of bodies, the
/// machine and what nodes take of it, and the buffers. Timelines and problems
/// of the search differ in their graphs alone.
///
/// The caller names all ops of the region, or of the block, in program order.
class ProblemFiller {
public:
  /// `memory` is of the block or of the whole region.
  ProblemFiller(SchedulingProblem &problem, CostModel &model,
                mlir::Region &region, BodyMemory memory)
      : problem(problem), model(model), region(region),
        memory(std::move(memory)) {}

  /// The cost of `op`, found once: the program stays as it is.
  Cost getCost(mlir::Operation *op);

  /// `op` is the next node of the graph. `allocates` is false for ops whose
  /// memory becomes live with its first user.
  void addNode(mlir::Operation *op, bool allocates = true);
  /// `op` is no node.
  void addOther(mlir::Operation *op) { memory.add(op, std::nullopt); }
  /// The last node awaits these starts of the region.
  llvm::SmallVector<mlir::Operation *, 1> addAwaits();
  /// The last node takes what its body takes: returns that, if it has one.
  std::optional<TimelineTotals> addBody();
  /// Adds what depends on all nodes. The graph is finalized.
  void finish();

  /// What the op of `node` takes of the machine. An op without a cost takes
  /// nothing, even if its work is known. `known` is the cost of the op, if the
  /// caller has it.
  static ResourceDemand getDemand(const ScheduleNode &node, mlir::Operation *op,
                                  CostModel &model,
                                  std::optional<Cost> known = std::nullopt);

  /// The node of `op`; none if it is no node of those added so far.
  std::optional<unsigned> findNode(mlir::Operation *op) const;

private:
  SchedulingProblem &problem;
  CostModel &model;
  mlir::Region &region;
  BodyMemory memory;
  llvm::DenseMap<mlir::Operation *, Cost> costs;
  /// By node.
  std::vector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, unsigned> nodes;
  /// Nodes that await operations of the previous iteration. The starts may come
  /// later in the body.
  llvm::SmallVector<std::pair<unsigned, mlir::Operation *>> carried;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULEIR_PROBLEMFILLER_H
