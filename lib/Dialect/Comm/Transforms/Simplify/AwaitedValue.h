//===- AwaitedValue.h - Values of collectives that may change ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_SIMPLIFY_AWAITEDVALUE_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_SIMPLIFY_AWAITEDVALUE_H

#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace braid::comm {

/// The starts of a program that a pass has erased, as ops that are gone.
class ErasedStarts {
public:
  /// `start` takes the place of `former`.
  void replace(mlir::Operation *former, mlir::Operation *start) {
    originals[start] = getOriginal(former);
  }
  void insert(mlir::Operation *start) { starts.insert(getOriginal(start)); }
  const llvm::DenseSet<mlir::Operation *> &getStarts() const { return starts; }

private:
  /// The start of the program for which `start` stands.
  mlir::Operation *getOriginal(mlir::Operation *start) const {
    auto it = originals.find(start);
    return it == originals.end() ? start : it->second;
  }

  llvm::DenseSet<mlir::Operation *> starts;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> originals;
};

/// A tensor that a collective gives to the one wait of its token.
struct AwaitedValue {
  CollectiveOpInterface start;
  /// The place of the token among those of the start, and of its operand.
  unsigned number = 0;
  WaitOp wait;

  AsyncStartOpInterface getAsync() const;
  mlir::OpOperand &getSourceOperand() const;
  mlir::Value getSource() const { return getSourceOperand().get(); }
  /// True if the token is the only one of the start.
  bool isAlone() const { return start->getNumResults() == 1; }
};

/// What `wait` gives, if a rewrite may change it: the value of a collective of
/// the dialect on tensors in the block of the wait, without destinations, a
/// cost or settings of its own. Nothing otherwise.
std::optional<AwaitedValue> getAwaitedValue(WaitOp wait);

/// What `value` is, if a wait gives it.
std::optional<AwaitedValue> getAwaitedValue(mlir::Value value);

/// What collectives agree in that do the same to their operands: the op and its
/// attributes, without label, number and what passes have recorded.
mlir::Attribute getOperationKey(CollectiveOpInterface start);

/// Erases the start of `awaited`, which has no other token, and its wait, which
/// nothing uses.
void eraseCollective(mlir::RewriterBase &rewriter, const AwaitedValue &awaited,
                     ErasedStarts &erased);

/// Lets the start of `awaited` take `source`, and its wait give a value of type
/// `type`. Returns that value; the former one keeps its users and is to be
/// replaced with its wait.
mlir::Value retype(mlir::RewriterBase &rewriter, const AwaitedValue &awaited,
                   mlir::Value source, mlir::RankedTensorType type);

/// True if `value` is known to be the same on all members of `group`: on all
/// ranks, or computed without effects from what collectives give to all members
/// alike.
bool isReplicated(mlir::Value value, mlir::FlatSymbolRefAttr group);

/// True if `value` may be used in front of `op`, possibly as a copy of the
/// constant that defines it (see `getBefore`).
bool isThereBefore(mlir::Value value, mlir::Operation *op);

/// `value`, or a copy of the constant that defines it in front of `op`.
mlir::Value getBefore(mlir::RewriterBase &rewriter, mlir::Value value,
                      mlir::Operation *op);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_SIMPLIFY_AWAITEDVALUE_H
