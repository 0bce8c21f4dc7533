//===- GraphBuilder.h - From a block to a graph and back -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULEIR_GRAPHBUILDER_H
#define BRAID_SCHEDULEIR_GRAPHBUILDER_H

#include "braid/Analysis/OpEffects.h"
#include "braid/Schedule/Model/ScheduleGraph.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace braid {

/// The duration of an op in ns. Of a start: of the operation it starts.
/// Prologue that takes time is a node.
using CostFunction = llvm::function_ref<int64_t(mlir::Operation *)>;

/// A graph and the ops that its nodes stand for.
struct BlockGraph {
  mlir::Block *block = nullptr;
  ScheduleGraph graph;
  /// The op of each node.
  std::vector<mlir::Operation *> ops;
  /// The ops that are no nodes, in program order: prologue (see
  /// `isPrologueOp`), and dead ops that use the result of a wait.
  std::vector<mlir::Operation *> prologue;
  /// So many of `prologue` stand before all nodes and stay there.
  size_t numLeading = 0;

  /// Where an op stood in the block, and which prologue ops it uses itself: a
  /// piece of `uses`.
  struct Place {
    unsigned position;
    unsigned usesBegin, usesEnd;
  };
  /// The places of `ops` and of `prologue`.
  std::vector<Place> opPlaces, prologuePlaces;
  /// Indices into `prologue`.
  std::vector<unsigned> uses;
};

/// Builds the graph of `block` without its terminator, which stays last. One
/// linear sweep.
///
/// A node is an op that takes time, together with its prologue: ops that take
/// none (see `isPrologueOp`), such as constants, casts and slices. They are
/// transparent: a node that uses one depends on what that one uses. In a new
/// order a prologue op stands right before the first node that needs it.
///
/// Edges are
///  - uses of values, also by nested ops;
///  - accesses to the same memory, told apart as far as `BufferResolver` can.
///  An
///    operation in flight on buffers is protected by its wait, which names
///    them;
///  - for ops with unknown effects, everything;
///  - for ops that communicate inside, every start;
///  - `comm.order` between the starts that have it, and the program order
///    between point-to-point starts of one lane;
///  - what keeps exchanges in one piece: sends and receives with no wait of
///    their lane between them are issued as one group, so no such wait may get
///    in between.
/// Effects on communicators are no edges: which order of the collectives is
/// kept is up to the algorithm.
///
/// `expectedOps` is about how many ops the block has, if that is known: tables
/// of a long block need not grow then.
///
/// Emits an error and returns failure if `comm.order` contradicts the block.
llvm::FailureOr<BlockGraph> buildBlockGraph(mlir::Block &block,
                                            CostFunction cost,
                                            CallEffects &calls,
                                            size_t expectedOps = 0);

/// Puts the ops of the graph's block, which stand as they did when the graph
/// was built, in `order`, a legal order of the graph. Moves as few ops as that
/// takes. Returns false, and changes nothing, if it is the program order.
bool applyOrder(const BlockGraph &graph, llvm::ArrayRef<unsigned> order);

/// A block with a start or a wait.
struct SchedulableBlock {
  mlir::Block *block;
  size_t numOps;

  operator mlir::Block *() const { return block; }
};

/// The blocks of `function`, and those nested in it, that hold a start or a
/// wait. Bodies of kernels, of linalg ops and of `comm.compute` and graph
/// regions are left out.
llvm::SmallVector<SchedulableBlock>
findSchedulableBlocks(mlir::Operation *function);

} // namespace braid

#endif // BRAID_SCHEDULEIR_GRAPHBUILDER_H
