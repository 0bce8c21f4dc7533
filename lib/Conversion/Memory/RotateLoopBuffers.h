//===- RotateLoopBuffers.h - Buffers that loops carry -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_MEMORY_ROTATELOOPBUFFERS_H
#define BRAID_LIB_CONVERSION_MEMORY_ROTATELOOPBUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace braid {

/// Allocates the loop-carried buffers of `function` before their loops, as the
/// pass `braid-rotate-loop-buffers` does, except for buffers of dynamic sizes
/// and those of the allocations in `kept`. Returns the allocations that cannot
/// be rotated because a loop that carries operations in flight keeps the buffer
/// for an unknown number of iterations; these allocations stay in their loops.
llvm::SmallVector<mlir::Operation *>
rotateLoopBuffers(mlir::func::FuncOp function,
                  const llvm::SetVector<mlir::Operation *> &kept = {});

} // namespace braid

#endif // BRAID_LIB_CONVERSION_MEMORY_ROTATELOOPBUFFERS_H
