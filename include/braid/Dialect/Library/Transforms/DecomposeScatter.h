//===- DecomposeScatter.h - Scatters as loops or kernels --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSESCATTER_H
#define BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSESCATTER_H

#include "braid/Dialect/Library/IR/Library.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::library {

/// The pairs of indices that `linkScatter` compares: of two updates, and of an
/// update and a window.
uint64_t countComparisons(ScatterOp op);

/// Replaces a scatter by a loop over its updates, each of which changes its
/// window in place. An op on buffers reads its operands as tensors and writes
/// the result into its output.
void loopOverScatter(mlir::RewriterBase &rewriter, ScatterOp op);

/// Replaces a scatter on tensors by ops that are each one kernel: reductions
/// that find the updates of each window in their order, by comparing all
/// indices, and an op that computes all elements of the result. The bits of the
/// result are those of `loopOverScatter`.
void linkScatter(mlir::RewriterBase &rewriter, ScatterOp op);

} // namespace braid::library

#endif // BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSESCATTER_H
