//===- DecomposeScatters.cpp - Scatters without a library -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Library/Transforms/DecomposeScatter.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid {
#define GEN_PASS_DEF_DECOMPOSESCATTERSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// Comparisons that a GPU makes in less time than the host needs for a loop.
static constexpr uint64_t kMostComparisons = uint64_t(1) << 36;

namespace {

struct DecomposeScattersPass
    : public braid::StructuralPass<
          braid::impl::DecomposeScattersPassBase<DecomposeScattersPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    SmallVector<library::ScatterOp> ops;
    getOperation().walk([&](library::ScatterOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    int64_t numLinked = 0;
    for (library::ScatterOp op : ops) {
      bool isLinked = target == KernelTarget::CUDA &&
                      isa<TensorType>(op.getOutput().getType()) &&
                      library::countComparisons(op) <= kMostComparisons;
      numLinked += isLinked;
      if (isLinked)
        library::linkScatter(rewriter, op);
      else
        library::loopOverScatter(rewriter, op);
    }
    int64_t numLoops = static_cast<int64_t>(ops.size()) - numLinked;
    if (numLinked != 0)
      emitCountRemark(getOperation(), getArgument(), "scatter-kernels",
                      numLinked);
    if (numLoops != 0 && target == KernelTarget::CUDA)
      emitCountRemark(getOperation(), getArgument(), "scatter-loops", numLoops);
    return success();
  }
};

} // namespace
