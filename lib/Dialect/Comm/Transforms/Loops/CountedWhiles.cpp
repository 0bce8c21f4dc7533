//===- CountedWhiles.cpp - Loops that count to a known end ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopRewrites.h"

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
/// The result of a loop that is its counter, and where it begins and ends.
struct Counter {
  unsigned number;
  Value first, end;
  /// The value of the result; none for the larger one of the two above.
  std::optional<int64_t> last;
};
} // namespace

/// What `value`, of the first block of `loop`, is in all iterations; null if
/// it changes.
static Value getInvariant(scf::WhileOp loop, Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != loop.getBeforeBody())
    return {};
  unsigned number = argument.getArgNumber();
  if (loop.getYieldOp().getOperand(number) != loop.getAfterArguments()[number])
    return {};
  return loop.getInits()[number];
}

/// The counter of `loop`, if it goes from a constant to a larger one by a
/// constant step, or from any value to any other one by one, and does not wrap.
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
  end = getInvariant(loop, end);
  std::optional<int64_t> step = getConstantIntValue(added);
  if (!end || !step || *step < 1)
    return std::nullopt;
  Value begin = loop.getInits()[number];
  std::optional<int64_t> first = getConstantIntValue(begin);
  std::optional<int64_t> limit = getConstantIntValue(end);
  if (*step == 1 && !(first && limit))
    return Counter{number, begin, end, std::nullopt};
  if (!first || !limit || *first >= *limit)
    return std::nullopt;
  unsigned width = counter.getType().isIndex()
                       ? IndexType::kInternalStorageBitWidth
                       : counter.getType().getIntOrFloatBitWidth();
  constexpr int64_t farthest = int64_t(1) << 62;
  if (width > 64 || *limit > llvm::maxIntN(width) - (*step - 1) ||
      *first < -farthest || *limit > farthest)
    return std::nullopt;
  int64_t count = llvm::divideCeil(*limit - *first, *step);
  return Counter{number, begin, end, *first + count * *step};
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
    Location loc = loop.getLoc();
    Value result = loop.getResult(counter.number), last;
    if (counter.last)
      last = arith::ConstantOp::create(
          rewriter, loc,
          rewriter.getIntegerAttr(result.getType(), *counter.last));
    else
      last = arith::MaxSIOp::create(rewriter, loc, counter.first, counter.end);
    auto compare = cast<arith::CmpIOp>(loop.getBeforeBody()->front());
    bool isLess = compare.getPredicate() == arith::CmpIPredicate::slt;
    rewriter.startOpModification(compare);
    compare->setOperand(isLess ? 1 : 0, counter.end);
    rewriter.finalizeOpModification(compare);
    rewriter.replaceAllUsesWith(result, last);
    // Other forms stay as they are.
    (void)scf::upliftWhileToForLoop(rewriter, loop);
  }
}
