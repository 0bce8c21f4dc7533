//===- MatmulCalls.h - Calls of the library for matmuls ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_MATMULCALLS_H
#define BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_MATMULCALLS_H

#include "MatmulMatch.h"

namespace braid {

/// Replaces `op` by a call of `braid_rt_matmul` or `braid_rt_batch_matmul`.
void convertToCall(mlir::linalg::LinalgOp op, const MatmulMatch &match);

/// Replaces `op` by a call of `braid_rt_fused_matmul`.
void convertToFusedCall(mlir::linalg::LinalgOp op, const MatmulMatch &match);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_MATMULCALLS_H
