//===- UnrollReduction.h - Short reductions element by element --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_UNROLLREDUCTION_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_UNROLLREDUCTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Replaces `op`, a reduction of a few elements to each of many results or a
/// short product, by an elementwise op that combines these elements in the
/// order of the reduction. An op stays if it reduces elements that are adjacent
/// in memory, or if a library computes it. Returns true if it replaced `op`.
bool unrollReduction(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op,
                     int64_t opsPerByte);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_UNROLLREDUCTION_H
