//===- TokenFamilies.h - Tokens that reach the same waits -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TOKENFAMILIES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TOKENFAMILIES_H

#include "braid/Dialect/Comm/IR/Comm.h"

namespace braid::comm {

/// Tokens that control flow and `arith.select` pass on to one another, so that
/// all have one type.
struct TokenWeb {
  llvm::SmallVector<mlir::Value> tokens; ///< In program order.
  llvm::SmallVector<WaitOp> waits;
};

/// Webs that share starts.
struct TokenFamily {
  llvm::SmallVector<TokenWeb> webs;
  /// In program order.
  llvm::SmallVector<AsyncStartOpInterface> starts;
  /// True if an op that is neither a start, a wait nor control flow in the
  /// function creates or uses one of the tokens.
  bool leavesFunction = false;

  /// True if waits are the only users of the starts' tokens.
  bool isAwaitedDirectly() const;
};

/// The families of the tokens in `function`, in program order.
llvm::SmallVector<TokenFamily> getTokenFamilies(mlir::Operation *function);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TOKENFAMILIES_H
