//===- Operations.h - What MLIR has no function for -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_IR_OPERATIONS_H
#define BRAID_SUPPORT_IR_OPERATIONS_H

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

/// The number of iterations of `loop`, over all its dimensions, 2^63 - 1 at
/// most; none if its bounds are not constants, or if it would never end.
std::optional<int64_t> getStaticTripCount(mlir::LoopLikeOpInterface loop);

/// Erases those of `ops`, and of what they read, that nobody reads.
void eraseDead(mlir::RewriterBase &rewriter,
               llvm::SetVector<mlir::Operation *> ops);

/// Gives the element of a result from elements of operands, the old one of the
/// result last.
using ElementBody = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                                   mlir::ValueRange)>;

/// The result of a `linalg.generic` whose elements `body` gives.
mlir::Value createGeneric(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value init, mlir::ValueRange inputs,
                          llvm::ArrayRef<mlir::AffineMap> maps,
                          llvm::ArrayRef<mlir::utils::IteratorType> loops,
                          ElementBody body);

/// The same with a parallel loop for each dimension of `init`. `maps` are those
/// of the inputs.
mlir::Value createParallel(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value init, mlir::ValueRange inputs,
                           llvm::ArrayRef<mlir::AffineMap> maps,
                           ElementBody body);

/// The same of the elements at one place of `init` and of `input`.
mlir::Value createElementwise(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value init, mlir::Value input,
                              ElementBody body);

} // namespace braid

#endif // BRAID_SUPPORT_IR_OPERATIONS_H
