//===- WorldSize.h - How many ranks a program is for ---------- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_WORLDSIZE_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_WORLDSIZE_H

#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// How many ranks a program runs on.
struct WorldSize {
  int64_t numRanks;
  /// The program or its user says so; if not, this is the least number of at
  /// least two for which all ranks exist that the program names.
  bool isKnown;
  /// Groups that name a rank that does not exist.
  llvm::SmallVector<std::pair<comm::GroupOp, int64_t>> outOfRange;
};

/// The number of ranks of `module`: `given`, or what groups of all ranks imply
/// by the shapes of their collectives, or what lists of ranks name.
WorldSize getWorldSize(mlir::ModuleOp module, std::optional<int64_t> given,
                       mlir::SymbolTableCollection &symbolTables);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_WORLDSIZE_H
