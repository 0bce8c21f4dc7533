//===- BlockIterations.h - Iterations over blocks of rows -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_ITERATIONS_BLOCKITERATIONS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_ITERATIONS_BLOCKITERATIONS_H

#include "braid/Analysis/Split/SplitAxes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

#include <map>

namespace braid::comm {

/// The dimension of a value in which an iteration has a block. In memory the
/// elements of a block follow each other in `runs` runs.
struct BlockDim {
  int64_t dim = 0, runs = 1;
};

/// A value with such a dimension, as a key.
using BlockKey = std::tuple<void *, int64_t, int64_t>;
inline BlockKey getBlockKey(mlir::Value value, BlockDim block) {
  return {value.getAsOpaquePointer(), block.dim, block.runs};
}

/// What a value of the body is.
struct Role {
  enum Kind {
    Equal,   ///< The same in all iterations.
    Number,  ///< A scalar that follows from the number of the iteration.
    Block,   ///< A block of a tensor of all iterations.
    Term,    ///< What an iteration adds to a sum.
    Carried, ///< What the loop carries, or an update of that.
  };
  Kind kind = Equal;
  BlockDim block = {};
  unsigned number = 0; ///< Of the carried value.
};

/// A slice that has another place along `dim` in each iteration. All iterations
/// take what follows `first`.
struct BlockSlice {
  int64_t dim, size, first;
  bool operator==(const BlockSlice &other) const {
    return dim == other.dim && size == other.size && first == other.first;
  }
};

/// How an op on blocks gets larger dimensions.
struct BlockOp {
  SplitAxis axis;
  int64_t operandRuns = 1, resultRuns = 1;
};

/// The dimension of what a slice takes that dimension `dim` of the whole has,
/// and whether the slice drops it.
std::pair<int64_t, bool> getTaken(const llvm::SmallBitVector &dropped,
                                  int64_t dim);

/// True if all elements of `value` are equal, or none is written.
bool hasEqualElements(mlir::Value value);

/// What the values of the body of `loop` are if each iteration computes blocks
/// of tensors from blocks of others, and adds to sums.
class BlockIterations {
public:
  explicit BlockIterations(mlir::scf::ForOp loop)
      : loop(loop), updates(loop.getNumRegionIterArgs()) {}

  /// Finds the roles of all values; true if the iterations are such.
  bool analyze();

  mlir::scf::ForOp getLoop() const { return loop; }
  int64_t getNumIterations() const { return numIterations; }
  /// True if the blocks of later iterations come first.
  bool isDescending() const { return descends.value_or(false); }
  Role getRole(mlir::Value value) const { return roles.lookup(value); }
  bool is(mlir::Value value, Role::Kind kind) const {
    return getRole(value).kind == kind;
  }
  const llvm::MapVector<mlir::Operation *, BlockOp> &getBlockOps() const {
    return blockOps;
  }
  const llvm::MapVector<mlir::Operation *, BlockSlice> &getSlices() const {
    return slices;
  }
  /// The block that `slice` reads if its iteration has inserted it, else null.
  mlir::Value getInserted(mlir::Operation *slice) const {
    return inserted.lookup(slice);
  }
  /// How the op that gives `value`, equal in all iterations, gets a larger
  /// dimension, along which the elements are equal. None if it cannot.
  std::optional<BlockOp> findEqualAxis(mlir::Value value, BlockDim block);

private:
  /// How the loop updates a value that it carries.
  struct Update {
    /// Iterations replace blocks of it.
    std::optional<BlockSlice> slice;
    /// Iterations add to it.
    bool isSum = false;
  };

  bool visit(mlir::Operation &op);
  bool visitExtract(mlir::tensor::ExtractSliceOp slice);
  bool visitInsert(mlir::tensor::InsertSliceOp slice);
  bool visitBlockOp(mlir::Operation &op);
  bool visitSum(mlir::Operation &op);
  bool visitSumOf(mlir::linalg::LinalgOp op);
  bool fits(mlir::Operation &op, BlockOp &merged);
  bool addsUp(mlir::linalg::LinalgOp op);
  bool addsTo(mlir::Value carried);
  bool updatesBlock(mlir::Value carried, const BlockSlice &slice);
  std::optional<BlockSlice>
  findSlice(mlir::OffsetSizeAndStrideOpInterface slice,
            mlir::RankedTensorType whole);
  /// Finds the first and the distance of the offsets of the iterations.
  std::optional<std::pair<int64_t, int64_t>> evaluate(mlir::Value offset);
  std::optional<BlockOp> findEqualAxis(mlir::Value value, BlockDim block,
                                       unsigned mostOps);
  bool canWiden(mlir::Value value, BlockDim block, unsigned mostOps);

  mlir::scf::ForOp loop;
  llvm::SmallVector<Update> updates;
  int64_t numIterations = 0;
  std::optional<bool> descends;
  llvm::DenseMap<mlir::Value, Role> roles;
  llvm::MapVector<mlir::Operation *, BlockOp> blockOps;
  llvm::MapVector<mlir::Operation *, BlockSlice> slices;
  llvm::DenseMap<mlir::Operation *, mlir::Value> inserted;
  llvm::DenseMap<mlir::Value, std::optional<std::pair<int64_t, int64_t>>>
      offsets;
  std::map<BlockKey, bool> widenable;
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_ITERATIONS_BLOCKITERATIONS_H
