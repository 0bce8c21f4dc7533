//===- Calls.h - Calls of the runtime for ops -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_CALLS_H
#define BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_CALLS_H

#include "MatmulMatch.h"

#include "braid/Dialect/Library/IR/Library.h"
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

/// Replaces `op` by a call of `braid_rt_matmul` or `braid_rt_batch_matmul`.
void convertToCall(mlir::linalg::LinalgOp op, const MatmulMatch &match);

/// Replaces `op` by a call of `braid_rt_fused_matmul`.
void convertToFusedCall(mlir::linalg::LinalgOp op, const MatmulMatch &match);

/// Replaces a convolution on buffers by a call of `braid_rt_convolution`.
/// Fails, with an error, if the library does not compute it or the strides of
/// an operand are not known.
llvm::LogicalResult convertConvolutionToCall(library::ConvolutionOp op);

/// Replaces `op`, on buffers, by a call of `braid_rt_call_routine`. Fails, with
/// an error, if the elements of a buffer are not contiguous.
llvm::LogicalResult convertToCall(library::CallOp op);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_CALLS_H
