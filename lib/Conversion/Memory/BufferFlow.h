//===- BufferFlow.h - Aliases of buffers ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_MEMORY_BUFFERFLOW_H
#define BRAID_LIB_CONVERSION_MEMORY_BUFFERFLOW_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

/// All values that may alias one of `buffers`, first `buffers` themselves:
/// views, arguments and results of regions and loops, arguments of blocks,
/// results of calls. The search ignores uses for which `stopAt` is true.
llvm::SetVector<mlir::Value> getAliases(
    mlir::ValueRange buffers,
    llvm::function_ref<bool(mlir::OpOperand &)> stopAt = [](mlir::OpOperand &) {
      return false;
    });

/// The values that receive the operand through a region, a loop or a branch.
llvm::SmallVector<mlir::Value> getPassedOn(mlir::OpOperand &use);

/// True if `loop`, an scf.for or scf.while, passes the operand to its next
/// iteration.
bool isCarried(mlir::OpOperand &use, mlir::Operation *loop);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_MEMORY_BUFFERFLOW_H
