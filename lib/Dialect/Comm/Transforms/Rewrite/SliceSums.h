//===- SliceSums.h - Sums with slices among zeros ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_SLICESUMS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_SLICESUMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// If `sum` adds a slice in a tensor of zeros to another tensor, adds the slice
/// to that slice of the other tensor instead, as for the gradient of a slice in
/// a loop: no zeros are written, and no other element is read. Zeros of floats
/// keep their signs. Returns true if it did.
bool addToSlice(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp sum);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_SLICESUMS_H
