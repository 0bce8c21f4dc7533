//===- InlineCompute.cpp - The comm-inline-compute pass -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMINLINECOMPUTEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid::comm;

namespace {

/// Checks that only waits use the tokens of `compute`, so that its values can
/// replace theirs.
LogicalResult checkTokens(ComputeOp compute) {
  for (OpResult token : compute.getTokens())
    for (Operation *user : token.getUsers())
      if (!isa<WaitOp>(user)) {
        InFlightDiagnostic diagnostic =
            compute.emitOpError()
            << "is async and its token #" << token.getResultNumber()
            << " leaves for '" << user->getName()
            << "', expected waits alone: the host runs the kernel at its start";
        diagnostic.attachNote(user->getLoc()) << "the token is used here";
        return diagnostic;
      }
  return success();
}

LogicalResult inlineCompute(RewriterBase &rewriter, ComputeOp compute) {
  if (compute.isOpaque())
    return compute.emitOpError()
           << "\"" << compute.getKernel()
           << "\" is opaque, expected a region: it says what to schedule, not "
              "what to run";
  if (failed(checkTokens(compute)))
    return failure();
  Block &body = compute.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  StringAttr name = compute.getKernelAttr();
  for (Operation &op : body.without_terminator())
    op.setLoc(NameLoc::get(name, op.getLoc()));
  rewriter.inlineBlockBefore(&body, compute, compute.getInputs());

  if (!compute.getAsync()) {
    rewriter.replaceOp(compute, yield.getValues());
  } else {
    for (OpResult token : compute.getTokens())
      for (Operation *user : llvm::make_early_inc_range(token.getUsers())) {
        auto wait = cast<WaitOp>(user);
        if (wait.getValue())
          rewriter.replaceOp(wait, yield.getValues()[token.getResultNumber()]);
        else
          rewriter.eraseOp(wait);
      }
    rewriter.eraseOp(compute);
  }
  rewriter.eraseOp(yield);
  return success();
}

struct CommInlineComputePass
    : public braid::StructuralPass<
          braid::comm::impl::CommInlineComputePassBase<CommInlineComputePass>> {
  /// Kernels on side streams run at their start.
  braid::CommunicationRules getRules() const override {
    braid::CommunicationRules rules;
    rules.mayErase = [](const braid::StartSummary &start) {
      return !start.kind;
    };
    return rules;
  }

  LogicalResult transform() override {
    SmallVector<ComputeOp> computes;
    getOperation().walk(
        [&](ComputeOp compute) { computes.push_back(compute); });
    IRRewriter rewriter(&getContext());
    for (ComputeOp compute : computes)
      if (failed(inlineCompute(rewriter, compute)))
        return failure();
    return success();
  }
};

} // namespace
