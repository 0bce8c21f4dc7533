//===- BodyMemory.h - Memory that a body needs ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BODYMEMORY_H
#define BRAID_LIB_SCHEDULE_BODYMEMORY_H

#include "braid/Schedule/Simulator.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// Finds where the bytes of a body come to life and where they die, in one
/// sweep over its ops in their order. See `simulateRegion` for the rules.
class BodyMemory {
public:
  BodyMemory(mlir::Region &region, int64_t dynamicSize);

  /// The next op, and its position among those that are simulated.
  void add(mlir::Operation *op, unsigned position);

  /// Writes allocated and freed bytes into the ops, by position.
  void finish(llvm::MutableArrayRef<SimulatedOp> ops) const;

  /// Bytes of the arguments, which live throughout; 0 unless the body is that
  /// of a function.
  int64_t getArgumentBytes() const { return argumentBytes; }

private:
  /// A piece of memory that several values may share.
  struct Piece {
    int64_t bytes;
    unsigned firstPosition;
    unsigned lastPosition;
    /// Lives to the end of the body.
    bool escapes;
    /// A buffer, which lives until it is freed rather than to its last use.
    bool isBuffer;
  };
  using Pieces = llvm::SmallVector<unsigned, 2>;

  unsigned createPiece(mlir::Type type, unsigned position, bool isBuffer);
  void addStart(mlir::Operation *op, unsigned position);
  void addResults(mlir::Operation *op, unsigned position);
  /// The pieces of `value` if an op may write in place of it: nobody else uses
  /// it, and it is made in this body.
  const Pieces *getReusable(mlir::Value value) const;

  mlir::Region &region;
  int64_t dynamicSize;
  int64_t argumentBytes = 0;
  std::vector<Piece> pieces;
  /// What each value lives in, the memory of a token's value first, then what
  /// its operation reads.
  llvm::DenseMap<mlir::Value, Pieces> piecesOf;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BODYMEMORY_H
