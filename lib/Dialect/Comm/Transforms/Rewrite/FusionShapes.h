//===- FusionShapes.h - Shapes in which elementwise ops fuse ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSIONSHAPES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSIONSHAPES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Drops dimensions of size one from ops below `root`. Moves reshapes that join
/// dimensions behind elementwise ops, short products and some reductions, and
/// reshapes that split dimensions and slices before them, so that these stand
/// between no ops that could fuse. Ops with labels or costs stay.
llvm::LogicalResult moveReshapes(mlir::Operation *root, int64_t opsPerByte);

/// If an elementwise `op` that is expensive, or whose elements a body reads one
/// by one, computes the same value for all iterations of some loops, replaces
/// `op` by an op without these loops, which is returned, and a broadcast.
/// Returns null otherwise.
mlir::linalg::GenericOp moveBroadcastBehind(mlir::RewriterBase &rewriter,
                                            mlir::linalg::GenericOp op);

/// Replaces maps in the body of `op` whose result is one of their operands:
/// upstream's fusion leaves them, and they hide which loops the body asks for.
void foldMaps(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Replaces `op` by a fill if all elements of its result are a value from
/// outside of its body.
void replaceByFill(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Lets `op`, which is elementwise, read what it reads of its initial values as
/// inputs: they fuse, initial values do not. A slice that the result replaces
/// stays the initial value: the op writes it in place.
void readInitsAsInputs(mlir::RewriterBase &rewriter,
                       mlir::linalg::GenericOp op);

/// True if `op` multiplies matrices: each operand has rows of its own. Kernels
/// that are no calls of a library compute other sums of products, such as
/// weighted sums.
bool isMatrixProduct(mlir::linalg::LinalgOp op);

/// True if a consumer may compute the elements of the result of `op`, which
/// computes them of elements at dimensions and at constants.
bool mayProduce(mlir::linalg::LinalgOp op);

/// True if the inputs of the owner of `operand` tell the sizes of its
/// reductions also where it computes `producer` itself.
bool tellsSizesOfReductions(mlir::OpOperand &operand,
                            mlir::linalg::LinalgOp producer);

/// True if another input than that of `operand` could tell the sizes of the
/// reductions.
bool mayAddSizesOfReductions(mlir::OpOperand &operand);

/// The same op with an input more, which it does not read: its sizes are those
/// of the reductions, which have to be known.
mlir::linalg::GenericOp addSizesOfReductions(mlir::RewriterBase &rewriter,
                                             mlir::linalg::GenericOp op);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSIONSHAPES_H
