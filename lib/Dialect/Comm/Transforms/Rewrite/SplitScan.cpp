//===- SplitScan.cpp - Cumulative reductions in two steps -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"

#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// A shorter scan costs less than the launches of a split one.
static constexpr int64_t kShortestScan = 256;

namespace {

/// A cumulative reduction of `source` along the dimension `dim`.
struct Scan {
  Value source;
  unsigned dim = 0;
  /// True if an element reduces the elements from its place on.
  bool isReverse = false;
  /// What combines two elements, with the accumulator as `accumulator`-th
  /// operand.
  Operation *combiner = nullptr;
  unsigned accumulator = 0;
  /// What the elements before the first one are.
  TypedAttr neutral;
  int64_t numBlocks = 0, blockSize = 0;
};

/// Builds the ops of a split scan.
class ScanBuilder {
public:
  ScanBuilder(RewriterBase &rewriter, linalg::GenericOp op, const Scan &scan)
      : b(op.getLoc(), rewriter), op(op), scan(scan),
        type(cast<RankedTensorType>(scan.source.getType())) {}
  Value build();

private:
  Value combine(OpBuilder &at, Value accumulated, Value element);
  /// Reduces along the dimension `dim` of `input`, whose iterations are those
  /// of a new last loop, what `isWanted`. The result has `sizes`; `element`
  /// gives the place of an element of `input`.
  Value reduce(Value input, ArrayRef<int64_t> sizes, AffineMap element,
               unsigned dim, arith::CmpIPredicate isWanted);

  ImplicitLocOpBuilder b;
  linalg::GenericOp op;
  const Scan &scan;
  RankedTensorType type;
};

} // namespace

/// The scan that `op` computes, if it is one.
static std::optional<Scan> matchScan(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() == 0 || op.getNumReductionLoops() != 1 ||
      !op->getDiscardableAttrs().empty())
    return std::nullopt;
  unsigned last = op.getNumLoops() - 1;
  auto pad = op.getInputs().front().getDefiningOp<tensor::PadOp>();
  if (!pad ||
      op.getIteratorTypesArray()[last] != utils::IteratorType::reduction)
    return std::nullopt;
  // A window is read for its size alone.
  Block &body = *op.getBody();
  for (unsigned input = 1; input < op.getNumDpsInputs(); ++input)
    if (!body.getArgument(input).use_empty())
      return std::nullopt;
  MLIRContext *context = op.getContext();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (maps.back() != AffineMap::getMultiDimIdentityMap(last + 1, context)
                         .getMajorSubMap(last) ||
      maps.front().getNumResults() != last)
    return std::nullopt;
  Scan scan;
  unsigned numWindows = 0;
  for (unsigned dim = 0; dim < last; ++dim) {
    AffineExpr place = getAffineDimExpr(dim, context);
    if (maps.front().getResult(dim) == place)
      continue;
    if (maps.front().getResult(dim) != place + getAffineDimExpr(last, context))
      return std::nullopt;
    scan.dim = dim;
    ++numWindows;
  }
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (numWindows != 1 || ShapedType::isDynamicShape(sizes) ||
      !pad.getSourceType().hasStaticShape())
    return std::nullopt;
  int64_t size = sizes[scan.dim];
  ArrayRef<int64_t> shape = pad.getSourceType().getShape();
  for (unsigned dim = 0; dim < last; ++dim) {
    int64_t low = pad.getStaticLow()[dim], high = pad.getStaticHigh()[dim];
    bool isWhole = low == 0 && high == 0;
    if (dim == scan.dim) {
      scan.isReverse = low == 0;
      isWhole = sizes[last] == size && std::min(low, high) == 0 &&
                std::max(low, high) == size - 1;
    }
    if (!isWhole || shape[dim] != sizes[dim])
      return std::nullopt;
  }
  auto combines = body.without_terminator();
  if (!llvm::hasSingleElement(combines))
    return std::nullopt;
  scan.combiner = &*combines.begin();
  BlockArgument element = body.getArgument(0),
                accumulated = body.getArguments().back();
  std::optional<TypedAttr> neutral = arith::getNeutralElement(scan.combiner);
  if (!neutral || scan.combiner->getNumOperands() != 2 ||
      body.getTerminator()->getOperand(0) != scan.combiner->getResult(0))
    return std::nullopt;
  scan.accumulator = scan.combiner->getOperand(0) == accumulated ? 0 : 1;
  if (scan.combiner->getOperand(scan.accumulator) != accumulated ||
      scan.combiner->getOperand(1 - scan.accumulator) != element)
    return std::nullopt;
  Value padding = pad.getConstantPaddingValue();
  if (!padding || !matchPattern(padding, m_Constant(&scan.neutral)))
    return std::nullopt;
  // A sum has two zeros.
  bool isZero = isa<arith::AddFOp>(scan.combiner) &&
                matchPattern(padding, m_AnyZeroFloat());
  if (!isZero && scan.neutral != *neutral)
    return std::nullopt;
  scan.source = pad.getSource();
  for (int64_t block = 2; block * block <= size; ++block)
    if (size % block == 0)
      scan.blockSize = block;
  if (size < kShortestScan || scan.blockSize == 0)
    return std::nullopt;
  scan.numBlocks = size / scan.blockSize;
  return scan;
}

Value ScanBuilder::combine(OpBuilder &at, Value accumulated, Value element) {
  IRMapping mapping;
  mapping.map(scan.combiner->getOperand(scan.accumulator), accumulated);
  mapping.map(scan.combiner->getOperand(1 - scan.accumulator), element);
  return at.clone(*scan.combiner, mapping)->getResult(0);
}

Value ScanBuilder::reduce(Value input, ArrayRef<int64_t> sizes,
                          AffineMap element, unsigned dim,
                          arith::CmpIPredicate isWanted) {
  unsigned last = sizes.size();
  Value neutral = arith::ConstantOp::create(b, scan.neutral);
  Value init =
      linalg::FillOp::create(
          b, neutral,
          tensor::EmptyOp::create(b, sizes, type.getElementType()).getResult())
          .getResult(0);
  SmallVector<utils::IteratorType> loops(last + 1,
                                         utils::IteratorType::parallel);
  loops.back() = utils::IteratorType::reduction;
  AffineMap result = b.getMultiDimIdentityMap(last + 1).getMajorSubMap(last);
  return braid::createGeneric(
      b, b.getLoc(), init, input, {element, result}, loops,
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
        Value wanted = arith::CmpIOp::create(at, isWanted,
                                             linalg::IndexOp::create(at, last),
                                             linalg::IndexOp::create(at, dim));
        Value given =
            arith::SelectOp::create(at, wanted, arguments[0], neutral);
        return combine(at, arguments[1], given);
      });
}

Value ScanBuilder::build() {
  unsigned dim = scan.dim, rank = type.getRank();
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> sizes;
  for (unsigned other = 0; other < rank; ++other) {
    ReassociationIndices &group = groups.emplace_back();
    group.push_back(sizes.size());
    sizes.push_back(other == dim ? scan.numBlocks : type.getDimSize(other));
    if (other == dim) {
      group.push_back(sizes.size());
      sizes.push_back(scan.blockSize);
    }
  }
  auto split = RankedTensorType::get(sizes, type.getElementType());
  Value blocks = tensor::ExpandShapeOp::create(b, split, scan.source, groups);
  auto order =
      scan.isReverse ? arith::CmpIPredicate::uge : arith::CmpIPredicate::ule;
  auto strict =
      scan.isReverse ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::ult;
  // The loops of an element of a block: block, place, and the element it reads.
  unsigned numLoops = rank + 2;
  SmallVector<AffineExpr> read;
  for (unsigned loop = 0; loop < rank + 1; ++loop)
    read.push_back(b.getAffineDimExpr(loop == dim + 1 ? rank + 1 : loop));
  Value within =
      reduce(blocks, sizes, AffineMap::get(numLoops, 0, read, b.getContext()),
             dim + 1, order);
  // The last element of a scan has the whole block.
  int64_t whole = scan.isReverse ? 0 : scan.blockSize - 1;
  SmallVector<int64_t> totals(sizes);
  totals.erase(totals.begin() + dim + 1);
  read.clear();
  for (unsigned loop = 0; loop < rank; ++loop) {
    read.push_back(b.getAffineDimExpr(loop == dim ? rank : loop));
    if (loop == dim)
      read.push_back(b.getAffineConstantExpr(whole));
  }
  Value before =
      reduce(within, totals, AffineMap::get(rank + 1, 0, read, b.getContext()),
             dim, strict);
  SmallVector<AffineExpr> ofBlock;
  for (unsigned loop = 0; loop < rank + 1; ++loop)
    if (loop != dim + 1)
      ofBlock.push_back(b.getAffineDimExpr(loop));
  AffineMap identity = b.getMultiDimIdentityMap(rank + 1);
  Value init =
      tensor::ExpandShapeOp::create(b, split, op.getOutputs().front(), groups);
  Value empty = tensor::EmptyOp::create(b, sizes, type.getElementType());
  Value combined = braid::createParallel(
      b, b.getLoc(), empty, {init, before, within},
      {identity, AffineMap::get(rank + 1, 0, ofBlock, b.getContext()),
       identity},
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
        Value sum = combine(at, arguments[1], arguments[2]);
        return combine(at, arguments[0], sum);
      });
  return tensor::CollapseShapeOp::create(b, type, combined, groups);
}

bool braid::comm::splitScan(RewriterBase &rewriter, linalg::GenericOp op) {
  std::optional<Scan> scan = matchScan(op);
  if (!scan)
    return false;
  rewriter.setInsertionPoint(op);
  rewriter.replaceOp(op, ScanBuilder(rewriter, op, *scan).build());
  return true;
}
