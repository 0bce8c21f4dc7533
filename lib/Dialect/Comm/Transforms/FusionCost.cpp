//===- FusionCost.cpp - What fusions save and cost ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusionCost.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The size that a dynamic dimension is taken to have.
static constexpr int64_t kDynamicSize = 1024;

int64_t braid::comm::getWeight(Operation *op) {
  constexpr int64_t shortFunction = 12, longFunction = 40;
  // Fusion leaves applications of maps to indices that fold away.
  if (matchPattern(op, m_Constant()) || isa<affine::AffineApplyOp>(op))
    return 0;
  if (isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FmaOp>(op))
    return 1;
  if (isa<tensor::ExtractOp>(op))
    return kWeightOfRead;
  if (isa<scf::IfOp>(op)) {
    int64_t longest = 0;
    for (Region &region : op->getRegions()) {
      int64_t weight = 0;
      for (Operation &inner : region.getOps())
        if (!inner.hasTrait<OpTrait::IsTerminator>())
          weight += comm::getWeight(&inner);
      longest = std::max(longest, weight);
    }
    return longest + 1;
  }
  if (isa<arith::DivFOp, math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op,
          math::SqrtOp, math::RsqrtOp, math::TanhOp>(op))
    return shortFunction;
  bool isFunction = isa_and_nonnull<math::MathDialect, complex::ComplexDialect>(
      op->getDialect());
  if (isFunction || op->getNumRegions() != 0 ||
      isa<arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
          arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
          arith::FloorDivSIOp>(op))
    return longFunction;
  return 1;
}

int64_t braid::comm::getWeight(linalg::LinalgOp op) {
  int64_t weight = 0;
  for (Operation &bodyOp : op.getBlock()->without_terminator())
    weight += comm::getWeight(&bodyOp);
  return weight;
}

bool braid::comm::isExpensive(linalg::LinalgOp op) {
  return llvm::any_of(op.getBlock()->without_terminator(),
                      [](Operation &op) { return comm::getWeight(&op) > 1; });
}

static int64_t getElementBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * getElementBytes(complex.getElementType());
  return element.isIntOrFloat()
             ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
             : 8;
}

int64_t braid::comm::getBytes(Type type) {
  // Sums of the bytes of many tensors have to fit into 63 bits.
  constexpr int64_t most = int64_t(1) << 50;
  int64_t bytes = getElementBytes(type);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (int64_t size : tensor.getShape())
      if (llvm::MulOverflow(bytes,
                            ShapedType::isDynamic(size) ? kDynamicSize : size,
                            bytes) ||
          bytes > most)
        return most;
  return bytes;
}

bool braid::comm::isCheapFor(linalg::LinalgOp producer,
                             linalg::LinalgOp consumer, int64_t opsPerByte) {
  int64_t weight = getWeight(producer);
  if (weight <= kFewOperations && !isExpensive(producer))
    return true;
  // Operands that all iterations of a loop share count for nothing.
  int64_t bytes = 0;
  for (OpOperand &operand : consumer->getOpOperands())
    if (consumer.getMatchingIndexingMap(&operand).getNumResults() ==
        consumer.getNumLoops())
      bytes += getElementBytes(operand.get().getType());
  return weight + getWeight(consumer) <= opsPerByte * bytes;
}

int64_t braid::comm::getMovedBytes(linalg::LinalgOp op) {
  int64_t bytes = 0;
  for (OpOperand &operand : op->getOpOperands())
    if (op.isDpsInit(&operand) || op.payloadUsesValueFromOperand(&operand))
      bytes += getBytes(operand.get().getType());
  return bytes;
}

Traffic braid::comm::getTraffic(OpOperand &operand) {
  auto consumer = cast<linalg::LinalgOp>(operand.getOwner());
  auto result = cast<OpResult>(operand.get());
  auto producer = cast<linalg::LinalgOp>(result.getOwner());
  Traffic traffic;
  traffic.saved = getBytes(result.getType());
  // A body may read any element, and reads one in each iteration.
  producer.getBlock()->walk([&](tensor::ExtractOp read) {
    traffic.added += std::min(
        getBytes(read.getTensor().getType()),
        getBytes(
            cast<RankedTensorType>(result.getType()).clone(read.getType())));
  });
  AffineMap toResult = producer.getMatchingIndexingMap(
      producer.getDpsInitOperand(result.getResultNumber()));
  AffineMap toLoops = inversePermutation(toResult).compose(
      consumer.getMatchingIndexingMap(&operand));
  llvm::SmallDenseSet<std::pair<Value, AffineMap>> known;
  for (OpOperand &input : producer->getOpOperands()) {
    if (!producer.payloadUsesValueFromOperand(&input))
      continue;
    AffineMap map = producer.getMatchingIndexingMap(&input).compose(toLoops);
    bool isRead =
        !known.insert({input.get(), map}).second ||
        llvm::any_of(consumer.getDpsInputOperands(), [&](OpOperand *other) {
          return other->get() == input.get() &&
                 consumer.getMatchingIndexingMap(other) == map;
        });
    if (!isRead)
      traffic.added += getBytes(input.get().getType());
  }
  return traffic;
}
