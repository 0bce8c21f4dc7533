//===- OrderValidation.h - Checks a new order of a block ------ -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_VERIFICATION_ORDERVALIDATION_H
#define BRAID_ANALYSIS_VERIFICATION_ORDERVALIDATION_H

#include "braid/Analysis/Memory/OpEffects.h"
#include "braid/Analysis/Tokens/RankUniformity.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace braid {

class BlockEffects;

/// Hints of a pass about an order that it has made: slow to compute, quick to
/// check. The validation checks them, and computes from the block what is wrong
/// or missing.
struct OrderClaim {
  /// For each op, as they stand now, the place where it stood.
  std::vector<unsigned> places;
  /// Positions in `places`, ascending, of ops that have not passed each other.
  std::vector<unsigned> staying;
};

/// Checks, from the program alone, that the ops of `block`, which stood in the
/// order `before`, without the terminator, may stand as they do now:
///
/// - the ops are the same;
/// - each value stands before its uses;
/// - accesses of which one writes, to memory that may be the same, keep their
///   order, starts and waits among them;
/// - where ranks may take different paths, starts keep their order, and each
///   wait stands after the starts that it stood after;
/// - everywhere, each wait stands after the messages that it stood after, and a
///   wait for a message after all starts that it stood after;
/// - the messages of a group keep their order, as do starts with `comm.order`,
///   and no wait of their lane comes between messages that run together.
///
/// `effects` may have the effects of the ops, by their places in `before`, from
/// an earlier look at them.
///
/// Emits an error that names `pass`, and fails, at the first op that stands in
/// a wrong place.
llvm::LogicalResult validateOrder(mlir::Block &block,
                                  llvm::ArrayRef<mlir::Operation *> before,
                                  const OrderClaim &claim,
                                  BlockEffects &effects, CallEffects &calls,
                                  RankUniformity &uniformity,
                                  llvm::StringRef pass);

} // namespace braid

#endif // BRAID_ANALYSIS_VERIFICATION_ORDERVALIDATION_H
