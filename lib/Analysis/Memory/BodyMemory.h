//===- BodyMemory.h - Memory that a body needs ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_MEMORY_BODYMEMORY_H
#define BRAID_LIB_ANALYSIS_MEMORY_BODYMEMORY_H

#include "braid/Dialect/Comm/IR/CommCostInterface.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <vector>

namespace braid {

/// Finds which ops of a body hold which memory, in one sweep over its ops in
/// their order. What it finds holds in every legal order of the ops: which
/// values share memory does not depend on it. See `simulateRegion` for the
/// rules.
class BodyMemory {
public:
  /// A piece of memory that several values may share. It is allocated before
  /// the first of its users and freed after the last.
  struct Piece {
    int64_t bytes;
    /// Lives to the end of the body.
    bool escapes;
    /// A buffer, which lives until it is freed rather than to its last use.
    bool isBuffer;
    /// The numbers of the ops that hold it, ascending; at least one, but for
    /// memory that only ops without a number touch.
    llvm::SmallVector<unsigned, 4> users;
  };

  BodyMemory(mlir::Region &region, const comm::SizeDefaults &sizes);
  /// Of one block: what other blocks use lives to its end.
  BodyMemory(mlir::Block &block, const comm::SizeDefaults &sizes);

  /// Adds the next op. `number` is not lower than those before. An op without a
  /// number takes no time; its results are allocated before their first user
  /// with a number.
  void add(mlir::Operation *op, std::optional<unsigned> number);

  llvm::ArrayRef<Piece> getPieces() const { return pieces; }

  /// Bytes of the arguments, which live throughout; 0 unless the body is that
  /// of a function.
  int64_t getArgumentBytes() const { return argumentBytes; }

private:
  using Pieces = llvm::SmallVector<unsigned, 2>;
  using Number = std::optional<unsigned>;

  unsigned createPiece(mlir::Type type, Number number, bool isBuffer);
  void addStart(mlir::Operation *op, Number number);
  void addResults(mlir::Operation *op, Number number);
  /// The pieces of `value` if an op may write in place of it: no other op uses
  /// it, and it is made in this body.
  const Pieces *getReusable(mlir::Value value) const;

  /// True if `user` makes what it uses outlive the body.
  bool isOutlet(mlir::Operation *user) const;

  mlir::Region &region;
  /// Null if the body is the whole region.
  mlir::Block *block = nullptr;
  comm::SizeDefaults sizes;
  int64_t argumentBytes = 0;
  std::vector<Piece> pieces;
  /// What each value lives in, the memory of a token's value first, then what
  /// its operation reads.
  llvm::DenseMap<mlir::Value, Pieces> piecesOf;
};

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_MEMORY_BODYMEMORY_H
