//===- GraphBuilder.h - The graph of a block --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULEIR_GRAPHBUILDER_H
#define BRAID_SCHEDULEIR_GRAPHBUILDER_H

#include "braid/Analysis/Memory/OpEffects.h"
#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/Analysis/Verification/OrderValidation.h"
#include "braid/Schedule/Model/ScheduleGraph.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace braid {

class BlockEffects;

/// The duration of an op in ns; for a start, that of its operation. A
/// transparent op with a duration becomes a node.
using CostFunction = llvm::function_ref<int64_t(mlir::Operation *)>;

/// A graph and the ops of its nodes.
struct BlockGraph {
  mlir::Block *block = nullptr;
  ScheduleGraph graph;
  /// The op of each node.
  std::vector<mlir::Operation *> ops;
  /// The ops that are not nodes, in program order: transparent ops (see
  /// `isTransparentOp`), and dead ops that use the result of a wait.
  std::vector<mlir::Operation *> transparent;
  /// The number of ops of `transparent` that are before all nodes and stay
  /// there.
  size_t numLeading = 0;

  /// The position of an op in the block, and the transparent ops that the op
  /// uses directly: a slice of `uses`.
  struct Place {
    unsigned position;
    unsigned usesBegin, usesEnd;
  };
  /// The places of `ops` and of `transparent`.
  std::vector<Place> opPlaces, transparentPlaces;
  /// Indices into `transparent`.
  std::vector<unsigned> uses;
  /// The effects of nodes, by position, for the validation of a new order.
  std::shared_ptr<BlockEffects> effects;
};

/// Builds the graph of `block` without its terminator, which stays last, in one
/// linear sweep.
///
/// A node is an op that takes time, together with transparent ops: zero-cost
/// ops (see `isTransparentOp`) such as constants, casts and slices. These ops
/// are transparent: a node that uses a transparent op depends on the operands
/// of the transparent op. A new order places a transparent op just before the
/// first node that needs it.
///
/// The edges are
///  - uses of values, also by nested ops;
///  - accesses to the same memory, as far as `BufferResolver` distinguishes
///    buffers. A wait names the buffers of its operation, so the wait orders
///    accesses after the operation;
///  - edges between an op with unknown effects and all other ops;
///  - edges between an op that communicates inside and every start;
///  - `comm.order` between the starts that have it, and the program order
///    between point-to-point starts of one lane;
///  - edges that keep exchanges together: the runtime issues sends and receives
///    with no wait of their lane between them as one group, so no such wait may
///    move between them;
///  - edges from starts to the waits that must not pass them (see
///    `WaitOrderTracker`).
/// Effects on communicators are not edges: the algorithm decides about the
/// order of collectives. Where ranks may take different paths it must keep the
/// order of the program.
///
/// `expectedOps` is the approximate number of ops of the block, or 0. It avoids
/// the growing of tables for long blocks.
///
/// Emits an error and returns failure if `comm.order` contradicts the block.
llvm::FailureOr<BlockGraph>
buildBlockGraph(mlir::Block &block, CostFunction cost, CallEffects &calls,
                RankUniformity &uniformity, size_t expectedOps = 0);

/// Moves the ops of the graph's block into `order`, a legal order of the graph.
/// Moves as few ops as possible. The block must not have changed since the
/// graph was built. Returns false, and changes nothing, if `order` is the
/// program order. Writes what it has done to `claim`, if any.
bool applyOrder(const BlockGraph &graph, llvm::ArrayRef<unsigned> order,
                OrderClaim *claim = nullptr);

/// A block with a start or a wait.
struct SchedulableBlock {
  mlir::Block *block;
  size_t numOps;

  operator mlir::Block *() const { return block; }
};

/// The blocks of `function`, including nested ones, with a start or a wait.
/// Bodies of kernels, of linalg ops and of `comm.compute`, and graph regions
/// are left out.
llvm::SmallVector<SchedulableBlock>
findSchedulableBlocks(mlir::Operation *function);

} // namespace braid

#endif // BRAID_SCHEDULEIR_GRAPHBUILDER_H
