//===- KernelBody.h - Bodies of linalg ops in kernels -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELBODY_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELBODY_H

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace braid::kernels {

/// True if every op of `body` computes vectors as well as scalars.
bool isVectorizable(mlir::Block &body);

/// `value` as a vector of `lanes` elements, if there are several.
mlir::Value broadcast(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                      int64_t lanes);

/// Copies one op of a body. Vector operands make it compute vectors.
void emitBodyOp(mlir::ImplicitLocOpBuilder &b, mlir::Operation &op,
                mlir::IRMapping &mapping, int64_t lanes,
                llvm::ArrayRef<mlir::Value> indices);

/// Copies the ops of `body` and returns what it yields. `mapping` has the
/// values of its arguments and of those from outside, scalars or vectors of
/// `lanes` elements. `indices` are what `linalg.index` asks for.
llvm::SmallVector<mlir::Value> emitBody(mlir::ImplicitLocOpBuilder &b,
                                        mlir::Block &body,
                                        mlir::IRMapping &mapping, int64_t lanes,
                                        llvm::ArrayRef<mlir::Value> indices);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELBODY_H
