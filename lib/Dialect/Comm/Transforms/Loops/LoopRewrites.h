//===- LoopRewrites.h - Rewrites of comm-pipeline-loops ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPREWRITES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPREWRITES_H

#include "../Simplify/AwaitedValue.h"
#include "LoopStarts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Rewrites `loop` so that `starts`, of its body, leave their iteration.
/// Returns the loop of the iterations that are left, which has the block of
/// `loop`. Hoisted starts run before it, with their waits. For shared ones,
/// which come alone, the first iteration stands before it. Prefetched starts
/// run before it for the first iteration, and in each iteration for the next
/// one; the last iteration stands behind it. For delayed starts the first
/// iteration stands before it, and behind it what uses the result of the last
/// one. Where the number of iterations is not known, all of that runs only if
/// there is an iteration.
mlir::scf::ForOp pipelineLoop(mlir::RewriterBase &rewriter,
                              mlir::scf::ForOp loop,
                              llvm::ArrayRef<ShiftedStart> starts);

/// Replaces each `scf.while` of `module` that has a collective and counts to a
/// value that the loop does not change by an `scf.for`: by ones, or between
/// constants by constant steps.
void replaceCountedWhiles(mlir::ModuleOp module);

/// A tensor that a loop carries, each of whose rows an iteration replaces by
/// what a collective gives, and that nothing else in the loop reads.
struct LoopStack {
  /// The place among the values that the loop carries.
  unsigned number;
  mlir::tensor::InsertSliceOp insert;
  AwaitedValue awaited;
};

/// The stacks of `loop` whose collective may send all rows at once: one that
/// gives elements where it takes them, a gather or a reduce-scatter within
/// rows. Those that add up floats only if `mayReorder`: a library may add their
/// terms in another order.
llvm::SmallVector<LoopStack> findLoopStacks(mlir::scf::ForOp loop,
                                            bool mayReorder);

/// Lets each iteration of `loop` insert the operands of the collectives of
/// `stacks`, and one collective behind the loop send each stack. Returns the
/// new ops that take time: starts, and what moves the parts of members.
llvm::SmallVector<mlir::Operation *>
sinkBehindLoop(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop,
               llvm::ArrayRef<LoopStack> stacks);

/// An all-reduce of a loop whose value, or parts of it, the loop adds to values
/// that it carries, and nothing else in the loop reads.
struct LoopSum {
  AwaitedValue awaited;
  struct Addition {
    /// The place among the values that the loop carries.
    unsigned number;
    /// Adds the carried value and `term`.
    mlir::Operation *sum;
    /// The awaited value, or elements of it at other places.
    mlir::Value term;
  };
  llvm::SmallVector<Addition> additions;
};

/// The sums of `loop`. Those of floats only if `reassociates`, or if the
/// all-reduce may add them in any order: each rank then adds its own terms
/// before they are sent.
llvm::SmallVector<LoopSum> findLoopSums(mlir::scf::ForOp loop,
                                        bool reassociates);

/// Lets each iteration of `loop` add what the all-reduces of `sums` send, and
/// one all-reduce behind the loop for each addition send the sum. Returns the
/// new starts.
llvm::SmallVector<mlir::Operation *>
reduceBehindLoop(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop,
                 llvm::ArrayRef<LoopSum> sums);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPREWRITES_H
