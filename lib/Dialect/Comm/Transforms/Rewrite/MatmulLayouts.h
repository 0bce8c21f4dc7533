//===- MatmulLayouts.h - Layouts of the matrices of matmuls -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_MATMULLAYOUTS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_MATMULLAYOUTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// A tensor that a matmul reads or writes, maybe through a reshape. Libraries
/// take its rows and columns in either order at the same cost.
struct Matrix {
  mlir::linalg::LinalgOp matmul;
  /// The number of the operand; for a result that of its init.
  unsigned operand;
  /// The reshape between the matmul and the tensor, or null.
  mlir::Operation *reshape;
  /// How many dimensions of the tensor are the batch, and the rows behind it.
  unsigned numBatch, numRows;

  /// How the dimensions of a tensor of `rank` are permuted if rows and columns
  /// are exchanged.
  mlir::SmallVector<int64_t> getExchange(unsigned rank) const;
};

/// The matrix that `value` is as the result of a matmul; none if it is none, or
/// the matmul adds to what is in memory.
std::optional<Matrix> findWrittenMatrix(mlir::OpResult value);

/// The matrices that `use` reads; none if other ops than matmuls read what it
/// gives.
mlir::SmallVector<Matrix> findReadMatrices(mlir::OpOperand &use);

/// Lets matmuls read and write `matrices`, whose tensors have the types with
/// exchanged dimensions already, with rows and columns exchanged.
void exchangeRowsAndColumns(mlir::RewriterBase &rewriter,
                            mlir::ArrayRef<Matrix> matrices);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_MATMULLAYOUTS_H
