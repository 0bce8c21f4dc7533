//===- RowRun.h - Ops that work on the same rows ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_RUNS_ROWRUN_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_RUNS_ROWRUN_H

#include "../Reduction.h"

#include "braid/Support/RowLength.h"

namespace braid::kernels {

using braid::kMaxRowLength;

/// One op of a run.
struct RowOp {
  enum Kind {
    /// Computes each element of a row from elements at the same position.
    Elements,
    /// Reduces the elements of a row to one value.
    Reduction,
    /// Computes one value for a row from other values of the row.
    Row
  };

  mlir::linalg::LinalgOp op;
  LoopNest nest;
  Kind kind;
  llvm::SmallVector<Combiner> combiners;
};

/// Consecutive ops on the same rows. One kernel computes all of them and keeps
/// each row in registers.
struct RowRun {
  std::vector<RowOp> ops;
  /// The sizes of the loops over rows. The loop inside of them runs along a
  /// row.
  llvm::SmallVector<int64_t> rowSizes;
  int64_t length = 0;

  int64_t getNumRows() const;
  bool contains(mlir::Operation *op) const;
  /// True if no op after the run reads `buffer`.
  bool isDeadBehind(mlir::Value buffer) const;
};

/// The vectors in which threads reduce rows of `length`, in elements. Depends
/// on `op`, a reduction, alone: the order of the program decides which ops
/// share a kernel, and must not change the order of a sum.
int64_t getReductionLanes(const RowOp &op, size_t numRowLoops, int64_t length);

/// The run around `seed`, an op with reductions; empty if there is none.
RowRun findRowRun(mlir::linalg::LinalgOp seed);

/// Emits the kernel of `run` before its last op, and erases the ops of the run
/// and the buffers that only these ops use.
void emitRowRun(KernelModule &kernels, mlir::RewriterBase &rewriter,
                RowRun &run);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_RUNS_ROWRUN_H
