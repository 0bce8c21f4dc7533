//===- WorldSize.h - How many ranks a program is for ---------- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_TOKENS_WORLDSIZE_H
#define BRAID_ANALYSIS_TOKENS_WORLDSIZE_H

#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// How many ranks a program runs on.
struct WorldSize {
  int64_t numRanks;
  /// The program or its user says so; if not, the program has a group of all
  /// ranks, and this is the least number of at least two for which all ranks
  /// exist that the program names.
  bool isKnown;
  /// Groups that name a rank that does not exist.
  llvm::SmallVector<std::pair<comm::GroupOp, int64_t>> outOfRange;
};

/// The number of members that the shapes of `op`, which joins or splits, imply;
/// none if they are dynamic or imply no number.
std::optional<int64_t> getImpliedMembers(comm::CollectiveOpInterface op);

/// The number of ranks of `module`: `given`, or what groups of all ranks imply
/// by the shapes of their collectives, or what lists of ranks name. A program
/// without a group of all ranks runs on the ranks that its lists name, which
/// may be one. All that verifies or interprets a program without being told a
/// number of ranks takes it from here.
WorldSize getWorldSize(mlir::ModuleOp module, std::optional<int64_t> given,
                       mlir::SymbolTableCollection &symbolTables);

} // namespace braid

#endif // BRAID_ANALYSIS_TOKENS_WORLDSIZE_H
