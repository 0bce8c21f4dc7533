//===- DeallocateBuffers.cpp - Insert deallocations -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompareDeallocations.h"

#include "../Support/ProgramAttributes.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace braid {
#define GEN_PASS_DEF_DEALLOCATEBUFFERSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// The first part of upstream's buffer-deallocation-pipeline, with
/// `braid-drop-unowned-deallocations` and `braid-split-deallocations` before
/// its simplification, which compares all pairs of buffers.
static void addOwnership(OpPassManager &pm) {
  memref::ExpandReallocPassOptions reallocOptions;
  reallocOptions.emitDeallocs = false;
  pm.addPass(memref::createExpandReallocPass(reallocOptions));
  pm.addPass(bufferization::createOwnershipBasedBufferDeallocationPass());
  pm.addNestedPass<func::FuncOp>(createDropUnownedDeallocationsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createSplitDeallocationsPass());
  pm.addPass(bufferization::createBufferDeallocationSimplificationPass());
}

static void addLowering(OpPassManager &pm) {
  pm.addPass(bufferization::createLowerDeallocationsPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createFreeEarlyPass());
}

namespace {
struct DeallocateBuffersPass
    : public braid::impl::DeallocateBuffersPassBase<DeallocateBuffersPass> {
  void runOnOperation() override {
    SmallVector<memref::AllocOp> arenas;
    bool allocates = false;
    getOperation().walk([&](Operation *op) {
      auto alloc = dyn_cast<memref::AllocOp>(op);
      if (alloc && alloc->hasAttr(kArenaAttrName))
        arenas.push_back(alloc);
      else if (alloc)
        allocates = true;
      // A returned buffer without an owner becomes a copy.
      else if (isa<func::ReturnOp>(op))
        allocates |=
            llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>);
    });
    if (!allocates)
      return;
    // The runtime owns the arenas.
    StringRef isManual =
        bufferization::BufferizationDialect::kManualDeallocation;
    for (memref::AllocOp arena : arenas)
      arena->setAttr(isManual, UnitAttr::get(&getContext()));
    if (failed(run(addOwnership)))
      return signalPassFailure();
    auto target = getOperation()->getAttrOfType<StringAttr>(kTargetAttrName);
    if (target && target == "cuda")
      compareDeallocations(getOperation());
    if (failed(run(addLowering)))
      return signalPassFailure();
    getOperation().walk([&](memref::AllocOp op) { op->removeAttr(isManual); });
  }

private:
  LogicalResult run(function_ref<void(OpPassManager &)> build) {
    OpPassManager pipeline(ModuleOp::getOperationName());
    build(pipeline);
    return runPipeline(pipeline, getOperation());
  }
};
} // namespace
