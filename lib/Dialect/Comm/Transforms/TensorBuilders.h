//===- TensorBuilders.h - Builders of ops on whole tensors ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders of the compute that replaces a part of a collective. Sizes may be
// dynamic.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_TENSORBUILDERS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_TENSORBUILDERS_H

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace braid::comm {

/// The type of `value`, a ranked tensor.
mlir::RankedTensorType getTensorType(mlir::Value value);

/// A tensor with elements of type `element`. `body` computes each element from
/// the element of `input` at the same position.
mlir::Value mapElements(
    mlir::ImplicitLocOpBuilder &b, mlir::Value input, mlir::Type element,
    llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Value)>
        body);

/// Splits dimension `dim` of `input` into two: `count`, and the quotient.
mlir::Value splitDim(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                     int64_t dim, mlir::OpFoldResult count);

/// Joins dimensions `dim` and `dim` + 1 of `input`.
mlir::Value joinDims(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                     int64_t dim);

/// Moves dimension `from` of `input` to position `to`.
mlir::Value moveDim(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                    int64_t from, int64_t to);

/// Converts each integer of `input` to bytes with one bit each, along a new
/// dimension 0.
mlir::Value unpackBits(mlir::ImplicitLocOpBuilder &b, mlir::Value input);

/// The inverse of `unpackBits`: builds integers of type `element` from the
/// lowest bits of the bytes along dimension 0 of `input`.
mlir::Value packBits(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                     mlir::IntegerType element);

/// Reduces `input` along dimension 0 with the bitwise reduction `kind`.
mlir::Value reduceBits(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                       ReductionKind kind);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_TENSORBUILDERS_H
