//===- RowRun.h - Ops that work on the same rows ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_ROWRUN_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_ROWRUN_H

#include "Reduction.h"

namespace braid::kernels {

/// One op of a run.
struct RowOp {
  enum Kind {
    /// An element of a row from elements at the same place.
    Elements,
    /// One value for a row from its elements.
    Reduction,
    /// One value for a row from such values.
    Row
  };

  mlir::linalg::LinalgOp op;
  LoopNest nest;
  Kind kind;
  llvm::SmallVector<Combiner> combiners;
};

/// Ops that follow each other and work on the same rows, so that one kernel can
/// keep a row in registers from the first to the last.
struct RowRun {
  std::vector<RowOp> ops;
  /// The loops over rows; the one behind them runs along a row.
  llvm::SmallVector<int64_t> rowSizes;
  int64_t length = 0;

  int64_t getNumRows() const;
  bool contains(mlir::Operation *op) const;
  /// Whether nothing but the run knows what is in `buffer` afterwards.
  bool isDeadBehind(mlir::Value buffer) const;
};

/// The longest row that a kernel keeps in registers.
constexpr int64_t kMaxRowLength = 16384;

/// The run around `seed`, an op with reductions; empty if there is none.
RowRun findRowRun(mlir::linalg::LinalgOp seed);

/// Emits the kernel of `run` before its last op, and erases the ops and the
/// buffers that they alone used.
void emitRowRun(KernelModule &kernels, mlir::RewriterBase &rewriter,
                RowRun &run);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_ROWRUN_H
