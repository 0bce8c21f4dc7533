//===- Pointwise.cpp - Ops that compute elements one by one ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pointwise.h"
#include "AwaitedValue.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid::comm;

/// True if the body of `op` uses its own arguments alone, and asks for neither
/// a place nor a rank.
static bool hasPlainBody(linalg::LinalgOp op) {
  return llvm::all_of(*op.getBlock(), [&](Operation &nested) {
    return nested.getNumRegions() == 0 &&
           !isa<linalg::IndexOp, RankOp, SizeOp>(nested) &&
           llvm::all_of(nested.getOperands(), [&](Value operand) {
             return operand.getParentBlock() == op.getBlock() ||
                    matchPattern(operand, m_Constant());
           });
  });
}

/// True if `type` is a tensor that collectives may take.
static bool isPlainTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding();
}

std::optional<PointwiseOp> PointwiseOp::get(Operation *op) {
  if (op->getNumResults() != 1 || !isPlainTensor(op->getResult(0).getType()) ||
      op->hasAttr(CommDialect::kCostAttrName))
    return std::nullopt;
  PointwiseOp found;
  found.op = op;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (!structured.hasPureTensorSemantics() ||
        structured.getNumParallelLoops() != structured.getNumLoops() ||
        structured.getNumDpsInits() != 1 || !isPure(op) ||
        structured.payloadUsesValueFromOperand(
            structured.getDpsInitOperand(0)) ||
        op->getNumOperands() !=
            static_cast<unsigned>(structured.getNumDpsInputs()) + 1 ||
        !hasPlainBody(structured))
      return std::nullopt;
    for (OpOperand *input : structured.getDpsInputOperands()) {
      found.inputs.push_back(input);
      found.maps.push_back(structured.getMatchingIndexingMap(input));
    }
    found.resultMap =
        structured.getMatchingIndexingMap(structured.getDpsInitOperand(0));
  } else if (OpTrait::hasElementwiseMappableTraits(op) && isPure(op)) {
    int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
    for (OpOperand &operand : op->getOpOperands()) {
      found.inputs.push_back(&operand);
      found.maps.push_back(
          isa<RankedTensorType>(operand.get().getType())
              ? AffineMap::getMultiDimIdentityMap(rank, op->getContext())
              : AffineMap::get(rank, 0, op->getContext()));
    }
    found.resultMap = AffineMap::getMultiDimIdentityMap(rank, op->getContext());
  } else {
    return std::nullopt;
  }
  if (!found.resultMap.isPermutation())
    return std::nullopt;
  return found;
}

RankedTensorType PointwiseOp::getType() const {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

Operation *PointwiseOp::getOnlyStep() const {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return op;
  Block &body = *structured.getBlock();
  if (!llvm::hasNItems(body, 2))
    return nullptr;
  Operation *step = &body.front();
  if (step->getNumResults() != 1 ||
      body.getTerminator()->getOperand(0) != step->getResult(0))
    return nullptr;
  return step;
}

/// Lets the body of `op` use copies of the constants that come behind it.
static void moveConstantsBefore(RewriterBase &rewriter, Operation *op) {
  for (Region &region : op->getRegions())
    for (Operation &nested : region.front())
      for (OpOperand &operand : nested.getOpOperands())
        operand.set(getBefore(rewriter, operand.get(), op));
}

Value PointwiseOp::clone(RewriterBase &rewriter, ArrayRef<Value> newInputs,
                         size_t number) const {
  Location loc = op->getLoc();
  Type element = getType().getElementType();
  SmallVector<Value> operands(newInputs);
  if (!isa<linalg::LinalgOp>(op)) {
    auto like = cast<RankedTensorType>(newInputs[number].getType());
    return mlir::clone(rewriter, op,
                       RankedTensorType::get(like.getShape(), element),
                       operands)
        ->getResult(0);
  }
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, newInputs[number]);
  SmallVector<OpFoldResult> loopSizes(sizes.size()), resultSizes;
  for (auto [dim, size] : llvm::enumerate(sizes))
    loopSizes[maps[number].getDimPosition(dim)] = size;
  for (AffineExpr loop : resultMap.getResults())
    resultSizes.push_back(loopSizes[cast<AffineDimExpr>(loop).getPosition()]);
  Value empty = tensor::EmptyOp::create(rewriter, loc, resultSizes, element);
  operands.push_back(empty);
  Operation *copy = mlir::clone(rewriter, op, empty.getType(), operands);
  moveConstantsBefore(rewriter, copy);
  return copy->getResult(0);
}

bool braid::comm::isSumOf(const PointwiseOp &op, bool &isRounded) {
  Operation *step = op.getOnlyStep();
  isRounded = !isa_and_present<arith::AddIOp>(step);
  return isa_and_present<arith::AddIOp, arith::AddFOp, complex::AddOp>(step) &&
         op.getInputs().size() == 2 &&
         llvm::equal(
             step->getOperands(),
             isa<linalg::LinalgOp>(op.getOp())
                 ? ValueRange(step->getBlock()->getArguments()).take_front(2)
                 : ValueRange(step->getOperands()));
}
