//===- TransposedOperands.h - Copies that matmuls read faster ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_TRANSPOSEDOPERANDS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_TRANSPOSEDOPERANDS_H

#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Lets matmuls of TF32 below `root` that sum over the outer dimension of both
/// operands, as the gradients of weights do, read a transposed copy of the
/// smaller one, if the copy takes less time than the matmul gains. Returns the
/// number of copies.
int64_t transposeOperands(mlir::RewriterBase &rewriter, mlir::Operation *root);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_TRANSPOSEDOPERANDS_H
