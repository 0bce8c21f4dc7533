//===- FuseSiblings.cpp - Reductions of the same tensors ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps.h"

#include "Dialect/Comm/Transforms/FusionCost.h"
#include "FusionShapes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

#include <algorithm>

using namespace mlir;
using namespace braid::comm;

/// A kernel keeps the partial results of all its reductions in registers.
static constexpr unsigned kMostResults = 6;
/// How many of the next readers of its inputs an op may be merged with.
static constexpr size_t kMostCandidates = 64;
/// All ops of a program may read a tensor with so many uses: to look through
/// them for each op would take quadratic time.
static constexpr unsigned kManyUses = 1 << 12;
/// The bytes that a GPU moves in a small part of the time of a launch.
static constexpr int64_t kSmallBytes = int64_t(1) << 18;
/// A reduction of fewer bytes, or of fewer bytes for each of its parts, does
/// not become one of parts.
static constexpr int64_t kLeastSharedBytes = int64_t(1) << 23,
                         kLeastOfPart = 32;

void braid::comm::mergeEqualInputs(RewriterBase &rewriter,
                                   linalg::GenericOp op) {
  rewriter.modifyOpInPlace(op, [&] {
    llvm::DenseMap<std::pair<Value, AffineMap>, unsigned> first;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    Block *body = op.getBody();
    for (unsigned index = 0; index < op.getInputs().size();) {
      auto [entry, isNew] =
          first.try_emplace({op.getInputs()[index], maps[index]}, index);
      if (isNew) {
        ++index;
        continue;
      }
      BlockArgument duplicate = body->getArgument(index);
      duplicate.replaceAllUsesWith(body->getArgument(entry->second));
      body->eraseArgument(index);
      op.getInputsMutable().erase(index);
      maps.erase(maps.begin() + index);
    }
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

/// True if `op` alone reads the result of a matmul, whose kernel may compute
/// it.
static bool mayBeEpilogue(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInputs(), [&](Value input) {
    auto producer = input.getDefiningOp<linalg::LinalgOp>();
    return producer && linalg::isaContractionOpInterface(producer) &&
           llvm::all_equal(input.getUsers());
  });
}

/// `op` as one of `siblings`; null if it is none.
static linalg::GenericOp getSibling(Operation *op, Siblings siblings) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !generic.hasPureTensorSemantics() ||
      generic.getNumResults() == 0 || op->hasAttr(CommDialect::kCostAttrName) ||
      !llvm::all_of(op->getDiscardableAttrs(), [](NamedAttribute attribute) {
        return isa_and_nonnull<CommDialect>(attribute.getNameDialect());
      }))
    return {};
  auto structured = cast<linalg::LinalgOp>(op);
  bool isSibling =
      siblings == Siblings::Reductions
          ? generic.getNumReductionLoops() > 0 && !isMatrixProduct(structured)
          : linalg::isElementwise(structured) &&
                getMovedBytes(structured) <= kSmallBytes &&
                !mayBeEpilogue(structured);
  return isSibling ? generic : linalg::GenericOp();
}

/// True if `operand` has its own element for each iteration of its owner.
static bool isWhole(OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  return op.isDpsInput(&operand) &&
         op.getMatchingIndexingMap(&operand).isPermutation();
}

/// The bytes of the whole inputs of `op`; only of those that `other` reads in
/// the same iterations if it is given.
static int64_t getWholeBytes(linalg::GenericOp op,
                             linalg::GenericOp other = {}) {
  int64_t bytes = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    if (isWhole(*input) &&
        (!other ||
         llvm::any_of(other.getDpsInputOperands(), [&](OpOperand *its) {
           return its->get() == input->get() &&
                  other.getMatchingIndexingMap(its) ==
                      op.getMatchingIndexingMap(input);
         })))
      bytes += getBytes(input->get().getType());
  return bytes;
}

/// The ops that move before `place`, in order, so that `op` may move there;
/// none if it may not.
static std::optional<SmallVector<Operation *>> findMoves(Operation *op,
                                                         Operation *place) {
  llvm::SetVector<Operation *> found;
  found.insert(op);
  for (size_t number = 0; number < found.size(); ++number) {
    llvm::SetVector<Value> values(found[number]->operand_begin(),
                                  found[number]->operand_end());
    getUsedValuesDefinedAbove(found[number]->getRegions(), values);
    for (Value value : values) {
      Operation *definition = value.getDefiningOp();
      if (!definition || definition->getBlock() != place->getBlock() ||
          definition->isBeforeInBlock(place))
        continue;
      if (!matchPattern(definition, m_Constant()) &&
          !isa<tensor::EmptyOp, linalg::FillOp, tensor::ExpandShapeOp,
               tensor::CollapseShapeOp>(definition))
        return std::nullopt;
      found.insert(definition);
    }
  }
  auto moves = llvm::to_vector(ArrayRef(found.getArrayRef()).drop_front());
  llvm::sort(moves,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return moves;
}

/// True if nothing before `place` in its block uses `op`.
static bool isUnusedBefore(Operation *op, Operation *place) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    Operation *ancestor = place->getBlock()->findAncestorOpInBlock(*user);
    return ancestor && place->isBeforeInBlock(ancestor);
  });
}

/// True if both have the same loops and results of the same shape, and one op
/// saves enough.
static bool isWorthMerging(linalg::GenericOp first, linalg::GenericOp second,
                           Siblings siblings) {
  auto getResultMap = [](linalg::GenericOp op, int64_t number) {
    return op.getMatchingIndexingMap(op.getDpsInitOperand(number));
  };
  AffineMap map = getResultMap(first, 0);
  for (linalg::GenericOp op : {first, second})
    for (int64_t number = 0; number < op.getNumDpsInits(); ++number)
      if (getResultMap(op, number) != map)
        return false;
  if (first.getIteratorTypesArray() != second.getIteratorTypesArray() ||
      first.getNumResults() + second.getNumResults() > kMostResults ||
      first.getNumOperands() + second.getNumOperands() > kMostOperands)
    return false;
  int64_t shared = getWholeBytes(first, second);
  if (siblings == Siblings::SmallElementwise) {
    SmallVector<int64_t> sizes = first.getStaticLoopRanges();
    return shared > 0 || (!ShapedType::isDynamicShape(sizes) &&
                          sizes == second.getStaticLoopRanges());
  }
  return shared > 0 &&
         2 * shared >= std::min(getWholeBytes(first), getWholeBytes(second));
}

/// Replaces both ops by one at the insertion point.
static linalg::GenericOp merge(RewriterBase &rewriter, linalg::GenericOp first,
                               linalg::GenericOp second) {
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps, outputMaps;
  SmallVector<Type> types;
  for (linalg::GenericOp op : {first, second}) {
    llvm::append_range(inputs, op.getInputs());
    llvm::append_range(outputs, op.getOutputs());
    llvm::append_range(types, op.getResultTypes());
    SmallVector<AffineMap> all = op.getIndexingMapsArray();
    unsigned numInputs = op.getNumDpsInputs();
    llvm::append_range(maps, ArrayRef(all).take_front(numInputs));
    llvm::append_range(outputMaps, ArrayRef(all).drop_front(numInputs));
  }
  llvm::append_range(maps, outputMaps);
  auto merged = linalg::GenericOp::create(
      rewriter, rewriter.getFusedLoc({first.getLoc(), second.getLoc()}), types,
      inputs, outputs, maps, first.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        SmallVector<Value> results;
        ValueRange ins = arguments.take_front(inputs.size());
        ValueRange outs = arguments.drop_front(inputs.size());
        for (linalg::GenericOp op : {first, second}) {
          IRMapping mapping;
          mapping.map(op.getRegionInputArgs(),
                      ins.take_front(op.getNumDpsInputs()));
          mapping.map(op.getRegionOutputArgs(),
                      outs.take_front(op.getNumDpsInits()));
          ins = ins.drop_front(op.getNumDpsInputs());
          outs = outs.drop_front(op.getNumDpsInits());
          for (Operation &inner : op.getBody()->without_terminator())
            builder.clone(inner, mapping);
          for (Value yielded : op.getBody()->getTerminator()->getOperands())
            results.push_back(mapping.lookupOrDefault(yielded));
        }
        linalg::YieldOp::create(builder, loc, results);
      });
  mergeEqualInputs(rewriter, merged);
  mergeAttributes(first, second, merged);
  unsigned kept = first.getNumResults();
  rewriter.replaceOp(first, merged.getResults().take_front(kept));
  rewriter.replaceOp(second, merged.getResults().drop_front(kept));
  return merged;
}

/// The op of the body of `op` that combines the result `number` with an element
/// in any order; null if there is none.
static Operation *findCombiner(linalg::GenericOp op, unsigned number) {
  BlockArgument before = op.getRegionOutputArgs()[number];
  Operation *combiner =
      op.getBody()->getTerminator()->getOperand(number).getDefiningOp();
  if (!combiner || !before.hasOneUse() || !combiner->hasOneUse() ||
      *before.user_begin() != combiner || combiner->getBlock() != op.getBody())
    return nullptr;
  return arith::getNeutralElement(combiner) ? combiner : nullptr;
}

/// The loops of `whole` in the order of those of `parts`, which reduces some of
/// them, if `whole` may combine results of the rest: its parts are as large as
/// results of `parts`. None if it may not, or if this saves too little.
static std::optional<SmallVector<unsigned>>
findLoopsOfParts(linalg::GenericOp whole, linalg::GenericOp parts) {
  if (!whole.getBody()->getOps<linalg::IndexOp>().empty())
    return std::nullopt;
  int64_t shared = 0;
  SmallVector<unsigned> order;
  for (OpOperand *input : whole.getDpsInputOperands())
    for (OpOperand *other : parts.getDpsInputOperands()) {
      if (input->get() != other->get() || !isWhole(*input) || !isWhole(*other))
        continue;
      AffineMap loops = whole.getMatchingIndexingMap(input);
      SmallVector<unsigned> found;
      for (AffineExpr loop :
           inversePermutation(parts.getMatchingIndexingMap(other)).getResults())
        found.push_back(
            loops.getDimPosition(cast<AffineDimExpr>(loop).getPosition()));
      if (order.empty())
        order = found;
      if (order == found)
        shared += getBytes(input->get().getType());
    }
  if (order.empty() || 2 * shared < getWholeBytes(whole))
    return std::nullopt;
  bool hasMore = false;
  for (auto [loop, kind] : llvm::zip(order, parts.getIteratorTypesArray())) {
    bool isReduced =
        whole.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
    if (!isReduced && kind == utils::IteratorType::reduction)
      return std::nullopt;
    hasMore |= isReduced && kind == utils::IteratorType::parallel;
  }
  auto type = cast<RankedTensorType>(parts.getResultTypes().front());
  if (!hasMore || !type.hasStaticShape() ||
      !parts.getMatchingIndexingMap(parts.getDpsInitOperand(0))
           .isProjectedPermutation() ||
      whole.getNumResults() + parts.getNumResults() > kMostResults ||
      whole.getNumOperands() + parts.getNumOperands() > kMostOperands)
    return std::nullopt;
  int64_t bytes = 0;
  for (unsigned number = 0; number < whole.getNumResults(); ++number) {
    Type element = getElementTypeOrSelf(whole.getResultTypes()[number]);
    // Parts of smaller floats would be rounded.
    if (!findCombiner(whole, number) ||
        (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32) ||
        !whole.getMatchingIndexingMap(whole.getDpsInitOperand(number))
             .isProjectedPermutation())
      return std::nullopt;
    bytes += getBytes(type.clone(element));
  }
  if (shared < std::max(kLeastSharedBytes, kLeastOfPart * bytes))
    return std::nullopt;
  return order;
}

/// Makes `whole` combine parts, and returns the op with these at the insertion
/// point, which is behind it then. Its loops are those of `parts`; `order` has
/// the loops of `whole` for them.
static linalg::GenericOp reduceParts(RewriterBase &rewriter, WaitSets &sets,
                                     linalg::GenericOp whole,
                                     linalg::GenericOp parts,
                                     ArrayRef<unsigned> order) {
  MLIRContext *context = whole.getContext();
  Location loc = whole.getLoc();
  AffineMap resultMap =
      parts.getMatchingIndexingMap(parts.getDpsInitOperand(0));
  auto shape =
      cast<RankedTensorType>(parts.getResultTypes().front()).getShape();
  SmallVector<AffineExpr> loops(order.size());
  for (auto [loop, of] : llvm::enumerate(order))
    loops[of] = getAffineDimExpr(loop, context);
  SmallVector<AffineMap> maps;
  for (OpOperand *input : whole.getDpsInputOperands())
    maps.push_back(whole.getMatchingIndexingMap(input).replaceDimsAndSymbols(
        loops, {}, order.size(), 0));
  SmallVector<Value> inits;
  for (unsigned number = 0; number < whole.getNumResults(); ++number) {
    Value neutral = arith::ConstantOp::create(
        rewriter, loc, *arith::getNeutralElement(findCombiner(whole, number)));
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, shape, neutral.getType());
    inits.push_back(
        linalg::FillOp::create(rewriter, loc, neutral, empty).getResult(0));
    maps.push_back(resultMap);
  }
  auto partial = linalg::GenericOp::create(
      rewriter, loc, ValueRange(inits).getTypes(), whole.getInputs(), inits,
      maps, parts.getIteratorTypesArray());
  rewriter.cloneRegionBefore(whole.getRegion(), partial.getRegion(),
                             partial.getRegion().end());
  copyAttributes(whole, partial);

  // The loops over parts, by the loops of `whole`.
  SmallVector<AffineExpr> dims(order.size());
  SmallVector<utils::IteratorType> kinds;
  for (auto [dim, expr] : llvm::enumerate(resultMap.getResults())) {
    unsigned loop = order[cast<AffineDimExpr>(expr).getPosition()];
    dims[loop] = getAffineDimExpr(dim, context);
    kinds.push_back(whole.getIteratorTypesArray()[loop]);
  }
  SmallVector<AffineMap> lastMaps(
      inits.size(), AffineMap::getMultiDimIdentityMap(shape.size(), context));
  for (OpOperand &init : whole.getDpsInitsMutable())
    lastMaps.push_back(
        whole.getMatchingIndexingMap(&init).replaceDimsAndSymbols(
            dims, {}, shape.size(), 0));
  rewriter.setInsertionPointAfter(partial->isBeforeInBlock(whole) ? whole
                                                                  : partial);
  auto last = linalg::GenericOp::create(
      rewriter, loc, whole.getResultTypes(), partial.getResults(),
      whole.getOutputs(), lastMaps, kinds,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        SmallVector<Value> results;
        for (unsigned number = 0; number < inits.size(); ++number) {
          Operation *combiner = findCombiner(whole, number);
          IRMapping mapping;
          for (Value operand : combiner->getOperands())
            mapping.map(operand, arguments[number]);
          mapping.map(whole.getRegionOutputArgs()[number],
                      arguments[inits.size() + number]);
          results.push_back(builder.clone(*combiner, mapping)->getResult(0));
        }
        linalg::YieldOp::create(builder, loc, results);
      });
  copyAttributes(whole, last);
  sets.assign(partial, sets.lookup(whole));
  sets.assign(last, sets.lookup(whole));
  rewriter.replaceOp(whole, last);
  rewriter.setInsertionPointAfter(partial);
  return partial;
}

/// Merges `first` with one later op of its block; false if there is none.
static bool mergeWithNext(RewriterBase &rewriter, WaitSets &sets,
                          linalg::GenericOp first, Siblings siblings,
                          bool mayReduceParts) {
  SmallVector<Operation *> others;
  for (OpOperand *input : first.getDpsInputOperands())
    if (isWhole(*input)) {
      // Small ops also share a launch if they read results of the same op.
      Operation *producer = input->get().getDefiningOp();
      SmallVector<Value> values = {input->get()};
      if (producer && siblings == Siblings::SmallElementwise)
        values.assign(producer->result_begin(), producer->result_end());
      for (Value value : values)
        if (!value.hasNUsesOrMore(kManyUses))
          for (Operation *user : value.getUsers())
            if (user->getBlock() == first->getBlock() &&
                first->isBeforeInBlock(user))
              others.push_back(user);
    }
  size_t count = std::min(others.size(), kMostCandidates);
  std::partial_sort(others.begin(), others.begin() + count, others.end(),
                    [](Operation *a, Operation *b) {
                      return a != b && a->isBeforeInBlock(b);
                    });
  others.truncate(count);
  for (Operation *other : others) {
    linalg::GenericOp second = getSibling(other, siblings);
    unsigned set = sets.lookup(first);
    if (!second || set != sets.lookup(second))
      continue;
    std::optional<SmallVector<unsigned>> ofFirst, ofSecond;
    if (!isWorthMerging(first, second, siblings)) {
      if (!mayReduceParts)
        continue;
      ofFirst = findLoopsOfParts(first, second);
      ofSecond = findLoopsOfParts(second, first);
      if (!ofFirst && !ofSecond)
        continue;
    }
    if (std::optional<SmallVector<Operation *>> moves =
            findMoves(second, first)) {
      for (Operation *move : *moves)
        rewriter.moveOpBefore(move, first);
      rewriter.setInsertionPoint(first);
    } else if (isUnusedBefore(first, second)) {
      rewriter.setInsertionPoint(second);
    } else {
      continue;
    }
    if (ofFirst)
      first = reduceParts(rewriter, sets, first, second, *ofFirst);
    else if (ofSecond)
      second = reduceParts(rewriter, sets, second, first, *ofSecond);
    sets.assign(merge(rewriter, first, second), set);
    return true;
  }
  return false;
}

int64_t braid::comm::fuseSiblings(RewriterBase &rewriter, WaitSets &sets,
                                  Operation *root, Siblings siblings,
                                  bool mayReduceParts) {
  // The bodies of ops that are merged are gone afterwards.
  SmallVector<Block *> blocks;
  root->walk([&](Block *block) {
    if (!isa<linalg::LinalgOp>(block->getParentOp()))
      blocks.push_back(block);
  });
  int64_t count = 0;
  for (Block *block : blocks)
    for (Operation *op = block->empty() ? nullptr : &block->front(); op;) {
      Operation *before = op->getPrevNode();
      linalg::GenericOp first = getSibling(op, siblings);
      if (!first ||
          !mergeWithNext(rewriter, sets, first, siblings, mayReduceParts)) {
        op = op->getNextNode();
        continue;
      }
      ++count;
      op = before ? before->getNextNode() : &block->front();
    }
  return count;
}
