//===- GatheredRows.cpp - What reads a gather row by row ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GatheredRows.h"
#include "RewriteJudge.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace braid::comm;

namespace {
/// Which dimensions of operands and results have the rows; none for an operand
/// that all rows read whole.
struct RowsOfOp {
  SmallVector<std::optional<int64_t>> operands;
  SmallVector<int64_t> results;
};

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
  llvm::SmallMapVector<Operation *, RowsOfOp, 8> found;
};
} // namespace

/// The dimension of an operand along which `loop` runs; none if the operand
/// does not know the loop, failure if it knows the loop in another way.
static FailureOr<std::optional<int64_t>> getDimOfLoop(AffineMap map,
                                                      unsigned loop) {
  std::optional<int64_t> found;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (found || !isa<AffineDimExpr>(expr))
      return failure();
    found = dim;
  }
  return found;
}

/// The rows of a linalg op whose operand `use` has them along `dim`.
static std::optional<RowsOfOp> getRowsOfLinalg(linalg::LinalgOp op,
                                               OpOperand &use, int64_t dim) {
  auto expr =
      dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&use).getResult(dim));
  if (!expr || !op.hasPureTensorSemantics() || op.hasDynamicShape())
    return std::nullopt;
  unsigned loop = expr.getPosition();
  if (op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel)
    return std::nullopt;
  // The number of a row is another one in a part.
  WalkResult walk = op->walk([&](linalg::IndexOp index) {
    return index.getDim() == loop ? WalkResult::interrupt()
                                  : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return std::nullopt;
  RowsOfOp found;
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<std::optional<int64_t>> ofOperand =
        getDimOfLoop(op.getMatchingIndexingMap(&operand), loop);
    if (failed(ofOperand))
      return std::nullopt;
    found.operands.push_back(*ofOperand);
    if (!op.isDpsInit(&operand))
      continue;
    if (!*ofOperand)
      return std::nullopt;
    found.results.push_back(**ofOperand);
  }
  return found;
}

/// The rows of the op that reads them in `use`, along `dim`.
static std::optional<RowsOfOp> getRows(OpOperand &use, int64_t dim) {
  Operation *op = use.getOwner();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return getRowsOfLinalg(linalgOp, use, dim);
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() != 0)
    return std::nullopt;
  RowsOfOp found;
  for (Type type : op->getOperandTypes())
    found.operands.push_back(isa<RankedTensorType>(type) ? std::optional(dim)
                                                         : std::nullopt);
  found.results.assign(op->getNumResults(), dim);
  return found;
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
    std::optional<RowsOfOp> ofUser = getRows(use, dim);
    if (!ofUser)
      continue;
    for (auto [result, ofResult] :
         llvm::zip_equal(user->getResults(), ofUser->results))
      rows.dims[result] = ofResult;
    found[user] = std::move(*ofUser);
    for (Value result : user->getResults())
      addUsers(result, left);
  }
}

/// True if `op` has the rows of some value in `dims`, and of each such value
/// along the dimension that the value has them.
static bool agree(Operation *op, const RowsOfOp &found,
                  const llvm::SmallMapVector<Value, int64_t, 8> &dims) {
  bool readsRows = false;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), found.operands))
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
  for (auto &[op, ofOp] : ordered) {
    if (!agree(op, ofOp, dims))
      continue;
    rows.ops.push_back(op);
    for (auto [result, dim] : llvm::zip_equal(op->getResults(), ofOp.results))
      dims[result] = dim;
  }
  rows.dims = std::move(dims);
  return llvm::any_of(rows.ops, isMatmul);
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
  if (!part.hasStaticShape() || !whole.hasStaticShape() ||
      part.getNumElements() == 0 ||
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
