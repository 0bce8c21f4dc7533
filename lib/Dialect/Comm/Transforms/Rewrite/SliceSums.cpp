//===- SliceSums.cpp - Sums with slices among zeros -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Signs of zeros
//===----------------------------------------------------------------------===//

/// The most values that the search for a -0 looks at: sums of sums have many
/// paths.
static constexpr unsigned kMostValues = 256;

namespace {

/// Finds values without an element of -0: the sum of such an element and 0 is
/// the element itself.
class NegativeZeros {
public:
  /// True if `value`, floats, is known to have no such element.
  bool hasNone(Value value);

private:
  bool hasNoneInResult(OpResult result);
  bool hasNoneInArgument(BlockArgument argument);

  /// Values that have no such element, as long as what is computed from them
  /// has none.
  llvm::SmallDenseSet<Value> assumed;
  unsigned numVisited = 0;
};

} // namespace

bool NegativeZeros::hasNone(Value value) {
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return !constant.getValue().isNegZero();
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)))
    return !splat.getSplatValue<APFloat>().isNegZero();
  if (++numVisited > kMostValues)
    return false;
  if (!assumed.insert(value).second)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return hasNoneInArgument(argument);
  return hasNoneInResult(cast<OpResult>(value));
}

bool NegativeZeros::hasNoneInArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto op = dyn_cast<linalg::LinalgOp>(parent)) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    return op.isDpsInput(operand) && hasNone(operand->get());
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
  return init && hasNone(init->get()) &&
         hasNone(loop.getTiedLoopYieldedValue(argument)->get());
}

bool NegativeZeros::hasNoneInResult(OpResult result) {
  return llvm::TypeSwitch<Operation *, bool>(result.getOwner())
      .Case([&](scf::ForOp loop) {
        return hasNoneInArgument(
            loop.getTiedLoopRegionIterArg(loop.getTiedLoopInit(result)));
      })
      .Case([&](linalg::FillOp op) { return hasNone(op.value()); })
      .Case([&](tensor::InsertSliceOp op) {
        return hasNone(op.getSource()) && hasNone(op.getDest());
      })
      .Case<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
            tensor::ExpandShapeOp>(
          [&](Operation *op) { return hasNone(op->getOperand(0)); })
      .Case([&](linalg::GenericOp op) {
        return op.getNumReductionLoops() == 0 &&
               hasNone(op.getBody()->getTerminator()->getOperand(
                   result.getResultNumber()));
      })
      // Rounding to nearest gives -0 for two operands that are -0 alone.
      .Case([&](arith::AddFOp op) {
        llvm::SmallDenseSet<Value> before = assumed;
        if (hasNone(op.getLhs()))
          return true;
        assumed = std::move(before);
        return hasNone(op.getRhs());
      })
      .Default(false);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// True if `sum` is the sum of two tensors element by element.
static bool isSumOfTwo(linalg::GenericOp sum) {
  Block *body = sum.getBody();
  if (!sum.hasPureTensorSemantics() || sum.getNumDpsInputs() != 2 ||
      sum->getNumResults() != 1 || sum.getNumReductionLoops() != 0 ||
      sum->hasAttr(CommDialect::kCostAttrName) ||
      !llvm::all_of(sum.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }) ||
      !llvm::hasNItems(*body, 2) ||
      body->getTerminator()->getOperand(0) != body->front().getResult(0))
    return false;
  ValueRange operands = body->front().getOperands();
  return isa<arith::AddFOp, arith::AddIOp>(body->front()) &&
         operands[0] != operands[1] &&
         llvm::is_contained(operands, body->getArgument(0)) &&
         llvm::is_contained(operands, body->getArgument(1));
}

/// The insertion of a slice into zeros that gives `value`; null if it is none,
/// or if the sum of another element of `other` and zero is not that element.
static tensor::InsertSliceOp findSliceInZeros(Value value, Value other) {
  auto insert = value.getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || !insert.getSourceType().hasStaticShape())
    return {};
  auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
  Value rest = fill ? fill.value() : insert.getDest();
  if (matchPattern(rest, m_Zero()) || matchPattern(rest, m_NegZeroFloat()))
    return insert;
  return matchPattern(rest, m_PosZeroFloat()) && NegativeZeros().hasNone(other)
             ? insert
             : tensor::InsertSliceOp();
}

/// The slice of `whole` that `insert` names of its destination, and what the
/// sum of it may replace: an insertion of the slice need not be read.
static std::pair<Value, Value> getSlice(RewriterBase &rewriter, Value whole,
                                        tensor::InsertSliceOp insert) {
  auto isSame = [](OpFoldResult a, OpFoldResult b) { return a == b; };
  auto former = whole.getDefiningOp<tensor::InsertSliceOp>();
  if (former && former.getSourceType() == insert.getSourceType() &&
      former.isSameAs(insert, isSame))
    return {former.getSource(), former.getDest()};
  return {tensor::ExtractSliceOp::create(
              rewriter, insert.getLoc(), insert.getSourceType(), whole,
              insert.getMixedOffsets(), insert.getMixedSizes(),
              insert.getMixedStrides()),
          whole};
}

bool braid::comm::addToSlice(RewriterBase &rewriter, linalg::GenericOp sum) {
  if (!isSumOfTwo(sum))
    return false;
  for (unsigned number : {0, 1}) {
    Value whole = sum.getInputs()[1 - number];
    tensor::InsertSliceOp insert =
        findSliceInZeros(sum.getInputs()[number], whole);
    if (!insert)
      continue;
    rewriter.setInsertionPoint(sum);
    Location loc = sum.getLoc();
    RankedTensorType type = insert.getSourceType();
    auto [slice, rest] = getSlice(rewriter, whole, insert);
    SmallVector<Value> inputs(2, insert.getSource());
    inputs[1 - number] = slice;
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    SmallVector<AffineMap> maps(
        3, rewriter.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> kinds(type.getRank(),
                                           utils::IteratorType::parallel);
    auto added = linalg::GenericOp::create(rewriter, loc, type, inputs, empty,
                                           maps, kinds);
    added->setDiscardableAttrs(sum->getDiscardableAttrDictionary());
    rewriter.inlineRegionBefore(sum.getRegion(), added.getRegion(),
                                added.getRegion().end());
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        sum, added.getResult(0), rest, insert.getMixedOffsets(),
        insert.getMixedSizes(), insert.getMixedStrides());
    if (insert->use_empty())
      rewriter.eraseOp(insert);
    return true;
  }
  return false;
}
