//===- Operands.h - What all library ops do with operands -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_LIBRARY_IR_OPERANDS_H
#define BRAID_LIB_DIALECT_LIBRARY_IR_OPERANDS_H

#include "braid/Dialect/Library/IR/Library.h"

namespace braid::library {

/// The effects of an op that reads its inputs and writes its outputs.
void addEffects(mlir::DestinationStyleOpInterface op,
                llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<
                    mlir::MemoryEffects::Effect>> &effects);

/// The sizes of a value of a shaped type.
inline llvm::ArrayRef<int64_t> getSizes(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getShape();
}

/// The bytes of a value with static sizes; saturates.
uint64_t getByteSize(mlir::Value value);

/// Gives `op`, on tensors, the buffers that `pack` makes of those of its
/// operands, and copies what it writes back where these are others.
llvm::LogicalResult bufferizeOnPacked(
    mlir::DestinationStyleOpInterface op, mlir::RewriterBase &rewriter,
    const mlir::bufferization::BufferizationOptions &options,
    mlir::bufferization::BufferizationState &state,
    llvm::function_ref<llvm::FailureOr<mlir::Value>(mlir::OpOperand &,
                                                    mlir::Value)>
        pack);

/// Gives `op`, on tensors, contiguous buffers. Only operands that `reads` is
/// true for have contents before.
llvm::LogicalResult
bufferizeOnContiguous(mlir::DestinationStyleOpInterface op,
                      mlir::RewriterBase &rewriter,
                      const mlir::bufferization::BufferizationOptions &options,
                      mlir::bufferization::BufferizationState &state,
                      llvm::function_ref<bool(mlir::OpOperand &)> reads);

} // namespace braid::library

#endif // BRAID_LIB_DIALECT_LIBRARY_IR_OPERANDS_H
