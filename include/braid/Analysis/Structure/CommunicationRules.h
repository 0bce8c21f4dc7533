//===- CommunicationRules.h - What passes may do ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_STRUCTURE_COMMUNICATIONRULES_H
#define BRAID_ANALYSIS_STRUCTURE_COMMUNICATIONRULES_H

#include "braid/Dialect/Comm/IR/Comm.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <optional>

namespace braid {

/// Where a start takes an operand from, as far as passes keep that. Casts and
/// copies are passed over.
struct OperandOrigin {
  enum class Kind {
    unknown,
    /// An argument of the function, by its number.
    argument,
    /// What a wait gives, by the number of its token.
    awaited,
    /// An op: a hash of it, of its place in the program and of the origins of
    /// its operands.
    computed
  };
  Kind kind = Kind::unknown;
  uint64_t number = 0;
  /// The location of the op.
  const void *place = nullptr;

  bool operator==(const OperandOrigin &other) const {
    return kind == other.kind && number == other.number;
  }
};

/// What one start says, in attributes and types alone: it can be read after the
/// op is gone.
struct StartSummary {
  mlir::OperationName name;
  mlir::Location location;
  /// None for a kernel on a side stream, in which no other rank takes part.
  std::optional<comm::CollectiveKind> kind;
  mlir::FlatSymbolRefAttr group;
  std::optional<comm::ReductionKind> reduction;
  /// The dimension along which operands are joined or split, if the program
  /// gives it.
  std::optional<int64_t> splitDim;
  /// Root, peer, pairs and splits; null for a number that the program computes.
  llvm::SmallVector<mlir::Attribute, 2> arguments;
  /// `comm.lane`, `comm.ctas` and `comm.transport`.
  std::array<mlir::Attribute, 3> lane;
  /// The types of what the operation reads, and of what it gives or writes.
  llvm::SmallVector<mlir::Type, 1> sources, values;
  /// Of the sources, and after them of the buffers that it writes.
  llvm::SmallVector<OperandOrigin, 1> origins;
  /// The origins are those of buffers, not of what is in them.
  bool isOnBuffers = false;

  bool isPointToPoint() const {
    return kind == comm::CollectiveKind::send ||
           kind == comm::CollectiveKind::recv;
  }
};

/// True if `after` is the same operation on the same data as `before`, be it on
/// tensors or on buffers.
bool isSameStart(const StartSummary &before, const StartSummary &after);

/// What a pass may do to the communication of a program. Without an entry of
/// its own a pass keeps all: the starts and what they transfer, their order,
/// the waits and their places among the starts, and where tokens go.
struct CommunicationRules {
  /// Whether the start `after` may stand for `before`, in its place. Both are
  /// of one group.
  bool (*mayReplace)(const StartSummary &before,
                     const StartSummary &after) = isSameStart;
  /// Whether a start may vanish together with its waits.
  bool (*mayErase)(const StartSummary &start) = nullptr;
  /// The starts that the pass says that it has erased, by the addresses that
  /// they had. None: those that have no counterpart.
  const llvm::DenseSet<mlir::Operation *> *erased = nullptr;
  /// A start and its wait may become several of each, which divide the data
  /// along a dimension: without gap or overlap, in place of the whole. The
  /// parts of a gather may stay parts, for the parts of what reads the whole.
  bool mayDivide = false;
  /// The parts of any divided operation may stay parts.
  bool mayKeepParts = false;
  /// An all-reduce and its wait may become a reduce-scatter and its wait, an
  /// all-gather of the result and its wait, where all ranks come together.
  bool maySplitAllReduces = false;
  /// A collective and its wait may become those of its steps in the rows and
  /// columns of its group (`getGroupSteps`), where all ranks come together.
  bool maySplitGroups = false;
  /// Starts that follow each other without another step between them may become
  /// one start of all their operands, in their order.
  bool mayCombine = false;
  /// Starts may be added, each with one wait in its block.
  bool mayAdd = false;
};

} // namespace braid

#endif // BRAID_ANALYSIS_STRUCTURE_COMMUNICATIONRULES_H
