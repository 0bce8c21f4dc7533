//===- SplitScan.cpp - Cumulative reductions in few steps -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"

#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// A shorter scan costs less than the launches of a split one.
static constexpr int64_t kShortestScan = 256;
/// A shorter one takes fewer operations in the loops of a reduction.
static constexpr int64_t kShortestLoop = 8;
/// So few elements beside each other are scanned one by one.
static constexpr int64_t kShortestRow = 16;

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
  /// A loop over the elements of each scan, or over rows of these.
  Value buildLoops();

private:
  /// Adds loops over the dimensions from `loop` on but `scan.dim`, and those of
  /// a scan in them. `places` are those of the loops around.
  Value addLoops(OpBuilder &at, unsigned loop, SmallVector<OpFoldResult> places,
                 Value result);
  /// Adds a loop over blocks and one over the elements of a block, or over rows
  /// with all elements of the dimensions behind `scan.dim`: each is the sum of
  /// the blocks before and of its block, as long sums lose digits.
  Value scanBlocks(OpBuilder &at, SmallVector<OpFoldResult> places,
                   Value result);
  /// The neutral element, or a row of it.
  Value createNeutral(OpBuilder &at);
  Value read(OpBuilder &at, ArrayRef<OpFoldResult> places);
  Value write(OpBuilder &at, Value element, Value result,
              ArrayRef<OpFoldResult> places);
  using Body = function_ref<SmallVector<Value>(OpBuilder &, Value, ValueRange)>;
  ValueRange addLoop(OpBuilder &at, Value size, ValueRange inits, Body body);
  Value createIndex(OpBuilder &at, int64_t number) {
    return arith::ConstantIndexOp::create(at, b.getLoc(), number);
  }
  /// The sizes of a row in the scanned tensor.
  SmallVector<OpFoldResult> rowSizes(OpBuilder &at);

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
  /// The type of a row; none for elements one by one.
  RankedTensorType row;
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
  return scan;
}

/// Chooses the blocks; false if there are none.
static bool chooseBlocks(Scan &scan, int64_t size) {
  for (int64_t block = 2; block * block <= size; ++block)
    if (size % block == 0)
      scan.blockSize = block;
  if (size < kShortestScan || scan.blockSize == 0)
    return false;
  scan.numBlocks = size / scan.blockSize;
  return true;
}

Value ScanBuilder::combine(OpBuilder &at, Value accumulated, Value element) {
  if (isa<RankedTensorType>(element.getType())) {
    AffineMap identity = at.getMultiDimIdentityMap(row.getRank());
    SmallVector<utils::IteratorType> loops(row.getRank(),
                                           utils::IteratorType::parallel);
    return braid::createGeneric(
        at, b.getLoc(), accumulated, element, {identity, identity}, loops,
        [&](ImplicitLocOpBuilder &body, ValueRange arguments) {
          return combine(body, arguments[1], arguments[0]);
        });
  }
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

ValueRange ScanBuilder::addLoop(OpBuilder &at, Value size, ValueRange inits,
                                Body body) {
  auto loop = scf::ForOp::create(
      at, b.getLoc(), createIndex(at, 0), size, createIndex(at, 1), inits,
      [&](OpBuilder &inside, Location loc, Value step, ValueRange carried) {
        scf::YieldOp::create(inside, loc, body(inside, step, carried));
      });
  return loop.getResults();
}

SmallVector<OpFoldResult> ScanBuilder::rowSizes(OpBuilder &at) {
  SmallVector<OpFoldResult> sizes(scan.dim + 1, at.getIndexAttr(1));
  for (int64_t size : row.getShape())
    sizes.push_back(at.getIndexAttr(size));
  return sizes;
}

Value ScanBuilder::createNeutral(OpBuilder &at) {
  Value neutral = arith::ConstantOp::create(at, b.getLoc(), scan.neutral);
  if (!row)
    return neutral;
  Value empty = tensor::EmptyOp::create(at, b.getLoc(), row.getShape(),
                                        row.getElementType());
  return linalg::FillOp::create(at, b.getLoc(), neutral, empty).getResult(0);
}

Value ScanBuilder::read(OpBuilder &at, ArrayRef<OpFoldResult> places) {
  SmallVector<OpFoldResult> steps(type.getRank(), at.getIndexAttr(1));
  if (row)
    return tensor::ExtractSliceOp::create(at, b.getLoc(), row, scan.source,
                                          places, rowSizes(at), steps);
  return tensor::ExtractOp::create(
      at, b.getLoc(), scan.source,
      getValueOrCreateConstantIndexOp(at, b.getLoc(), places));
}

Value ScanBuilder::write(OpBuilder &at, Value element, Value result,
                         ArrayRef<OpFoldResult> places) {
  SmallVector<OpFoldResult> steps(type.getRank(), at.getIndexAttr(1));
  if (row)
    return tensor::InsertSliceOp::create(at, b.getLoc(), element, result,
                                         places, rowSizes(at), steps);
  return tensor::InsertOp::create(
      at, b.getLoc(), element, result,
      getValueOrCreateConstantIndexOp(at, b.getLoc(), places));
}

Value ScanBuilder::scanBlocks(OpBuilder &at, SmallVector<OpFoldResult> places,
                              Value result) {
  Location loc = b.getLoc();
  int64_t size = type.getDimSize(scan.dim), block = size;
  if (isa<FloatType>(type.getElementType()) && size >= kShortestScan)
    block = llvm::divideCeilSigned(size,
                                   llvm::APInt(64, size).sqrt().getSExtValue());
  auto scanBlock = [&](OpBuilder &in, Value number, ValueRange carried) {
    Value begin =
        arith::MulIOp::create(in, loc, number, createIndex(in, block));
    Value left = arith::SubIOp::create(in, loc, createIndex(in, size), begin);
    Value count = arith::MinSIOp::create(in, loc, left, createIndex(in, block));
    auto scanElement = [&](OpBuilder &inside, Value step, ValueRange found) {
      Value place = arith::AddIOp::create(inside, loc, begin, step);
      if (scan.isReverse)
        place = arith::SubIOp::create(inside, loc,
                                      createIndex(inside, size - 1), place);
      places[scan.dim] = place;
      Value within = combine(inside, found[1], read(inside, places));
      Value sum = combine(inside, carried[1], within);
      return SmallVector<Value>{write(inside, sum, found[0], places), within};
    };
    ValueRange found =
        addLoop(in, count, {carried[0], createNeutral(in)}, scanElement);
    return SmallVector<Value>{found[0], combine(in, carried[1], found[1])};
  };
  Value blocks = createIndex(at, llvm::divideCeilSigned(size, block));
  return addLoop(at, blocks, {result, createNeutral(at)}, scanBlock)[0];
}

Value ScanBuilder::addLoops(OpBuilder &at, unsigned loop,
                            SmallVector<OpFoldResult> places, Value result) {
  if (loop == scan.dim)
    loop = row ? type.getRank() : loop + 1;
  if (loop == type.getRank())
    return scanBlocks(at, places, result);
  return addLoop(at, createIndex(at, type.getDimSize(loop)), result,
                 [&](OpBuilder &inside, Value place, ValueRange carried) {
                   places[loop] = place;
                   return SmallVector<Value>{
                       addLoops(inside, loop + 1, places, carried[0])};
                 })[0];
}

/// Whether each element of `tensor` is `element`.
static bool isFilledWith(Value tensor, TypedAttr element) {
  Attribute found;
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.value(), m_Constant(&found)) && found == element;
  // JAX's fills are broadcasts.
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (generic && generic.getNumDpsInputs() == 1 &&
      generic.getBody()->getTerminator()->getOperand(0) ==
          generic.getBody()->getArgument(0))
    tensor = generic.getInputs().front();
  DenseElementsAttr elements;
  return matchPattern(tensor, m_Constant(&elements)) && elements.isSplat() &&
         elements.getSplatValue<Attribute>() == element;
}

Value ScanBuilder::buildLoops() {
  SmallVector<OpFoldResult> places(type.getRank(), b.getIndexAttr(0));
  auto behind = RankedTensorType::get(type.getShape().drop_front(scan.dim + 1),
                                      type.getElementType());
  if (behind.getNumElements() >= kShortestRow)
    row = behind;
  Value empty =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  Value scanned = addLoops(b, 0, places, empty);
  // The loops have begun with it.
  Value init = op.getOutputs().front();
  if (isFilledWith(init, scan.neutral))
    return scanned;
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  empty = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  return braid::createParallel(
      b, b.getLoc(), empty, {init, scanned}, {identity, identity},
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
        return combine(at, arguments[0], arguments[1]);
      });
}

bool braid::comm::splitScan(RewriterBase &rewriter, linalg::GenericOp op,
                            int64_t opsPerByte) {
  std::optional<Scan> scan = matchScan(op);
  if (!scan)
    return false;
  int64_t size =
      cast<RankedTensorType>(scan->source.getType()).getDimSize(scan->dim);
  bool isInLoops = opsPerByte == 0;
  if (isInLoops ? size < kShortestLoop : !chooseBlocks(*scan, size))
    return false;
  rewriter.setInsertionPoint(op);
  ScanBuilder builder(rewriter, op, *scan);
  rewriter.replaceOp(op, isInLoops ? builder.buildLoops() : builder.build());
  return true;
}
