//===- CheckDeviceCode.cpp - Check for ops without a lowering -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinDialect.h"

namespace braid {
#define GEN_PASS_DEF_CHECKDEVICECODEPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

namespace {

struct CheckDeviceCodePass
    : public braid::impl::CheckDeviceCodePassBase<CheckDeviceCodePass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    bool hasFailed = false;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (isHostCode(op))
        return WalkResult::advance();
      op->emitOpError() << "has no lowering for CUDA: neither a kernel nor a "
                           "call of the runtime computes it";
      hasFailed = true;
      return WalkResult::skip();
    });
    if (hasFailed)
      signalPassFailure();
  }

private:
  /// True for ops on scalars, which the host runs, and for views.
  static bool isHostCode(Operation *op) {
    if (isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp,
            memref::ReallocOp, memref::CopyOp, memref::LoadOp, memref::StoreOp,
            memref::AtomicRMWOp, memref::GenericAtomicRMWOp, memref::GlobalOp,
            memref::GetGlobalOp, memref::PrefetchOp>(op))
      return false;
    return isa_and_nonnull<
               arith::ArithDialect, BuiltinDialect, cf::ControlFlowDialect,
               complex::ComplexDialect, braid::comm::CommDialect,
               func::FuncDialect, index::IndexDialect, LLVM::LLVMDialect,
               math::MathDialect, memref::MemRefDialect, ub::UBDialect>(
               op->getDialect()) &&
           llvm::none_of(op->getResultTypes(),
                         llvm::IsaPred<TensorType, VectorType>);
  }
};

} // namespace
