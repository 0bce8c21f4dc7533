//===- MatmulMatch.h - Matrix products that the library knows ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_MATMULMATCH_H
#define BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_MATMULMATCH_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace braid {

/// A product of matrices: which loops of the op run over what.
struct MatmulMatch {
  /// The loop over the matrices of a batch; none for a single product.
  std::optional<unsigned> batch;
  unsigned m, n, k;
  /// True if an operand is stored as its transpose.
  bool transposedA, transposedB;
};

/// Matches an op that multiplies matrices and adds the product to its init:
/// named or generic, with at most one batch dimension, which is the first one.
std::optional<MatmulMatch> matchMatmul(mlir::linalg::LinalgOp op);

/// True if the library multiplies matrices of the element types of `op`.
bool hasLibraryTypes(mlir::linalg::LinalgOp op);

/// The attribute of products that overwrite their result.
constexpr llvm::StringLiteral kOverwritesAttrName = "braid.overwrites";

} // namespace braid

#endif // BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_MATMULMATCH_H
