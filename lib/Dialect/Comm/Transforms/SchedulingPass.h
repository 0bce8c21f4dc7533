//===- SchedulingPass.h - What the scheduling passes share -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULINGPASS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULINGPASS_H

#include "braid/Schedule/GraphBuilder.h"

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
};

/// `root`, if it is a function, or the functions below it; those of kernels are
/// left out.
llvm::SmallVector<mlir::func::FuncOp> getHostFunctions(mlir::Operation *root);

/// Schedules each block of `function` that has a start or a wait. All costs are
/// asked for before anything moves. Returns the number of ops for which
/// `isMover` is true and that passed one for which it is not.
llvm::FailureOr<unsigned> scheduleFunction(
    mlir::func::FuncOp function, CallEffects &calls, CostFunction cost,
    llvm::function_ref<ScheduleOrder(const ScheduleGraph &)> algorithm,
    llvm::function_ref<bool(NodeKind)> isMover);

/// What calls do, as far as a pass on `root` may know.
CallEffects getCallEffects(mlir::Operation *root);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_SCHEDULINGPASS_H
