//===- Pointwise.h - Ops that compute elements one by one -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_SIMPLIFY_POINTWISE_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_SIMPLIFY_POINTWISE_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// An op without effects that computes each element of its one result from one
/// element of each of its operands. Its loops are numbered; an operand has the
/// dimensions of some of them, the result has all.
class PointwiseOp {
public:
  /// `op`, if it is a linalg op with parallel loops alone, or elementwise on
  /// tensors, and reads no index and nothing from outside.
  static std::optional<PointwiseOp> get(mlir::Operation *op);

  mlir::Operation *getOp() const { return op; }
  mlir::RankedTensorType getType() const;
  /// The operands that the op reads.
  llvm::ArrayRef<mlir::OpOperand *> getInputs() const { return inputs; }
  /// The map from the loops to the elements of input number `number`.
  mlir::AffineMap getMap(size_t number) const { return maps[number]; }
  /// The map from the loops to the elements of the result.
  mlir::AffineMap getResultMap() const { return resultMap; }
  /// The op of the body if there is one op alone, or the elementwise op itself;
  /// null otherwise.
  mlir::Operation *getOnlyStep() const;

  /// Creates the op on `newInputs`, which stand for the inputs, at the place of
  /// `rewriter`. The sizes of the loops are those of input number `number`,
  /// which has a dimension for each loop.
  mlir::Value clone(mlir::RewriterBase &rewriter,
                    llvm::ArrayRef<mlir::Value> newInputs, size_t number) const;

private:
  mlir::Operation *op = nullptr;
  llvm::SmallVector<mlir::OpOperand *> inputs;
  llvm::SmallVector<mlir::AffineMap> maps;
  mlir::AffineMap resultMap;
};

/// True if `op` adds its two inputs. `isRounded`: the sum depends on who adds
/// first.
bool isSumOf(const PointwiseOp &op, bool &isRounded);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_SIMPLIFY_POINTWISE_H
