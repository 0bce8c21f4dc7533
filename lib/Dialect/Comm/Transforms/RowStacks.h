//===- RowStacks.h - Tensors that loops fill row by row ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_ROWSTACKS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_ROWSTACKS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {

/// More rows of a stack are not counted one by one.
inline constexpr int64_t kMostRows = 4096;

/// True if `slice` is one row of `whole` along dimension 0.
bool isRow(mlir::OffsetSizeAndStrideOpInterface slice,
           mlir::RankedTensorType whole);

/// What `index` is in the iteration of `number`, which `loop`, of constant
/// bounds, has; none if it does not fold to a constant.
std::optional<int64_t> evaluateIn(mlir::scf::ForOp loop, mlir::Value index,
                                  int64_t number);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_ROWSTACKS_H
