//===- CountedWhiles.h - Loops that count to a constant ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_COUNTEDWHILES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_COUNTEDWHILES_H

#include "mlir/IR/BuiltinOps.h"

namespace braid::comm {

/// Replaces each `scf.while` of `module` that has a collective and counts from
/// a constant to a larger one, by constant steps, by an `scf.for`.
void replaceCountedWhiles(mlir::ModuleOp module);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_COUNTEDWHILES_H
