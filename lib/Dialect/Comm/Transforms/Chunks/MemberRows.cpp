//===- MemberRows.cpp - Gathered rows member by member --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkedMatmul.h"
#include "GatheredRows.h"
#include "Slices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid::comm;

namespace {
/// Writes the ops of each member. Part k has the rows of the member that is k
/// places behind this rank in the group.
class MemberWriter {
public:
  MemberWriter(RewriterBase &rewriter, const GatheredRows &rows)
      : rewriter(rewriter), rows(rows), offsets(rows.numMembers) {}

  void run();

private:
  void compute(Operation *op, const SplitAxis &axis);
  /// Puts the parts of `value` together for its users that are no ops of a
  /// member. The parts are computed in their places where that is possible.
  void join(OpResult value);
  bool isRead(Value value) const;

  /// Part `part` of `value`, whose rows are along `dim` if it has any.
  Value getPart(Value value, std::optional<int64_t> dim, int64_t part);
  Value slice(Value value, int64_t dim, int64_t part);
  Value extract(Value value, int64_t dim, int64_t part);
  /// Where the rows of a part begin.
  Value getOffset(int64_t part);

  RewriterBase &rewriter;
  const GatheredRows &rows;
  llvm::DenseMap<Value, SmallVector<Value>> parts;
  SmallVector<Value> offsets;
};
} // namespace

Value MemberWriter::getOffset(int64_t part) {
  if (offsets[part])
    return offsets[part];
  // All ops of the block may use it.
  OpBuilder::InsertionGuard guard(rewriter);
  auto start = rows.start;
  rewriter.setInsertionPointToStart(start->getBlock());
  Location loc = start->getLoc();
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value member = RankOp::create(rewriter, loc, rewriter.getIndexType(),
                                start.getGroupAttr());
  if (part != 0) {
    Value sum = arith::AddIOp::create(rewriter, loc, member, constant(part));
    member =
        arith::RemUIOp::create(rewriter, loc, sum, constant(rows.numMembers));
  }
  return offsets[part] = arith::MulIOp::create(rewriter, loc, member,
                                               constant(rows.numRows));
}

Value MemberWriter::extract(Value value, int64_t dim, int64_t part) {
  return extractAlong(rewriter, value, dim, getOffset(part), rows.numRows);
}

Value MemberWriter::slice(Value value, int64_t dim, int64_t part) {
  auto type = cast<RankedTensorType>(value.getType());
  Value uniform =
      resizeUniform(rewriter, value, withSize(type, dim, rows.numRows));
  return uniform ? uniform : extract(value, dim, part);
}

Value MemberWriter::getPart(Value value, std::optional<int64_t> dim,
                            int64_t part) {
  if (auto it = parts.find(value); it != parts.end())
    return it->second[part];
  return dim ? slice(value, *dim, part) : value;
}

void MemberWriter::compute(Operation *op, const SplitAxis &axis) {
  rewriter.setInsertionPoint(op);
  for (int64_t part = 0; part != rows.numMembers; ++part) {
    SmallVector<Value> operands;
    for (auto [operand, dim] :
         llvm::zip_equal(op->getOperands(), axis.operands))
      operands.push_back(getPart(operand, dim, part));
    Operation *copy = rewriter.clone(*op);
    copy->setOperands(operands);
    for (auto [result, ofPart] :
         llvm::zip_equal(op->getResults(), copy->getResults())) {
      auto type = cast<RankedTensorType>(result.getType());
      ofPart.setType(withSize(type, rows.dims.lookup(result), rows.numRows));
      parts[result].push_back(ofPart);
    }
    describeChunk(rewriter, copy,
                  {part, part * rows.numRows, rows.numRows,
                   rows.numMembers * rows.numRows, rows.numMembers});
  }
  for (OpResult result : op->getResults())
    if (isRead(result))
      join(result);
}

bool MemberWriter::isRead(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return !rows.ops.contains(user);
  });
}

void MemberWriter::join(OpResult value) {
  Value whole =
      joinParts(rewriter, cast<RankedTensorType>(value.getType()),
                rows.dims.lookup(value), parts[value],
                [&](size_t part) -> OpFoldResult { return getOffset(part); });
  rewriter.replaceUsesWithIf(value, whole, [&](OpOperand &use) {
    return !rows.ops.contains(use.getOwner());
  });
  rewriter.setInsertionPoint(value.getOwner());
}

void MemberWriter::run() {
  OpBuilder::InsertionGuard guard(rewriter);
  auto start = rows.start;
  auto wait = rows.wait;
  rewriter.setInsertionPointAfter(wait);
  SmallVector<Value> gathered = {
      cast<AsyncStartOpInterface>(start.getOperation()).getSources()[0]};
  for (int64_t part = 1; part != rows.numMembers; ++part)
    gathered.push_back(extract(wait.getValue(), start.getSplitDim(), part));
  parts[wait.getValue()] = std::move(gathered);
  for (const auto &[op, axis] : rows.ops)
    compute(op, axis);
  for (const auto &[op, axis] : llvm::reverse(rows.ops))
    rewriter.eraseOp(op);
}

void braid::comm::computeByMember(RewriterBase &rewriter,
                                  const GatheredRows &rows) {
  MemberWriter(rewriter, rows).run();
}
