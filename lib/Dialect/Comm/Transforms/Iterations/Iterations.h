//===- Iterations.h - Several iterations as one -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_ITERATIONS_ITERATIONS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_ITERATIONS_ITERATIONS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Lets iterations of loops below `root` do the work of several ones, or of all
/// without the loop: each iteration computes a block of rows of tensors from
/// blocks of other tensors, and adds to sums. What the ops of one iteration
/// compute and need at the same time has at most `mostBytes`; with 0 all loops
/// stay. Loops of large ops stay, too. Returns how many iterations became a
/// part of others.
int64_t mergeIterations(mlir::RewriterBase &rewriter, mlir::Operation *root,
                        int64_t mostBytes);

/// Moves matmuls and sums on which no iteration of `loop` waits to loops of
/// their own: one in front of `loop` for what needs nothing of it, one behind
/// it for what it does not need. Stacks of at most `mostBytes` keep what one
/// loop computes for the other. A part moves if `accepts` its loop, which then
/// stays.
void distributeLoop(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop,
                    int64_t mostBytes,
                    llvm::function_ref<bool(mlir::scf::ForOp)> accepts);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_ITERATIONS_ITERATIONS_H
