//===- DeallocateBuffers.cpp - Insert deallocations -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/Passes.h"
#include "braid/Conversion/ProgramAttributes.h"
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

/// Upstream's buffer-deallocation-pipeline, with `braid-split-deallocations`
/// before its simplification, which compares all pairs of buffers.
static void addDeallocation(OpPassManager &pm) {
  memref::ExpandReallocPassOptions reallocOptions;
  reallocOptions.emitDeallocs = false;
  pm.addPass(memref::createExpandReallocPass(reallocOptions));
  pm.addPass(bufferization::createOwnershipBasedBufferDeallocationPass());
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createSplitDeallocationsPass());
  pm.addPass(bufferization::createBufferDeallocationSimplificationPass());
  pm.addPass(bufferization::createLowerDeallocationsPass());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createFreeEarlyPass());
}

namespace {
struct DeallocateBuffersPass
    : public braid::impl::DeallocateBuffersPassBase<DeallocateBuffersPass> {
  void runOnOperation() override {
    bool allocates = getOperation()
                         .walk([](memref::AllocOp op) {
                           return op->hasAttr(kArenaAttrName)
                                      ? WalkResult::advance()
                                      : WalkResult::interrupt();
                         })
                         .wasInterrupted();
    if (!allocates)
      return;
    OpPassManager pipeline(ModuleOp::getOperationName());
    addDeallocation(pipeline);
    if (failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }
};
} // namespace
