//===- BatchParts.h - Blocks in parts of a batch --------------- *- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_SPLIT_BATCHPARTS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_SPLIT_BATCHPARTS_H

#include "../Chunks/ChunkedMatmul.h"

#include "braid/Analysis/Split/BatchPropagation.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Divides a batch of `size` in the ratio of `shares`, of which each is
/// positive. All parts are multiples of `unit`, which divides `size`, and have
/// elements; all but the last one are multiples of 128, the tile of a matmul on
/// GPUs, where they are that large. `size` has at least one unit for each part.
llvm::SmallVector<Chunk> divideBatch(int64_t size, int64_t unit,
                                     llvm::ArrayRef<int64_t> shares);

/// Replaces each op that `batch` splits by one for each of `parts`, in its
/// place, one after the other. A sum over the batch begins with that of the
/// part before.
void splitBatch(mlir::RewriterBase &rewriter, const BatchPropagation &batch,
                llvm::ArrayRef<Chunk> parts);

/// `value` with its `runs` as a dimension in front of `dim`, if there are
/// several.
mlir::Value separateRuns(mlir::OpBuilder &builder, mlir::Value value,
                         int64_t dim, int64_t runs);

/// The reverse of `separateRuns`.
mlir::Value joinRuns(mlir::OpBuilder &builder, mlir::Value value, int64_t dim,
                     int64_t runs);

/// Changes the sizes along the axis of `split` that `op` has as attributes, by
/// `getSize`, which gets the size and the number of runs.
void updateSizes(mlir::Operation *op, const SplitOp &split,
                 llvm::function_ref<int64_t(int64_t, int64_t)> getSize);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_SPLIT_BATCHPARTS_H
