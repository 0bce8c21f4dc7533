//===- SchedulingPass.h - Base of the scheduling passes ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULE_SCHEDULINGPASS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULE_SCHEDULINGPASS_H

#include "braid/Cost/IR/OpCostModel.h"
#include "braid/Dialect/Comm/Transforms/PassOptions.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/ScheduleIR/CostModel.h"
#include "braid/ScheduleIR/GraphBuilder.h"
#include "braid/ScheduleIR/ProblemBuilder.h"
#include "braid/ScheduleIR/ScheduleChanges.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/AnalysisManager.h"

namespace braid::comm {

/// The place of errors about options: passes check their options before they
/// see an op, so that a wrong option is an error even if there is nothing to
/// do.
inline mlir::Location getOptionLoc(mlir::MLIRContext *context) {
  return mlir::UnknownLoc::get(context);
}

/// The cost options of `settings` in `function`, for a pass on `root`. For a
/// pass on a function, calls cost 0, because other threads may be changing
/// callees. Emits an error and fails if a setting is invalid.
llvm::FailureOr<CostOptions> resolvePassCosts(mlir::Operation *root,
                                              mlir::func::FuncOp function,
                                              const CostSettings &settings);

/// A pass with `costOptions`.
template <typename Base> class PassWithCosts : public Base {
public:
  using Base::Base;

  llvm::LogicalResult initialize(mlir::MLIRContext *context) override {
    return checkCostSettings(getOptionLoc(context), getCostSettings());
  }

protected:
  /// The values of the options.
  CostSettings getCostSettings() const {
    CostSettings settings;
    settings.machine = this->machine;
    settings.collectiveModel = getCollectiveModel(this->collectiveModel);
    settings.linkLatency = this->linkLatency;
    settings.linkBandwidth = this->linkBandwidth;
    settings.ranks = this->ranks;
    settings.ranksPerNode = this->ranksPerNode;
    settings.dynamicSize = this->dynamicSize;
    settings.profile = this->profile;
    settings.cudaGraph = this->cudaGraph;
    return settings;
  }
  llvm::FailureOr<CostOptions> resolveCosts(mlir::func::FuncOp function) {
    return resolvePassCosts(this->getOperation(), function, getCostSettings());
  }
};

/// A pass on modules and on functions. As a flag of the command line it runs on
/// the module, where it may read the callees of calls.
template <typename Base> class PassOnModuleOrFunction : public Base {
public:
  using Base::Base;

  bool canScheduleOn(mlir::RegisteredOperationName name) const override {
    return name.getTypeID() == mlir::TypeID::get<mlir::ModuleOp>() ||
           name.getTypeID() == mlir::TypeID::get<mlir::func::FuncOp>();
  }
};

/// The same with `costOptions`.
template <typename Base>
class ModuleOrFunctionPass
    : public PassOnModuleOrFunction<PassWithCosts<Base>> {
public:
  using PassOnModuleOrFunction<PassWithCosts<Base>>::PassOnModuleOrFunction;
};

/// `root`, if it is a function, or the functions below it; those of kernels are
/// left out.
llvm::SmallVector<mlir::func::FuncOp> getHostFunctions(mlir::Operation *root);

/// The function that `block` is in.
mlir::func::FuncOp getFunctionOf(mlir::Block *block);

/// Runs `schedule`, which records its changes in `changes`, on each of
/// `functions`. Returns the sum of the results. If `schedule` fails, undoes all
/// changes and fails: a pass that fails does not change its input.
llvm::FailureOr<unsigned> scheduleFunctions(
    llvm::ArrayRef<mlir::func::FuncOp> functions, ScheduleChanges &changes,
    llvm::function_ref<llvm::FailureOr<unsigned>(mlir::func::FuncOp)> schedule);

/// Schedules each block of `function` that has a start or a wait. `algorithm`
/// keeps the order of starts. Computes all
/// costs before it moves an op. Returns the number of ops with `isMover` that
/// passed an op without.
llvm::FailureOr<unsigned> scheduleGraphs(
    mlir::func::FuncOp function, CallEffects &calls, RankUniformity &uniformity,
    CostFunction cost,
    llvm::function_ref<ScheduleOrder(const ScheduleGraph &)> algorithm,
    llvm::function_ref<bool(NodeKind)> isMover, ScheduleChanges &changes);

/// The functions of `getHostFunctions`, callees before their callers where
/// calls are not recursive, so that the cost of a callee is known when its
/// callers are scheduled. `analyses` is the manager of a pass on `root`.
llvm::SmallVector<mlir::func::FuncOp>
getHostFunctionsCalleesFirst(mlir::Operation *root,
                             mlir::AnalysisManager analyses);

/// Schedules each block below `root` that has a start or a wait, with the costs
/// of `settings`. Callees come before their callers and nested blocks before
/// the blocks around them, so that the cost of a call, a loop or a condition is
/// that of its scheduled body. `algorithm` may set limits in the problem of a
/// block, gets the model that gave its costs, and returns an allowed order, or
/// emits an error and fails. Returns the
/// number of ops with `isMover` that passed an op without. Undoes all changes
/// if it fails.
llvm::FailureOr<unsigned> scheduleProblems(
    mlir::Operation *root, mlir::AnalysisManager analyses,
    const CostSettings &settings, ScheduleChanges &changes,
    llvm::function_ref<llvm::FailureOr<ScheduleOrder>(BlockProblem &,
                                                      CostModel &)>
        algorithm,
    llvm::function_ref<bool(NodeKind)> isMover);

/// The number of ops in all blocks that a pass on `root` schedules.
uint64_t countScheduledOps(mlir::Operation *root);

/// The steps of comm-schedule for one of several blocks, which have
/// `numOpsInAll` ops. The sum over all blocks is about the default of one
/// block. Small blocks get more, so that they are searched exactly.
uint64_t getShareOfSteps(const BlockProblem &problem, uint64_t numOpsInAll,
                         SearchEffort effort = SearchEffort::Default);

/// Puts the collectives of all groups on one lane. Sends, receives and side
/// streams keep their lanes.
void shareLanes(BlockProblem &problem);

/// Checks the new orders of all blocks in `changes` from the program alone, if
/// schedules are verified. Undoes the changes and fails with an error that
/// names `pass` if one is wrong. `root` is what the pass runs on.
llvm::LogicalResult verifyChanges(mlir::Operation *root,
                                  ScheduleChanges &changes,
                                  llvm::StringRef pass);

/// The bytes in `text`, the value of the option `option`; none if it is empty.
/// Emits an error at `loc` and fails if `text` is no size.
llvm::FailureOr<std::optional<int64_t>>
parseMemoryOption(mlir::Location loc, llvm::StringRef text,
                  llvm::StringRef option);

/// Checks `text`, the value of the option `max-memory`. Emits an error at `loc`
/// and fails if `text` is no size and not empty.
llvm::LogicalResult checkMaxMemory(mlir::Location loc, llvm::StringRef text);

/// Writes `bytes` to `comm.option_defaults` of `module` as the default of the
/// option `max-memory` of passes.
void setMaxMemoryDefault(mlir::ModuleOp module, int64_t bytes);

/// The bytes in `text`, the value of the option `max-memory` of a pass on `op`;
/// the default of the option if `text` is empty; none without a default. Emits
/// an error at `op` and fails if `text` is no size.
llvm::FailureOr<std::optional<int64_t>> resolveMaxMemory(mlir::Operation *op,
                                                         llvm::StringRef text);

/// The effects of calls that a pass on `root` may read.
CallEffects getCallEffects(mlir::Operation *root);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULE_SCHEDULINGPASS_H
