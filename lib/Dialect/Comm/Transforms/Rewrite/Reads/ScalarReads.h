//===- ScalarReads.h - Compute integers that are read --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_SCALARREADS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_SCALARREADS_H

#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Replaces each `tensor.extract` below `root`, outside of the bodies of linalg
/// ops, of an integer that follows from scalars alone, by ops on scalars. The
/// tensor may be a result of elementwise ops, fills, slices and reshapes of
/// such tensors, as the offsets that JAX's `scan` reads from an `arange`, or of
/// a loop that inserts a row of them in each iteration, as JAX's gradients of
/// `scan` read. Erases what nobody reads afterwards, stacks of loops included.
///
/// A GPU that computes such a tensor has to send the element to the host, which
/// waits for the element, and CUDA graphs cannot contain the program.
void computeScalarReads(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// Lets slices below `root` that read rows of a stack of a loop, if these are
/// slices of a tensor, read that tensor: no loop copies its slices to a stack.
void readSlicesThroughStacks(mlir::RewriterBase &rewriter,
                             mlir::Operation *root);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_SCALARREADS_H
