//===- Choices.h - Choices by numbers in memory -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_SUPPORT_CHOICES_H
#define BRAID_LIB_CONVERSION_SUPPORT_CHOICES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace braid {

/// The load that gives `value`, a number without dimensions, if nothing else
/// uses what it loads; null otherwise.
mlir::memref::LoadOp findOnlyLoad(mlir::Value value);

/// The load of the number by which `op`, an scf.if or an scf.index_switch whose
/// cases are 0, 1, ..., chooses, if nothing else needs what it loads: a number
/// without dimensions, i1 for scf.if, i32, i64 or index for scf.index_switch.
/// Null for other ops.
mlir::memref::LoadOp findSelector(mlir::Operation *op);

/// The regions of such an op: the case of number 0 first, the one for all other
/// numbers last. The region of an scf.if without an else is empty.
llvm::SmallVector<mlir::Region *> getCases(mlir::Operation *op);

/// Erases such an op, which has no results, with its load.
void eraseChoice(mlir::Operation *op);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_SUPPORT_CHOICES_H
