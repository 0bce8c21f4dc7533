//===- SchedulingPass.h - What the scheduling passes share -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULINGPASS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULINGPASS_H

#include "braid/ScheduleIR/CostModel.h"
#include "braid/ScheduleIR/GraphBuilder.h"
#include "braid/ScheduleIR/ProblemBuilder.h"
#include "braid/ScheduleIR/ScheduleChanges.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace braid::comm {

/// Passes that run on modules and on functions. Bare on the command line they
/// run on the module, where they may look into the callees of calls.
template <typename Base> class ModuleOrFunctionPass : public Base {
public:
  using Base::Base;

  bool canScheduleOn(mlir::RegisteredOperationName name) const override {
    return name.getTypeID() == mlir::TypeID::get<mlir::ModuleOp>() ||
           name.getTypeID() == mlir::TypeID::get<mlir::func::FuncOp>();
  }

protected:
  /// What the user has said of costs, for passes that have `costOptions`.
  CostSettings getCostSettings() const {
    CostSettings settings;
    settings.hardware = this->hardware;
    settings.collectiveModel = this->collectiveModel;
    settings.linkLatency = this->linkLatency;
    settings.linkBandwidth = this->linkBandwidth;
    settings.worldSize = this->worldSize;
    settings.ranksPerNode = this->ranksPerNode;
    settings.dynamicSize = this->dynamicSize;
    settings.profile = this->profile;
    return settings;
  }
};

/// `root`, if it is a function, or the functions below it; those of kernels are
/// left out.
llvm::SmallVector<mlir::func::FuncOp> getHostFunctions(mlir::Operation *root);

/// The function that `block` is in.
mlir::func::FuncOp getFunctionOf(mlir::Block *block);

/// Runs `schedule`, which records what it changes, on each of `functions`.
/// Returns the sum of what it gives. If it fails, so does this, and takes back
/// all that is recorded: a pass that fails leaves its input as it was.
llvm::FailureOr<unsigned> scheduleFunctions(
    llvm::ArrayRef<mlir::func::FuncOp> functions, ScheduleChanges &changes,
    llvm::function_ref<llvm::FailureOr<unsigned>(mlir::func::FuncOp)> schedule);

/// Schedules each block of `function` that has a start or a wait. All costs are
/// asked for before anything moves. Returns the number of ops for which
/// `isMover` is true and that passed one for which it is not.
llvm::FailureOr<unsigned> scheduleGraphs(
    mlir::func::FuncOp function, CallEffects &calls, CostFunction cost,
    llvm::function_ref<ScheduleOrder(const ScheduleGraph &)> algorithm,
    llvm::function_ref<bool(NodeKind)> isMover, ScheduleChanges &changes);

/// The functions of `getHostFunctions`, callees before their callers where the
/// calls make no circle, so that what a callee costs is known when its callers
/// are scheduled.
llvm::SmallVector<mlir::func::FuncOp>
getHostFunctionsCalleesFirst(mlir::Operation *root);

/// The costs that `settings` ask for in `function`, for a pass on `root`: on a
/// function, where callees may be changing, calls count as 0. Emits an error
/// and fails if a setting is wrong.
llvm::FailureOr<CostOptions> resolvePassCosts(mlir::Operation *root,
                                              mlir::func::FuncOp function,
                                              const CostSettings &settings);

/// Schedules each block below `root` that has a start or a wait, callees before
/// their callers and what is nested in others first, so that the cost of a
/// call, a loop or a condition is that of its scheduled body; costs are those
/// that `settings` ask for. `algorithm` gets the problem of a block, in which
/// it may set limits, and gives an allowed order of it, or emits an error and
/// fails. Returns the number of ops for which `isMover` is true and that passed
/// one for which it is not. If it fails, takes back all that is recorded.
llvm::FailureOr<unsigned> scheduleProblems(
    mlir::Operation *root, const CostSettings &settings,
    ScheduleChanges &changes,
    llvm::function_ref<llvm::FailureOr<ScheduleOrder>(BlockProblem &)>
        algorithm,
    llvm::function_ref<bool(NodeKind)> isMover);

/// The bytes that `text`, the value of the option called `option`, stands for;
/// none if it is empty. Emits an error at `op` and fails if it is no size.
llvm::FailureOr<std::optional<int64_t>>
parseMemoryOption(mlir::Operation *op, llvm::StringRef text,
                  llvm::StringRef option);

/// Leaves `bytes` on `module`, a copy of a program, as the limit of memory for
/// what runs on that: passes that have an option `max-memory` and do not set
/// it.
void setMaxMemoryDefault(mlir::ModuleOp module, int64_t bytes);

/// The bytes that `text`, the value of the option `max-memory` of a pass on
/// `op`, stands for. If it is empty, what `setMaxMemoryDefault` has left on the
/// innermost module around `op` that has any; none without that. Emits an error
/// at `op` and fails if `text` is no size.
llvm::FailureOr<std::optional<int64_t>> resolveMaxMemory(mlir::Operation *op,
                                                         llvm::StringRef text);

/// What calls do, as far as a pass on `root` may know.
CallEffects getCallEffects(mlir::Operation *root);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULINGPASS_H
