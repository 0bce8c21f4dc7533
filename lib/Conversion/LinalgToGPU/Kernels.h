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

#include "braid/Dialect/Library/IR/Library.h"

namespace braid::kernels {

/// Emits a kernel for an op without reductions, launched before `op`. A thread
/// computes up to 16 bytes of adjacent elements.
void emitElementwise(KernelModule &kernels, mlir::Operation *op, LoopNest nest);

/// Emits a kernel with tiles in shared memory for an op without reductions that
/// reads some inputs along another dimension than it writes. Returns false if
/// `op` is no such op.
bool emitTransposed(KernelModule &kernels, mlir::Operation *op, LoopNest nest);

/// Emits a kernel for any op with constant sizes. A thread computes one element
/// of the results and runs the reductions in the order of the op.
void emitSequential(KernelModule &kernels, mlir::Operation *op, LoopNest nest);

/// Emits a kernel for a reduction along outer dimensions. Adjacent threads have
/// adjacent results. Returns false if the results or operands are not adjacent
/// in memory.
bool emitColumns(KernelModule &kernels, mlir::Operation *op, LoopNest nest);

/// The number of adjacent columns of the kernel that `emitColumns` emits.
int64_t countAdjacentColumns(const LoopNest &nest);

/// Emits a kernel for a reduction with any strides, whose order does not
/// matter: a group of threads has each result. Returns false if the order
/// matters.
bool emitGroups(KernelModule &kernels, mlir::Operation *op, LoopNest nest);

/// Emits a kernel for any op, with dynamic sizes and strides as arguments. A
/// thread computes one iteration of the parallel loops and runs the reductions
/// in the order of the op.
void emitGeneral(KernelModule &kernels, mlir::linalg::LinalgOp op);

/// Emits a kernel with tensor cores for a small matmul of f32 that may be
/// computed in TF32. Returns false if `op` is no such matmul, or if the library
/// is faster.
bool emitMatmul(KernelModule &kernels, mlir::linalg::LinalgOp op);

/// Emits kernels for a call of the routine `sort`, on buffers of known sizes,
/// launched before `op`: a block sorts tiles in shared memory.
void emitSort(KernelModule &kernels, library::CallOp op);

/// Emits an error at `op` and fails if `emitGeneral` does not support `op`.
llvm::LogicalResult checkGeneral(mlir::linalg::LinalgOp op);

/// The fill whose value `op` reads from `buffer`, if no other op reads it; null
/// otherwise.
mlir::linalg::FillOp findFill(mlir::Operation *op, mlir::Value buffer);

/// Bufferization copies a filled buffer to where several reductions start. Each
/// such copy under `root` becomes a fill, which kernels take in.
void replaceCopiesOfFills(mlir::RewriterBase &rewriter, mlir::Operation *root);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELS_H
