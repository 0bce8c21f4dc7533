//===- TransparentOps.h - Ops that take no time -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_MEMORY_TRANSPARENTOPS_H
#define BRAID_LIB_ANALYSIS_MEMORY_TRANSPARENTOPS_H

#include "mlir/IR/Operation.h"

namespace braid {

/// The value whose memory the first result of `op` shows, possibly as another
/// type or in part; null if `op` is no view.
mlir::Value getViewSource(mlir::Operation *op);

/// True if `op` takes no time and has no effect, so that it moves with the ops
/// that use it: constants, casts, slices and reshapes, shapes, `tensor.empty`,
/// allocations, scalar arithmetic, choices between tokens, and folded fills. An
/// op with `comm.cost_ns` is none.
bool isTransparentOp(mlir::Operation *op);

/// True if `op` is a fill or a splat that one structured or elementwise op of
/// its block alone uses, which computes it along with its own: its values never
/// stand in memory.
bool isFoldedFill(mlir::Operation *op);

/// True if nothing needs `op`. What is explicitly a unit of compute, a
/// `comm.compute` or an op with `comm.cost_ns`, is needed in any case.
bool isUnneededCompute(mlir::Operation *op);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_MEMORY_TRANSPARENTOPS_H
