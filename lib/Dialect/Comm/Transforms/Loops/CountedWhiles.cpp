//===- CountedWhiles.cpp - Loops that count to a constant -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CountedWhiles.h"

#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// The result of a loop that is its counter, and the value that it has there.
struct Counter {
  unsigned number;
  int64_t last;
};
} // namespace

/// The counter of `loop`, if it goes from a constant to a larger one by a
/// constant step and does not wrap, which the number of iterations depends on.
static std::optional<Counter> getCounter(scf::WhileOp loop) {
  Block &before = *loop.getBeforeBody();
  if (!llvm::hasSingleElement(before.without_terminator()))
    return std::nullopt;
  auto compare = dyn_cast<arith::CmpIOp>(before.front());
  scf::ConditionOp condition = loop.getConditionOp();
  if (!compare || condition.getCondition() != compare.getResult() ||
      !llvm::equal(condition.getArgs(), before.getArguments()))
    return std::nullopt;
  Value counter = compare.getLhs(), end = compare.getRhs();
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (predicate == arith::CmpIPredicate::sgt)
    std::swap(counter, end);
  else if (predicate != arith::CmpIPredicate::slt)
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(counter);
  if (!argument || argument.getOwner() != &before)
    return std::nullopt;
  unsigned number = argument.getArgNumber();
  Value next = loop.getYieldOp().getOperand(number);
  auto sum = next.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return std::nullopt;
  Value former = loop.getAfterArguments()[number];
  Value added = sum.getLhs() == former ? sum.getRhs() : sum.getLhs();
  if (sum.getLhs() != former && sum.getRhs() != former)
    return std::nullopt;
  std::optional<int64_t> first = getConstantIntValue(loop.getInits()[number]);
  std::optional<int64_t> limit = getConstantIntValue(end);
  std::optional<int64_t> step = getConstantIntValue(added);
  if (!first || !limit || !step || *step < 1 || *first >= *limit)
    return std::nullopt;
  unsigned width = counter.getType().isIndex()
                       ? IndexType::kInternalStorageBitWidth
                       : counter.getType().getIntOrFloatBitWidth();
  constexpr int64_t farthest = int64_t(1) << 62;
  if (width > 64 || *limit > llvm::maxIntN(width) - (*step - 1) ||
      *first < -farthest || *limit > farthest)
    return std::nullopt;
  int64_t count = llvm::divideCeil(*limit - *first, *step);
  return Counter{number, *first + count * *step};
}

void braid::comm::replaceCountedWhiles(ModuleOp module) {
  SmallVector<std::pair<scf::WhileOp, Counter>> loops;
  module.walk([&](scf::WhileOp loop) {
    bool communicates = loop.getAfter()
                            .walk([](Operation *op) {
                              return getAsyncStart(op) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
                            })
                            .wasInterrupted();
    std::optional<Counter> counter;
    if (communicates && (counter = getCounter(loop)))
      loops.emplace_back(loop, *counter);
  });
  IRRewriter rewriter(module.getContext());
  for (auto [loop, counter] : loops) {
    // The loop that MLIR makes gives the counter of its last iteration.
    rewriter.setInsertionPoint(loop);
    Value result = loop.getResult(counter.number);
    Value last = arith::ConstantOp::create(
        rewriter, loop.getLoc(),
        rewriter.getIntegerAttr(result.getType(), counter.last));
    rewriter.replaceAllUsesWith(result, last);
    // Other forms stay as they are.
    (void)scf::upliftWhileToForLoop(rewriter, loop);
  }
}
