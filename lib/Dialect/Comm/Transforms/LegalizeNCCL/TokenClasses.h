//===- TokenClasses.h - Tokens that reach the same waits --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TOKENCLASSES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TOKENCLASSES_H

#include "braid/Dialect/Comm/IR/Comm.h"

namespace braid::comm {

/// Tokens that control flow and `arith.select` pass on to one another, so that
/// all have one type.
struct TokenClass {
  llvm::SmallVector<mlir::Value> tokens; ///< In program order.
  llvm::SmallVector<WaitOp> waits;
  /// True if an op that is neither a start, a wait nor control flow in the
  /// function creates or uses one of the tokens.
  bool leavesFunction = false;

  /// True if waits are the only users of one token of a start.
  bool isAwaitedDirectly() const;
};

/// The tokens of a function.
struct FunctionTokens {
  llvm::SmallVector<TokenClass> classes;
  llvm::DenseMap<mlir::Value, unsigned> classOf;
  /// In program order.
  llvm::SmallVector<AsyncStartOpInterface> starts;
};

FunctionTokens getTokens(mlir::Operation *function);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TOKENCLASSES_H
