//===- ArrangeLoops.cpp - Loops that a compiler can vectorize -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combiners.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace braid {
#define GEN_PASS_DEF_ARRANGELOOPSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

/// Numbers that a vector holds.
static constexpr int64_t kLanes = 8;

bool braid::isAdjacent(MemRefType buffer, AffineMap map, unsigned dim) {
  return buffer.isLastDimUnitStride() && map.getNumResults() > 0 &&
         map.getResults().back() ==
             getAffineDimExpr(dim, buffer.getContext()) &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr result) {
           return result.isFunctionOfDim(dim);
         });
}

/// What one iteration of loop `dim` as the innermost one costs in accesses of
/// memory: a vector of adjacent numbers counts 1, one number counts `kLanes`.
static int64_t getInnermostCost(linalg::GenericOp op, unsigned dim) {
  int64_t cost = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto buffer = dyn_cast<MemRefType>(operand.get().getType());
    if (!buffer || !map.isFunctionOfDim(dim))
      continue;
    cost += braid::isAdjacent(buffer, map, dim) ? 1 : kLanes;
  }
  int64_t size = op.getStaticLoopRanges()[dim];
  if (ShapedType::isStatic(size) && size > 0 && size < kLanes)
    cost *= kLanes / size;
  return cost;
}

SmallVector<Operation *> braid::getCombiners(linalg::GenericOp op) {
  SmallVector<Operation *> combiners;
  for (auto [old, value] :
       llvm::zip_equal(op.getRegionOutputArgs(),
                       op.getBody()->getTerminator()->getOperands())) {
    Operation *combiner = value.getDefiningOp();
    if (!combiner ||
        !isa<arith::AddFOp, arith::MulFOp, arith::AddIOp, arith::MaximumFOp,
             arith::MinimumFOp>(combiner) ||
        !old.hasOneUse() || *old.user_begin() != combiner ||
        combiner->getOperand(0) == combiner->getOperand(1))
      return {};
    combiners.push_back(combiner);
  }
  return combiners;
}

/// Makes the loop innermost whose iterations access adjacent elements. Sums
/// along it may have another order then.
static void arrangeLoops(linalg::GenericOp op) {
  unsigned count = op.getNumLoops();
  if (count == 0)
    return;
  unsigned best = count - 1;
  int64_t least = getInnermostCost(op, best);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<Operation *> combiners = braid::getCombiners(op);
  for (unsigned dim = 0; dim + 1 < count; ++dim) {
    int64_t cost = getInnermostCost(op, dim);
    // Results may depend on the order of reductions.
    bool keepsOrder = linalg::isParallelIterator(kinds[dim]) ||
                      !combiners.empty() ||
                      llvm::none_of(ArrayRef(kinds).drop_front(dim + 1),
                                    linalg::isReductionIterator);
    if (cost < least && keepsOrder) {
      best = dim;
      least = cost;
    }
  }
  if (linalg::isReductionIterator(kinds[best]))
    for (Operation *combiner : combiners)
      if (auto flags = dyn_cast<arith::ArithFastMathInterface>(combiner))
        combiner->setAttr(flags.getFastMathAttrName(),
                          arith::FastMathFlagsAttr::get(
                              op.getContext(), arith::FastMathFlags::reassoc));
  if (best == count - 1)
    return;
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < count; ++dim)
    if (dim != best)
      order.push_back(dim);
  order.push_back(best);
  IRRewriter rewriter(op);
  (void)linalg::interchangeGenericOp(rewriter, op, order);
}

/// Reads a buffer that `op` overwrites in place through its initial value, so
/// that no two operands are the same memory.
static linalg::GenericOp readInPlace(linalg::GenericOp op) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  llvm::BitVector dropped(op.getBody()->getNumArguments());
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    OpOperand *same = nullptr;
    for (OpOperand &init : op.getDpsInitsMutable())
      if (init.get() == input->get() && map == op.getMatchingIndexingMap(&init))
        same = &init;
    if (!same) {
      inputs.push_back(input->get());
      maps.push_back(map);
      continue;
    }
    op.getMatchingBlockArgument(input).replaceAllUsesWith(
        op.getMatchingBlockArgument(same));
    dropped.set(input->getOperandNumber());
  }
  if (dropped.none())
    return op;
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  OpBuilder builder(op);
  auto slim = linalg::GenericOp::create(builder, op.getLoc(), TypeRange(),
                                        inputs, op.getOutputs(), maps,
                                        op.getIteratorTypesArray());
  slim->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  slim.getRegion().takeBody(op.getRegion());
  slim.getBody()->eraseArguments(dropped);
  op.erase();
  return slim;
}

namespace {

struct ArrangeLoopsPass
    : public braid::StructuralPass<
          braid::impl::ArrangeLoopsPassBase<ArrangeLoopsPass>> {
  LogicalResult transform() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics() &&
          (isa<linalg::GenericOp>(op.getOperation()) ||
           op.getNumReductionLoops() > 0))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        rewriter.setInsertionPoint(op);
        FailureOr<linalg::GenericOp> generalized =
            linalg::generalizeNamedOp(rewriter, op);
        if (failed(generalized))
          continue;
        generic = *generalized;
      }
      arrangeLoops(readInPlace(generic));
    }
    return success();
  }
};

} // namespace
