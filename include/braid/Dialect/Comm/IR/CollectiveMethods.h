//===- CollectiveMethods.h - Methods of all collectives ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions behind the interface methods that CommCollectives.td defines for
// all collectives. Collectives of other dialects call the same functions.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COLLECTIVEMETHODS_H
#define BRAID_DIALECT_COMM_IR_COLLECTIVEMETHODS_H

#include "braid/Dialect/Comm/IR/Comm.h"

namespace braid::comm {

/// The lane of the group's symbol; sends and receives have a lane of their own.
mlir::Attribute getLaneOfCollective(CollectiveOpInterface collective);

/// A start reads and writes its communicator, reads its sources and writes its
/// destinations.
void getStartEffects(
    AsyncStartOpInterface start,
    llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);

/// The operands `range` of `op`. A `MutableOperandRange` would build an
/// attribute for the sizes of the segments, which costs more than all else
/// here.
inline llvm::MutableArrayRef<mlir::OpOperand>
getOpOperands(mlir::Operation *op, mlir::OperandRange range) {
  if (range.empty())
    return {};
  return op->getOpOperands().slice(range.getBeginOperandIndex(), range.size());
}

/// Names the first token after the kind of the collective.
void nameTokens(CollectiveOpInterface collective,
                llvm::function_ref<void(mlir::Value, llvm::StringRef)> setName);

/// The tokens of a collective whose values have the types of `inputs`.
void inferTokenTypes(mlir::MLIRContext *context, mlir::ValueRange inputs,
                     llvm::SmallVectorImpl<mlir::Type> &types);

/// The shape of the value of token `index`: static sizes from its type, others
/// from the destination, or from the source by the shape rule of the
/// collective.
llvm::LogicalResult
reifyFromOperands(CollectiveOpInterface collective, mlir::OpBuilder &builder,
                  unsigned index,
                  llvm::SmallVectorImpl<mlir::OpFoldResult> &shape);

/// Verifies that `index`, which `op` names as `name`, is the index of a member
/// in every communicator of `group`. Emits an error at `op` otherwise.
llvm::LogicalResult verifyMember(mlir::Operation *op, llvm::StringRef name,
                                 int64_t index, GroupOp group);

/// The size that all communicators of `group` share, none for `all`. Emits an
/// error at `op` and fails for lists of different lengths: results would differ
/// in type from rank to rank.
mlir::FailureOr<std::optional<int64_t>> getSharedSize(mlir::Operation *op,
                                                      GroupOp group);

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_IR_COLLECTIVEMETHODS_H
