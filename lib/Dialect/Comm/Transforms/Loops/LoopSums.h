//===- LoopSums.h - Sums of all-reduces over iterations ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPSUMS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPSUMS_H

#include "../Simplify/AwaitedValue.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace braid::comm {

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

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPSUMS_H
