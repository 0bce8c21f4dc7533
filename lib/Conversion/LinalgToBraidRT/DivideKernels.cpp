//===- DivideKernels.cpp - Kernels that compute a part of their work ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/ProgramAttributes.h"
#include "Combiners.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace braid {
#define GEN_PASS_DEF_DIVIDEKERNELSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

namespace {

/// A thread computes a part for at least this time, because another thread of a
/// virtual machine needs 50 us to wake up.
constexpr double kLeastNs = 100000;

/// Parts beyond those that a host of many cores has threads for.
constexpr int64_t kMostParts = 64;

/// Parts of the innermost loop have at least this many iterations, in vectors
/// and cache lines of their own.
constexpr int64_t kLeastInnermost = 64;

/// A loop whose iterations are divided into parts.
struct Division {
  unsigned dim;
  int64_t size, perPart;
};

} // namespace

/// The time of one thread for an iteration, in ns.
static double estimateIterationNs(linalg::LinalgOp op) {
  unsigned last = op.getNumLoops() - 1;
  double time = 0.0;
  for (OpOperand &operand : op->getOpOperands()) {
    auto buffer = dyn_cast<MemRefType>(operand.get().getType());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (buffer && map.isFunctionOfDim(last))
      time += braid::isAdjacent(buffer, map, last) ? 0.3 : 1.0;
  }
  op->walk([&](Operation *inner) {
    if (isa<memref::LoadOp>(inner) ||
        isa<math::MathDialect>(inner->getDialect()))
      time += 1.0;
    else if (OpTrait::hasElementwiseMappableTraits(inner))
      time += 0.05;
  });
  return time;
}

/// True if any iterations of loop `dim` can run beside others: no two write the
/// same element, and no part of the body depends on the thread.
static bool isDivisible(linalg::LinalgOp op, unsigned dim) {
  AffineExpr expression = getAffineDimExpr(dim, op.getContext());
  if (!linalg::isParallelIterator(op.getIteratorTypesArray()[dim]))
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool depends = map.isFunctionOfDim(dim);
    if (op.isDpsInit(&operand) && !depends)
      return false;
    if (depends && llvm::any_of(map.getResults(), [&](AffineExpr result) {
          return result != expression && result.isFunctionOfDim(dim);
        }))
      return false;
  }
  return true;
}

/// The loop of `op` to divide, if its work is worth more than one thread.
static std::optional<Division> chooseDivision(linalg::LinalgOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (sizes.empty() || ShapedType::isDynamicShape(sizes) ||
      op->walk([&](Operation *inner) {
          return inner == op || isMemoryEffectFree(inner) ||
                         isa<memref::LoadOp>(inner)
                     ? WalkResult::advance()
                     : WalkResult::interrupt();
        }).wasInterrupted())
    return std::nullopt;
  double time = estimateIterationNs(op);
  for (int64_t size : sizes)
    time *= static_cast<double>(size);
  auto wanted = static_cast<int64_t>(
      std::min<double>(time / kLeastNs, static_cast<double>(kMostParts)));
  std::optional<Division> best;
  int64_t bestParts = 1;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    int64_t least = dim + 1 == sizes.size() ? kLeastInnermost : 1;
    int64_t parts = std::min(wanted, size / least);
    if (parts <= bestParts || !isDivisible(op, dim))
      continue;
    bestParts = parts;
    int64_t perPart = llvm::divideCeil(size, parts);
    best = {static_cast<unsigned>(dim), size,
            static_cast<int64_t>(llvm::alignTo(perPart, least))};
  }
  return best;
}

/// Lets `kernel`, whose only op is `op`, compute the iterations of the divided
/// loop between its last two arguments.
static void divideKernel(func::FuncOp kernel, linalg::LinalgOp op,
                         const Division &division) {
  Location loc = op.getLoc();
  IRRewriter rewriter(op);
  Type index = rewriter.getIndexType();
  unsigned count = kernel.getNumArguments();
  for (unsigned number : {count, count + 1})
    (void)kernel.insertArgument(number, index, {}, loc);
  kernel->setAttr(braid::kPartSizeAttrName,
                  rewriter.getI64IntegerAttr(division.perPart));
  Value begin = kernel.getArgument(count);
  Value size = arith::SubIOp::create(rewriter, loc,
                                     kernel.getArgument(count + 1), begin);
  AffineExpr expression = getAffineDimExpr(division.dim, op.getContext());
  for (OpOperand &operand : op->getOpOperands()) {
    auto buffer = dyn_cast<MemRefType>(operand.get().getType());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!buffer || !map.isFunctionOfDim(division.dim))
      continue;
    SmallVector<OpFoldResult> offsets, sizes,
        strides(buffer.getRank(), rewriter.getIndexAttr(1));
    for (auto [result, extent] :
         llvm::zip_equal(map.getResults(), buffer.getShape())) {
      bool isDivided = result == expression;
      offsets.push_back(isDivided ? OpFoldResult(begin)
                                  : rewriter.getIndexAttr(0));
      sizes.push_back(isDivided ? OpFoldResult(size)
                                : rewriter.getIndexAttr(extent));
    }
    operand.set(memref::SubViewOp::create(rewriter, loc, operand.get(), offsets,
                                          sizes, strides));
  }
  SmallVector<OpFoldResult> offsets(op.getNumLoops());
  offsets[division.dim] = begin;
  linalg::offsetIndices(rewriter, op, offsets);
}

namespace {

struct DivideKernelsPass
    : public braid::StructuralPass<
          braid::impl::DivideKernelsPassBase<DivideKernelsPass>> {
  LogicalResult transform() override {
    llvm::DenseMap<StringAttr, int64_t> sizes;
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel.isPrivate() || kernel.isDeclaration())
        continue;
      auto op = dyn_cast<linalg::LinalgOp>(kernel.front().front());
      if (!op || !op.hasPureBufferSemantics() || !op->getNextNode() ||
          !isa<func::ReturnOp>(op->getNextNode()))
        continue;
      if (std::optional<Division> division = chooseDivision(op)) {
        divideKernel(kernel, op, *division);
        sizes[kernel.getSymNameAttr()] = division->size;
      }
    }
    getOperation().walk([&](func::CallOp call) {
      auto found = sizes.find(call.getCalleeAttr().getAttr());
      if (found == sizes.end())
        return;
      OpBuilder builder(call);
      for (int64_t bound : {int64_t(0), found->second})
        call->insertOperands(
            call->getNumOperands(),
            arith::ConstantIndexOp::create(builder, call.getLoc(), bound)
                .getResult());
    });
    return success();
  }
};

} // namespace
