//===- EndlessRecursion.h - Functions that never return ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_ENDLESSRECURSION_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_ENDLESSRECURSION_H

#include "Findings.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace braid {

/// Finds recursion that cannot end, because every path through the functions of
/// a cycle of calls leads to the next call. Conditions are not evaluated, and
/// the bodies of loops may never run, so this is recursion without an end for
/// every input. Adds one finding for each cycle, at one of its calls.
void findEndlessRecursion(mlir::ModuleOp module,
                          mlir::SymbolTableCollection &symbolTables,
                          Findings &findings);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_ENDLESSRECURSION_H
