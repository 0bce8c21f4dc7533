//===- FusionShapes.cpp - Shapes in which elementwise ops fuse ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusionShapes.h"

#include "FusionCost.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace braid::comm;

/// True if patterns, which keep no attributes, may rewrite `op`.
static bool isPlainElementwise(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  return generic && generic->getDiscardableAttrs().empty() &&
         linalg::isElementwise(cast<linalg::LinalgOp>(op));
}

/// True if `op` joins dimensions of more than one element. Others come back
/// when dimensions of size one are dropped.
static bool joinsDimensions(tensor::CollapseShapeOp op) {
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  return llvm::any_of(op.getReassociationIndices(), [&](const auto &group) {
    return llvm::count_if(group, [&](int64_t dim) { return shape[dim] != 1; }) >
           1;
  });
}

/// True if the reshape behind `operand` may move behind the owner of `operand`.
static bool mayMoveBehind(OpOperand *operand) {
  auto reshape = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  return reshape && joinsDimensions(reshape) &&
         isPlainElementwise(operand->getOwner()) &&
         isPlainElementwise(reshape.getSrc().getDefiningOp());
}

LogicalResult braid::comm::moveReshapes(Operation *root) {
  MLIRContext *context = root->getContext();
  auto apply = [&](RewritePatternSet patterns) {
    return applyPatternsGreedily(root, std::move(patterns));
  };
  linalg::ControlDropUnitDims unitDims;
  unitDims.controlFn = [](Operation *op) -> SmallVector<unsigned> {
    auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
    if (!generic || !generic->getDiscardableAttrs().empty() ||
        linalg::isaContractionOpInterface(cast<linalg::LinalgOp>(op)))
      return {};
    return llvm::to_vector(llvm::seq<unsigned>(0, generic.getNumLoops()));
  };
  RewritePatternSet drops(context);
  linalg::populateFoldUnitExtentDimsPatterns(drops, unitDims);
  linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(drops, unitDims);
  if (failed(apply(std::move(drops))))
    return failure();
  RewritePatternSet moves(context);
  linalg::populateFoldReshapeOpsByExpansionPatterns(moves, mayMoveBehind);
  return apply(std::move(moves));
}

linalg::GenericOp braid::comm::moveBroadcastBehind(RewriterBase &rewriter,
                                                   linalg::GenericOp op) {
  auto structured = cast<linalg::LinalgOp>(op.getOperation());
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      !linalg::isElementwise(structured) || !isExpensive(structured) ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getIndexingMapsArray().back().isIdentity() ||
      llvm::any_of(*op.getBody(), llvm::IsaPred<linalg::IndexOp>))
    return {};
  llvm::SmallBitVector isShared(op.getNumLoops(), true);
  for (OpOperand *input : op.getDpsInputOperands())
    for (AffineExpr expression : op.getMatchingIndexingMap(input).getResults())
      expression.walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          isShared.reset(dim.getPosition());
      });
  // Without loops the op is a fill.
  if (isShared.none() || isShared.all())
    return {};
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value init = op.getDpsInits()[0];
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> kept;
  for (auto [loop, size] :
       llvm::enumerate(tensor::getMixedSizes(rewriter, loc, init)))
    if (!isShared.test(loop)) {
      sizes.push_back(size);
      kept.push_back(rewriter.getAffineDimExpr(loop));
    }
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands())
    maps.push_back(compressDims(op.getMatchingIndexingMap(input), isShared));
  maps.push_back(rewriter.getMultiDimIdentityMap(kept.size()));
  SmallVector<utils::IteratorType> iterators(kept.size(),
                                             utils::IteratorType::parallel);
  auto reduced = linalg::GenericOp::create(
      rewriter, loc, empty.getType(), op.getInputs(), empty, maps, iterators);
  rewriter.cloneRegionBefore(op.getRegion(), reduced.getRegion(),
                             reduced.getRegion().end());
  copyAttributes(op, reduced);
  AffineMap source =
      AffineMap::get(op.getNumLoops(), 0, kept, rewriter.getContext());
  auto broadcast = linalg::GenericOp::create(
      rewriter, loc, type, reduced->getResult(0), init,
      {source, rewriter.getMultiDimIdentityMap(op.getNumLoops())},
      op.getIteratorTypesArray(),
      [](OpBuilder &builder, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(builder, loc, arguments.front());
      });
  rewriter.replaceOp(op, broadcast);
  return reduced;
}
