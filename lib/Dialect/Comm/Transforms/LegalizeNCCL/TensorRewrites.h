//===- TensorRewrites.h - Ops on whole tensors -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TENSORREWRITES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TENSORREWRITES_H

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace braid::comm {

/// The type of `value`, a ranked tensor.
mlir::RankedTensorType getTensorType(mlir::Value value);

/// Computes each element of a new tensor, of type `element`, from the element
/// of `input` at the same place.
mlir::Value
map(mlir::ImplicitLocOpBuilder &b, mlir::Value input, mlir::Type element,
    llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Value)>
        body);

/// Splits dimension `dim` of `input` into two dimensions: `count` parts, and
/// the elements of one part.
mlir::Value splitDim(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                     int64_t dim, mlir::OpFoldResult count);

/// Joins dimensions `dim` and `dim` + 1 of `input`.
mlir::Value joinDims(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                     int64_t dim);

/// Moves dimension `from` of `input` to place `to`.
mlir::Value moveDim(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                    int64_t from, int64_t to);

/// The bits of `input` as bytes. The bits of one number lie along a new
/// dimension 0.
mlir::Value unpackBits(mlir::ImplicitLocOpBuilder &b, mlir::Value input);

/// Packs the lowest bits of the bytes along dimension 0 of `input` into numbers
/// of type `element`.
mlir::Value packBits(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                     mlir::IntegerType element);

/// Reduces `input` along dimension 0 bit by bit.
mlir::Value reduceBits(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                       ReductionKind kind);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LEGALIZENCCL_TENSORREWRITES_H
