//===- ScalarReads.cpp - Compute integers that are read from tensors ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarReads.h"

#include "FuseReads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid::comm;

/// The most ops that replace a read.
static constexpr uint64_t kMostOps = 64;

/// True if each dimension of the reshape but one of each group has one element.
static bool movesOnlyUnits(RankedTensorType expanded,
                           ArrayRef<ReassociationIndices> groups) {
  return llvm::all_of(groups, [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) {
             return expanded.getDimSize(dim) != 1;
           }) <= 1;
  });
}

namespace {

class ScalarReader {
public:
  explicit ScalarReader(RewriterBase &rewriter) : rewriter(rewriter) {}

  /// The number of ops that compute an element of `tensor` from scalars; more
  /// than `kMostOps` if it takes more, or an element does not follow from
  /// scalars.
  uint64_t countOps(Value tensor);

  /// The element of `tensor` at `places`. `countOps` gave at most `kMostOps`.
  Value compute(Value tensor, ArrayRef<Value> places, Location loc);

private:
  uint64_t countOpsOf(Value tensor);

  RewriterBase &rewriter;
  DenseMap<Value, uint64_t> counts;
};

} // namespace

uint64_t ScalarReader::countOps(Value tensor) {
  auto it = counts.find(tensor);
  if (it != counts.end())
    return it->second;
  uint64_t count = countOpsOf(tensor);
  counts[tensor] = count;
  return count;
}

uint64_t ScalarReader::countOpsOf(Value tensor) {
  constexpr uint64_t none = kMostOps + 1;
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  Operation *producer = tensor.getDefiningOp();
  if (!type || !type.hasStaticShape() ||
      !type.getElementType().isIntOrIndex() || !producer)
    return none;
  return llvm::TypeSwitch<Operation *, uint64_t>(producer)
      .Case([&](linalg::GenericOp op) -> uint64_t {
        if (!isComputedAnywhere(op))
          return none;
        uint64_t count = 0;
        for (Operation &inner : op.getBody()->without_terminator()) {
          if (isa<tensor::ExtractOp>(inner) || inner.getNumRegions() != 0 ||
              !llvm::all_of(inner.getResultTypes(),
                            [](Type type) { return type.isIntOrIndex(); }))
            return none;
          ++count;
        }
        for (OpOperand *input : op.getDpsInputOperands())
          if (op.payloadUsesValueFromOperand(input) &&
              isa<RankedTensorType>(input->get().getType()))
            count = std::min(none, count + countOps(input->get()));
        return count;
      })
      .Case([&](linalg::FillOp op) -> uint64_t {
        return op.value().getType() == type.getElementType() ? 0 : none;
      })
      .Case([&](arith::ConstantOp op) -> uint64_t {
        return isa<SplatElementsAttr>(op.getValue()) ? 1 : none;
      })
      .Case([&](tensor::FromElementsOp op) -> uint64_t {
        return op.getElements().size() == 1 ? 0 : none;
      })
      .Case([&](tensor::ExtractSliceOp op) {
        return std::min<uint64_t>(none, countOps(op.getSource()) +
                                            2 * op.getSourceType().getRank());
      })
      .Case([&](tensor::CollapseShapeOp op) {
        return movesOnlyUnits(op.getSrcType(), op.getReassociationIndices())
                   ? countOps(op.getSrc())
                   : none;
      })
      .Case([&](tensor::ExpandShapeOp op) {
        return movesOnlyUnits(op.getResultType(), op.getReassociationIndices())
                   ? countOps(op.getSrc())
                   : none;
      })
      .Default(none);
}

Value ScalarReader::compute(Value tensor, ArrayRef<Value> places,
                            Location loc) {
  auto zero = [&]() -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, 0);
  };
  return llvm::TypeSwitch<Operation *, Value>(tensor.getDefiningOp())
      .Case([&](linalg::GenericOp op) {
        return computeElement(rewriter, loc, op, places,
                              [&](Value input, ArrayRef<Value> indices) {
                                return compute(input, indices, loc);
                              });
      })
      .Case([&](linalg::FillOp op) { return op.value(); })
      .Case([&](arith::ConstantOp op) -> Value {
        return arith::ConstantOp::create(
            rewriter, loc,
            cast<SplatElementsAttr>(op.getValue()).getSplatValue<TypedAttr>());
      })
      .Case([&](tensor::FromElementsOp op) { return op.getElements()[0]; })
      .Case([&](tensor::ExtractSliceOp op) {
        ImplicitLocOpBuilder b(loc, rewriter);
        llvm::SmallBitVector dropped = op.getDroppedDims();
        SmallVector<Value> indices;
        const Value *place = places.begin();
        for (auto [dim, offset, stride] :
             llvm::enumerate(op.getMixedOffsets(), op.getMixedStrides())) {
          Value index = getValueOrCreateConstantIndexOp(b, loc, offset);
          if (!dropped.test(dim))
            index = arith::AddIOp::create(
                b, index,
                arith::MulIOp::create(
                    b, *place++,
                    getValueOrCreateConstantIndexOp(b, loc, stride)));
          indices.push_back(index);
        }
        return compute(op.getSource(), indices, loc);
      })
      .Case([&](tensor::CollapseShapeOp op) {
        SmallVector<Value> indices;
        for (auto [group, place] :
             llvm::zip_equal(op.getReassociationIndices(), places))
          for (int64_t dim : group)
            indices.push_back(op.getSrcType().getDimSize(dim) != 1 ? place
                                                                   : zero());
        // A tensor without dimensions has no groups.
        while (indices.size() < static_cast<size_t>(op.getSrcType().getRank()))
          indices.push_back(zero());
        return compute(op.getSrc(), indices, loc);
      })
      .Case([&](tensor::ExpandShapeOp op) {
        SmallVector<Value> indices;
        for (const ReassociationIndices &group : op.getReassociationIndices()) {
          const auto *dim = llvm::find_if(group, [&](int64_t dim) {
            return op.getResultType().getDimSize(dim) != 1;
          });
          indices.push_back(dim == group.end() ? zero() : places[*dim]);
        }
        return compute(op.getSrc(), indices, loc);
      });
}

/// Erases those of `ops`, and of what they read, that nobody reads.
static void eraseDead(RewriterBase &rewriter,
                      llvm::SetVector<Operation *> ops) {
  while (!ops.empty()) {
    Operation *op = ops.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        ops.insert(producer);
    rewriter.eraseOp(op);
  }
}

void braid::comm::computeScalarReads(RewriterBase &rewriter, Operation *root) {
  ScalarReader reader(rewriter);
  SmallVector<tensor::ExtractOp> reads;
  root->walk([&](tensor::ExtractOp read) {
    if (!read->getParentOfType<linalg::LinalgOp>() &&
        reader.countOps(read.getTensor()) <= kMostOps)
      reads.push_back(read);
  });
  llvm::SetVector<Operation *> producers;
  for (tensor::ExtractOp read : reads) {
    rewriter.setInsertionPoint(read);
    producers.insert(read.getTensor().getDefiningOp());
    SmallVector<Value> places(read.getIndices());
    rewriter.replaceOp(read,
                       reader.compute(read.getTensor(), places, read.getLoc()));
  }
  eraseDead(rewriter, std::move(producers));
}
