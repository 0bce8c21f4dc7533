//===- CountedWhiles.h - Loops that count to a known end --------*- C++ -*-===//
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

/// Replaces each `scf.while` of `module` that has a collective and counts to a
/// value that the loop does not change by an `scf.for`: by ones, or between
/// constants by constant steps.
void replaceCountedWhiles(mlir::ModuleOp module);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_COUNTEDWHILES_H
