//===- ReportReasons.h - Reasons of exposed communication -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_REPORT_REPORTREASONS_H
#define BRAID_LIB_REPORT_REPORTREASONS_H

#include "braid/Analysis/Memory/OpEffects.h"
#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/ScheduleIR/CostModel.h"
#include "braid/ScheduleIR/ProblemBuilder.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>
#include <string>

namespace braid {

/// Explains exposed communication by comparing the blocks of a program with
/// other orders. Analyses each block once, at its first query.
class ExposureExplainer {
public:
  /// Orders that need more than `memoryLimit` bytes do not count.
  ExposureExplainer(mlir::ModuleOp module, CostModel &model,
                    std::optional<int64_t> memoryLimit);

  /// The reason why the operation of `start` is exposed: a sentence without a
  /// full stop. Empty if the operation is not exposed, or if `buildBlockGraph`
  /// fails for the block.
  std::string getReason(mlir::Operation *start);

  /// Replaces the lower bound of `totals`, the totals of `region`, by the best
  /// lower bound, and sets `kind` to its name. Does nothing for regions of
  /// several blocks.
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
  /// Blocks whose starts have reasons.
  llvm::DenseSet<mlir::Block *> explained;
  llvm::DenseMap<mlir::Operation *, std::string> reasons;
};

} // namespace braid

#endif // BRAID_LIB_REPORT_REPORTREASONS_H
