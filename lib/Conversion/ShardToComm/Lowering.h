//===- Lowering.h - What conversions from shard share -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_SHARDTOCOMM_LOWERING_H
#define BRAID_LIB_CONVERSION_SHARDTOCOMM_LOWERING_H

#include "GridGroups.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace braid::spmd {

/// The values that replace the results of an op; failure after an error.
using Replacement = mlir::FailureOr<llvm::SmallVector<mlir::Value>>;

/// Builds in front of one op of the shard dialect.
class Lowering : public mlir::ImplicitLocOpBuilder {
public:
  Lowering(mlir::Operation *op, GridGroups &groups)
      : ImplicitLocOpBuilder(op->getLoc(), op), op(op), groups(groups) {}

  //===--------------------------------------------------------------------===//
  // Indices
  //===--------------------------------------------------------------------===//

  mlir::Value getIndex(mlir::OpFoldResult number);
  mlir::OpFoldResult add(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  mlir::OpFoldResult subtract(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  mlir::OpFoldResult multiply(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  mlir::OpFoldResult divide(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);
  /// The row-major position of `coordinates` in a space of the sizes `sizes`.
  mlir::OpFoldResult linearize(llvm::ArrayRef<mlir::OpFoldResult> coordinates,
                               llvm::ArrayRef<int64_t> sizes);
  /// The multi-index of a device that an op names, in a space of the sizes
  /// `sizes`. `role` names the operand in errors.
  mlir::FailureOr<llvm::SmallVector<mlir::OpFoldResult>>
  getMultiIndex(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> statics,
                mlir::ValueRange dynamics, llvm::StringRef role);
  /// The member of `group` with such a multi-index.
  mlir::FailureOr<mlir::OpFoldResult> getMember(const AxisGroup &group,
                                                llvm::ArrayRef<int64_t> statics,
                                                mlir::ValueRange dynamics,
                                                llvm::StringRef role);
  /// The index of this rank in `group`.
  mlir::Value getRank(const AxisGroup &group);

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  /// Awaits the token of `start`, an op with one token, right behind it.
  mlir::Value await(mlir::Operation *start);
  /// A tensor of the elements that `buffer` has now.
  mlir::Value copyToTensor(mlir::Value buffer);
  /// Casts the static sizes of `tensor` to those of `type`.
  mlir::Value cast(mlir::Value tensor, mlir::Type type);
  /// Converts the elements, as an operand of a reduction is converted.
  mlir::FailureOr<mlir::Value> convertElements(mlir::Value tensor,
                                               mlir::Type elementType);
  /// Dimension i of the result is dimension `order[i]` of `tensor`.
  mlir::Value transpose(mlir::Value tensor, llvm::ArrayRef<int64_t> order);
  /// `yes` where the condition, an i1, is true, else `no`. Either may be a
  /// scalar.
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no);

  mlir::Operation *const op;
  GridGroups &groups;
};

/// The order of dimensions in which `dim` is first and the others follow.
llvm::SmallVector<int64_t> getOrderWithFirst(int64_t rank, int64_t dim);

/// Converts a collective.
Replacement lowerCollective(Lowering &b);
/// Converts shard.update_halo.
Replacement lowerUpdateHalo(Lowering &b);
/// Converts an op that gives indices or sizes.
Replacement lowerIndices(Lowering &b);
/// True for the ops that the functions above convert.
bool isCollective(mlir::Operation *op);
bool isIndices(mlir::Operation *op);

/// Converts the messages of a module in their order. The waits of a run of
/// messages go behind its last one, so that ranks can exchange data: a rank
/// that awaited its send first would wait for a receive of a rank that does the
/// same.
class MessageLowering {
public:
  Replacement lower(Lowering &b);

private:
  /// The last message of the run at hand; null between runs.
  mlir::Operation *last = nullptr;
  /// The waits of the run so far.
  llvm::SmallVector<mlir::Operation *> waits;
};

} // namespace braid::spmd

#endif // BRAID_LIB_CONVERSION_SHARDTOCOMM_LOWERING_H
