//===- DecomposeConvolution.h - Convolutions as matmuls ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSECONVOLUTION_H
#define BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSECONVOLUTION_H

#include "braid/Dialect/Library/IR/Library.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::library {

/// True if `op` is a matmul of its input and its kernel as they are in memory,
/// such as a convolution of single points.
bool isMatmulInPlace(ConvolutionOp op);

/// True if `op` reads each element of its input once and has no groups, as a
/// convolution of patches: a matmul of a permuted copy of the input.
bool isMatmulOfPatches(ConvolutionOp op);

/// Replaces `op` by ops of `linalg` on tensors that compute the same with the
/// same rounding: a matmul, for which the elements that each place of the
/// output reads are copied next to each other (im2col) unless the input is such
/// a matrix, or a loop nest for groups and where the copies are too large. An
/// op on buffers reads its inputs as tensors, and writes the result into its
/// output.
void decomposeConvolution(mlir::RewriterBase &rewriter, ConvolutionOp op);

} // namespace braid::library

#endif // BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSECONVOLUTION_H
