//===- DecomposeAttention.cpp - Attention without a library ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Library/Transforms/DecomposeAttention.h"
#include "AttentionCalls.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

namespace braid {
#define GEN_PASS_DEF_DECOMPOSEATTENTIONPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

struct DecomposeAttentionPass
    : public braid::StructuralPass<
          braid::impl::DecomposeAttentionPassBase<DecomposeAttentionPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    bool hasLibrary =
        target == KernelTarget::CUDA && attention == LibraryLowering::Library;
    SmallVector<Operation *> ops;
    llvm::StringSet<> obstacles;
    getOperation().walk([&](Operation *op) {
      if (!library::isAttention(op))
        return;
      if (hasLibrary) {
        std::string obstacle = findObstacle(op, chip);
        if (obstacle.empty())
          return;
        if (obstacles.insert(obstacle).second)
          op->emitWarning()
              << "becomes matmuls, sums and elementwise ops: cuDNN's "
                 "attention does not support "
              << obstacle;
      }
      ops.push_back(op);
    });
    if (ops.empty())
      return success();
    emitCountRemark(getOperation(), getArgument(), "decomposed-attention",
                    static_cast<int64_t>(ops.size()));
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops)
      library::decomposeAttention(rewriter, op);
    return success();
  }
};

} // namespace
