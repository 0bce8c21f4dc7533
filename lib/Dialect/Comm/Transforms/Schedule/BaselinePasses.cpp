//===- BaselinePasses.cpp - Passes of the rules of other compilers --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchedulingPass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Schedule/Baselines/Inductor/RaiseCollectives.h"
#include "braid/Schedule/Baselines/Inductor/ReorderComputeForOverlap.h"
#include "braid/Schedule/Baselines/Inductor/SimpleOverlap.h"
#include "braid/Schedule/Baselines/ListSchedule.h"
#include "braid/Support/IR/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMLISTSCHEDULEPASS
#define GEN_PASS_DEF_COMMRAISECOLLECTIVESPASS
#define GEN_PASS_DEF_COMMREORDERCOMPUTEFOROVERLAPPASS
#define GEN_PASS_DEF_COMMSIMPLEOVERLAPPASS
#define GEN_PASS_DEF_COMMSINKWAITSPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

/// Runs `schedule`, which gives the number of ops that it has moved, and counts
/// them as `counted` in a remark of `pass`. An error if a new order is wrong.
static LogicalResult runChecked(
    Operation *root, StringRef pass, StringRef counted,
    function_ref<FailureOr<unsigned>(ScheduleChanges &changes)> schedule) {
  ScheduleChanges changes;
  FailureOr<unsigned> moved = schedule(changes);
  if (failed(moved) || failed(comm::verifyChanges(root, changes, pass)))
    return failure();
  emitCountRemark(root, pass, counted, *moved);
  return success();
}

/// Schedules the graphs of all functions by `algorithm`, which moves the nodes
/// with `isMover`. `getCosts` gives the costs of a function; without it ops
/// cost nothing.
static LogicalResult scheduleByGraph(
    Operation *root, StringRef pass, StringRef counted,
    function_ref<ScheduleOrder(const ScheduleGraph &)> algorithm,
    function_ref<bool(NodeKind)> isMover,
    function_ref<FailureOr<CostOptions>(func::FuncOp)> getCosts = nullptr) {
  CallEffects calls = comm::getCallEffects(root);
  RankUniformity uniformity(root);
  return runChecked(root, pass, counted, [&](ScheduleChanges &changes) {
    auto schedule = [&](func::FuncOp function) -> FailureOr<unsigned> {
      // A model caches costs of bodies, which scheduling changes.
      std::optional<CostModel> model;
      if (getCosts) {
        FailureOr<CostOptions> costs = getCosts(function);
        if (failed(costs))
          return failure();
        model.emplace(*costs);
      }
      auto cost = [&](Operation *op) {
        return model ? model->getCost(op).ns : 0;
      };
      return comm::scheduleGraphs(function, calls, uniformity, cost, algorithm,
                                  isMover, changes);
    };
    return comm::scheduleFunctions(comm::getHostFunctions(root), changes,
                                   schedule);
  });
}

static bool isNoStart(NodeKind kind) { return kind != NodeKind::Start; }

namespace {
struct CommRaiseCollectivesPass
    : comm::PassOnModuleOrFunction<
          comm::impl::CommRaiseCollectivesPassBase<CommRaiseCollectivesPass>> {
  using PassOnModuleOrFunction::PassOnModuleOrFunction;

  void runOnOperation() override {
    if (failed(scheduleByGraph(
            getOperation(), getArgument(), "moved-starts",
            withProducers ? raiseCollectivesWithProducers : raiseCollectives,
            [](NodeKind kind) { return kind == NodeKind::Start; })))
      signalPassFailure();
  }
};

struct CommSinkWaitsPass
    : comm::PassOnModuleOrFunction<
          comm::impl::CommSinkWaitsPassBase<CommSinkWaitsPass>> {
  void runOnOperation() override {
    if (failed(scheduleByGraph(
            getOperation(), getArgument(), "moved-waits", sinkWaits,
            [](NodeKind kind) { return kind == NodeKind::Wait; })))
      signalPassFailure();
  }
};

struct CommReorderComputeForOverlapPass
    : comm::ModuleOrFunctionPass<
          comm::impl::CommReorderComputeForOverlapPassBase<
              CommReorderComputeForOverlapPass>> {
  using ModuleOrFunctionPass::ModuleOrFunctionPass;

  void runOnOperation() override {
    if (failed(scheduleByGraph(
            getOperation(), getArgument(), "moved-ops",
            waitsAsFiller ? reorderComputeForOverlapWaitsAsFiller
                          : reorderComputeForOverlap,
            isNoStart,
            [&](func::FuncOp function) { return resolveCosts(function); })))
      signalPassFailure();
  }
};

/// A pass with an algorithm on problems.
template <typename Base> struct ProblemPass : comm::ModuleOrFunctionPass<Base> {
  using comm::ModuleOrFunctionPass<Base>::ModuleOrFunctionPass;

protected:
  void run(function_ref<ScheduleOrder(const SchedulingProblem &)> algorithm,
           function_ref<bool(NodeKind)> isMover) {
    auto schedule = [&](BlockProblem &block,
                        CostModel &) -> FailureOr<ScheduleOrder> {
      return algorithm(block.problem);
    };
    if (failed(runChecked(this->getOperation(), this->getArgument(),
                          "moved-ops", [&](ScheduleChanges &changes) {
                            return comm::scheduleProblems(
                                this->getOperation(),
                                this->getAnalysisManager(),
                                this->getCostSettings(), changes, schedule,
                                isMover);
                          })))
      this->signalPassFailure();
  }
};

struct CommListSchedulePass
    : ProblemPass<comm::impl::CommListSchedulePassBase<CommListSchedulePass>> {
  using ProblemPass::ProblemPass;

  void runOnOperation() override {
    run(
        [&](const SchedulingProblem &problem) {
          return listSchedule(problem, {raise, sink, reorder});
        },
        isNoStart);
  }
};

struct CommSimpleOverlapPass
    : ProblemPass<
          comm::impl::CommSimpleOverlapPassBase<CommSimpleOverlapPass>> {
  using ProblemPass::ProblemPass;

  void runOnOperation() override {
    run(
        [](const SchedulingProblem &problem) {
          return simpleOverlap(problem, getProgramOrder(problem.graph));
        },
        [](NodeKind kind) {
          return kind == NodeKind::Start || kind == NodeKind::Wait;
        });
  }
};
} // namespace
