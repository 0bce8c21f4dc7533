//===- RowKernels.h - Ops that share a kernel of rows -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_IR_ROWKERNELS_H
#define BRAID_LIB_COST_IR_ROWKERNELS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace braid {

/// True if `op` adds nothing to the time of the kernel of rows that computes it
/// (lib/Conversion/LinalgToGPU/RowRun.h): a reduction of rows whose elements a
/// neighbour in the block reads or computes too, or one value for each row from
/// such a reduction.
bool isFreeInRowKernel(mlir::linalg::LinalgOp op);

} // namespace braid

#endif // BRAID_LIB_COST_IR_ROWKERNELS_H
