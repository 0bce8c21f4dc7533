//===- LoopStarts.h - Starts that may leave their iteration -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPSTARTS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPSTARTS_H

#include "braid/Analysis/Memory/OpEffects.h"
#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace braid::comm {

/// The ops of a loop's body that compute from the induction variable, from what
/// the loop does not change and from each other alone, without effects.
class IndexedOps {
public:
  explicit IndexedOps(mlir::scf::ForOp loop);

  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  /// True if `value` is known as soon as the induction variable is.
  bool isIndexed(mlir::Value value) const;
  /// True if all that `op` and its nested ops use is.
  bool hasIndexedOperands(mlir::Operation *op) const;
  /// The ops that `op` is computed from, in the order of the body.
  llvm::SmallVector<mlir::Operation *> getChain(mlir::Operation *op) const;

private:
  mlir::scf::ForOp loop;
  llvm::SetVector<mlir::Operation *> ops;
};

/// Calls `visit` with each value that `op` or an op nested in it uses, and that
/// is defined outside of `op`.
void visitUsedValues(mlir::Operation *op,
                     llvm::function_ref<void(mlir::Value)> visit);

/// Where a start runs in relation to the iteration that it belongs to.
enum class StartShift {
  /// Its operands are computed in the iteration before, which starts it.
  Prefetch,
  /// What uses its result moves to the iteration behind, which awaits it.
  Delay
};

/// A start that may run beside another iteration.
struct ShiftedStart {
  CollectiveOpInterface start;
  StartShift shift;
  /// Of a delayed start: its waits and what is computed from them, in the order
  /// of the body.
  llvm::SmallVector<mlir::Operation *> users;
};

/// A start that has to stay, and why.
struct KeptStart {
  mlir::Operation *start;
  llvm::StringRef reason;
};

/// The starts in the body of a loop.
struct LoopStarts {
  llvm::SmallVector<ShiftedStart> shifted;
  llvm::SmallVector<KeptStart> kept;
};

/// Finds the starts in the body of `loop`, but not in regions of its ops, that
/// may run beside another iteration: all values, and the order of effects, stay
/// what they are.
LoopStarts findShiftedStarts(mlir::scf::ForOp loop, CallEffects &calls,
                             RankUniformity &uniformity);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPSTARTS_H
