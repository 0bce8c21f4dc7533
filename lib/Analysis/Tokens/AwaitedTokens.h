//===- AwaitedTokens.h - Which operations an op waits for -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_TOKENS_AWAITEDTOKENS_H
#define BRAID_LIB_ANALYSIS_TOKENS_AWAITEDTOKENS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace braid {

/// The origins of tokens, as far as one region shows them; each once.
struct TokenOrigins {
  /// Starts in the region itself.
  llvm::SmallVector<mlir::Operation *, 1> starts;
  /// Arguments of the region's blocks.
  llvm::SmallVector<mlir::BlockArgument, 1> arguments;
};

/// Where `token` comes from; selects between tokens name both.
TokenOrigins getTokenOrigins(mlir::Value token, mlir::Region &region);

/// Where the tokens come from that `op`, which stands in `region`, awaits:
/// itself, or in a region, or by handing them to something that does. A select
/// only passes tokens on.
TokenOrigins getAwaitedTokens(mlir::Operation *op, mlir::Region &region);

/// The starts in the body of a loop whose tokens come back as `argument`, an
/// argument of the body, in the next iteration or in one after it. Empty if it
/// is no such argument.
llvm::SmallVector<mlir::Operation *, 1>
getCarriedStarts(mlir::BlockArgument argument);

/// True if `token` may be that of a send or a receive, as far as its function
/// tells.
bool mayBeMessage(mlir::Value token);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_TOKENS_AWAITEDTOKENS_H
