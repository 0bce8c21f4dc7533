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

using Effects = llvm::SmallVectorImpl<
    mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;

/// The effects of an op that reads its inputs and the outputs for which
/// `readsOutput` is true, and writes its outputs.
void addEffects(
    mlir::DestinationStyleOpInterface op, Effects &effects,
    llvm::function_ref<bool(mlir::OpOperand &)> readsOutput =
        [](mlir::OpOperand &) { return false; });

/// The sizes of a value of a shaped type.
inline llvm::ArrayRef<int64_t> getSizes(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getShape();
}

/// The bytes of a value with static sizes; saturates.
uint64_t getByteSize(mlir::Value value);

/// Lets all ops of the dialect be bufferized.
void attachBufferization(mlir::MLIRContext &context);

} // namespace braid::library

#endif // BRAID_LIB_DIALECT_LIBRARY_IR_OPERANDS_H
