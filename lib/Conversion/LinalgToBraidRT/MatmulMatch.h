//===- MatmulMatch.h - Matmuls of the library -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_MATMULMATCH_H
#define BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_MATMULMATCH_H

#include "braid/Support/MatmulAttributes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace braid {

/// The roles of the inputs and loops of a matmul. The result is a matrix of m
/// rows whose n elements are adjacent.
struct MatmulMatch {
  /// The inputs with the left and the right matrix. The right one is the first
  /// input if the result is stored as its transpose.
  unsigned left = 0, right = 1;
  /// The loop over the matrices of a batch; none for a single matmul.
  std::optional<unsigned> batch;
  unsigned m, n, k;
  /// True if an operand is stored as its transpose.
  bool transposedA, transposedB;
  /// The dimension of A, B and the result that runs over the batch, 0 or 1.
  unsigned batchOfA = 0, batchOfB = 0, batchOfC = 0;
  /// True if a third input is added to each row of the result.
  bool hasBias;
};

/// Matches a named or generic op that multiplies matrices and adds the matmul
/// to its init. The op may have one batch dimension, but not the last one of an
/// operand, and a bias if it has `kBiasAttrName`.
std::optional<MatmulMatch> matchMatmul(mlir::linalg::LinalgOp op);

/// True if the host's library multiplies matrices of the element types of `op`.
bool hasLibraryTypes(mlir::linalg::LinalgOp op);

/// The same for the library of a GPU, which sums small floats in f32.
bool hasDeviceLibraryTypes(mlir::linalg::LinalgOp op);

/// True if a call of the library of a GPU computes `op`, on buffers: the
/// library has the types, and the rows of all operands are contiguous.
bool isDeviceLibraryCall(mlir::linalg::LinalgOp op);

/// True if the rows of all operands, which are buffers, are contiguous.
bool hasContiguousRows(mlir::linalg::LinalgOp op);

/// Emits an error and fails if `op` has a bias or an epilogue, which only the
/// library of a GPU computes.
llvm::LogicalResult checkPlain(mlir::linalg::LinalgOp op);

/// The same for the element types of both operands and of the result.
bool hasDeviceLibraryTypes(mlir::Type input, mlir::Type result);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_MATMULMATCH_H
