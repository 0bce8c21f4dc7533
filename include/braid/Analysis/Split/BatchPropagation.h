//===- BatchPropagation.h - What carries a batch ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_SPLIT_BATCHPROPAGATION_H
#define BRAID_ANALYSIS_SPLIT_BATCHPROPAGATION_H

#include "braid/Analysis/Split/SplitAxes.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace braid {

/// A dimension of a value that contains the batch, `runs` times in sequence.
struct ValueDim {
  mlir::Value value;
  int64_t dim;
  int64_t runs = 1;
};

/// How an op is split: the axis, and the runs of the batch in all operands and
/// in all results.
struct SplitOp {
  comm::SplitAxis axis;
  int64_t operandRuns = 1, resultRuns = 1;
};

/// How a batch is to be divided.
struct BatchOptions {
  int64_t numParts = 2;
  /// Ops that sum floats over the batch stay whole.
  bool keepsSums = true;
};

/// An op that takes values with the batch and cannot be split.
struct WholeOp {
  mlir::Operation *op;
  /// Why, in words that follow the name of the op.
  std::string reason;
};

/// Which values of a block carry a batch, in which dimension, and which ops can
/// be split into parts of it. The batch comes in by arguments of the block, and
/// by results of ops that stay whole, behind which it goes on. A value without
/// the batch is shared by all parts, and where an op needs a part of it, it is
/// sliced.
class BatchPropagation {
public:
  /// From `seeds`, arguments of `block` and results of its ops with tensors, of
  /// which the first one gives the size of the batch.
  BatchPropagation(mlir::Block &block, llvm::ArrayRef<ValueDim> seeds,
                   const BatchOptions &options);

  llvm::ArrayRef<ValueDim> getSeeds() const { return seeds; }
  /// The size of the batch.
  int64_t getSize() const { return size; }
  /// The size of each part is a multiple of this, because one element of a
  /// value may stand for several elements of the batch.
  int64_t getUnit() const { return unit; }
  /// The dimension of `value` that carries the batch, if one does.
  std::optional<ValueDim> getDim(mlir::Value value) const;
  /// The ops that are split, in their order.
  const llvm::MapVector<mlir::Operation *, SplitOp> &getOps() const {
    return ops;
  }
  llvm::ArrayRef<WholeOp> getWholeOps() const { return wholeOps; }
  /// The values without the batch of which an op needs parts.
  llvm::ArrayRef<ValueDim> getSliced() const { return sliced; }
  /// How many values with the batch are put together for ops that need the
  /// whole.
  int64_t countJoins() const;

private:
  void visit(mlir::Operation &op);
  std::string split(mlir::Operation &op);
  std::string findAxis(mlir::Operation &op, SplitOp &split);
  bool fits(mlir::Operation &op, SplitOp &split);
  bool divides(ValueDim value);

  llvm::SmallVector<ValueDim> seeds;
  BatchOptions options;
  int64_t size = 0, unit = 1;
  llvm::DenseMap<mlir::Value, ValueDim> dims;
  llvm::MapVector<mlir::Operation *, SplitOp> ops;
  llvm::SmallVector<WholeOp> wholeOps;
  llvm::SmallVector<ValueDim> sliced;
};

/// Where parts of `values`, of one block, come from: the dimensions of
/// arguments of the block, and of results of ops that cannot be split along
/// them, from which all of `values` are computed by ops that can. Those that
/// come first in the block are first. Ops that `found` splits are not followed.
llvm::SmallVector<ValueDim> findSeeds(llvm::ArrayRef<ValueDim> values,
                                      const BatchPropagation *found = nullptr);

} // namespace braid

#endif // BRAID_ANALYSIS_SPLIT_BATCHPROPAGATION_H
