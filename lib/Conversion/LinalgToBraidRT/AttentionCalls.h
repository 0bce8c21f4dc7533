//===- AttentionCalls.h - Calls of the library for attention ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_ATTENTIONCALLS_H
#define BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_ATTENTIONCALLS_H

#include "mlir/IR/Operation.h"

#include <string>

namespace braid {

/// What keeps cuDNN on a GPU of the type `chip` (`sm_90`) from computing the
/// attention or the gradients `op`: what is found and what is expected. Empty
/// if nothing does.
std::string findObstacle(mlir::Operation *op, llvm::StringRef chip);

/// Replaces attention or gradients on buffers by a call of
/// `braid_rt_attention` or `braid_rt_attention_backward`. Fails, with an error,
/// if the strides of an operand are not known.
llvm::LogicalResult convertAttentionToCall(mlir::Operation *op);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_ATTENTIONCALLS_H
