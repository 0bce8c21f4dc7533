//===- ChunkStarts.h - Collectives in chunks --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_CHUNKSTARTS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_CHUNKSTARTS_H

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace braid::comm {

/// A collective whose operand a matmul computes, so that both can be done in
/// chunks: an all-reduce, or a reduce-scatter along dimension 0.
struct ChunkableCollective {
  CollectiveOpInterface start;
  WaitOp wait;
  /// What computes the operand: the matmul, or the last of the elementwise ops
  /// that follow the matmul.
  mlir::linalg::LinalgOp producer;
  /// The dimension of the operand that chunks divide. A chunk sums no less than
  /// the whole operand: the dimension is that of a parallel loop. It is not the
  /// dimension that the collective splits.
  int64_t dim;
  /// The size of the operand along the dimension.
  int64_t size;
};

/// `start` as a collective that can be chunked. Nothing if the operand is no
/// tensor of static shape, has other users or no matmul behind it; or if the
/// token goes anywhere but to one wait.
std::optional<ChunkableCollective>
matchChunkableCollective(CollectiveOpInterface start);

/// Replaces the producer, the start and the wait by `count` of each, which
/// `divideIntoChunks` gives rows or columns. The replaced op's costs are shared
/// out. Fails, and leaves the program as it was, if the
/// producer cannot be divided.
llvm::LogicalResult chunkCollective(mlir::RewriterBase &rewriter,
                                    ChunkableCollective collective,
                                    int64_t count);

/// An all-gather whose result is an operand of a matmul, so that both can be
/// done in chunks.
struct ChunkableGather {
  CollectiveOpInterface start;
  WaitOp wait;
  mlir::linalg::LinalgOp matmul;
  /// The number of the operand of the matmul.
  unsigned operand;
  /// The dimension of the members' operands that chunks divide. No sum of the
  /// matmul runs along it: each element is the same sum as before.
  int64_t dim;
  /// The dimension of the matmul's result that belongs to it.
  int64_t resultDim;
  /// The size of a member's operand along the dimension.
  int64_t size;
  /// The members if they are joined along `dim`, so that a chunk has a part of
  /// each of them; else 1.
  int64_t numParts;
};

/// `start` as an all-gather that can be chunked. Nothing if its token goes
/// anywhere but to one wait, or the result anywhere but to one matmul on
/// tensors of static shape; or if another input of the matmul has the
/// dimension that chunks divide.
std::optional<ChunkableGather>
matchChunkableGather(CollectiveOpInterface start);

/// Replaces the start, the wait and the matmul by `count` of each, and shares
/// out costs, as `chunkCollective` does. Fails, and leaves
/// the program as it was, if the matmul cannot be divided.
llvm::LogicalResult chunkGather(mlir::RewriterBase &rewriter,
                                ChunkableGather gather, int64_t count);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_CHUNKSTARTS_H
