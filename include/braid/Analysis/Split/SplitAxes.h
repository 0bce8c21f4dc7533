//===- SplitAxes.h - Axes along which ops can be split ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_SPLIT_SPLITAXES_H
#define BRAID_ANALYSIS_SPLIT_SPLITAXES_H

#include "braid/Dialect/Comm/IR/CommSplitInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace braid {

/// The axes along which `op`, on tensors, can be split into ops on parts: by
/// the maps of an op of linalg, by `SplitOpInterface`, and for elementwise ops,
/// reshapes and slices of tensors, collectives and waits. A token stands for
/// the value in flight. Empty if `op` mixes the elements of its operands, or if
/// nothing is known of it.
llvm::SmallVector<comm::SplitAxis> getSplitAxes(mlir::Operation *op);

/// The type of `value`, or of the value in flight of a token; null for anything
/// but ranked tensors.
mlir::RankedTensorType getSplitType(mlir::Value value);

} // namespace braid

#endif // BRAID_ANALYSIS_SPLIT_SPLITAXES_H
