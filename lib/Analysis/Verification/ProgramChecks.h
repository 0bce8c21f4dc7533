//===- ProgramChecks.h - Programs that cannot end ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_PROGRAMCHECKS_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_PROGRAMCHECKS_H

#include "CollectiveSequence.h"
#include "Findings.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace braid {

/// Runs the starts and waits of all ranks, whose operations are matched, until
/// all have ended or wait for each other. An operation ends when all of its
/// ranks have started it and all operations before it in its lanes have ended.
/// No order in which ranks go on leads to another end. Adds a finding and
/// returns false if ranks wait for each other. With `sharesLanes` all
/// collectives of a rank share one lane, whatever their communicators.
bool checkWaits(llvm::ArrayRef<const RankTrace *> traces,
                const CollectiveMatching &matching, bool sharesLanes,
                Findings &findings);

/// Finds recursion that cannot end, because every path through the functions of
/// a cycle of calls leads to the next call. Conditions are not evaluated, and
/// the bodies of loops may never run, so this is recursion without an end for
/// every input. Adds one finding for each cycle, at one of its calls.
void findEndlessRecursion(mlir::ModuleOp module,
                          mlir::SymbolTableCollection &symbolTables,
                          Findings &findings);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_PROGRAMCHECKS_H
