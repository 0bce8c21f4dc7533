//===- ReorderPreservingPeakMemory.cpp - Starts up, within a budget -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterativePass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMREORDERPRESERVINGPEAKMEMORYPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

namespace {
struct CommReorderPreservingPeakMemoryPass
    : comm::ModuleOrFunctionPass<
          comm::impl::CommReorderPreservingPeakMemoryPassBase<
              CommReorderPreservingPeakMemoryPass>> {
  using ModuleOrFunctionPass::ModuleOrFunctionPass;

  void runOnOperation() override {
    IterativeOptions options;
    options.useRuntimeEstimations = useRuntimeEstimations;
    options.peakMemoryBudget = peakMemoryBudget;
    options.groupWithCollectives = groupWithCollectives;
    options.commRuntimeMult = commRuntimeMult;
    options.computeRuntimeMult = computeRuntimeMult;
    options.extraOverlap = extraOverlap;
    options.reorderCollectives =
        useRuntimeEstimations && unsafeCollectivesReorder;
    FailureOr<comm::IterativeTotals> totals = comm::runIterativePass(
        getOperation(), getCostSettings(), options, reorderPreservingPeakMemory,
        "Collective node", statisticsOutput);
    if (failed(totals))
      return signalPassFailure();
    numMoved += totals->numMoved;
    numMoves += totals->numMoves;
  }
};
} // namespace
