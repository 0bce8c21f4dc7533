//===- ShortProducts.h - Matmuls that kernels compute -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_SHORTPRODUCTS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_SHORTPRODUCTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// True if an elementwise kernel computes the matmul `op` in no more time than
/// a library, on a GPU that computes `opsPerByte` operations while it moves a
/// byte: each result is the sum of a few products, and reading their operands
/// takes no longer than moving all operands once and launching a kernel.
bool isShortProduct(mlir::linalg::LinalgOp op, int64_t opsPerByte);

/// Replaces each such matmul below `root` by a linalg.generic without
/// attributes, which other ops may absorb, and many matmuls of few rows and
/// columns by sums of rows. Small floats are summed in f32 and rounded once, as
/// libraries do.
void generalizeShortProducts(mlir::RewriterBase &rewriter,
                             mlir::Operation *root, int64_t opsPerByte);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_SHORTPRODUCTS_H
