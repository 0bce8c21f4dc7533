//===- UnrollReduction.cpp - Short reductions element by element ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

/// A body repeats no more often.
static constexpr int64_t kMostElements = 4;
/// Fewer results give a GPU too few threads, which share reductions.
static constexpr int64_t kFewestResults = int64_t(1) << 16;

/// The loops that `op` reduces, if they have a few iterations. Of other ops
/// than short products this is one loop, along which no input has adjacent
/// elements.
static SmallVector<unsigned> getShortLoops(linalg::GenericOp op,
                                           int64_t opsPerByte) {
  auto structured = cast<linalg::LinalgOp>(op.getOperation());
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  if (!op.hasPureTensorSemantics() || loops.empty() ||
      !op->getDiscardableAttrs().empty())
    return {};
  if (braid::comm::isShortProduct(structured, opsPerByte))
    return loops;
  if (loops.size() != 1 || linalg::isaContractionOpInterface(structured))
    return {};
  // Copies of ops with regions would ask for loops that are gone.
  if (llvm::any_of(op.getBody()->without_terminator(),
                   [](Operation &inner) { return inner.getNumRegions() != 0; }))
    return {};
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  unsigned loop = loops.front();
  if (ShapedType::isDynamicShape(sizes) || sizes[loop] == 0 ||
      sizes[loop] > kMostElements ||
      ShapedType::getNumElements(sizes) / sizes[loop] < kFewestResults)
    return {};
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() != 0 &&
        map.getResults().back().isFunctionOfDim(loop))
      return {};
  }
  return loops;
}

bool braid::comm::unrollReduction(RewriterBase &rewriter, linalg::GenericOp op,
                                  int64_t opsPerByte) {
  SmallVector<unsigned> reduced = getShortLoops(op, opsPerByte);
  if (reduced.empty())
    return false;
  unsigned numLoops = op.getNumLoops(), numInputs = op.getNumDpsInputs();
  unsigned numKept = numLoops - reduced.size();
  // The place of each loop among the loops that stay, or among the others.
  SmallVector<unsigned> places;
  unsigned numBefore = 0;
  SmallVector<int64_t> sizes;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (llvm::is_contained(reduced, loop)) {
      places.push_back(sizes.size());
      sizes.push_back(size);
    } else {
      places.push_back(numBefore++);
    }
  SmallVector<int64_t> strides = computeStrides(sizes);
  int64_t count = computeProduct(sizes);
  auto getMap = [&](OpOperand *operand, ArrayRef<int64_t> iteration) {
    SmallVector<AffineExpr> loops;
    for (unsigned loop = 0; loop < numLoops; ++loop)
      loops.push_back(
          llvm::is_contained(reduced, loop)
              ? rewriter.getAffineConstantExpr(iteration[places[loop]])
              : rewriter.getAffineDimExpr(places[loop]));
    return op.getMatchingIndexingMap(operand).replaceDimsAndSymbols(loops, {},
                                                                    numKept, 0);
  };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<SmallVector<int64_t>> iterations;
  for (int64_t number = 0; number < count; ++number) {
    iterations.push_back(delinearize(number, strides));
    for (OpOperand *input : op.getDpsInputOperands()) {
      inputs.push_back(input->get());
      maps.push_back(getMap(input, iterations.back()));
    }
  }
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(getMap(&init, iterations.front()));
  SmallVector<utils::IteratorType> iterators(numKept,
                                             utils::IteratorType::parallel);
  rewriter.setInsertionPoint(op);
  auto unrolled = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
      iterators, [&](OpBuilder &b, Location loc, ValueRange arguments) {
        SmallVector<Value> values(arguments.drop_front(inputs.size()));
        for (auto [number, iteration] : llvm::enumerate(iterations)) {
          IRMapping mapping;
          mapping.map(op.getBody()->getArguments().take_front(numInputs),
                      arguments.slice(number * numInputs, numInputs));
          mapping.map(op.getBody()->getArguments().drop_front(numInputs),
                      values);
          for (Operation &each : op.getBody()->without_terminator()) {
            auto index = dyn_cast<linalg::IndexOp>(each);
            if (!index) {
              b.clone(each, mapping);
              continue;
            }
            auto dim = static_cast<unsigned>(index.getDim());
            Value place =
                llvm::is_contained(reduced, dim)
                    ? Value(arith::ConstantIndexOp::create(
                          b, loc, iteration[places[dim]]))
                    : Value(linalg::IndexOp::create(b, loc, places[dim]));
            mapping.map(index.getResult(), place);
          }
          values = llvm::map_to_vector(
              op.getBody()->getTerminator()->getOperands(),
              [&](Value value) { return mapping.lookupOrDefault(value); });
        }
        linalg::YieldOp::create(b, loc, values);
      });
  rewriter.replaceOp(op, unrolled);
  return true;
}
