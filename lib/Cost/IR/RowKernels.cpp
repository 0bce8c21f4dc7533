//===- RowKernels.cpp - Ops that share a kernel of rows -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowKernels.h"

#include "Analysis/Memory/TransparentOps.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/RowLength.h"

using namespace braid;
using namespace mlir;

namespace {
/// The loops over rows and along them.
struct Rows {
  SmallVector<int64_t> sizes;
  unsigned numLoops = 0;
};
} // namespace

/// The rows that `op` reduces, if registers hold them. A matmul has no operand
/// with an element for each iteration, and no rows.
static std::optional<Rows> getReducedRows(linalg::LinalgOp op) {
  auto isOfAllLoops = [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).getNumResults() == op.getNumLoops();
  };
  if (op.getNumReductionLoops() == 0 ||
      llvm::none_of(op.getDpsInputOperands(), isOfAllLoops))
    return std::nullopt;
  Rows rows{op.getStaticLoopRanges(), 0};
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  while (iterators[rows.numLoops] == utils::IteratorType::parallel)
    ++rows.numLoops;
  int64_t length = 1;
  for (unsigned loop = rows.numLoops; loop < iterators.size(); ++loop)
    if (iterators[loop] != utils::IteratorType::reduction ||
        ShapedType::isDynamic(rows.sizes[loop]) ||
        (length *= rows.sizes[loop]) > kMaxRowLength)
      return std::nullopt;
  if (rows.numLoops == 0)
    return std::nullopt;
  return rows;
}

/// True if `op` computes one value for each of the rows.
static bool isOneForEach(linalg::LinalgOp op, const Rows &rows) {
  return op.getNumLoops() == rows.numLoops && op.getNumReductionLoops() == 0 &&
         ArrayRef(op.getStaticLoopRanges()) ==
             ArrayRef(rows.sizes).take_front(rows.numLoops);
}

/// True if a kernel of `rows` may contain `op`, or if `op` needs no kernel. An
/// order may move starts and waits, so that costs do not depend on their
/// places.
static bool isPassable(Operation *op, const Rows &rows) {
  if (isa<comm::AsyncStartOpInterface, comm::WaitOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || isa<linalg::FillOp>(op))
    return linalgOp || isTransparentOp(op);
  return isOneForEach(linalgOp, rows) ||
         (linalgOp.getStaticLoopRanges() == rows.sizes &&
          (linalgOp.getNumReductionLoops() == 0 || getReducedRows(linalgOp)));
}

/// True if `op` has `map` as that of the input `value`.
static bool reads(linalg::LinalgOp op, Value value, AffineMap map) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return input->get() == value && op.getMatchingIndexingMap(input) == map;
  });
}

/// True if a neighbour of `op`, whose loops are the same, reads `value` by
/// `map` later, or has computed it by `map`.
static bool isInRegisters(linalg::LinalgOp op, const Rows &rows, Value value,
                          AffineMap map) {
  for (Operation *next = op->getNextNode(); next && isPassable(next, rows);
       next = next->getNextNode())
    if (auto other = dyn_cast<linalg::LinalgOp>(next);
        other && other.getNumLoops() == rows.sizes.size() &&
        reads(other, value, map))
      return true;
  auto producer = value.getDefiningOp<linalg::LinalgOp>();
  if (!producer || producer->getBlock() != op->getBlock() ||
      producer.getStaticLoopRanges() != rows.sizes)
    return false;
  for (Operation *before = op->getPrevNode();
       before && isPassable(before, rows); before = before->getPrevNode())
    if (before == producer)
      return producer.getIndexingMapMatchingResult(cast<OpResult>(value)) ==
             map;
  return false;
}

static bool isFreeReduction(linalg::LinalgOp op, const Rows &rows) {
  bool readsElements = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() <= rows.numLoops)
      continue;
    readsElements = true;
    if (!isInRegisters(op, rows, input->get(), map))
      return false;
  }
  return readsElements;
}

bool braid::isFreeInRowKernel(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || isa<linalg::FillOp>(op.getOperation()))
    return false;
  if (std::optional<Rows> rows = getReducedRows(op))
    return isFreeReduction(op, *rows);
  if (op.getNumReductionLoops() != 0)
    return false;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    auto reduction = input->get().getDefiningOp<linalg::LinalgOp>();
    if (!reduction || reduction->getBlock() != op->getBlock())
      return false;
    std::optional<Rows> rows = getReducedRows(reduction);
    if (!rows || !isOneForEach(op, *rows))
      return false;
    Operation *before = op->getPrevNode();
    while (before != reduction && before && isPassable(before, *rows))
      before = before->getPrevNode();
    return before == reduction;
  });
}
