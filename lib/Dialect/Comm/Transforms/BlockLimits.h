//===- BlockLimits.h - Memory that each block may use ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_BLOCKLIMITS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_BLOCKLIMITS_H

#include "braid/Schedule/Search/SearchSchedule.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace braid::comm {

/// A block that was scheduled, and what came out.
struct ScheduledBlock {
  mlir::Block *block;
  SearchResult result;
  /// Of the order that the program had.
  int64_t makespanBeforeNs;
  /// It is the body of a loop that carries operations from one iteration into
  /// the next.
  bool isSteady;
  /// The memory that the block had to keep, if it is less than the program's.
  std::optional<int64_t> limit;
};

/// Divides a limit of memory between blocks and what is nested in them. What
/// lives around a loop, a condition or a call while it runs is known only when
/// the block that it stands in is scheduled, which is after its body. So a body
/// may use the whole limit at first. Where the block around it then cannot keep
/// the limit, the body gets less, as much as was too much, and all that depends
/// on it is scheduled again.
class BlockLimits {
public:
  /// Only with `entersCallees` a limit may reach the callees of calls.
  BlockLimits(std::optional<int64_t> limit, bool entersCallees)
      : limit(limit), entersCallees(entersCallees) {}

  /// The bytes that may live in `block`; none for no limit.
  std::optional<int64_t> getLimit(mlir::Block *block) const;
  /// True if `block` may use less than the whole limit.
  bool isTightened(mlir::Block *block) const { return limits.contains(block); }

  /// What came out for `block`, if that still holds; null otherwise.
  const ScheduledBlock *lookup(mlir::Block *block) const;
  /// Keeps what came out for a block: callees before callers, and what is
  /// nested in others first.
  void add(ScheduledBlock scheduled);
  /// In the order in which they were added.
  llvm::ArrayRef<ScheduledBlock> getBlocks() const { return blocks; }

  /// Says that `block` cannot do with less than `bytes`.
  void setFloor(mlir::Block *block, int64_t bytes);

  /// True if blocks were scheduled in the bodies of `op`, of its callee
  /// included.
  bool hasBlocksIn(mlir::Operation *op);
  /// Takes `bytes` off what the bodies of `op` need, its callee included, if
  /// they may do with less; forgets what came out for the blocks that this
  /// concerns. Returns false, and changes nothing, if no body can.
  bool tighten(mlir::Operation *op, int64_t bytes);

private:
  /// The outermost scheduled blocks in the bodies of `op`, callees included.
  llvm::SmallVector<mlir::Block *> getOutermostBlocks(mlir::Operation *op);
  void forget(llvm::ArrayRef<mlir::Block *> changed);

  /// Rounds after which the rest is left to errors.
  static constexpr unsigned maxRounds = 64;

  std::optional<int64_t> limit;
  bool entersCallees;
  llvm::DenseMap<mlir::Block *, int64_t> limits;
  /// Blocks that cannot do with less.
  llvm::DenseSet<mlir::Block *> floors;
  std::vector<ScheduledBlock> blocks;
  /// Positions in `blocks`.
  llvm::DenseMap<mlir::Block *, size_t> positions;
  mlir::SymbolTableCollection symbolTables;
  unsigned numRounds = 0;
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_BLOCKLIMITS_H
