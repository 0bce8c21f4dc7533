//===- Kernels.h - The kinds of kernels -------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELS_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELS_H

#include "KernelBuilder.h"

namespace braid::kernels {

/// Computes an op without reductions, before `op`: a thread has up to 16 bytes
/// of neighbouring elements.
void emitElementwise(KernelModule &kernels, mlir::Operation *op, LoopNest nest);

/// Computes an op without reductions, before `op`, that reads some inputs along
/// another dimension than it writes: through tiles in shared memory. False
/// where that is not so.
bool emitTransposed(KernelModule &kernels, mlir::Operation *op, LoopNest nest);

/// Computes any op, before `op`: a thread has one element of the results and
/// runs the reductions in the order of the op.
void emitSequential(KernelModule &kernels, mlir::Operation *op, LoopNest nest);

/// Reduces along outer dimensions, before `op`: neighbouring threads have
/// neighbouring results. False where results or operands are not such
/// neighbours.
bool emitColumns(KernelModule &kernels, mlir::Operation *op, LoopNest nest);

/// Computes any op, before `op`, whatever its sizes, strides and maps: they are
/// arguments where the program alone knows them. A thread has one iteration of
/// the parallel loops and runs the reductions in the order of the op.
void emitGeneral(KernelModule &kernels, mlir::linalg::LinalgOp op);

/// Fails, with an error at `op`, if emitGeneral has no kernel for it.
llvm::LogicalResult checkGeneral(mlir::linalg::LinalgOp op);

/// The op that gives `buffer` the value that `op` finds in it, where that is a
/// fill and nothing else reads it; null otherwise.
mlir::linalg::FillOp findFill(mlir::Operation *op, mlir::Value buffer);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELS_H
