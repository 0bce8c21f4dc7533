//===- BlockLimits.h - Memory that each block may use ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULE_BLOCKLIMITS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULE_BLOCKLIMITS_H

#include "braid/Schedule/Search/SearchSchedule.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace braid::comm {

/// A scheduled block and its result.
struct ScheduledBlock {
  mlir::Block *block;
  SearchResult result;
  /// The makespan of the input order.
  int64_t makespanBeforeNs;
  /// True for the body of a loop that carries operations from one iteration
  /// into the next.
  bool isSteady;
  /// The memory limit of the block, if it is lower than that of the program.
  std::optional<int64_t> limit;
};

/// Divides a memory limit between blocks and the bodies nested in them. Bodies
/// are scheduled before the blocks around them, so the memory that is live
/// around a loop, a condition or a call is not known yet. A body may therefore
/// use the whole limit at first. If the block around it then exceeds the limit,
/// the limit of the body shrinks by the excess, and all blocks that depend on
/// the body are scheduled again.
class BlockLimits {
public:
  /// Limits reach the callees of calls only with `entersCallees`.
  BlockLimits(std::optional<int64_t> limit, bool entersCallees)
      : limit(limit), entersCallees(entersCallees) {}

  /// The bytes that may be live in `block`; none for no limit.
  std::optional<int64_t> getLimit(mlir::Block *block) const;
  /// Returns true if the limit of `block` is lower than the whole limit.
  bool isTightened(mlir::Block *block) const { return limits.contains(block); }

  /// The result of `block`; null if there is none, or none that is still valid.
  const ScheduledBlock *lookup(mlir::Block *block) const;
  /// Adds the result of a block. Callees come before callers, nested blocks
  /// before the blocks around them.
  void add(ScheduledBlock scheduled);
  /// The results in the order of `add`.
  llvm::ArrayRef<ScheduledBlock> getBlocks() const { return blocks; }

  /// Records that `block` needs at least `bytes`.
  void setFloor(mlir::Block *block, int64_t bytes);

  /// Returns true if the bodies of `op`, or of its callee, have scheduled
  /// blocks.
  bool hasBlocksIn(mlir::Operation *op);
  /// Lowers the limits of the bodies of `op`, or of its callee, by `bytes` if
  /// they may need less, and drops the results of all blocks that depend on
  /// them. Returns false, and changes nothing, if no body can need less.
  bool tighten(mlir::Operation *op, int64_t bytes);

private:
  /// The outermost scheduled blocks in the bodies of `op`, callees included.
  llvm::SmallVector<mlir::Block *> getOutermostBlocks(mlir::Operation *op);
  void forget(llvm::ArrayRef<mlir::Block *> changed);

  /// The most rounds; after them excesses become errors.
  static constexpr unsigned maxRounds = 64;

  std::optional<int64_t> limit;
  bool entersCallees;
  llvm::DenseMap<mlir::Block *, int64_t> limits;
  /// Blocks that need their limit.
  llvm::DenseSet<mlir::Block *> floors;
  std::vector<ScheduledBlock> blocks;
  /// Positions in `blocks`.
  llvm::DenseMap<mlir::Block *, size_t> positions;
  mlir::SymbolTableCollection symbolTables;
  unsigned numRounds = 0;
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULE_BLOCKLIMITS_H
