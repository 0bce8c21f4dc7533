//===- FusionShapes.cpp - Shapes in which elementwise ops fuse ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusionShapes.h"

#include "Dialect/Comm/Transforms/FusionCost.h"
#include "Rewrites.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace braid::comm;

/// Reshapes from a higher rank do not move behind broadcasts.
static constexpr int64_t kMostJoinedRank = 3;

/// True if patterns, which keep no attributes, may rewrite `op`.
static bool isPlainElementwise(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  return generic && generic->getDiscardableAttrs().empty() &&
         linalg::isElementwise(cast<linalg::LinalgOp>(op));
}

/// The same for ops that become elementwise.
static bool isPlainLoop(Operation *op, int64_t opsPerByte) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  return isPlainElementwise(op) ||
         (generic && generic->getDiscardableAttrs().empty() &&
          isShortProduct(cast<linalg::LinalgOp>(op), opsPerByte));
}

/// True if one of `groups` of the dimensions of `shape` has several dimensions
/// of more than one element. Reshapes without such a group come back when
/// dimensions of size one are dropped.
static bool joinsDimensions(ArrayRef<int64_t> shape,
                            ArrayRef<ReassociationIndices> groups) {
  return llvm::any_of(groups, [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) { return shape[dim] != 1; }) >
           1;
  });
}

/// True if ops may absorb `op`: no library computes it.
static bool isLoop(Operation *op, int64_t opsPerByte) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && (!linalg::isaContractionOpInterface(
                         cast<linalg::LinalgOp>(generic.getOperation())) ||
                     isPlainLoop(op, opsPerByte));
}

/// True if the owner of `operand` is a reduction that could absorb the op
/// before `join`, or read it together with others, and does not reduce the
/// joined dimensions. Kernels that reduce rows, elements that are adjacent,
/// take in such ops by themselves.
static bool isPassableReduction(OpOperand *operand,
                                tensor::CollapseShapeOp join) {
  auto reduction = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!reduction || reduction.getNumReductionLoops() == 0 ||
      !reduction->getDiscardableAttrs().empty() ||
      linalg::isaContractionOpInterface(
          cast<linalg::LinalgOp>(reduction.getOperation())) ||
      !reduction.isDpsInput(operand))
    return false;
  SmallVector<utils::IteratorType> kinds = reduction.getIteratorTypesArray();
  auto isParallel = [&](AffineExpr dim) {
    auto loop = dyn_cast<AffineDimExpr>(dim);
    return loop && kinds[loop.getPosition()] == utils::IteratorType::parallel;
  };
  ArrayRef<AffineExpr> dims =
      reduction.getMatchingIndexingMap(operand).getResults();
  return isParallel(dims.back()) &&
         llvm::all_of(llvm::zip_equal(join.getReassociationIndices(), dims),
                      [&](auto dim) {
                        return std::get<0>(dim).size() == 1 ||
                               isParallel(std::get<1>(dim));
                      });
}

/// True if the reshape behind `operand` may move behind the owner of `operand`,
/// or if the owner is a reshape that may move before the op behind `operand`.
static bool mayMoveReshape(OpOperand *operand, int64_t opsPerByte) {
  auto isPlain = [&](Operation *op) { return isPlainLoop(op, opsPerByte); };
  if (auto split = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner()))
    return joinsDimensions(split.getResultType().getShape(),
                           split.getReassociationIndices()) &&
           isPlain(split.getSrc().getDefiningOp()) &&
           split.getSrc().hasOneUse() &&
           llvm::all_of(split->getUsers(), [&](Operation *user) {
             return isLoop(user, opsPerByte);
           });
  auto join = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  if (!join ||
      !joinsDimensions(join.getSrcType().getShape(),
                       join.getReassociationIndices()) ||
      !isPlain(join.getSrc().getDefiningOp()))
    return false;
  // Kernels of hosts have not been measured.
  if (opsPerByte > 0 && isPassableReduction(operand, join))
    return true;
  if (!isPlain(operand->getOwner()))
    return false;
  // An op that interleaves what others have interleaved would get one more
  // dimension for each of them.
  auto consumer = cast<linalg::LinalgOp>(operand->getOwner());
  return join.getSrcType().getRank() <= kMostJoinedRank ||
         consumer.getMatchingIndexingMap(operand).getNumResults() ==
             consumer.getNumLoops();
}

/// Computes the slices of the result of `op` from slices of its operands, if
/// only slices are read, and no more elements than `op` has.
static void moveSlices(RewriterBase &rewriter, linalg::GenericOp op,
                       int64_t opsPerByte) {
  if (!isPlainElementwise(op) || op->getNumResults() != 1 ||
      !op.getIndexingMapsArray().back().isIdentity() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      llvm::any_of(*op.getBody(), llvm::IsaPred<linalg::IndexOp>))
    return;
  int64_t elements = 0;
  SmallVector<tensor::ExtractSliceOp> slices;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || !slice.getType().hasStaticShape() ||
        slice.getType().getRank() != slice.getSourceType().getRank() ||
        !slice.hasUnitStride() || slice->getNumOperands() != 1 ||
        !llvm::all_of(slice->getUsers(), [&](Operation *user) {
          return isLoop(user, opsPerByte);
        }))
      return;
    elements += slice.getType().getNumElements();
    slices.push_back(slice);
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (slices.empty() || !type.hasStaticShape() ||
      elements > type.getNumElements())
    return;
  for (tensor::ExtractSliceOp slice : slices) {
    rewriter.setInsertionPoint(slice);
    Location loc = slice.getLoc();
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(),
                              sizes = slice.getMixedSizes();
    SmallVector<Value> inputs;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      // A map of the loops is a permutation of some of them.
      SmallVector<OpFoldResult> one(map.getNumResults(),
                                    rewriter.getIndexAttr(1));
      inputs.push_back(map.getNumResults() == 0
                           ? input->get()
                           : tensor::ExtractSliceOp::create(
                                 rewriter, loc, input->get(),
                                 applyPermutationMap(map, ArrayRef(offsets)),
                                 applyPermutationMap(map, ArrayRef(sizes)),
                                 one));
    }
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, slice.getType().getShape(),
                                slice.getType().getElementType());
    auto part = linalg::GenericOp::create(
        rewriter, loc, slice.getType(), inputs, empty,
        op.getIndexingMapsArray(), op.getIteratorTypesArray());
    rewriter.cloneRegionBefore(op.getRegion(), part.getRegion(),
                               part.getRegion().end());
    rewriter.replaceOp(slice, part);
  }
  rewriter.eraseOp(op);
}

/// Replaces `op` by reshapes if it moves no element in memory: only dimensions
/// of size one change their places.
static void replaceByReshapes(RewriterBase &rewriter, linalg::TransposeOp op) {
  auto source = dyn_cast<RankedTensorType>(op.getInput().getType());
  auto result = dyn_cast<RankedTensorType>(op.getInit().getType());
  if (!source || !result || !source.hasStaticShape() ||
      !op->getDiscardableAttrs().empty())
    return;
  SmallVector<int64_t> moved, shape;
  for (int64_t dim : op.getPermutation())
    if (source.getDimSize(dim) != 1)
      moved.push_back(dim);
  if (!llvm::is_sorted(moved))
    return;
  for (int64_t dim : moved)
    shape.push_back(source.getDimSize(dim));
  auto squeezed = RankedTensorType::get(shape, source.getElementType());
  auto groups = getReassociationIndicesForReshape(source, squeezed);
  auto resultGroups = getReassociationIndicesForReshape(squeezed, result);
  if (!groups || !resultGroups)
    return;
  rewriter.setInsertionPoint(op);
  Value value = op.getInput();
  if (source != squeezed)
    value = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), squeezed,
                                            value, *groups);
  if (result != squeezed)
    value = tensor::ExpandShapeOp::create(rewriter, op.getLoc(), result, value,
                                          *resultGroups);
  rewriter.replaceOp(op, value);
}

/// The loops that may be dropped if they have one iteration. Where a window or
/// a stride leaves elements unread, as in max pools with one window, an index
/// without such a loop would have to read all.
static SmallVector<unsigned> getDroppableLoops(linalg::GenericOp op) {
  llvm::SmallBitVector droppable(op.getNumLoops(), true);
  SmallVector<AffineExpr> last;
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    last.push_back(ShapedType::isDynamic(range)
                       ? getAffineDimExpr(loop, op.getContext())
                       : getAffineConstantExpr(range - 1, op.getContext()));
  for (auto [map, type] :
       llvm::zip_equal(op.getIndexingMapsArray(), op->getOperandTypes())) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped)
      continue;
    for (auto [index, size] :
         llvm::zip_equal(map.getResults(), shaped.getShape())) {
      if (isa<AffineDimExpr>(index))
        continue;
      auto end = dyn_cast<AffineConstantExpr>(index.replaceDims(last));
      if (end && end.getValue() + 1 == size)
        continue;
      index.walk([&](AffineExpr part) {
        if (auto loop = dyn_cast<AffineDimExpr>(part))
          droppable.reset(loop.getPosition());
      });
    }
  }
  return llvm::map_to_vector(droppable.set_bits(),
                             [](unsigned loop) { return loop; });
}

LogicalResult braid::comm::moveReshapes(Operation *root, int64_t opsPerByte) {
  MLIRContext *context = root->getContext();
  // Blocks keep their arguments: tokens may be among them.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  auto apply = [&](RewritePatternSet patterns) {
    return applyPatternsGreedily(root, std::move(patterns), config);
  };
  IRRewriter rewriter(context);
  SmallVector<linalg::TransposeOp> transposes;
  root->walk([&](linalg::TransposeOp op) { transposes.push_back(op); });
  for (linalg::TransposeOp op : transposes)
    replaceByReshapes(rewriter, op);
  linalg::ControlDropUnitDims unitDims;
  unitDims.controlFn = [&](Operation *op) -> SmallVector<unsigned> {
    auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
    if (!generic || !generic->getDiscardableAttrs().empty() ||
        !isLoop(op, opsPerByte))
      return {};
    return getDroppableLoops(generic);
  };
  RewritePatternSet drops(context);
  linalg::populateFoldUnitExtentDimsPatterns(drops, unitDims);
  linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(drops, unitDims);
  if (failed(apply(std::move(drops))))
    return failure();
  RewritePatternSet moves(context);
  linalg::populateFoldReshapeOpsByExpansionPatterns(
      moves,
      [&](OpOperand *operand) { return mayMoveReshape(operand, opsPerByte); });
  if (failed(apply(std::move(moves))))
    return failure();
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : llvm::reverse(ops))
    moveSlices(rewriter, op, opsPerByte);
  return success();
}

linalg::GenericOp braid::comm::moveBroadcastBehind(RewriterBase &rewriter,
                                                   linalg::GenericOp op) {
  auto structured = cast<linalg::LinalgOp>(op.getOperation());
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      !linalg::isElementwise(structured) ||
      !(isExpensive(structured) ||
        llvm::any_of(op->getUsers(), llvm::IsaPred<tensor::ExtractOp>)) ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getIndexingMapsArray().back().isIdentity())
    return {};
  llvm::SmallBitVector isShared(op.getNumLoops(), true);
  for (OpOperand *input : op.getDpsInputOperands())
    for (AffineExpr expression : op.getMatchingIndexingMap(input).getResults())
      expression.walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          isShared.reset(dim.getPosition());
      });
  for (linalg::IndexOp index : op.getBody()->getOps<linalg::IndexOp>())
    if (!index->use_empty())
      isShared.reset(index.getDim());
  // Without loops the op is a fill.
  if (isShared.none() || isShared.all())
    return {};
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value init = op.getDpsInits()[0];
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> kept;
  SmallVector<unsigned> newLoops;
  for (auto [loop, size] :
       llvm::enumerate(tensor::getMixedSizes(rewriter, loc, init))) {
    newLoops.push_back(kept.size());
    if (!isShared.test(loop)) {
      sizes.push_back(size);
      kept.push_back(rewriter.getAffineDimExpr(loop));
    }
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
  for (auto index : llvm::make_early_inc_range(
           reduced.getBody()->getOps<linalg::IndexOp>())) {
    if (index->use_empty())
      rewriter.eraseOp(index);
    else
      index.setDim(newLoops[index.getDim()]);
  }
  copyAttributes(op, reduced);
  AffineMap source =
      AffineMap::get(op.getNumLoops(), 0, kept, rewriter.getContext());
  Value broadcast = braid::createParallel(
      rewriter, loc, init, reduced->getResult(0), source,
      [](ImplicitLocOpBuilder &, ValueRange elements) { return elements[0]; });
  rewriter.replaceOp(op, broadcast);
  // Reads of elements need no copies of them.
  for (Operation *user : llvm::make_early_inc_range(broadcast.getUsers())) {
    auto read = dyn_cast<tensor::ExtractOp>(user);
    if (!read)
      continue;
    SmallVector<Value> places;
    for (AffineExpr loop : kept)
      places.push_back(
          read.getIndices()[cast<AffineDimExpr>(loop).getPosition()]);
    rewriter.setInsertionPoint(read);
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(read, reduced->getResult(0),
                                                   places);
  }
  if (broadcast.use_empty())
    rewriter.eraseOp(broadcast.getDefiningOp());
  return reduced;
}

void braid::comm::foldMaps(RewriterBase &rewriter, linalg::GenericOp op) {
  Block *body = op.getBody();
  for (auto apply :
       llvm::make_early_inc_range(body->getOps<affine::AffineApplyOp>())) {
    auto dim = dyn_cast<AffineDimExpr>(apply.getAffineMap().getResult(0));
    if (dim)
      rewriter.replaceOp(apply, apply.getDimOperands()[dim.getPosition()]);
  }
  for (auto index : llvm::make_early_inc_range(body->getOps<linalg::IndexOp>()))
    if (index->use_empty())
      rewriter.eraseOp(index);
}

void braid::comm::replaceByFill(RewriterBase &rewriter, linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      !linalg::isElementwise(cast<linalg::LinalgOp>(op.getOperation())) ||
      !op->getDiscardableAttrs().empty())
    return;
  Value value = op.getBody()->getTerminator()->getOperand(0);
  if (value.getParentRegion() == &op.getRegion())
    return;
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<linalg::FillOp>(op, value,
                                              op.getDpsInits().front());
}

bool braid::comm::isMatrixProduct(linalg::LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op))
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  return succeeded(dims) && !dims->m.empty() && !dims->n.empty();
}

/// True if `op` of a body may move to another body: its operands alone tell
/// what it computes.
static bool mayMoveToBody(Operation &op) {
  if (!isMemoryEffectFree(&op))
    return false;
  return op.getNumRegions() == 0 ||
         (isa<scf::IfOp>(op) && !op.walk([](Operation *inner) {
                                     return isa<linalg::IndexOp>(inner)
                                                ? WalkResult::interrupt()
                                                : WalkResult::advance();
                                   }).wasInterrupted());
}

bool braid::comm::mayProduce(linalg::LinalgOp op) {
  if (linalg::isElementwise(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  return generic && generic.getNumParallelLoops() == generic.getNumLoops() &&
         llvm::all_of(
             generic.getDpsInitsMutable(),
             [&](OpOperand &init) {
               return generic.getMatchingIndexingMap(&init).isPermutation();
             }) &&
         llvm::all_of(generic.getIndexingMapsArray(),
                      [](AffineMap map) {
                        return llvm::all_of(
                            map.getResults(),
                            llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
                      }) &&
         llvm::all_of(*generic.getBody(), mayMoveToBody);
}

/// True if `init` of `op` is a slice that the result replaces in its tensor.
static bool replacesSlice(linalg::GenericOp op, OpOperand &init) {
  auto slice = init.get().getDefiningOp<tensor::ExtractSliceOp>();
  OpResult result = op.getTiedOpResult(&init);
  if (!slice || !result.hasOneUse())
    return false;
  auto insert = dyn_cast<tensor::InsertSliceOp>(*result.user_begin());
  return insert && insert.getSource() == result &&
         insert.getDest() == slice.getSource() &&
         insert->getBlock() == op->getBlock() &&
         insert.isSameAs(slice, isEqualConstantIntOrValue);
}

void braid::comm::readInitsAsInputs(RewriterBase &rewriter,
                                    linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops())
    return;
  rewriter.setInsertionPoint(op);
  rewriter.modifyOpInPlace(op, [&] {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (unsigned number = 0; number < op.getNumDpsInits(); ++number) {
      OpOperand *init = op.getDpsInitOperand(number);
      if (!op.payloadUsesValueFromOperand(init) ||
          !isa<RankedTensorType>(init->get().getType()) ||
          replacesSlice(op, *init))
        continue;
      Value value = init->get();
      AffineMap map = op.getMatchingIndexingMap(init);
      BlockArgument argument = op.getMatchingBlockArgument(init);
      Value empty = tensor::EmptyOp::create(
          rewriter, op.getLoc(),
          tensor::getMixedSizes(rewriter, op.getLoc(), value),
          getElementTypeOrSelf(value.getType()));
      if (empty.getType() != value.getType())
        empty = tensor::CastOp::create(rewriter, op.getLoc(), value.getType(),
                                       empty);
      unsigned position = op.getNumDpsInputs();
      init->set(empty);
      op.getInputsMutable().append(value);
      argument.replaceAllUsesWith(op.getBody()->insertArgument(
          position, argument.getType(), argument.getLoc()));
      maps.insert(maps.begin() + position, map);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    }
  });
}

bool braid::comm::tellsSizesOfReductions(OpOperand &operand,
                                         linalg::LinalgOp producer) {
  auto consumer = cast<linalg::LinalgOp>(operand.getOwner());
  llvm::SmallBitVector known(consumer.getNumLoops());
  auto add = [&](AffineMap map) {
    for (AffineExpr expr : map.getResults())
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        known.set(loop.getPosition());
  };
  for (OpOperand *input : consumer.getDpsInputOperands())
    if (input->get() != operand.get())
      add(consumer.getMatchingIndexingMap(input));
  AffineMap loops = inversePermutation(
      producer.getIndexingMapMatchingResult(cast<OpResult>(operand.get())));
  if (!loops)
    return false;
  loops = loops.compose(consumer.getMatchingIndexingMap(&operand));
  for (OpOperand *input : producer.getDpsInputOperands())
    add(producer.getMatchingIndexingMap(input).compose(loops));
  return llvm::all_of(llvm::enumerate(consumer.getIteratorTypesArray()),
                      [&](auto loop) {
                        return loop.value() == utils::IteratorType::parallel ||
                               known[loop.index()];
                      });
}

bool braid::comm::mayAddSizesOfReductions(OpOperand &operand) {
  auto consumer = cast<linalg::LinalgOp>(operand.getOwner());
  // The input that reads other elements of the same value may tell them.
  return !ShapedType::isDynamicShape(consumer.getStaticLoopRanges()) &&
         llvm::count(consumer->getOperands(), operand.get()) == 1;
}

linalg::GenericOp braid::comm::addSizesOfReductions(RewriterBase &rewriter,
                                                    linalg::GenericOp op) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> loops;
  SmallVector<int64_t> shape;
  for (auto [loop, kind, size] :
       llvm::enumerate(op.getIteratorTypesArray(), op.getStaticLoopRanges()))
    if (kind == utils::IteratorType::reduction) {
      loops.push_back(getAffineDimExpr(loop, context));
      shape.push_back(size);
    }
  Type element = rewriter.getI8Type();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inputs(op.getInputs());
  unsigned number = inputs.size();
  inputs.push_back(
      tensor::EmptyOp::create(rewriter, op.getLoc(), shape, element));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + number,
              AffineMap::get(op.getNumLoops(), 0, loops, context));
  auto wider = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
      op.getIteratorTypesArray());
  wider->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  wider.getRegion().takeBody(op.getRegion());
  wider.getBody()->insertArgument(number, element, op.getLoc());
  rewriter.replaceOp(op, wider);
  return wider;
}
