//===- LoopStacks.cpp - Stacks of collectives of a loop -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopStacks.h"
#include "LoopStarts.h"

#include "Cost/IR/Roofline.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// More rows are not counted one by one.
static constexpr int64_t mostRows = 4096;

/// The value of `index`, which `loop` computes from its induction variable
/// alone, in the iteration of `number`; none if it does not fold.
static std::optional<int64_t> evaluate(Value index, scf::ForOp loop,
                                       const IndexedOps &indexed,
                                       int64_t number) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return constant;
  llvm::DenseMap<Value, Attribute> known;
  Type type = loop.getInductionVar().getType();
  known[loop.getInductionVar()] =
      IntegerAttr::get(type, *getConstantIntValue(loop.getLowerBound()) +
                                 number * *getConstantIntValue(loop.getStep()));
  auto find = [&](Value value) {
    Attribute constant = known.lookup(value);
    if (!constant)
      matchPattern(value, m_Constant(&constant));
    return constant;
  };
  Operation *last = index.getDefiningOp();
  SmallVector<Operation *> chain;
  if (last) {
    chain = indexed.getChain(last);
    chain.push_back(last);
  }
  for (Operation *op : chain) {
    SmallVector<Attribute> operands = llvm::map_to_vector(
        op->getOperands(), [&](Value operand) { return find(operand); });
    SmallVector<OpFoldResult> results;
    if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
        failed(op->fold(operands, results)) || results.size() != 1)
      return std::nullopt;
    auto folded = dyn_cast<Attribute>(results.front());
    if (!folded)
      folded = find(cast<Value>(results.front()));
    known[op->getResult(0)] = folded;
  }
  auto constant = dyn_cast_or_null<IntegerAttr>(known.lookup(index));
  return constant ? std::optional(constant.getInt()) : std::nullopt;
}

/// True if the iterations of `loop` replace all `numRows` rows with `index`.
static bool coversRows(OpFoldResult index, scf::ForOp loop, int64_t numRows) {
  auto value = dyn_cast<Value>(index);
  if (!value || numRows > mostRows || getStaticTripCount(loop) != numRows)
    return false;
  IndexedOps indexed(loop);
  if (!indexed.isIndexed(value))
    return false;
  llvm::SmallBitVector rows(numRows);
  for (int64_t number = 0; number != numRows; ++number) {
    std::optional<int64_t> row = evaluate(value, loop, indexed, number);
    if (!row || *row < 0 || *row >= numRows)
      return false;
    rows.set(*row);
  }
  return rows.all();
}

/// True if `insert` replaces one row along dimension 0.
static bool isRow(tensor::InsertSliceOp insert) {
  RankedTensorType type = insert.getDestType();
  if (!type.hasStaticShape() || type.getRank() == 0 ||
      !llvm::all_of(insert.getMixedStrides(), isOneInteger) ||
      !llvm::all_of(ArrayRef(insert.getMixedOffsets()).drop_front(),
                    isZeroInteger) ||
      insert.getSourceType().getNumElements() == 0)
    return false;
  for (auto [dim, size] : llvm::enumerate(insert.getMixedSizes()))
    if (getConstantIntValue(size) != (dim == 0 ? 1 : type.getDimSize(dim)))
      return false;
  return true;
}

/// True if `start` gives each element where it takes it.
static bool keepsPlaces(CollectiveOpInterface start) {
  switch (start.getCollectiveKind()) {
  case CollectiveKind::all_reduce:
  case CollectiveKind::broadcast:
  case CollectiveKind::permute:
    return true;
  default:
    return false;
  }
}

static std::optional<LoopStack> findLoopStack(scf::ForOp loop, unsigned number,
                                              bool mayReorder) {
  BlockArgument carried = loop.getRegionIterArg(number);
  Value total = loop.getYieldedValues()[number];
  auto insert = total.getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || insert->getBlock() != loop.getBody() ||
      insert.getDest() != carried || !carried.hasOneUse() ||
      !total.hasOneUse() || !insert.getSource().hasOneUse() || !isRow(insert))
    return std::nullopt;
  std::optional<AwaitedValue> awaited = getAwaitedValue(insert.getSource());
  if (!awaited || !awaited->isAlone() ||
      awaited->start->getBlock() != loop.getBody())
    return std::nullopt;
  CollectiveOpInterface start = awaited->start;
  if (!keepsPlaces(start) || start.getScale() ||
      awaited->getSource().getType() != insert.getSourceType() ||
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

SmallVector<CollectiveOpInterface>
braid::comm::sinkBehindLoop(RewriterBase &rewriter, scf::ForOp loop,
                            ArrayRef<LoopStack> stacks) {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<CollectiveOpInterface> starts;
  for (const LoopStack &stack : llvm::reverse(stacks)) {
    CollectiveOpInterface start = stack.awaited.start;
    WaitOp wait = stack.awaited.wait;
    Value source = stack.awaited.getSource();
    Value result = loop.getResult(stack.number);
    auto token = TokenType::get(result.getType());

    rewriter.setInsertionPointAfter(loop);
    IRMapping behind;
    behind.map(source, result);
    Operation *last = rewriter.clone(*start, behind);
    last->getResult(0).setType(token);
    recordDivision(last, "for all iterations of a loop");
    Operation *lastWait = rewriter.clone(*wait, behind);
    lastWait->getResult(0).setType(result.getType());
    rewriter.replaceAllUsesExcept(result, lastWait->getResult(0), last);

    tensor::InsertSliceOp insert = stack.insert;
    rewriter.modifyOpInPlace(insert,
                             [&]() { insert.getSourceMutable().set(source); });
    rewriter.eraseOp(wait);
    rewriter.eraseOp(start);
    starts.push_back(cast<CollectiveOpInterface>(last));
  }
  return starts;
}
