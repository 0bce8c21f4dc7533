//===- ListSchedule.cpp - List scheduling for communication ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/ListSchedule.h"

#include "SchedulingPass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMLISTSCHEDULEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

namespace {
struct CommListSchedulePass
    : comm::ModuleOrFunctionPass<
          comm::impl::CommListSchedulePassBase<CommListSchedulePass>> {
  using ModuleOrFunctionPass::ModuleOrFunctionPass;

  void runOnOperation() override {
    auto schedule = [&](BlockProblem &block,
                        CostModel &) -> FailureOr<ScheduleOrder> {
      return listSchedule(block.problem, {raise, sink, reorder});
    };
    auto isNoStart = [](NodeKind kind) { return kind != NodeKind::Start; };
    ScheduleChanges changes;
    FailureOr<unsigned> moved =
        comm::scheduleProblems(getOperation(), getAnalysisManager(),
                               getCostSettings(), changes, schedule, isNoStart);
    if (failed(moved) ||
        failed(comm::verifyChanges(getOperation(), changes, getArgument())))
      return signalPassFailure();
    emitCountRemark(getOperation(), getArgument(), "moved-ops", *moved);
  }
};
} // namespace
