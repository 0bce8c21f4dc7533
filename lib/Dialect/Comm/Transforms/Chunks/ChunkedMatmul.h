//===- ChunkedMatmul.h - Chunks of a matmul ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_CHUNKEDMATMUL_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_CHUNKEDMATMUL_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace braid::comm {

/// Where a chunk begins, its size, the size of the whole, and into how many
/// chunks that is divided.
struct Chunk {
  int64_t number, offset, size, whole, count;
};

/// Divides `size` into `count` chunks, from 1 to `size`, as equal as they can
/// be. Chunks of 128 and more, but for the last, are multiples of 128, the tile
/// of a matmul on GPUs.
llvm::SmallVector<Chunk> divideIntoChunks(int64_t size, int64_t count);

/// Gives `op`, a chunk of an op, a share of the cost that goes with its size
/// and a label of its own, and records that its sums may have another order.
void describeChunk(mlir::RewriterBase &rewriter, mlir::Operation *op,
                   const Chunk &chunk);

/// `type` with `size` elements along dimension `dim`.
mlir::RankedTensorType withSize(mlir::RankedTensorType type, int64_t dim,
                                int64_t size);

/// Adds `op` and the elementwise ops before it, up to matmuls, to `chain`:
/// what chunks along dimension `dim` of the result divide. Each has no other
/// user, is in the block of `op`, and has no loop without iterations. Returns
/// whether a matmul is among them.
bool collectMatmulChain(mlir::linalg::LinalgOp op, int64_t dim,
                        llvm::SetVector<mlir::Operation *> &chain);

/// Whether dimension `dim` of the only result of `op` is that of a parallel
/// loop.
bool isParallelResult(mlir::linalg::LinalgOp op, int64_t dim);

/// Computes the chunks of what a matmul and the elementwise ops behind it
/// compute, along one dimension of the result.
class MatmulChunks {
public:
  /// `producer` is the last op of the chain.
  MatmulChunks(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp producer,
               int64_t dim)
      : rewriter(rewriter), producer(producer), dim(dim) {
    collectMatmulChain(producer, dim, chain);
  }

  /// The elements of `chunk` of the result.
  llvm::FailureOr<mlir::Value> compute(const Chunk &chunk);
  /// Erases what nothing uses any more.
  void eraseDead();

private:
  llvm::FailureOr<mlir::Value> tile(mlir::OpResult result,
                                    llvm::ArrayRef<mlir::OpFoldResult> offsets,
                                    llvm::ArrayRef<mlir::OpFoldResult> sizes,
                                    const Chunk &chunk);
  llvm::FailureOr<mlir::Value> tileSource(mlir::tensor::ExtractSliceOp slice,
                                          bool isInit, const Chunk &chunk);

  mlir::RewriterBase &rewriter;
  mlir::linalg::LinalgOp producer;
  int64_t dim;
  llvm::SetVector<mlir::Operation *> chain;
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_CHUNKEDMATMUL_H
