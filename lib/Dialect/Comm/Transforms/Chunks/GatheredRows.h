//===- GatheredRows.h - What reads a gather row by row ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_GATHEREDROWS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_GATHEREDROWS_H

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/IR/CommSplitInterface.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"
#include <optional>

namespace braid::comm {

/// An all-gather, and the ops of its block that compute each row of their
/// results from the same row of their operands, where the rows are those that
/// the gather joins. A row is an index along one dimension.
struct GatheredRows {
  CollectiveOpInterface start;
  WaitOp wait;
  /// In the order of the block, each with the axis of its rows.
  llvm::MapVector<mlir::Operation *, SplitAxis> ops;
  /// The gathered value and the results of the ops, and which dimension of each
  /// has the rows.
  llvm::SmallMapVector<mlir::Value, int64_t, 8> dims;
  int64_t numMembers = 0;
  /// The rows of one member.
  int64_t numRows = 0;
};

/// What reads the gather `start` row by row, behind at most `numMatmuls`
/// matmuls in a row. Nothing if the gather is not of one tensor of static shape
/// with one wait in its block, if it has settings of its own, or if no matmul
/// reads it.
std::optional<GatheredRows> findGatheredRows(CollectiveOpInterface start,
                                             int64_t numMatmuls);

/// Computes the rows of each member by ops of their own, those of the rank
/// itself from the operand of the gather. Each element is computed as before.
void computeByMember(mlir::RewriterBase &rewriter, const GatheredRows &rows);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_GATHEREDROWS_H
