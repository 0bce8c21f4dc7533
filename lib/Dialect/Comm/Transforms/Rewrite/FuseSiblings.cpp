//===- FuseSiblings.cpp - Reductions of the same tensors ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseSiblings.h"

#include "FusionCost.h"
#include "FusionShapes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

#include <algorithm>

using namespace mlir;
using namespace braid::comm;

/// A kernel keeps the partial results of all its reductions in registers.
static constexpr unsigned kMostResults = 4;
/// How many of the next readers of its inputs an op may be merged with.
static constexpr size_t kMostCandidates = 64;
/// The bytes that a GPU moves in a small part of the time of a launch.
static constexpr int64_t kSmallBytes = int64_t(1) << 18;

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

/// Collects the ops that move before `place` so that `op` may move there; false
/// if it may not.
static bool collectMoves(Operation *op, Operation *place,
                         llvm::SetVector<Operation *> &moves) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return llvm::all_of(values, [&](Value value) {
    Operation *definition = value.getDefiningOp();
    if (!definition || definition->getBlock() != place->getBlock() ||
        definition->isBeforeInBlock(place))
      return true;
    if (!matchPattern(definition, m_Constant()) &&
        !isa<tensor::EmptyOp, linalg::FillOp>(definition))
      return false;
    if (!collectMoves(definition, place, moves))
      return false;
    moves.insert(definition);
    return true;
  });
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

/// Merges `first` with one later op of its block; false if there is none.
static bool mergeWithNext(RewriterBase &rewriter, WaitSets &sets,
                          linalg::GenericOp first, Siblings siblings) {
  SmallVector<Operation *> others;
  for (OpOperand *input : first.getDpsInputOperands())
    if (isWhole(*input)) {
      // Small ops also share a launch if they read results of the same op.
      Operation *producer = input->get().getDefiningOp();
      SmallVector<Value> values = {input->get()};
      if (producer && siblings == Siblings::SmallElementwise)
        values.assign(producer->result_begin(), producer->result_end());
      for (Value value : values)
        for (Operation *user : value.getUsers())
          if (user->getBlock() == first->getBlock() &&
              first->isBeforeInBlock(user))
            others.push_back(user);
    }
  // All ops of a program may read one tensor.
  size_t count = std::min(others.size(), kMostCandidates);
  std::partial_sort(others.begin(), others.begin() + count, others.end(),
                    [](Operation *a, Operation *b) {
                      return a != b && a->isBeforeInBlock(b);
                    });
  others.truncate(count);
  for (Operation *other : others) {
    linalg::GenericOp second = getSibling(other, siblings);
    unsigned set = sets.lookup(first);
    if (!second || set != sets.lookup(second) ||
        !isWorthMerging(first, second, siblings))
      continue;
    llvm::SetVector<Operation *> moves;
    if (collectMoves(second, first, moves)) {
      for (Operation *move : moves)
        rewriter.moveOpBefore(move, first);
      rewriter.setInsertionPoint(first);
    } else if (isUnusedBefore(first, second)) {
      rewriter.setInsertionPoint(second);
    } else {
      continue;
    }
    sets.assign(merge(rewriter, first, second), set);
    return true;
  }
  return false;
}

int64_t braid::comm::fuseSiblings(RewriterBase &rewriter, WaitSets &sets,
                                  Operation *root, Siblings siblings) {
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
      if (!first || !mergeWithNext(rewriter, sets, first, siblings)) {
        op = op->getNextNode();
        continue;
      }
      ++count;
      op = before ? before->getNextNode() : &block->front();
    }
  return count;
}
