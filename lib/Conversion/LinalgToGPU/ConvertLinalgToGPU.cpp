//===- ConvertLinalgToGPU.cpp - Linalg on buffers to kernels --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAddress.h"
#include "Kernels.h"

#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTLINALGTOGPUPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid::kernels;

namespace {

/// `op` as a linalg.generic; an error where there is none.
FailureOr<linalg::LinalgOp> generalize(RewriterBase &rewriter, Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return linalg::LinalgOp(generic);
  rewriter.setInsertionPoint(op);
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    auto isPlain = [](Value buffer) {
      return isa<MemRefType>(buffer.getType());
    };
    if (!isPlain(copy.getSource()) || !isPlain(copy.getTarget()))
      return op->emitOpError("has no kernel: its rank is not known");
    auto generic = linalg::makeMemRefCopyOp(rewriter, op->getLoc(),
                                            copy.getSource(), copy.getTarget());
    rewriter.eraseOp(op);
    return linalg::LinalgOp(generic);
  }
  auto named = cast<linalg::LinalgOp>(op);
  if (op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock())
    return named;
  return op->emitOpError("has no kernel: it is not a loop over elements");
}

/// Checks what the body of `op` reads from outside.
LogicalResult checkCaptured(linalg::LinalgOp op) {
  for (Value value : getCaptured(*op.getBlock())) {
    Type type = value.getType();
    auto buffer = dyn_cast<MemRefType>(type);
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (buffer ? !buffer.hasStaticShape() ||
                     failed(buffer.getStridesAndOffset(strides, offset)) ||
                     llvm::any_of(strides, ShapedType::isDynamic)
               : getByteSize(type) == 0)
      return op->emitOpError()
             << "has no kernel: its body reads a value of type " << type
             << " from outside; numbers and buffers of static shape and "
                "strides were expected";
  }
  return success();
}

struct ConvertLinalgToGPUPass
    : public braid::impl::ConvertLinalgToGPUPassBase<ConvertLinalgToGPUPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (isa<memref::CopyOp>(op))
        ops.push_back(op);
      else if (auto named = dyn_cast<linalg::LinalgOp>(op);
               named && named.hasPureBufferSemantics())
        ops.push_back(op);
      return WalkResult::advance();
    });
    KernelModule kernels(getOperation());
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops)
      if (failed(convert(rewriter, kernels, op)))
        signalPassFailure();
  }

  LogicalResult convert(RewriterBase &rewriter, KernelModule &kernels,
                        Operation *op) {
    FailureOr<linalg::LinalgOp> generic = generalize(rewriter, op);
    if (failed(generic) || failed(checkCaptured(*generic)))
      return failure();
    FailureOr<LoopNest> nest = getLoopNest(*generic);
    if (failed(nest))
      return failure();
    if (nest->getNumIterations() != 0) {
      if (nest->hasReduction())
        emitSequential(kernels, *generic, *nest);
      else
        emitElementwise(kernels, *generic, *nest);
    }
    rewriter.eraseOp(*generic);
    return success();
  }
};

} // namespace
