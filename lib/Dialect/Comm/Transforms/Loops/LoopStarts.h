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

/// Ops of a loop's body that may be computed elsewhere.
class MovableOps {
public:
  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  /// Those of the ops that `op` is computed from, in the order of the body.
  llvm::SmallVector<mlir::Operation *> getChain(mlir::Operation *op) const;

protected:
  llvm::SetVector<mlir::Operation *> ops;
};

/// The ops of a loop's body that compute from the induction variable, from what
/// the loop does not change and from each other alone, without effects.
class IndexedOps : public MovableOps {
public:
  explicit IndexedOps(mlir::scf::ForOp loop);

  /// True if `value` is known as soon as the induction variable is.
  bool isIndexed(mlir::Value value) const;
  /// True if all that `op` and its nested ops use is.
  bool hasIndexedOperands(mlir::Operation *op) const;

private:
  mlir::scf::ForOp loop;
};

/// The ops of a loop's body that give the same in all iterations: they compute
/// from what the loop does not change and from each other alone. Collectives on
/// tensors and their waits are among them, but for those whose results an op of
/// the loop writes in place of: each iteration would copy what it overwrites.
class InvariantOps : public MovableOps {
public:
  explicit InvariantOps(mlir::scf::ForOp loop);
};

/// Calls `visit` with each value that `op` or an op nested in it uses, and that
/// is defined outside of `op`.
void visitUsedValues(mlir::Operation *op,
                     llvm::function_ref<void(mlir::Value)> visit);

/// Where a start runs in relation to the iteration that it belongs to.
enum class StartShift {
  /// All iterations get the same from it: it runs once, in front of the loop.
  Hoist,
  /// The same, but it runs in the first iteration, which stands in front.
  Share,
  /// Its operands are computed in the iteration before, which starts it.
  Prefetch,
  /// What uses its result moves to the iteration behind, which awaits it.
  Delay
};

/// A start that may run beside another iteration, or in front of all.
struct ShiftedStart {
  CollectiveOpInterface start;
  StartShift shift;
  /// Of a hoisted or shared start: its waits. Of a delayed one: its waits and
  /// what is computed from them, in the order of the body.
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
/// may leave their iteration: all values, and the order of effects, stay what
/// they are.
LoopStarts findShiftedStarts(mlir::scf::ForOp loop, CallEffects &calls,
                             RankUniformity &uniformity);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPSTARTS_H
