//===- KernelBody.h - Bodies of linalg ops in kernels -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELBODY_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELBODY_H

#include "LoopNest.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace braid::kernels {

class KernelBuilder;

/// True if every op of `body` computes vectors as well as scalars.
bool isVectorizable(mlir::Block &body);

/// True if the body has elementwise ops, branches and loads from buffers alone.
/// Loads and branches have no vectors.
bool isElementwise(mlir::Block &body);

/// The widest vectors up to `lanes`, in elements along the loop `loop`, in
/// which the body of `nest` computes; 1 if it computes no vectors. Loads of
/// adjacent elements are vectors; all iterations of a vector take the same
/// branches.
int64_t getVectorLanes(const LoopNest &nest, unsigned loop, int64_t lanes);

/// Broadcasts `value` to a vector of `lanes` elements, unless `lanes` is 1.
mlir::Value broadcast(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                      int64_t lanes);

/// Copies one op of a body. With vector operands the copy computes vectors.
/// Loads, branches and loops must be those that `getVectorLanes` allows.
void emitBodyOp(mlir::ImplicitLocOpBuilder &b, mlir::Operation &op,
                mlir::IRMapping &mapping, int64_t lanes,
                llvm::ArrayRef<mlir::Value> indices);

/// Copies the ops of `body` and returns the yielded values. `mapping` has the
/// arguments of `body` and the values from outside, as scalars or vectors of
/// `lanes` elements. `indices` are the results of `linalg.index`.
llvm::SmallVector<mlir::Value> emitBody(mlir::ImplicitLocOpBuilder &b,
                                        mlir::Block &body,
                                        mlir::IRMapping &mapping, int64_t lanes,
                                        llvm::ArrayRef<mlir::Value> indices);

/// An op without reductions, and the indices of its loops.
struct Point {
  const LoopNest *nest;
  llvm::SmallVector<mlir::Value> indices;
};

/// Computes `points`, vectors of `lanes` elements along the loop `vectorLoop`:
/// first all loads, then all arithmetic, then all stores, so that loads
/// overlap.
void emitPoints(KernelBuilder &builder, llvm::ArrayRef<Point> points,
                int64_t lanes, unsigned vectorLoop);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_KERNELBODY_H
