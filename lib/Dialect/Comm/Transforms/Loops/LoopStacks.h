//===- LoopStacks.h - Stacks of collectives of a loop -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPSTACKS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPSTACKS_H

#include "../Simplify/AwaitedValue.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {

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

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPSTACKS_H
