//===- Combiners.h - How ops combine their terms ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_COMBINERS_H
#define BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_COMBINERS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace braid {

/// The ops that combine the results of `op` with a new term each; empty if some
/// result is combined in another way.
llvm::SmallVector<mlir::Operation *> getCombiners(mlir::linalg::GenericOp op);

/// True if successive iterations of loop `dim` access adjacent elements of
/// `buffer` by `map`.
bool isAdjacent(mlir::MemRefType buffer, mlir::AffineMap map, unsigned dim);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_COMBINERS_H
