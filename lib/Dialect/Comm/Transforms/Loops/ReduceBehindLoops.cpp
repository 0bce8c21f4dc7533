//===- ReduceBehindLoops.cpp - The comm-reduce-behind-loops pass ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopRewrites.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Operations.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMREDUCEBEHINDLOOPSPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

struct CommReduceBehindLoopsPass
    : comm::impl::CommReduceBehindLoopsPassBase<CommReduceBehindLoopsPass> {
  using CommReduceBehindLoopsPassBase::CommReduceBehindLoopsPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Inner ones first: their all-reduces may leave loops around them, too.
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      // Without iterations nothing is sent.
      if (getStaticTripCount(loop).value_or(0) > 1)
        loops.push_back(loop);
    });
    int64_t numMoved = 0;
    for (scf::ForOp loop : loops) {
      SmallVector<LoopSum> sums = findLoopSums(loop, /*reassociates=*/false);
      llvm::erase_if(sums, [](const LoopSum &sum) {
        CollectiveOpInterface start = sum.awaited.start;
        return !start->hasAttr(CommDialect::kAnyOrderAttrName);
      });
      reduceBehindLoop(rewriter, loop, sums);
      numMoved += static_cast<int64_t>(sums.size());
    }
    emitCountRemark(getOperation(), getArgument(), "moved-starts", numMoved);
  }
};

} // namespace
