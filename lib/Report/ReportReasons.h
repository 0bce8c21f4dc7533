//===- ReportReasons.h - Why communication is exposed -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_REPORT_REPORTREASONS_H
#define BRAID_LIB_REPORT_REPORTREASONS_H

#include "braid/Analysis/OpEffects.h"
#include "braid/Analysis/RankUniformity.h"
#include "braid/ScheduleIR/CostModel.h"
#include "braid/ScheduleIR/ProblemBuilder.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>
#include <string>

namespace braid {

/// Tells of the blocks of a program what other orders of them could do. Each
/// block is looked at once, when the first question comes.
class ExposureExplainer {
public:
  /// An order that needs more than `memoryLimit` bytes is none.
  ExposureExplainer(mlir::ModuleOp module, CostModel &model,
                    std::optional<int64_t> memoryLimit);

  /// Why the operation of `start` is exposed where it stands: a sentence
  /// without a full stop. Empty if it is not, or if its block cannot be
  /// reordered at all (see `buildBlockGraph`).
  std::string getReason(mlir::Operation *start);

  /// Replaces the lower bound of `totals`, those of `region`, by the best that
  /// is known, and says in `kind` what it consists of. Regions of several
  /// blocks keep theirs.
  void improveLowerBound(mlir::Region &region, TimelineTotals &totals,
                         std::string &kind);

private:
  /// The problem of `block`; null if it has none.
  const BlockProblem *getProblem(mlir::Block &block);
  void explain(mlir::Block &block);

  CostModel &model;
  std::optional<int64_t> memoryLimit;
  CallEffects calls;
  RankUniformity uniformity;
  llvm::DenseMap<mlir::Block *, std::unique_ptr<BlockProblem>> problems;
  /// Blocks whose starts have their reasons.
  llvm::DenseSet<mlir::Block *> explained;
  llvm::DenseMap<mlir::Operation *, std::string> reasons;
};

} // namespace braid

#endif // BRAID_LIB_REPORT_REPORTREASONS_H
