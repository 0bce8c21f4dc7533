//===- DeallocateBuffers.cpp - Insert deallocations -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/ProgramAttributes.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace braid {
#define GEN_PASS_DEF_DEALLOCATEBUFFERSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// The comparisons are quadratic in the number of buffers.
static constexpr unsigned kMostBuffers = 24;

/// Frees each buffer whose condition is true, unless the buffer is retained or
/// an earlier operand has freed it. A retained buffer is owned if one of the
/// buffers with a true condition is the same.
static void lowerDeallocation(bufferization::DeallocOp dealloc) {
  ImplicitLocOpBuilder b(dealloc.getLoc(), dealloc);
  auto getAddresses = [&](ValueRange buffers) {
    SmallVector<Value> addresses;
    for (Value buffer : buffers)
      addresses.push_back(
          memref::ExtractAlignedPointerAsIndexOp::create(b, buffer));
    return addresses;
  };
  auto isSame = [&](Value first, Value second) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, first, second);
  };
  SmallVector<Value> addresses = getAddresses(dealloc.getMemrefs());
  SmallVector<Value> retained = getAddresses(dealloc.getRetained());
  OperandRange conditions = dealloc.getConditions();
  Value isFalse = arith::ConstantOp::create(b, b.getBoolAttr(false));
  Value isTrue = arith::ConstantOp::create(b, b.getBoolAttr(true));

  SmallVector<Value> isOwned(retained.size(), isFalse), isFreed;
  for (auto [index, address] : llvm::enumerate(addresses)) {
    Value isKept = isFalse;
    for (auto [owned, other] : llvm::zip_equal(isOwned, retained)) {
      Value same = isSame(address, other);
      isKept = arith::OrIOp::create(b, isKept, same);
      owned = arith::OrIOp::create(
          b, owned, arith::AndIOp::create(b, same, conditions[index]));
    }
    for (unsigned earlier = 0; earlier < index; ++earlier)
      isKept = arith::OrIOp::create(
          b, isKept,
          arith::AndIOp::create(b, isSame(address, addresses[earlier]),
                                conditions[earlier]));
    isFreed.push_back(arith::AndIOp::create(
        b, conditions[index], arith::XOrIOp::create(b, isKept, isTrue)));
  }
  for (auto [buffer, condition] :
       llvm::zip_equal(dealloc.getMemrefs(), isFreed)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scf::IfOp::create(b, condition).thenBlock());
    memref::DeallocOp::create(b, buffer);
  }
  dealloc.replaceAllUsesWith(isOwned);
  dealloc.erase();
}

/// Lowers each `bufferization.dealloc` of few buffers to comparisons of the
/// addresses of these buffers. Upstream's lowering writes the addresses to
/// lists in memory and reads the answers, which on a device makes the host
/// wait.
static void compareDeallocations(ModuleOp module) {
  SmallVector<bufferization::DeallocOp> deallocs;
  module.walk([&](bufferization::DeallocOp dealloc) {
    if (dealloc.getMemrefs().size() + dealloc.getRetained().size() <=
        kMostBuffers)
      deallocs.push_back(dealloc);
  });
  for (bufferization::DeallocOp dealloc : deallocs)
    lowerDeallocation(dealloc);
}

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
/// A kernel reads and writes the buffers that its launch names, and frees none.
/// The dialect gpu does not say so, and upstream's pass refuses ops whose
/// effects are unknown.
struct LaunchEffects
    : public MemoryEffectOpInterface::ExternalModel<LaunchEffects,
                                                    gpu::LaunchFuncOp> {
  void
  getEffects(Operation *op,
             SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    for (OpOperand &operand :
         cast<gpu::LaunchFuncOp>(op).getKernelOperandsMutable()) {
      if (!isa<BaseMemRefType>(operand.get().getType()))
        continue;
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
  }
};

struct DeallocateBuffersPass
    : public braid::impl::DeallocateBuffersPassBase<DeallocateBuffersPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    DeallocateBuffersPassBase::getDependentDialects(registry);
    registry.addExtension(+[](MLIRContext *context, gpu::GPUDialect *) {
      gpu::LaunchFuncOp::attachInterface<LaunchEffects>(*context);
    });
  }

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
