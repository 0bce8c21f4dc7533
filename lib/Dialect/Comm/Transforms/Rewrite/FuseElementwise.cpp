//===- FuseElementwise.cpp - The comm-fuse-elementwise pass ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Iterations/Iterations.h"
#include "FuseOps.h"
#include "FusionShapes.h"
#include "Reads/FuseReads.h"
#include "Rewrites.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMFUSEELEMENTWISEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid::comm;

namespace {

/// Moves the attributes of ops on tensors to the linalg.generic ops that take
/// their places, out of the ops of the bodies.
struct AttributeListener : RewriterBase::Listener {
  using RewriterBase::Listener::notifyOperationReplaced;
  void notifyOperationReplaced(Operation *op, ValueRange results) override {
    Operation *generic = results.front().getDefiningOp();
    copyAttributes(op, generic);
    Operation &scalar = generic->getRegion(0).front().front();
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (isa_and_nonnull<CommDialect>(attribute.getNameDialect()))
        scalar.removeAttr(attribute.getName());
  }
};

struct CommFuseElementwisePass
    : public braid::StructuralPass<
          braid::comm::impl::CommFuseElementwisePassBase<
              CommFuseElementwisePass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : getGenerics())
      splitScan(rewriter, op, opsPerByte);
    // These may leave conversions.
    generalizeShortProducts(rewriter, getOperation(), opsPerByte);
    // Hosts compute all matmuls of 8-bit floats in loops.
    if (opsPerByte > 0)
      arrangeFloat8Matmuls(rewriter, getOperation());
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    AttributeListener listener;
    walkAndApplyPatterns(getOperation(), std::move(patterns), &listener);
    computeScalarReads(rewriter, getOperation());
    // Hosts read memory at once.
    if (opsPerByte > 0) {
      carryScalars(rewriter, getOperation());
      readOffsetsInBodies(rewriter, getOperation());
      // Bodies do not read all places.
      computeScalarReads(rewriter, getOperation());
      takeElementsAsInputs(rewriter, getOperation());
    }
    for (linalg::GenericOp op : getGenerics())
      splitArgMax(rewriter, op, opsPerByte);
    for (linalg::GenericOp op : getGenerics())
      addToSlice(rewriter, op);
    braid::emitCountRemark(
        getOperation(), getArgument(), "merged-iterations",
        mergeIterations(rewriter, getOperation(), mostMergedBytes));
    if (failed(moveReshapes(getOperation(), opsPerByte)))
      return failure();
    readSlicesThroughStacks(rewriter, getOperation());
    for (linalg::GenericOp op : getGenerics())
      unrollReduction(rewriter, op, opsPerByte);
    for (linalg::GenericOp op : getGenerics())
      readInitsAsInputs(rewriter, op);
    for (linalg::GenericOp op : getGenerics())
      replaceByFill(rewriter, op);
    // What only a fill had read is dead.
    SmallVector<linalg::GenericOp> ops = getGenerics();
    for (linalg::GenericOp op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        rewriter.eraseOp(op);
    WaitSets sets(getOperation());
    auto fuseAll = [&](Siblings siblings) {
      // Kernels of hosts have not been measured.
      return fuseSiblings(rewriter, sets, getOperation(), siblings,
                          /*mayReduceParts=*/opsPerByte > 0);
    };
    int64_t numFused = 0;
    // What is computed again or moves needs no op of its own that keeps it.
    // Reductions of the same tensors are one user of what they compute again,
    // and may read the same tensors as others then.
    for (unsigned round = 0; round < 4; ++round) {
      if (round == 1 || round == 2) {
        int64_t numMerged = fuseAll(Siblings::Reductions);
        if (numMerged == 0)
          continue;
        numFused += numMerged;
        // What siblings compute alike is computed once, too.
        for (linalg::GenericOp op : getGenerics())
          computeOnce(rewriter, op);
      }
      numFused += fuseProducers(rewriter, sets, getOperation(), opsPerByte,
                                /*mayKeep=*/round == 3);
    }
    // What is computed where it is read takes part in no merge.
    auto fuseAllIntoReads = [&] {
      getOperation().walk([&](tensor::ExpandShapeOp expand) {
        readThroughExpand(rewriter, expand);
      });
      // Bottom up: what computes elements of its own inputs where these are
      // read may be read itself.
      SmallVector<linalg::GenericOp> producers = getGenerics();
      for (linalg::GenericOp producer : llvm::reverse(producers))
        numFused += fuseIntoReads(rewriter, producer);
    };
    fuseAllIntoReads();
    numFused += fuseAll(Siblings::SmallElementwise);
    // Hosts read memory faster than they compute conditions.
    SmallVector<tensor::InsertSliceOp> inserts;
    if (opsPerByte > 0)
      getOperation().walk(
          [&](tensor::InsertSliceOp insert) { inserts.push_back(insert); });
    for (tensor::InsertSliceOp insert : inserts)
      readThroughInsert(rewriter, insert);
    SmallVector<tensor::PadOp> pads;
    getOperation().walk([&](tensor::PadOp pad) { pads.push_back(pad); });
    for (tensor::PadOp pad : pads)
      readThroughPad(rewriter, pad, opsPerByte);
    getOperation().walk([&](tensor::CollapseShapeOp collapse) {
      readThroughCollapse(rewriter, collapse);
    });
    fuseAllIntoReads();
    braid::emitCountRemark(getOperation(), getArgument(), "fused-producers",
                           numFused);
    braid::emitCountRemark(getOperation(), getArgument(), "aligned-layouts",
                           alignLayouts(rewriter, getOperation()));
    if (opsPerByte > 0)
      braid::emitCountRemark(getOperation(), getArgument(),
                             "transposed-operands",
                             transposeOperands(rewriter, getOperation()));
    return success();
  }

private:
  SmallVector<linalg::GenericOp> getGenerics() {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    return ops;
  }
};

} // namespace
