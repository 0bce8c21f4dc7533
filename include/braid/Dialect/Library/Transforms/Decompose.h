//===- Decompose.h - Library ops as linalg ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSE_H
#define BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSE_H

#include "braid/Dialect/Library/IR/Library.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::library {

/// True if `op` is attention or its gradients.
bool isAttention(mlir::Operation *op);

/// Replaces attention, or its gradients, by ops of `linalg` on tensors that
/// compute the same with the same rounding. An op on buffers reads its inputs
/// as tensors, and writes the results into its outputs. What is recorded of
/// reordered sums remains on the matmuls.
void decomposeAttention(mlir::RewriterBase &rewriter, mlir::Operation *op);

/// True if `op` is a matmul of its input and its kernel as they are in memory,
/// such as a convolution of single points.
bool isMatmulInPlace(ConvolutionOp op);

/// True if `op` has no groups and reads each element of its input once, as a
/// convolution of patches, or computes each element of its output from one
/// place of the input, as the gradient of such a convolution: a matmul of a
/// permuted copy of the input, or with a permuted result.
bool isMatmulOfPatches(ConvolutionOp op);

/// Replaces `op` by ops of `linalg` on tensors that compute the same with the
/// same rounding: a matmul, for which the elements that each place of the
/// output reads are copied next to each other (im2col) unless the input is such
/// a matrix, or a loop nest for groups and where the copies are too large. An
/// op on buffers reads its inputs as tensors, and writes the result into its
/// output.
void decomposeConvolution(mlir::RewriterBase &rewriter, ConvolutionOp op);

/// Replaces a scatter by a loop over its updates, each of which changes its
/// window in place. An op on buffers reads its operands as tensors and writes
/// the result into its output. With `mayUseScalars`, updates of one element are
/// scalar ops; on GPUs, where the host runs these, they stay a kernel.
void loopOverScatter(mlir::RewriterBase &rewriter, ScatterOp op,
                     bool mayUseScalars);

/// True if `linkScatter` can replace `op`: a scatter on tensors with fewer than
/// 2^30 updates and windows.
bool canLinkScatter(ScatterOp op);

/// Replaces a scatter by ops that are each one kernel: those that find the
/// updates of each window in their order, by comparing all indices or, where
/// these are many, by sorting them, and an op that computes all elements of the
/// result. The bits of the result are those of `loopOverScatter`.
void linkScatter(mlir::RewriterBase &rewriter, ScatterOp op);

/// True for an inverse Fourier transform that divides by the number of elements
/// (`ifft`, `irfft`).
bool hasDivision(CallOp op);

/// Replaces an inverse Fourier transform (`ifft`, `irfft`) by one that does not
/// divide by the number of elements (`bfft`, `brfft`) and an elementwise op
/// that does. An op on buffers reads its input as a tensor, and writes the
/// result into its output.
void separateDivision(mlir::RewriterBase &rewriter, CallOp op);

/// True for `orgqr` of a batch, with static sizes.
bool isBatchOfReflectors(CallOp op);

/// Replaces `orgqr` of a batch by two matmuls and a triangular solve of all
/// matrices at once, which are as accurate (the UT transform of Joffrain, Low,
/// Quintana-Orti, van de Geijn and Van Zee: Accumulating Householder
/// transformations, revisited, 2006). An op on buffers reads its inputs as
/// tensors, and writes the result into its output.
void accumulateReflectors(mlir::RewriterBase &rewriter, CallOp op);

/// True for singular values with V^T (`gesdd`, `gesvd`).
bool givesTransposedVectors(CallOp op);

/// Replaces `gesdd` or `gesvd` by `gesvdj`, which gives V, and a transpose. All
/// vectors of a batch of matrices of up to `mostTogether` rows and columns are
/// found, of which the program takes the first ones. An op on buffers writes
/// the results into its outputs.
void transposeRightVectors(mlir::RewriterBase &rewriter, CallOp op,
                           int64_t mostTogether);

} // namespace braid::library

#endif // BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSE_H
