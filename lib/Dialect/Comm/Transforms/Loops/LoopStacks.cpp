//===- LoopStacks.cpp - Stacks of collectives of a loop -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Chunks/ChunkedMatmul.h"
#include "Dialect/Comm/Transforms/LegalizeNCCL/TensorRewrites.h"
#include "Dialect/Comm/Transforms/RowStacks.h"
#include "LoopRewrites.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Support/IR/Operations.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// True if the iterations of `loop` replace all `numRows` rows with `index`.
static bool coversRows(OpFoldResult index, scf::ForOp loop, int64_t numRows) {
  auto value = dyn_cast<Value>(index);
  if (!value || numRows > kMostRows || getStaticTripCount(loop) != numRows)
    return false;
  llvm::SmallBitVector rows(numRows);
  for (int64_t number = 0; number != numRows; ++number) {
    std::optional<int64_t> row = evaluateIn(loop, value, number);
    if (!row || *row < 0 || *row >= numRows)
      return false;
    rows.set(*row);
  }
  return rows.all();
}

/// The dimension of rows along which members join or split what `start` sends;
/// -1 if each element stays in its place. None if rows of a stack cannot be
/// sent as one.
static std::optional<int64_t> getSentDim(CollectiveOpInterface start) {
  switch (start.getCollectiveKind()) {
  case CollectiveKind::all_reduce:
  case CollectiveKind::broadcast:
  case CollectiveKind::permute:
    return -1;
  case CollectiveKind::all_gather:
  case CollectiveKind::reduce_scatter:
    return start.getSplitDim();
  default:
    return std::nullopt;
  }
}

/// The type of the stack of what the start of `awaited` takes in place of what
/// it gives, which `insert` inserts; null if the collective cannot send it.
static RankedTensorType getSentType(tensor::InsertSliceOp insert,
                                    const AwaitedValue &awaited) {
  std::optional<int64_t> dim = getSentDim(awaited.start);
  auto source = cast<RankedTensorType>(awaited.getSource().getType());
  RankedTensorType row = insert.getSourceType(), stack = insert.getDestType();
  if (!dim)
    return {};
  if (source == row)
    return stack;
  // A row of the stack has its first dimension, too, or not.
  bool hasFirst = row.getRank() == stack.getRank();
  if (source.getRank() != row.getRank() || (hasFirst && *dim == 0) ||
      row.getShape().drop_front(hasFirst) != stack.getShape().drop_front())
    return {};
  SmallVector<int64_t> shape = {stack.getDimSize(0)};
  llvm::append_range(shape, source.getShape().drop_front(hasFirst));
  return stack.clone(shape);
}

static std::optional<LoopStack> findLoopStack(scf::ForOp loop, unsigned number,
                                              bool mayReorder) {
  BlockArgument carried = loop.getRegionIterArg(number);
  Value total = loop.getYieldedValues()[number];
  auto insert = total.getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || insert->getBlock() != loop.getBody() ||
      insert.getDest() != carried || !carried.hasOneUse() ||
      !total.hasOneUse() || !insert.getSource().hasOneUse() ||
      !isRow(insert, insert.getDestType()))
    return std::nullopt;
  std::optional<AwaitedValue> awaited = getAwaitedValue(insert.getSource());
  if (!awaited || !awaited->isAlone() ||
      awaited->start->getBlock() != loop.getBody())
    return std::nullopt;
  CollectiveOpInterface start = awaited->start;
  if (start.getScale() || !getSentType(insert, *awaited) ||
      (dependsOnOrderOfTerms(start) && !mayReorder) ||
      !coversRows(insert.getMixedOffsets().front(), loop,
                  insert.getDestType().getDimSize(0)))
    return std::nullopt;
  return LoopStack{number, insert, *awaited};
}

SmallVector<LoopStack> braid::comm::findLoopStacks(scf::ForOp loop,
                                                   bool mayReorder) {
  SmallVector<LoopStack> found;
  for (unsigned number = 0; number != loop.getNumRegionIterArgs(); ++number)
    if (std::optional<LoopStack> stack =
            findLoopStack(loop, number, mayReorder))
      found.push_back(*stack);
  return found;
}

/// Lets `loop` carry the stack of what the collective of `stack` takes, of type
/// `sent`: all of its rows are replaced.
static void carrySentRows(RewriterBase &rewriter, scf::ForOp loop,
                          const LoopStack &stack, RankedTensorType sent) {
  tensor::InsertSliceOp insert = stack.insert;
  rewriter.setInsertionPoint(loop);
  Value empty =
      tensor::EmptyOp::create(rewriter, loop.getLoc(), sent.getShape(),
                              sent.getElementType(), sent.getEncoding());
  BlockArgument carried = loop.getRegionIterArg(stack.number);
  rewriter.modifyOpInPlace(loop, [&]() {
    loop.getInitArgsMutable()[stack.number].set(empty);
    loop.getResult(stack.number).setType(sent);
  });
  carried.setType(sent);
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), sent.getShape());
  sizes.front() = rewriter.getIndexAttr(1);
  rewriter.setInsertionPoint(insert);
  Value rows = tensor::InsertSliceOp::create(
      rewriter, insert.getLoc(), stack.awaited.getSource(), carried,
      insert.getMixedOffsets(), sizes, insert.getMixedStrides());
  rewriter.replaceAllUsesWith(insert.getResult(), rows);
}

SmallVector<Operation *>
braid::comm::sinkBehindLoop(RewriterBase &rewriter, scf::ForOp loop,
                            ArrayRef<LoopStack> stacks) {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Operation *> added;
  for (const LoopStack &stack : llvm::reverse(stacks)) {
    CollectiveOpInterface start = stack.awaited.start;
    WaitOp wait = stack.awaited.wait;
    Value source = stack.awaited.getSource();
    Value result = loop.getResult(stack.number);
    tensor::InsertSliceOp insert = stack.insert;
    RankedTensorType type = insert.getDestType(), given = type,
                     sent = getSentType(insert, stack.awaited);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    bool isMoved = sent != type, gathers = isa<AllGatherOp>(start);
    if (isMoved)
      carrySentRows(rewriter, loop, stack, sent);

    rewriter.setInsertionPointAfter(loop);
    ImplicitLocOpBuilder b(start.getLoc(), rewriter);
    // Libraries join and split along dimension 0.
    int64_t dim =
        start.getSplitDim() + type.getRank() - insert.getSourceType().getRank();
    OpFoldResult numMembers;
    if (isMoved)
      numMembers =
          b.getIndexAttr(std::max(type.getDimSize(dim), sent.getDimSize(dim)) /
                         std::min(type.getDimSize(dim), sent.getDimSize(dim)));
    auto move = [&](Value value, int64_t from, int64_t to) {
      value = moveDim(b, splitDim(b, value, from, numMembers), from, to);
      added.push_back(value.getDefiningOp());
      return joinDims(b, value, to);
    };
    IRMapping behind;
    behind.map(source, result);
    if (isMoved && gathers)
      given = withSize(sent, 0,
                       type.getNumElements() / sent.getNumElements() *
                           sent.getDimSize(0));
    else if (isMoved)
      behind.map(source, move(result, dim, 0));
    Operation *last = rewriter.clone(*start, behind);
    last->getResult(0).setType(TokenType::get(given));
    if (isMoved)
      llvm::TypeSwitch<Operation *>(last).Case<AllGatherOp, ReduceScatterOp>(
          [](auto op) { op.setDim(0); });
    recordDivision(last, "for all iterations of a loop");
    added.push_back(last);
    Operation *lastWait = rewriter.clone(*wait, behind);
    Value value = lastWait->getResult(0);
    value.setType(given);
    if (isMoved && gathers)
      value = move(value, 0, dim);
    for (OpOperand *use : uses)
      rewriter.modifyOpInPlace(use->getOwner(), [&]() { use->set(value); });

    if (isMoved)
      rewriter.eraseOp(insert);
    else
      rewriter.modifyOpInPlace(
          insert, [&]() { insert.getSourceMutable().set(source); });
    rewriter.eraseOp(wait);
    rewriter.eraseOp(start);
  }
  return added;
}
