//===- SplitScan.h - Cumulative reductions in two steps ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_SPLITSCAN_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_SPLITSCAN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// If each element of the result of `op` reduces all elements of its input up
/// to its place, or from its place on (a window of the whole length over a
/// padded input), replaces `op` by scans of blocks, a scan of the results of
/// blocks, and an op that combines both. For n elements this takes some
/// 2 n sqrt(n) operations instead of n * n. Floats are added in another order.
/// Returns true if it replaced `op`.
bool splitScan(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_SPLITSCAN_H
