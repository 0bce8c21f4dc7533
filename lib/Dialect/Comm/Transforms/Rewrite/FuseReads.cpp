//===- FuseReads.cpp - Compute what is read, where it is read -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseReads.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

/// True if the body of `op` computes an element of the result from elements of
/// the inputs whose places are dimensions or constants.
static bool isComputedAnywhere(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      !op->getDiscardableAttrs().empty() ||
      !linalg::isElementwise(cast<linalg::LinalgOp>(op.getOperation())) ||
      !op.getIndexingMapsArray().back().isIdentity() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return false;
  for (OpOperand *input : op.getDpsInputOperands())
    if (!llvm::all_of(op.getMatchingIndexingMap(input).getResults(),
                      llvm::IsaPred<AffineDimExpr, AffineConstantExpr>))
      return false;
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isMemoryEffectFree(&inner) && inner.getNumRegions() == 0;
  });
}

/// The linalg op whose body reads an element with `read` in each iteration, if
/// it has a constant number of iterations.
static linalg::LinalgOp getReader(Operation *read) {
  auto extract = dyn_cast<tensor::ExtractOp>(read);
  auto reader =
      extract ? dyn_cast<linalg::LinalgOp>(extract->getParentOp()) : nullptr;
  return reader && reader.hasPureTensorSemantics() &&
                 !ShapedType::isDynamicShape(reader.getStaticLoopRanges())
             ? reader
             : linalg::LinalgOp();
}

/// Replaces `read` by the computation of the element of the result of
/// `producer`.
static void computeElement(RewriterBase &rewriter, linalg::GenericOp producer,
                           tensor::ExtractOp read) {
  rewriter.setInsertionPoint(read);
  Location loc = read.getLoc();
  SmallVector<Value> places(read.getIndices());
  IRMapping mapping;
  for (OpOperand *input : producer.getDpsInputOperands()) {
    Value element = input->get();
    if (isa<RankedTensorType>(element.getType())) {
      SmallVector<Value> indices;
      for (AffineExpr expression :
           producer.getMatchingIndexingMap(input).getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expression);
        indices.push_back(
            dim ? places[dim.getPosition()]
                : Value(arith::ConstantIndexOp::create(
                      rewriter, loc,
                      cast<AffineConstantExpr>(expression).getValue())));
      }
      element = tensor::ExtractOp::create(rewriter, loc, element, indices);
    }
    mapping.map(producer.getMatchingBlockArgument(input), element);
  }
  for (Operation &op : producer.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      mapping.map(index.getResult(), places[index.getDim()]);
    else
      rewriter.clone(op, mapping);
  }
  Value yielded = producer.getBody()->getTerminator()->getOperand(0);
  rewriter.replaceOp(read, mapping.lookupOrDefault(yielded));
}

bool braid::comm::fuseIntoReads(RewriterBase &rewriter,
                                linalg::GenericOp producer) {
  if (producer->use_empty() || !isComputedAnywhere(producer))
    return false;
  auto type = cast<RankedTensorType>(producer->getResult(0).getType());
  if (!type.hasStaticShape())
    return false;
  uint64_t elements = 0;
  for (Operation *user : producer->getUsers()) {
    linalg::LinalgOp reader = getReader(user);
    if (!reader)
      return false;
    elements = llvm::SaturatingAdd<uint64_t>(
        elements, ShapedType::getNumElements(reader.getStaticLoopRanges()));
  }
  if (elements > static_cast<uint64_t>(type.getNumElements()))
    return false;
  for (Operation *user : llvm::make_early_inc_range(producer->getUsers())) {
    linalg::LinalgOp reader = getReader(user);
    reader->setLoc(rewriter.getFusedLoc({producer.getLoc(), reader.getLoc()}));
    computeElement(rewriter, producer, cast<tensor::ExtractOp>(user));
  }
  rewriter.eraseOp(producer);
  return true;
}
