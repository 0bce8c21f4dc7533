//===- SplitProducers.cpp - Loops of what split reductions read -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

#include "braid/Support/RowLength.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid::kernels;

/// `expand`, or an earlier op that gives the same value.
static Value findEqual(RewriterBase &rewriter, memref::ExpandShapeOp expand) {
  for (Operation *user : expand.getSrc().getUsers())
    if (auto other = dyn_cast<memref::ExpandShapeOp>(user);
        other && other != expand && other.getType() == expand.getType() &&
        other.getReassociation() == expand.getReassociation() &&
        other->getBlock() == expand->getBlock() &&
        other->isBeforeInBlock(expand)) {
      rewriter.eraseOp(expand);
      return other;
    }
  return expand;
}

Value braid::kernels::splitOperand(RewriterBase &rewriter, OpOperand &operand,
                                   const Split &split, AffineMap &map) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  AffineMap whole = op.getMatchingIndexingMap(&operand);
  MLIRContext *context = op.getContext();
  AffineExpr loop = getAffineDimExpr(split.loop, context);
  SmallVector<AffineExpr> shifted, exprs;
  for (unsigned dim = 0; dim < whole.getNumDims(); ++dim)
    shifted.push_back(getAffineDimExpr(dim + (dim > split.loop), context));
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  for (auto [dim, expr] : llvm::enumerate(whole.getResults())) {
    groups.push_back({static_cast<int64_t>(shape.size())});
    if (expr != loop) {
      if (expr.isFunctionOfDim(split.loop))
        return {};
      exprs.push_back(expr.replaceDims(shifted));
      shape.push_back(type.getDimSize(dim));
      continue;
    }
    groups.back().push_back(shape.size() + 1);
    llvm::append_values(exprs, loop, getAffineDimExpr(split.loop + 1, context));
    llvm::append_values(shape, split.size / split.part, split.part);
  }
  map = AffineMap::get(whole.getNumDims() + 1, 0, exprs, context);
  if (!type || static_cast<int64_t>(shape.size()) == type.getRank())
    return operand.get();
  return findEqual(rewriter,
                   memref::ExpandShapeOp::create(rewriter, op.getLoc(), shape,
                                                 operand.get(), groups));
}

static int64_t countOps(linalg::GenericOp op) {
  int64_t count = 0;
  op.getBody()->walk([&](Operation *) { ++count; });
  return count;
}

/// Gives `op` the loops of the first step of `split`, if it can have them.
static void splitLoop(RewriterBase &rewriter, linalg::GenericOp op,
                      const Split &split) {
  rewriter.setInsertionPoint(op);
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    operands.push_back(
        splitOperand(rewriter, operand, split, maps.emplace_back()));
    if (!operands.back())
      return;
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin() + split.loop,
                   utils::IteratorType::parallel);
  auto inputs = ArrayRef(operands).take_front(op.getNumDpsInputs());
  auto result = linalg::GenericOp::create(
      rewriter, op.getLoc(), inputs,
      ArrayRef(operands).drop_front(inputs.size()), maps, iterators);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getRegion(), result.getRegion(),
                              result.getRegion().end());
  result.walk([&](linalg::IndexOp index) {
    if (index.getDim() < split.loop)
      return;
    if (index.getDim() > split.loop) {
      index.setDim(index.getDim() + 1);
      return;
    }
    ImplicitLocOpBuilder b(index.getLoc(), index);
    b.setInsertionPointAfter(index);
    auto inner = linalg::IndexOp::create(b, split.loop + 1);
    Value first = arith::MulIOp::create(
        b, index, arith::ConstantIndexOp::create(b, split.part));
    Value sum = arith::AddIOp::create(b, first, inner);
    rewriter.replaceAllUsesExcept(index, sum, first.getDefiningOp());
  });
  rewriter.eraseOp(op);
}

void braid::kernels::splitProducers(RewriterBase &rewriter, linalg::LinalgOp op,
                                    const Split &split) {
  if (split.part == 1)
    return;
  auto readsResultOf = [&](linalg::GenericOp producer) {
    return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      return llvm::any_of(producer.getDpsInitsMutable(),
                          [&](OpOperand &output) {
                            return output.get() == input->get() &&
                                   producer.getMatchingIndexingMap(&output) ==
                                       op.getMatchingIndexingMap(input);
                          });
    });
  };
  // Kernels of rows take in what stands before a reduction without a gap.
  SmallVector<linalg::GenericOp> producers;
  size_t needed = 0;
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (isa<memref::AllocOp, linalg::FillOp>(before) ||
        isMemoryEffectFree(before))
      continue;
    auto producer = dyn_cast<linalg::GenericOp>(before);
    if (!producer || !producer.hasPureBufferSemantics() ||
        producer.getNumReductionLoops() > 0 ||
        cast<linalg::LinalgOp>(before).getStaticLoopRanges() !=
            op.getStaticLoopRanges() ||
        !isCheapInRows(countOps(producer),
                       ShapedType::getNumElements(op.getStaticLoopRanges())))
      break;
    producers.push_back(producer);
    if (readsResultOf(producer))
      needed = producers.size();
  }
  for (linalg::GenericOp producer :
       llvm::reverse(ArrayRef(producers).take_front(needed)))
    splitLoop(rewriter, producer, split);
}
