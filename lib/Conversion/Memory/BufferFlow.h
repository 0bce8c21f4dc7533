//===- BufferFlow.h - Where buffers go ---------------------------*- C++
//-*-===//
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

/// All values that may refer to the memory of one of `buffers`, themselves
/// first: views, what regions and loops get and give, arguments of blocks,
/// results of calls. Nothing is followed across a use for which `stopAt` is
/// true.
llvm::SetVector<mlir::Value> getAliases(
    mlir::ValueRange buffers,
    llvm::function_ref<bool(mlir::OpOperand &)> stopAt = [](mlir::OpOperand &) {
      return false;
    });

/// True for a use by which `loop`, an scf.for or scf.while, gives a value to
/// its next iteration.
bool isCarried(mlir::OpOperand &use, mlir::Operation *loop);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_MEMORY_BUFFERFLOW_H
