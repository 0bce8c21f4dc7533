//===- SplitReductionsPass.cpp - Reductions in two steps, ahead of kernels ===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../LinalgToBraidRT/MatmulMatch.h"
#include "Kernels.h"
#include "LoopNest.h"

#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace braid {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid::kernels;

namespace {
struct SplitReductionsPass
    : public braid::impl::SplitReductionsPassBase<SplitReductionsPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      // Products are calls of the library, or kernels of their own.
      if (op.hasPureBufferSemantics() && op.getNumReductionLoops() > 0 &&
          !braid::matchMatmul(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> generic =
          linalg::generalizeNamedOp(rewriter, op);
      splitReduction(rewriter,
                     succeeded(generic) ? linalg::LinalgOp(*generic) : op);
    }
  }
};
} // namespace
