//===- UnrollReduction.cpp - Short reductions element by element ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnrollReduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

/// A body repeats no more often.
static constexpr int64_t kMostElements = 4;
/// Fewer results give a GPU too few threads, which share reductions.
static constexpr int64_t kFewestResults = int64_t(1) << 16;

/// The loop that `op` reduces, if it has a few iterations and no input has
/// adjacent elements along it.
static std::optional<unsigned> getShortLoop(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 1 ||
      !op->getDiscardableAttrs().empty() ||
      linalg::isaContractionOpInterface(
          cast<linalg::LinalgOp>(op.getOperation())))
    return std::nullopt;
  // Copies of ops with regions would ask for loops that are gone.
  if (llvm::any_of(op.getBody()->without_terminator(),
                   [](Operation &inner) { return inner.getNumRegions() != 0; }))
    return std::nullopt;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  unsigned loop = loops.front();
  if (ShapedType::isDynamicShape(sizes) || sizes[loop] == 0 ||
      sizes[loop] > kMostElements ||
      ShapedType::getNumElements(sizes) / sizes[loop] < kFewestResults)
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() != 0 &&
        map.getResults().back().isFunctionOfDim(loop))
      return std::nullopt;
  }
  return loop;
}

bool braid::comm::unrollReduction(RewriterBase &rewriter,
                                  linalg::GenericOp op) {
  std::optional<unsigned> loop = getShortLoop(op);
  if (!loop)
    return false;
  int64_t size = op.getStaticLoopRanges()[*loop];
  unsigned numLoops = op.getNumLoops(), numInputs = op.getNumDpsInputs();
  // Loops behind the reduction move up.
  auto getMap = [&](OpOperand *operand, int64_t iteration) {
    SmallVector<AffineExpr> loops;
    for (unsigned other = 0; other < numLoops; ++other)
      loops.push_back(other == *loop
                          ? rewriter.getAffineConstantExpr(iteration)
                          : rewriter.getAffineDimExpr(other - (other > *loop)));
    return op.getMatchingIndexingMap(operand).replaceDimsAndSymbols(
        loops, {}, numLoops - 1, 0);
  };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (int64_t iteration = 0; iteration < size; ++iteration)
    for (OpOperand *input : op.getDpsInputOperands()) {
      inputs.push_back(input->get());
      maps.push_back(getMap(input, iteration));
    }
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(getMap(&init, 0));
  SmallVector<utils::IteratorType> iterators(numLoops - 1,
                                             utils::IteratorType::parallel);
  rewriter.setInsertionPoint(op);
  auto unrolled = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
      iterators, [&](OpBuilder &b, Location loc, ValueRange arguments) {
        SmallVector<Value> values(arguments.drop_front(inputs.size()));
        for (int64_t iteration = 0; iteration < size; ++iteration) {
          IRMapping mapping;
          mapping.map(op.getBody()->getArguments().take_front(numInputs),
                      arguments.slice(iteration * numInputs, numInputs));
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
                dim == *loop
                    ? Value(arith::ConstantIndexOp::create(b, loc, iteration))
                    : Value(
                          linalg::IndexOp::create(b, loc, dim - (dim > *loop)));
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
