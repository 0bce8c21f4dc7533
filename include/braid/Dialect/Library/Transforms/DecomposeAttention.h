//===- DecomposeAttention.h - Attention as products and sums ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSEATTENTION_H
#define BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSEATTENTION_H

#include "mlir/IR/PatternMatch.h"

namespace braid::library {

/// True if `op` is attention or its gradients.
bool isAttention(mlir::Operation *op);

/// Replaces attention, or its gradients, by ops of `linalg` on tensors that
/// compute the same with the same rounding. An op on buffers reads its inputs
/// as tensors, and writes the results into its outputs. What is recorded of
/// reordered sums remains on the matmuls.
void decomposeAttention(mlir::RewriterBase &rewriter, mlir::Operation *op);

} // namespace braid::library

#endif // BRAID_DIALECT_LIBRARY_TRANSFORMS_DECOMPOSEATTENTION_H
