//===- ExpandSmallMatmuls.cpp - Small matmuls as elementwise ops ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulMatch.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace braid {
#define GEN_PASS_DEF_EXPANDSMALLMATMULSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// More products make bodies that take longer to compile than they gain.
static constexpr int64_t kMostProducts = 16;

/// The most reads of 32 adjacent results, in lines of memory: 132
/// multiprocessors with a line a cycle need about a microsecond for them, less
/// than what a launch of the library takes longer (a matmul of 8 x 8 x 8 takes
/// 2.3 us on an H200 by the library and 1.5 us so, one of 1024 x 128 x 16 takes
/// 2.4 us and 2.5 us, but has its consumers in the same kernel).
static constexpr int64_t kMostReads = int64_t(1) << 18;

/// The lines that a read of `operand` by 32 threads with adjacent results
/// touches. `innermost` is the loop over adjacent results.
static int64_t countLines(linalg::LinalgOp op, OpOperand &operand,
                          unsigned innermost) {
  constexpr int64_t threads = 32, elementsOfLine = 8;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto shape = cast<RankedTensorType>(operand.get().getType()).getShape();
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    if (map.getDimPosition(dim) == innermost)
      return std::min<int64_t>(
          threads, llvm::divideCeil(stride * threads, elementsOfLine));
  return 1;
}

static bool isSmall(linalg::LinalgOp op, const MatmulMatch &match) {
  constexpr int64_t most = 32 * kMostReads;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (llvm::any_of(sizes, ShapedType::isDynamic) || match.hasBias ||
      op->hasAttr(kEpilogueAttrName) || sizes[match.k] > kMostProducts)
    return false;
  int64_t products = 1;
  for (int64_t size : sizes) {
    // Neither factor is so large that the product overflows.
    if (size == 0 || size > most || products * size > most)
      return false;
    products *= size;
  }
  for (Value operand : op->getOperands()) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (!element.isF32() && !element.isF64())
      return false;
  }
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  unsigned innermost = result.getDimPosition(result.getNumResults() - 1);
  int64_t lines = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    lines += countLines(op, *input, innermost);
  return products * lines <= most;
}

/// Replaces a matmul by an op that adds up the products of each result in its
/// body.
static void expandMatmul(linalg::LinalgOp op, const MatmulMatch &match) {
  IRRewriter rewriter(op);
  Location loc = op.getLoc();
  Value init = op.getDpsInits()[0];
  auto type = cast<RankedTensorType>(init.getType());
  AffineMap resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  bool overwrites = op->hasAttr(kOverwritesAttrName);
  SmallVector<AffineMap> maps(overwrites ? 1 : 2, identity);
  SmallVector<Value> inputs;
  if (!overwrites)
    inputs.push_back(init);
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                        type.getElementType());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto buildBody = [&](OpBuilder &b, Location loc, ValueRange arguments) {
    SmallVector<Value> indices(op.getNumLoops());
    for (auto [dim, expr] : llvm::enumerate(resultMap.getResults()))
      indices[cast<AffineDimExpr>(expr).getPosition()] =
          linalg::IndexOp::create(b, loc, dim);
    Value sum = arguments[0];
    if (overwrites)
      sum = arith::ConstantOp::create(b, loc,
                                      b.getZeroAttr(type.getElementType()));
    int64_t products = op.getStaticLoopRanges()[match.k];
    for (int64_t product = 0; product < products; ++product) {
      indices[match.k] = arith::ConstantIndexOp::create(b, loc, product);
      IRMapping values;
      for (OpOperand *input : op.getDpsInputOperands()) {
        SmallVector<Value> place;
        for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults())
          place.push_back(indices[cast<AffineDimExpr>(expr).getPosition()]);
        values.map(op.getMatchingBlockArgument(input),
                   tensor::ExtractOp::create(b, loc, input->get(), place));
      }
      values.map(op.getMatchingBlockArgument(op.getDpsInitOperand(0)), sum);
      for (Operation &inner : op.getBlock()->without_terminator())
        b.clone(inner, values);
      sum = values.lookup(op.getBlock()->getTerminator()->getOperand(0));
    }
    linalg::YieldOp::create(b, loc, sum);
  };
  auto generic = linalg::GenericOp::create(rewriter, loc, type, inputs, empty,
                                           maps, iterators, buildBody);
  rewriter.replaceOp(op, generic);
}

namespace {

struct ExpandSmallMatmulsPass
    : public braid::StructuralPass<
          braid::impl::ExpandSmallMatmulsPassBase<ExpandSmallMatmulsPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    SmallVector<std::pair<linalg::LinalgOp, MatmulMatch>> small;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!op.hasPureTensorSemantics())
        return;
      std::optional<MatmulMatch> match = matchMatmul(op);
      if (match && isSmall(op, *match))
        small.emplace_back(op, *match);
    });
    for (auto &[op, match] : small)
      expandMatmul(op, match);
    if (!small.empty())
      emitPassedRemark(
          getOperation(), getArgument(), "expanded-matmuls", [&](auto &remark) {
            remark << mlir::remark::metric("Matmuls", small.size());
          });
    return success();
  }
};

} // namespace
