//===- DeviceControlFlow.cpp - Control flow that a GPU decides ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/Buffers.h"
#include "../Support/Choices.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTDEVICECONTROLFLOWTOBRAIDRTPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// True for the calls of the runtime that only enqueue work, which the device
/// can record.
static bool isEnqueuing(LLVM::CallOp call) {
  return llvm::is_contained(
      {"braid_rt_attention", "braid_rt_attention_backward", "braid_rt_choose",
       "braid_rt_convolution", "braid_rt_copy", "braid_rt_fused_matmul",
       "braid_rt_matmul", "braid_rt_repeat"},
      call.getCallee().value_or(StringRef()));
}

/// True if `op`, without its regions, does nothing on the host but to enqueue
/// work.
static bool enqueuesOnly(Operation *op) {
  if (isa<gpu::LaunchFuncOp, scf::IfOp, scf::IndexSwitchOp, scf::ForOp,
          scf::WhileOp, scf::ConditionOp, scf::YieldOp>(op))
    return true;
  // The stack has the arguments of calls.
  if (isa<LLVM::AllocaOp, LLVM::StoreOp, LLVM::LoadOp, LLVM::StackSaveOp,
          LLVM::StackRestoreOp>(op))
    return true;
  if (auto call = dyn_cast<LLVM::CallOp>(op))
    return isEnqueuing(call);
  return op->getNumRegions() == 0 && isPure(op);
}

/// True if the regions of `op` do nothing else, but for `except`.
static bool regionsEnqueueOnly(Operation *op, Operation *except) {
  bool isAll = true;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      isAll &= inner == except || enqueuesOnly(inner);
    });
  return isAll;
}

/// The load of the condition of `loop` if the loop carries nothing and its
/// iterations are all the same for the host; else null.
static memref::LoadOp findRepeated(scf::WhileOp loop) {
  memref::LoadOp load = findOnlyLoad(loop.getConditionOp().getCondition());
  if (!load || loop->getNumOperands() != 0 || loop->getNumResults() != 0 ||
      !load.getMemRefType().getElementType().isInteger(1) ||
      load->getBlock() != loop.getBeforeBody() ||
      !regionsEnqueueOnly(loop, load))
    return {};
  return load;
}

/// A result that a call of the runtime gives as an integer.
static Value toCondition(OpBuilder &builder, Location loc, Value result,
                         RuntimeCallBuilder &calls) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, result,
                               calls.getI32(0));
}

static Value getAddress(OpBuilder &builder, memref::LoadOp load,
                        RuntimeCallBuilder &calls) {
  auto metadata = memref::ExtractStridedMetadataOp::create(
      builder, load.getLoc(), load.getMemRef());
  return getElementAddress(builder, load.getLoc(), load.getMemRef(),
                           metadata.getOffset(), calls);
}

namespace {

struct ConvertDeviceControlFlowToBraidRTPass
    : public braid::StructuralPass<
          braid::impl::ConvertDeviceControlFlowToBraidRTPassBase<
              ConvertDeviceControlFlowToBraidRTPass>> {
  LogicalResult transform() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(op))
        ops.push_back(op);
    });
    int64_t reads = 0, loops = 0;
    // Inner ops come first.
    for (Operation *op : ops) {
      memref::LoadOp load;
      if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        if ((load = findRepeated(loop)))
          convertLoop(load, loops++);
      } else if ((load = findSelector(op)) && op->getNumResults() == 0 &&
                 regionsEnqueueOnly(op, nullptr)) {
        convertChoice(op, load);
      } else {
        load = {};
      }
      reads += load != nullptr;
    }
    addHostReads(getOperation(), reads);
    return success();
  }

private:
  void convertLoop(memref::LoadOp load, int64_t number) {
    emitPassedRemark(load, getArgument(), "device-loop", [](auto &) {});
    OpBuilder builder(load);
    RuntimeCallBuilder calls(builder, load);
    Value repeats = calls.call("braid_rt_repeat", builder.getI32Type(),
                               {getAddress(builder, load, calls),
                                calls.getI64(number), calls.getSite()});
    load.replaceAllUsesWith(
        toCondition(builder, load.getLoc(), repeats, calls));
    load.erase();
  }

  void convertChoice(Operation *op, memref::LoadOp load) {
    emitPassedRemark(op, getArgument(), "device-choice", [](auto &) {});
    OpBuilder builder(op);
    Location loc = op->getLoc();
    RuntimeCallBuilder calls(builder, op);
    Value address = getAddress(builder, load, calls);
    Value bytes = calls.getI32(getElementBytes(load.getMemRefType()));
    SmallVector<Region *> cases = getCases(op);
    Value count = calls.getI32(cases.size());
    Value site = calls.getSite();
    auto choose = [&](int32_t number) {
      return calls.call("braid_rt_choose", builder.getI32Type(),
                        {address, bytes, calls.getI32(number), count, site});
    };
    for (auto [number, region] : llvm::enumerate(cases)) {
      Value runs = toCondition(builder, loc, choose(number), calls);
      auto branch = scf::IfOp::create(builder, loc, runs, /*withElse=*/false);
      if (!region->empty())
        branch.getThenRegion().takeBody(*region);
    }
    choose(cases.size());
    eraseChoice(op);
  }
};

} // namespace
