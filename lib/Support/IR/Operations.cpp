//===- Operations.cpp - What MLIR has no function for ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Support/IR/Operations.h"

#include "braid/Support/IterationCount.h"
#include "braid/Support/Units.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

std::optional<int64_t> braid::getStaticTripCount(LoopLikeOpInterface loop) {
  std::optional<SmallVector<OpFoldResult>> lower = loop.getLoopLowerBounds();
  std::optional<SmallVector<OpFoldResult>> upper = loop.getLoopUpperBounds();
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!lower || !upper || !steps || lower->empty())
    return std::nullopt;
  auto forOp = dyn_cast<scf::ForOp>(*loop);
  bool isUnsigned = forOp && forOp.getUnsignedCmp();
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  int64_t count = 1;
  for (auto [lb, ub, step] : llvm::zip_equal(*lower, *upper, *steps)) {
    // The values, and whether they are indices.
    std::optional<std::pair<APInt, bool>> first = getConstantAPIntValue(lb);
    std::optional<std::pair<APInt, bool>> last = getConstantAPIntValue(ub);
    std::optional<std::pair<APInt, bool>> stride = getConstantAPIntValue(step);
    if (!first || !last || !stride)
      return std::nullopt;
    std::optional<uint64_t> iterations =
        countIterations(first->first, last->first, stride->first, isUnsigned);
    if (!iterations)
      return std::nullopt;
    count =
        multiplyNs(count, static_cast<int64_t>(std::min(*iterations, most)));
  }
  return count;
}

void braid::eraseDead(RewriterBase &rewriter,
                      llvm::SetVector<Operation *> ops) {
  while (!ops.empty()) {
    Operation *op = ops.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        ops.insert(producer);
    rewriter.eraseOp(op);
  }
}

Value braid::createGeneric(OpBuilder &builder, Location loc, Value init,
                           ValueRange inputs, ArrayRef<AffineMap> maps,
                           ArrayRef<utils::IteratorType> loops,
                           ElementBody body) {
  return linalg::GenericOp::create(
             builder, loc, init.getType(), inputs, init, maps, loops,
             [&](OpBuilder &nested, Location at, ValueRange arguments) {
               ImplicitLocOpBuilder inner(at, nested);
               linalg::YieldOp::create(inner, body(inner, arguments));
             })
      .getResult(0);
}

Value braid::createParallel(OpBuilder &builder, Location loc, Value init,
                            ValueRange inputs, ArrayRef<AffineMap> maps,
                            ElementBody body) {
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<AffineMap> all(maps);
  all.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return createGeneric(builder, loc, init, inputs, all, loops, body);
}

Value braid::createElementwise(OpBuilder &builder, Location loc, Value init,
                               Value input, ElementBody body) {
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  return createParallel(builder, loc, init, input,
                        builder.getMultiDimIdentityMap(rank), body);
}
