//===- Operations.h - What MLIR has no function for -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_IR_OPERATIONS_H
#define BRAID_SUPPORT_IR_OPERATIONS_H

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

/// The number of iterations of `loop`, over all its dimensions, 2^63 - 1 at
/// most; none if its bounds are not constants, or if it would never end.
std::optional<int64_t> getStaticTripCount(mlir::LoopLikeOpInterface loop);

/// Erases those of `ops`, and of what they read, that nobody reads.
void eraseDead(mlir::RewriterBase &rewriter,
               llvm::SetVector<mlir::Operation *> ops);

} // namespace braid

#endif // BRAID_SUPPORT_IR_OPERATIONS_H
