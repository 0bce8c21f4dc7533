//===- GatheredRows.cpp - What reads a gather row by row ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GatheredRows.h"
#include "RewriteJudge.h"

#include "braid/Analysis/Split/SplitAxes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace braid::comm;

namespace {
/// Finds the ops that read rows.
class RowsFinder {
public:
  explicit RowsFinder(GatheredRows &rows) : rows(rows) {}

  /// Adds what reads `value`, and what reads that.
  void addUsers(Value value, int64_t numMatmuls);
  /// Brings the ops into the order of the block, without those of which two
  /// operands disagree. Returns whether a matmul is among them.
  bool finish();

private:
  GatheredRows &rows;
  llvm::SmallMapVector<Operation *, SplitAxis, 8> found;
};
} // namespace

/// True if `op` on parts of its operands is the op itself.
static bool isSameOnParts(Operation *op, const SplitAxis &axis) {
  auto isStatic = [](Type type) {
    return cast<ShapedType>(type).hasStaticShape();
  };
  if (!isa<linalg::LinalgOp, SplitOpInterface>(op) &&
      !OpTrait::hasElementwiseMappableTraits(op))
    return false;
  // The number of a row is another one in a part.
  WalkResult walk = op->walk([&](linalg::IndexOp index) {
    return WalkResult(failure(index.getDim() == axis.loop));
  });
  return !walk.wasInterrupted() && axis.joined == axis.divided &&
         llvm::all_of(op->getResultTypes(), isStatic) &&
         llvm::all_of(axis.results,
                      [](std::optional<int64_t> dim) { return dim; });
}

/// The axis of the op that reads rows in `use`, along `dim`.
static std::optional<SplitAxis> getAxis(OpOperand &use, int64_t dim) {
  for (SplitAxis &axis : braid::getSplitAxes(use.getOwner()))
    if (axis.operands[use.getOperandNumber()] == dim &&
        isSameOnParts(use.getOwner(), axis))
      return std::move(axis);
  return std::nullopt;
}

static bool isMatmul(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalg::isaContractionOpInterface(linalgOp);
}

void RowsFinder::addUsers(Value value, int64_t numMatmuls) {
  int64_t dim = rows.dims.lookup(value);
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    int64_t left = numMatmuls - isMatmul(user);
    if (found.contains(user) || left < 0 ||
        user->getBlock() != rows.wait->getBlock() || user->getNumResults() == 0)
      continue;
    std::optional<SplitAxis> axis = getAxis(use, dim);
    if (!axis)
      continue;
    for (auto [result, ofResult] :
         llvm::zip_equal(user->getResults(), axis->results))
      rows.dims[result] = *ofResult;
    found[user] = std::move(*axis);
    for (Value result : user->getResults())
      addUsers(result, left);
  }
}

/// True if `op` has the rows of some value in `dims`, and of each such value
/// along the dimension that the value has them.
static bool agree(Operation *op, const SplitAxis &axis,
                  const llvm::SmallMapVector<Value, int64_t, 8> &dims) {
  bool readsRows = false;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), axis.operands))
    if (const auto *known = dims.find(operand); known != dims.end()) {
      if (!dim || known->second != *dim)
        return false;
      readsRows = true;
    }
  return readsRows;
}

bool RowsFinder::finish() {
  auto ordered = found.takeVector();
  llvm::sort(ordered, [](const auto &a, const auto &b) {
    return a.first->isBeforeInBlock(b.first);
  });
  Value gathered = rows.wait.getValue();
  llvm::SmallMapVector<Value, int64_t, 8> dims;
  dims[gathered] = rows.dims.lookup(gathered);
  for (auto &[op, axis] : ordered) {
    if (!agree(op, axis, dims))
      continue;
    for (auto [result, dim] : llvm::zip_equal(op->getResults(), axis.results))
      dims[result] = *dim;
    rows.ops[op] = std::move(axis);
  }
  rows.dims = std::move(dims);
  return llvm::any_of(rows.ops,
                      [](const auto &op) { return isMatmul(op.first); });
}

std::optional<GatheredRows>
braid::comm::findGatheredRows(CollectiveOpInterface start, int64_t numMatmuls) {
  auto async = cast<AsyncStartOpInterface>(start.getOperation());
  if (start.getCollectiveKind() != CollectiveKind::all_gather ||
      async.isBufferForm() || async.getTokens().size() != 1 ||
      hasSettings(start) || !async.getTokens()[0].hasOneUse())
    return std::nullopt;
  auto wait = dyn_cast<WaitOp>(*async.getTokens()[0].user_begin());
  if (!wait || wait->getNumOperands() != 1 || !wait.getValue() ||
      wait->getBlock() != start->getBlock())
    return std::nullopt;
  auto part = cast<RankedTensorType>(async.getSources()[0].getType());
  auto whole = cast<RankedTensorType>(wait.getValue().getType());
  int64_t dim = start.getSplitDim();
  // Scalars are gathered as rows that they do not have.
  if (part.getRank() != whole.getRank() || !part.hasStaticShape() ||
      !whole.hasStaticShape() || part.getNumElements() == 0 ||
      whole.getDimSize(dim) < 2 * part.getDimSize(dim))
    return std::nullopt;
  GatheredRows rows;
  rows.start = start;
  rows.wait = wait;
  rows.numRows = part.getDimSize(dim);
  rows.numMembers = whole.getDimSize(dim) / rows.numRows;
  rows.dims[wait.getValue()] = dim;
  RowsFinder finder(rows);
  finder.addUsers(wait.getValue(), numMatmuls);
  if (!finder.finish())
    return std::nullopt;
  return rows;
}
