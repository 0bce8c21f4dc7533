//===- SplitReductions.cpp - Reductions in two steps ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../LinalgToBraidRT/MatmulMatch.h"
#include "BufferAddress.h"
#include "Kernels.h"
#include "Reduction.h"

#include "braid/Analysis/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace braid {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid::kernels;

/// The numbers of blocks that keep a large GPU busy, and that a split aims at.
static constexpr int64_t kManyRows = 512, kManyColumnBlocks = 96;
static constexpr int64_t kWantedRows = 1024, kWantedColumnBlocks = 512;
/// The least number of contiguous bytes that a block reads. Longer runs are
/// read faster, which pays for a second kernel only for large operands: on an
/// H100 it did for 128 MiB, but not for 64 MiB.
static constexpr int64_t kMinRunOfBytes = 64, kLineOfBytes = 128;
static constexpr int64_t kManyBytes = int64_t(96) << 20;
/// A reduction of fewer elements is not split.
static constexpr int64_t kManyElements = 1 << 18;
/// The least number of elements for each result of the first step.
static constexpr int64_t kMinElements = 4096;

/// The number of iterations of a loop over `size` elements for each result of
/// the first step: a divisor of `size` that gives about `results` results with
/// at least `least` iterations each; 0 if there is none.
static int64_t choosePart(int64_t size, int64_t results, int64_t least) {
  for (int64_t parts = std::min(results, size / least); parts > 1; --parts)
    if (size % parts == 0)
      return size / parts;
  return 0;
}

/// Splits the reduction of `op` into two, the first of which has enough results
/// for all multiprocessors. Does nothing if `op` has enough results or cannot
/// be split.
static void splitReduction(RewriterBase &rewriter, linalg::LinalgOp op) {
  std::optional<LoopNest> nest = getLoopNest(op);
  if (!nest || nest->usesIndices || op->hasAttr(braid::kOverwritesAttrName) ||
      nest->getNumIterations() < kManyElements)
    return;
  std::optional<SmallVector<Combiner>> combiners = matchCombiners(*nest);
  // Split the first reduction loop, which has the largest stride.
  auto iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const auto *found = llvm::find(iterators, utils::IteratorType::reduction);
  unsigned split = found - iterators.begin();
  int64_t results = 1;
  for (auto [size, kind] : llvm::zip(sizes, iterators))
    if (kind == utils::IteratorType::parallel)
      results *= size;
  // The iterations of the other reduction loops, for each result.
  int64_t elements = 0, least = 1;
  for (; split < sizes.size(); ++split) {
    if (iterators[split] != utils::IteratorType::reduction)
      continue;
    elements = nest->getNumIterations() / results / sizes[split];
    least = std::max<int64_t>(1, llvm::divideCeil(kMinElements, elements));
    if (sizes[split] >= 2 * least)
      break;
  }
  if (!combiners || split == sizes.size() ||
      llvm::any_of(*combiners, [](const Combiner &combiner) {
        return combiner.type != combiner.elementType;
      }))
    return;
  bool hasRows = true;
  // If adjacent elements belong to adjacent results, a block computes several
  // results.
  for (const Access &access : nest->inputs)
    for (auto [isReduction, stride] :
         llvm::zip(nest->isReduction, access.strides))
      if (!isReduction && stride == 1)
        hasRows = false;
  int64_t blocks = results;
  if (!hasRows) {
    int64_t size = getByteSize(nest->inputs.front().elementType);
    bool isLarge = nest->getNumIterations() >= kManyBytes / size;
    blocks = llvm::divideCeil(results * size,
                              isLarge ? kLineOfBytes : kMinRunOfBytes);
  }
  if (blocks >= (hasRows ? kManyRows : kManyColumnBlocks))
    return;
  int64_t part = choosePart(
      sizes[split],
      llvm::divideCeil(hasRows ? kWantedRows : kWantedColumnBlocks, blocks),
      hasRows ? least : std::min<int64_t>(least, 64));
  if (part == 0)
    return;

  // The loop `split` becomes two loops: over parts, and within a part.
  MLIRContext *context = op.getContext();
  unsigned numLoops = sizes.size();
  SmallVector<AffineExpr> shifted;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    shifted.push_back(
        getAffineDimExpr(loop <= split ? loop : loop + 1, context));
  AffineExpr outer = getAffineDimExpr(split, context),
             inner = getAffineDimExpr(split + 1, context);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    auto type = dyn_cast<MemRefType>(operand->get().getType());
    SmallVector<AffineExpr> exprs;
    SmallVector<ReassociationIndices> groupsOfDims;
    SmallVector<int64_t> shape;
    for (auto [dimension, expr] : llvm::enumerate(map.getResults())) {
      bool isSplit = expr == getAffineDimExpr(split, context);
      if (!isSplit && expr.isFunctionOfDim(split))
        return;
      groupsOfDims.push_back({static_cast<int64_t>(shape.size())});
      if (!isSplit) {
        exprs.push_back(expr.replaceDims(shifted));
        shape.push_back(type.getDimSize(dimension));
        continue;
      }
      groupsOfDims.back().push_back(shape.size() + 1);
      llvm::append_values(exprs, outer, inner);
      llvm::append_values(shape, sizes[split] / part, part);
    }
    maps.push_back(AffineMap::get(numLoops + 1, 0, exprs, context));
    Value value = operand->get();
    if (type && static_cast<int64_t>(shape.size()) != type.getRank())
      value = memref::ExpandShapeOp::create(rewriter, loc, shape, value,
                                            groupsOfDims);
    inputs.push_back(value);
  }

  // The buffers of the first step, with the results of each part.
  SmallVector<Value> partials;
  SmallVector<AffineMap> secondMaps, outputMaps;
  SmallVector<int64_t> partialShape;
  SmallVector<AffineExpr> partialExprs;
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    if (loop == split) {
      partialExprs.push_back(outer);
      partialShape.push_back(sizes[split] / part);
    } else if (iterators[loop] == utils::IteratorType::parallel) {
      partialExprs.push_back(shifted[loop]);
      partialShape.push_back(sizes[loop]);
    }
  }
  for (auto [output, combiner] : llvm::zip(op.getDpsInits(), *combiners)) {
    auto type = cast<MemRefType>(output.getType());
    auto partialType =
        MemRefType::get(partialShape, combiner.type,
                        MemRefLayoutAttrInterface(), type.getMemorySpace());
    Value partial = memref::AllocOp::create(rewriter, loc, partialType);
    Value neutral = arith::ConstantOp::create(rewriter, loc, combiner.neutral);
    linalg::FillOp::create(rewriter, loc, neutral, partial);
    partials.push_back(partial);
    maps.push_back(AffineMap::get(numLoops + 1, 0, partialExprs, context));
  }
  SmallVector<utils::IteratorType> firstIterators(iterators);
  firstIterators.insert(firstIterators.begin() + split,
                        utils::IteratorType::parallel);
  Block &body = *op.getBlock();
  linalg::GenericOp::create(
      rewriter, loc, inputs, partials, maps, firstIterators,
      [&](OpBuilder &builder, Location, ValueRange arguments) {
        ImplicitLocOpBuilder b(loc, builder);
        IRMapping mapping;
        mapping.map(body.getArguments(), arguments);
        SmallVector<Value> elements =
            emitElements(b, *nest, *combiners, mapping, /*lanes=*/1, {});
        SmallVector<Value> combined;
        for (auto [combiner, element, argument] : llvm::zip(
                 *combiners, elements, arguments.take_back(combiners->size())))
          combined.push_back(combiner.combine(b, argument, element));
        linalg::YieldOp::create(b, combined);
      });

  // The second step loops over the results and over the parts.
  SmallVector<AffineExpr> kept(numLoops + 1, getAffineConstantExpr(0, context));
  SmallVector<utils::IteratorType> secondIterators;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (loop == split || iterators[loop] == utils::IteratorType::parallel) {
      kept[loop] = getAffineDimExpr(secondIterators.size(), context);
      secondIterators.push_back(iterators[loop]);
    }
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(secondIterators.size(), context);
  secondMaps.assign(partials.size(), identity);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      exprs.push_back(expr.replaceDims(kept));
    secondMaps.push_back(
        AffineMap::get(secondIterators.size(), 0, exprs, context));
  }
  auto second = linalg::GenericOp::create(
      rewriter, loc, partials, op.getDpsInits(), secondMaps, secondIterators,
      [&](OpBuilder &builder, Location, ValueRange arguments) {
        ImplicitLocOpBuilder b(loc, builder);
        SmallVector<Value> combined;
        for (auto [index, combiner] : llvm::enumerate(*combiners))
          combined.push_back(combiner.combine(
              b, arguments[partials.size() + index], arguments[index]));
        linalg::YieldOp::create(b, combined);
      });
  // The fills of the results stay before the second step.
  for (Value output : second.getOutputs())
    if (linalg::FillOp fill = findFill(second, output))
      rewriter.moveOpBefore(fill, second);
  rewriter.eraseOp(op);
}

namespace {
struct SplitReductionsPass
    : public braid::StructuralPass<
          braid::impl::SplitReductionsPassBase<SplitReductionsPass>> {
  LogicalResult transform() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      // Products become calls of the library, or other kernels.
      if (op.hasPureBufferSemantics() && op.getNumReductionLoops() > 0 &&
          op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock() &&
          !braid::matchMatmul(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      splitReduction(rewriter, op);
    return success();
  }
};
} // namespace
