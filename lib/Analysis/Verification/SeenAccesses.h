//===- SeenAccesses.h - Accesses that were passed ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_SEENACCESSES_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_SEENACCESSES_H

#include "Analysis/Memory/BlockEffects.h"

#include <optional>

namespace braid {

/// The largest old places among accesses: of all of them, and of the writes.
class LatestAccess {
public:
  void add(unsigned place, bool isWrite) {
    any = std::max(any, place + 1);
    if (isWrite)
      write = std::max(write, place + 1);
  }
  /// An access that conflicts with one that stood at `place` and stood after
  /// it.
  std::optional<unsigned> findAfter(unsigned place, bool isWrite) const {
    unsigned latest = isWrite ? any : write;
    return latest > place + 1 ? std::optional(latest - 1) : std::nullopt;
  }

private:
  /// 0 if there is none, and otherwise the place and 1.
  unsigned any = 0, write = 0;
};

/// The accesses of the ops of a part of a block, in their new order, by their
/// places in the old one.
class SeenInSpan {
public:
  void clear();

  /// Adds the accesses of the op that stood at `place`. Returns the old place
  /// of an op that was added before, has a conflicting access, and stood after
  /// it.
  std::optional<unsigned>
  add(unsigned place, bool isUnknown,
      llvm::ArrayRef<BlockEffects::Access> accesses,
      llvm::ArrayRef<OpEffects::ResourceAccess> ofResources);

private:
  /// A piece of a buffer all bytes of which were accessed alike.
  struct Piece {
    int64_t begin, end;
    LatestAccess latest;
  };
  /// Disjoint, in ascending order.
  using Pieces = llvm::SmallVector<Piece, 1>;

  static std::optional<unsigned>
  addToPieces(Pieces &pieces, unsigned place,
              const BlockEffects::Access &access);

  /// By the number of the buffer; `touched` are those that are not empty.
  std::vector<Pieces> buffers;
  std::vector<unsigned> touched;
  llvm::DenseMap<mlir::TypeID, LatestAccess> resources;
  /// Of memory that may be any buffer, of all buffers, by ops with unknown
  /// effects, and by all ops.
  LatestAccess unknown, known, barriers, all;
};

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_SEENACCESSES_H
