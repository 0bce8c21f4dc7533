//===- Slices.h - Slices along one dimension --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_SLICES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_SLICES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// The `size` elements of `from` that begin at `offset` along dimension `dim`,
/// whole along the others.
mlir::Value extractAlong(mlir::OpBuilder &builder, mlir::Value from,
                         int64_t dim, mlir::OpFoldResult offset, int64_t size);

/// Puts `piece` at `offset` along dimension `dim` of `into`; both have the same
/// sizes along the others.
mlir::tensor::InsertSliceOp insertAlong(mlir::OpBuilder &builder,
                                        mlir::Location loc, mlir::Value piece,
                                        mlir::Value into, int64_t dim,
                                        mlir::OpFoldResult offset);

/// `value` with the shape of `type`, if `value` is an empty tensor, filled with
/// one scalar, or a constant with one element everywhere; else null.
mlir::Value resizeUniform(mlir::OpBuilder &builder, mlir::Value value,
                          mlir::RankedTensorType type);

/// Puts `parts`, one behind the other in their block, together to a tensor of
/// `type`. Part k begins at `getOffset(k)` along dimension `dim`. Parts that
/// ops of linalg compute into new tensors are computed in their places.
mlir::Value joinParts(mlir::RewriterBase &rewriter, mlir::RankedTensorType type,
                      int64_t dim, llvm::ArrayRef<mlir::Value> parts,
                      llvm::function_ref<mlir::OpFoldResult(size_t)> getOffset);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_SLICES_H
