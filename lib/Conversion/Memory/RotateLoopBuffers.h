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

namespace braid {

/// Allocates the loop-carried buffers of `function` before their loops, as the
/// pass `braid-rotate-loop-buffers` does. Returns null, or an allocation that
/// cannot be rotated because a loop that carries operations in flight keeps it
/// for an unknown number of iterations.
mlir::Operation *rotateLoopBuffers(mlir::func::FuncOp function);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_MEMORY_ROTATELOOPBUFFERS_H
