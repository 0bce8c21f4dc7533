//===- IterativePass.h - Base of the iterative passes -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULE_ITERATIVEPASS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULE_ITERATIVEPASS_H

#include "SchedulingPass.h"

#include "braid/Schedule/Baselines/Inductor/IterativeOverlap.h"
#include "braid/Support/IR/Remarks.h"

#include <string>

namespace braid::comm {

/// One of the two iterative algorithms.
using IterativeFunction = llvm::function_ref<IterativeResult(
    const SchedulingProblem &, llvm::ArrayRef<unsigned>,
    const IterativeOptions &)>;

/// The totals of one run of an iterative pass.
struct IterativeTotals {
  unsigned numMoved = 0;
  unsigned numMoves = 0;
  double improvementNs = 0;
};

/// Fails if a number in `options` is invalid, with an error at `loc` that names
/// the option.
llvm::LogicalResult checkIterativeOptions(mlir::Location loc,
                                          const IterativeOptions &options);

/// Runs `algorithm` on each block of the functions of `root` that has a start
/// or a wait. Prints statistics, under `title`, to the file `output`; `-` is
/// standard error, and an empty name prints nothing. Emits an error and fails
/// if a block or a setting is invalid.
llvm::FailureOr<IterativeTotals>
runIterativePass(mlir::Operation *root, mlir::AnalysisManager analyses,
                 const CostSettings &settings, IterativeOptions options,
                 IterativeFunction algorithm, llvm::StringRef title,
                 const std::string &output, llvm::StringRef pass);

/// A pass with `iterativeOptions`.
template <typename Base>
class IterativePass : public ModuleOrFunctionPass<Base> {
public:
  using ModuleOrFunctionPass<Base>::ModuleOrFunctionPass;

  llvm::LogicalResult initialize(mlir::MLIRContext *context) override {
    if (failed(ModuleOrFunctionPass<Base>::initialize(context)))
      return llvm::failure();
    return checkIterativeOptions(getOptionLoc(context), getIterativeOptions());
  }

protected:
  /// The values of `iterativeOptions`.
  IterativeOptions getIterativeOptions() const {
    IterativeOptions options;
    options.useRuntimeEstimations = this->useRuntimeEstimations;
    options.peakMemoryBudget = this->peakMemoryBudget;
    options.groupWithCollectives = this->groupWithCollectives;
    options.commRuntimeMult = this->commRuntimeMult;
    options.computeRuntimeMult = this->computeRuntimeMult;
    options.extraOverlap = this->extraOverlap;
    return options;
  }

  /// Runs `algorithm`; see `runIterativePass`. The remark `movedName` counts
  /// what it moves.
  void run(IterativeOptions options, IterativeFunction algorithm,
           llvm::StringRef title, llvm::StringRef movedName) {
    llvm::FailureOr<IterativeTotals> totals =
        runIterativePass(this->getOperation(), this->getAnalysisManager(),
                         this->getCostSettings(), std::move(options), algorithm,
                         title, this->statisticsOutput, this->getArgument());
    if (failed(totals))
      return this->signalPassFailure();
    emitCountRemark(this->getOperation(), this->getArgument(), movedName,
                    totals->numMoved);
    emitCountRemark(this->getOperation(), this->getArgument(), "passed-ops",
                    totals->numMoves);
  }
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULE_ITERATIVEPASS_H
