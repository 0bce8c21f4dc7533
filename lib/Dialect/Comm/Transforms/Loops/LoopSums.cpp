//===- LoopSums.cpp - Sums of all-reduces over iterations -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Simplify/Pointwise.h"
#include "LoopRewrites.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// True if each element of the result of `op` is an element of `use`, at a
/// place that is the same on all ranks: sums over ranks may follow.
static bool keepsElements(OpOperand &use) {
  Operation *op = use.getOwner();
  if (use.getOperandNumber() != 0)
    return false;
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return true;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return !ShapedType::isDynamicShape(slice.getStaticOffsets()) &&
           !ShapedType::isDynamicShape(slice.getStaticStrides()) &&
           slice.getType().hasStaticShape();
  std::optional<PointwiseOp> pointwise = PointwiseOp::get(op);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return pointwise && structured && pointwise->getInputs().size() == 1 &&
         structured.getBlock()->getTerminator()->getOperand(0) ==
             structured.getBlock()->getArgument(0);
}

/// What `use` in `loop` adds to a value that the loop carries, if nothing else
/// in the loop reads that value or the sum.
static std::optional<LoopSum::Addition>
getAddition(scf::ForOp loop, OpOperand &use, bool reassociates) {
  bool isRounded = false;
  std::optional<PointwiseOp> sum = PointwiseOp::get(use.getOwner());
  if (!sum || !isSumOf(*sum, isRounded) || (isRounded && !reassociates) ||
      sum->getMap(0) != sum->getResultMap() ||
      sum->getMap(1) != sum->getResultMap())
    return std::nullopt;
  Value total = sum->getOp()->getResult(0), term = use.get();
  for (OpOperand *input : sum->getInputs()) {
    auto carried = dyn_cast<BlockArgument>(input->get());
    if (input == &use || !carried || carried.getOwner() != loop.getBody() ||
        carried.getArgNumber() == 0 || !carried.hasOneUse() ||
        !total.hasOneUse() || carried.getType() != term.getType())
      continue;
    unsigned number = carried.getArgNumber() - 1;
    if (loop.getYieldedValues()[number] == total)
      return LoopSum::Addition{number, sum->getOp(), term};
  }
  return std::nullopt;
}

/// What `loop` sums up of the value of `start`, if it does nothing else with
/// the value.
static std::optional<LoopSum>
findLoopSum(scf::ForOp loop, CollectiveOpInterface start, bool reassociates) {
  if (start.getCollectiveKind() != CollectiveKind::all_reduce ||
      start.getReductionKind() != ReductionKind::sum || start.getScale() ||
      start->getNumResults() != 1 || !start->getResult(0).hasOneUse())
    return std::nullopt;
  auto wait = dyn_cast<WaitOp>(*start->getUsers().begin());
  std::optional<AwaitedValue> awaited;
  if (wait)
    awaited = getAwaitedValue(wait);
  if (!awaited)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(wait.getValue().getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  reassociates |= start->hasAttr(CommDialect::kAnyOrderAttrName);
  LoopSum found{*awaited, {}};
  SmallVector<Value> moved{wait.getValue()};
  while (!moved.empty())
    for (OpOperand &use : moved.pop_back_val().getUses()) {
      if (use.getOwner()->getBlock() != loop.getBody())
        return std::nullopt;
      if (keepsElements(use))
        moved.push_back(use.getOwner()->getResult(0));
      else if (std::optional<LoopSum::Addition> addition =
                   getAddition(loop, use, reassociates))
        found.additions.push_back(*addition);
      else
        return std::nullopt;
    }
  if (found.additions.empty())
    return std::nullopt;
  return found;
}

SmallVector<LoopSum> braid::comm::findLoopSums(scf::ForOp loop,
                                               bool reassociates) {
  SmallVector<LoopSum> found;
  for (auto start : loop.getBody()->getOps<CollectiveOpInterface>())
    if (std::optional<LoopSum> sum = findLoopSum(loop, start, reassociates))
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

/// Lets `loop` add terms of its rank alone for `addition`, and an all-reduce
/// like that of `awaited` behind the loop send the sum. Returns that start.
static Operation *reduceBehind(RewriterBase &rewriter, scf::ForOp loop,
                               const AwaitedValue &awaited,
                               const LoopSum::Addition &addition) {
  Location loc = addition.sum->getLoc();
  Value first = loop.getInitArgs()[addition.number];
  Value result = loop.getResult(addition.number);
  rewriter.setInsertionPoint(loop);
  Value zeros = createZeros(rewriter, loc, first);
  rewriter.modifyOpInPlace(
      loop, [&]() { loop.getInitArgsMutable()[addition.number].set(zeros); });

  rewriter.setInsertionPointAfter(loop);
  Operation *start =
      mlir::clone(rewriter, awaited.start, TokenType::get(result.getType()),
                  ValueRange(result));
  if (isa<FloatType>(getElementTypeOrSelf(result.getType())))
    recordReassociation(start, "over the iterations of a loop");
  Operation *wait = mlir::clone(rewriter, awaited.wait, result.getType(),
                                start->getResults());
  std::optional<PointwiseOp> op = PointwiseOp::get(addition.sum);
  SmallVector<Value> terms;
  for (OpOperand *input : op->getInputs())
    terms.push_back(input->get() == addition.term ? wait->getResult(0) : first);
  Value total = op->clone(rewriter, terms, /*number=*/0);
  rewriter.replaceAllUsesExcept(result, total, start);
  return start;
}

SmallVector<Operation *> braid::comm::reduceBehindLoop(RewriterBase &rewriter,
                                                       scf::ForOp loop,
                                                       ArrayRef<LoopSum> sums) {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Operation *> starts;
  for (const LoopSum &sum : llvm::reverse(sums)) {
    AwaitedValue awaited = sum.awaited;
    for (const LoopSum::Addition &addition : llvm::reverse(sum.additions))
      starts.push_back(reduceBehind(rewriter, loop, awaited, addition));
    rewriter.replaceAllUsesWith(awaited.wait.getValue(), awaited.getSource());
    rewriter.eraseOp(awaited.wait);
    rewriter.eraseOp(awaited.start);
  }
  return starts;
}
