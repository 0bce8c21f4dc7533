//===- ReorderComputeForOverlap.cpp - Compute behind collectives ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/Inductor/ReorderComputeForOverlap.h"

#include "SchedulingPass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/ScheduleIR/CostModel.h"
#include "braid/Support/IR/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMREORDERCOMPUTEFOROVERLAPPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

namespace {
struct CommReorderComputeForOverlapPass
    : comm::ModuleOrFunctionPass<
          comm::impl::CommReorderComputeForOverlapPassBase<
              CommReorderComputeForOverlapPass>> {
  using ModuleOrFunctionPass::ModuleOrFunctionPass;

  void runOnOperation() override {
    Operation *root = getOperation();
    CostSettings settings = getCostSettings();
    CallEffects calls = comm::getCallEffects(root);
    RankUniformity uniformity(root);
    auto *algorithm = waitsAsFiller ? reorderComputeForOverlapWaitsAsFiller
                                    : reorderComputeForOverlap;
    auto isNoStart = [](NodeKind kind) { return kind != NodeKind::Start; };
    ScheduleChanges changes;
    auto schedule = [&](func::FuncOp function) -> FailureOr<unsigned> {
      FailureOr<CostOptions> options =
          comm::resolvePassCosts(root, function, settings);
      if (failed(options))
        return failure();
      // A model caches costs of bodies, which scheduling changes.
      CostModel model(*options);
      auto cost = [&](Operation *op) { return model.getCost(op).ns; };
      return comm::scheduleGraphs(function, calls, uniformity, cost, algorithm,
                                  isNoStart, changes);
    };
    FailureOr<unsigned> moved = comm::scheduleFunctions(
        comm::getHostFunctions(root), changes, schedule);
    if (failed(moved) ||
        failed(comm::verifyChanges(getOperation(), changes, getArgument())))
      return signalPassFailure();
    emitCountRemark(getOperation(), getArgument(), "moved-ops", *moved);
  }
};
} // namespace
