//===- AlignLayouts.h - Layouts of values between fused ops -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_ALIGNLAYOUTS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_ALIGNLAYOUTS_H

#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Permutes the dimensions of large tensors that only linalg.generic ops below
/// `root` write and read, so that these ops read and write fewer bytes along
/// different loops. Matmuls that do, too, exchange rows and columns. Returns
/// the number of tensors with another layout.
int64_t alignLayouts(mlir::RewriterBase &rewriter, mlir::Operation *root);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_ALIGNLAYOUTS_H
