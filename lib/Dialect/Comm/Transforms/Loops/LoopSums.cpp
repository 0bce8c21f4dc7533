//===- LoopSums.cpp - Sums of all-reduces over iterations -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopSums.h"
#include "Dialect/Comm/Transforms/Simplify/Pointwise.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// What value `number` of `loop` sums up, if an all-reduce gives its terms.
static std::optional<LoopSum> findLoopSum(scf::ForOp loop, unsigned number,
                                          bool reassociates) {
  Value carried = loop.getRegionIterArg(number);
  auto type = dyn_cast<RankedTensorType>(carried.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  Value total = loop.getYieldedValues()[number];
  std::optional<PointwiseOp> sum;
  bool isRounded = false;
  if (Operation *op = total.getDefiningOp();
      op && op->getBlock() == loop.getBody() && total.hasOneUse() &&
      carried.hasOneUse())
    sum = PointwiseOp::get(op);
  if (!sum || !isSumOf(*sum, isRounded) || (isRounded && !reassociates))
    return std::nullopt;
  for (auto [place, input] : llvm::enumerate(sum->getInputs())) {
    OpOperand *other = sum->getInputs()[1 - place];
    std::optional<AwaitedValue> awaited = getAwaitedValue(other->get());
    if (input->get() != carried || !awaited ||
        sum->getMap(0) != sum->getResultMap() ||
        sum->getMap(1) != sum->getResultMap())
      continue;
    CollectiveOpInterface start = awaited->start;
    if (start.getCollectiveKind() == CollectiveKind::all_reduce &&
        start.getReductionKind() == ReductionKind::sum && awaited->isAlone() &&
        other->get().hasOneUse() && start->getBlock() == loop.getBody() &&
        !start.getScale() && awaited->getSource().getType() == type)
      return LoopSum{number, sum->getOp(), *awaited};
  }
  return std::nullopt;
}

SmallVector<LoopSum> braid::comm::findLoopSums(scf::ForOp loop,
                                               bool reassociates) {
  SmallVector<LoopSum> found;
  for (unsigned number = 0; number != loop.getNumRegionIterArgs(); ++number)
    if (std::optional<LoopSum> sum = findLoopSum(loop, number, reassociates))
      found.push_back(*sum);
  return found;
}

/// A tensor of zeros like `value`.
static Value createZeros(RewriterBase &rewriter, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  Value empty = tensor::EmptyOp::create(rewriter, loc, type, ValueRange());
  return linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
}

SmallVector<Operation *> braid::comm::reduceBehindLoop(RewriterBase &rewriter,
                                                       scf::ForOp loop,
                                                       ArrayRef<LoopSum> sums) {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Operation *> starts;
  for (const LoopSum &sum : llvm::reverse(sums)) {
    unsigned number = sum.number;
    Location loc = sum.sum->getLoc();
    CollectiveOpInterface start = sum.awaited.start;
    WaitOp wait = sum.awaited.wait;
    Value first = loop.getInitArgs()[number], source = sum.awaited.getSource();
    rewriter.setInsertionPoint(loop);
    Value zeros = createZeros(rewriter, loc, first);
    rewriter.modifyOpInPlace(
        loop, [&]() { loop.getInitArgsMutable()[number].set(zeros); });

    rewriter.setInsertionPointAfter(loop);
    Value result = loop.getResult(number);
    IRMapping behind;
    behind.map(source, result);
    Operation *last = rewriter.clone(*start, behind);
    if (isa<FloatType>(getElementTypeOrSelf(source.getType())))
      recordReassociation(last, "over the iterations of a loop");
    rewriter.clone(*wait, behind);
    std::optional<PointwiseOp> op = PointwiseOp::get(sum.sum);
    SmallVector<Value> terms;
    for (OpOperand *input : op->getInputs())
      terms.push_back(input->get() == wait.getValue()
                          ? behind.lookup(wait.getValue())
                          : first);
    Value total = op->clone(rewriter, terms, /*number=*/0);
    rewriter.replaceAllUsesExcept(result, total, last);

    rewriter.replaceAllUsesWith(wait.getValue(), source);
    rewriter.eraseOp(wait);
    rewriter.eraseOp(start);
    starts.push_back(last);
  }
  return starts;
}
