//===- PairedParts.h - Parts of a batch that may become one -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_SPLIT_PAIREDPARTS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_SPLIT_PAIREDPARTS_H

#include "braid/Analysis/Split/BatchPropagation.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Pairs of ops of a block that do the same to two parts of a batch, of one
/// size, and what they have in common. Each pair may become one op on both
/// parts: the results stay what they are.
class PairedParts {
public:
  /// The largest number of pairs that `first` and `second`, two starts of one
  /// block, belong to, and that may come together in one order of the block.
  /// None if they are not alike, if one needs the other, or if no other ops
  /// compute from what they take or give.
  static std::optional<PairedParts> find(CollectiveOpInterface first,
                                         CollectiveOpInterface second);

  /// The starts of the first parts.
  llvm::SmallVector<CollectiveOpInterface> getStarts() const;
  /// The other op of the pair of `first`.
  mlir::Operation *getSecond(mlir::Operation *first) const {
    return ops.find(first)->second.second;
  }

  /// Replaces each pair by one op. Values that come from elsewhere are put
  /// together, and users that need a part get a slice.
  void merge(mlir::RewriterBase &rewriter);

private:
  struct Pair {
    mlir::Operation *second;
    SplitOp split;
  };
  /// The other part of a value, and the dimension that both have a part of.
  struct OtherPart {
    mlir::Value value;
    int64_t dim, runs;
  };
  /// Two insertions of parts that lie side by side into one tensor.
  struct Join {
    mlir::tensor::InsertSliceOp before, behind;
    /// The first part.
    mlir::Value part;
  };

  explicit PairedParts(mlir::Block *block) : block(block) {}
  bool pair(mlir::Operation *first, mlir::Operation *second, SplitOp split);
  bool pairValues(mlir::Value first, mlir::Value second, int64_t dim,
                  int64_t runs);
  void pairProducers(mlir::Value first);
  void pairUsers(mlir::Value first);
  bool hasAllWaits() const;
  void findJoins();
  bool findOrder();
  bool isInside(mlir::OpOperand &use) const;
  mlir::Value getWhole(mlir::RewriterBase &rewriter, mlir::Value first);
  void mergePair(mlir::RewriterBase &rewriter, mlir::Operation *first);
  void takeSlices(mlir::RewriterBase &rewriter, mlir::Value first);

  mlir::Block *block;
  /// By the op of the first part.
  llvm::MapVector<mlir::Operation *, Pair> ops;
  /// The ops of the second parts, and those of the first.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> firstOf;
  /// By the value of the first part.
  llvm::MapVector<mlir::Value, OtherPart> values;
  llvm::DenseSet<mlir::Value> seconds;
  llvm::SmallVector<mlir::Value> pending;
  llvm::SmallVector<Join> joins;
  /// All ops of the block in an order that has a place for each whole op.
  llvm::SmallVector<mlir::Operation *> order;
  llvm::DenseMap<mlir::Value, mlir::Value> wholes;
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_SPLIT_PAIREDPARTS_H
