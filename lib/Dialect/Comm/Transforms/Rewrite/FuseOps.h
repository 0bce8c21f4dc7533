//===- FuseOps.h - Fusions of linalg ops ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSEOPS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSEOPS_H

#include "WaitSets.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace braid::comm {

/// What siblings are merged.
enum class Siblings {
  /// Reductions, which then read a tensor once.
  Reductions,
  /// Elementwise ops with results so small that the launches of their kernels
  /// take most of their time.
  SmallElementwise
};

/// Merges ops under `root` that run over the same elements of a tensor into one
/// op with all their results. Neither depends on the other, and both wait for
/// the same waits in `sets`, which learns of the new ops. If `mayReduceParts`,
/// a reduction of more dimensions than another one combines parts from the
/// results of the merged op. Returns the number of merged pairs.
int64_t fuseSiblings(mlir::RewriterBase &rewriter, WaitSets &sets,
                     mlir::Operation *root, Siblings siblings,
                     bool mayReduceParts);

/// Fuses elementwise producers under `root` into their consumers, also such
/// that the fused op has the results of both if `mayKeep`. Returns the number
/// of fused producers.
int64_t fuseProducers(mlir::RewriterBase &rewriter, WaitSets &sets,
                      mlir::Operation *root, int64_t opsPerByte, bool mayKeep);

/// Computes each value of the body of `op` once.
void computeOnce(mlir::RewriterBase &rewriter, mlir::Operation *op);

/// Merges the inputs of `op` that read the same elements of the same tensor.
/// Each input that a producer is fused into gets a copy of its body, so a chain
/// of ops that read a tensor twice would double its body at each link.
void mergeEqualInputs(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSEOPS_H
