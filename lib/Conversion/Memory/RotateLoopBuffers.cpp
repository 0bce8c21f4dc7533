//===- RotateLoopBuffers.cpp - Buffers that loops carry -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RotateLoopBuffers.h"

#include "../Support/Buffers.h"
#include "BufferFlow.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

namespace braid {
#define GEN_PASS_DEF_ROTATELOOPBUFFERSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

/// An scf.for or scf.while, and its loop-carried values.
class CarryingLoop {
public:
  explicit CarryingLoop(LoopLikeOpInterface loop) : loop(loop) {}

  scf::YieldOp getYield() {
    if (auto whileLoop = dyn_cast<scf::WhileOp>(*loop))
      return whileLoop.getYieldOp();
    return cast<scf::YieldOp>(
        cast<scf::ForOp>(*loop).getBody()->getTerminator());
  }
  Block::BlockArgListType getArguments() { return loop.getRegionIterArgs(); }
  bool carriesTokens() {
    return llvm::any_of(getArguments(), [](Value value) {
      return isa<comm::TokenType>(value.getType());
    });
  }

  /// The numbers of the loop-carried values that may alias `buffers` in the
  /// next iteration.
  llvm::SmallBitVector getCarried(ValueRange buffers) {
    llvm::SmallBitVector carried(getArguments().size());
    auto isNext = [&](OpOperand &use) { return isCarried(use, loop); };
    for (Value alias : getAliases(buffers, isNext))
      for (OpOperand &use : alias.getUses())
        if (isNext(use))
          carried.set(use.getOperandNumber());
    return carried;
  }
  /// The same for the loop-carried values `numbers` of the present iteration.
  llvm::SmallBitVector getCarried(const llvm::SmallBitVector &numbers) {
    SmallVector<Value> arguments;
    for (unsigned number : numbers.set_bits())
      arguments.push_back(getArguments()[number]);
    return getCarried(arguments);
  }

  /// The number of iterations after its allocation in which `buffer` may be
  /// used; none if there is no bound.
  std::optional<unsigned> getLifetime(Value buffer) {
    llvm::SmallBitVector numbers = getCarried(buffer);
    for (unsigned lifetime = 0; lifetime <= numbers.size(); ++lifetime) {
      if (numbers.none())
        return lifetime;
      numbers = getCarried(numbers);
    }
    return std::nullopt;
  }

  /// Adds `initial` to the loop-carried values, in groups of `counts`. Each
  /// iteration rotates each group by one. Returns the first value of each group
  /// in each region.
  SmallVector<SmallVector<Value>> rotate(RewriterBase &rewriter,
                                         ArrayRef<Value> initial,
                                         ArrayRef<unsigned> counts);

private:
  void rotateWhile(RewriterBase &rewriter, scf::WhileOp whileLoop,
                   ArrayRef<Value> initial,
                   function_ref<SmallVector<Value>(ValueRange)> turn);

  LoopLikeOpInterface loop;
};

void CarryingLoop::rotateWhile(
    RewriterBase &rewriter, scf::WhileOp whileLoop, ArrayRef<Value> initial,
    function_ref<SmallVector<Value>(ValueRange)> turn) {
  SmallVector<Value> inits(whileLoop.getInits());
  llvm::append_range(inits, initial);
  SmallVector<Type> types(whileLoop.getResultTypes());
  for (Value value : initial)
    types.push_back(value.getType());
  rewriter.setInsertionPoint(whileLoop);
  auto replacement =
      scf::WhileOp::create(rewriter, whileLoop.getLoc(), types, inits);
  replacement->setDiscardableAttrs(whileLoop->getDiscardableAttrDictionary());
  replacement.getBefore().takeBody(whileLoop.getBefore());
  replacement.getAfter().takeBody(whileLoop.getAfter());
  auto addArguments = [&](Block *block) {
    SmallVector<Value> added;
    for (Value value : initial)
      added.push_back(block->addArgument(value.getType(), value.getLoc()));
    return added;
  };
  SmallVector<Value> before = addArguments(replacement.getBeforeBody());
  SmallVector<Value> after = addArguments(replacement.getAfterBody());
  replacement.getConditionOp().getArgsMutable().append(before);
  replacement.getYieldOp().getResultsMutable().append(turn(after));
  rewriter.replaceOp(whileLoop, replacement.getResults().take_front(
                                    whileLoop.getNumResults()));
  loop = replacement;
}

SmallVector<SmallVector<Value>>
CarryingLoop::rotate(RewriterBase &rewriter, ArrayRef<Value> initial,
                     ArrayRef<unsigned> counts) {
  auto turn = [&](ValueRange values) {
    SmallVector<Value> turned;
    for (unsigned count : counts) {
      ValueRange group = values.take_front(count);
      llvm::append_range(turned, group.drop_front());
      turned.push_back(group.front());
      values = values.drop_front(count);
    }
    return turned;
  };
  if (auto whileLoop = dyn_cast<scf::WhileOp>(*loop)) {
    rotateWhile(rewriter, whileLoop, initial, turn);
  } else {
    loop = *loop.replaceWithAdditionalYields(
        rewriter, initial, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
          return turn(SmallVector<Value>(added.begin(), added.end()));
        });
  }
  SmallVector<SmallVector<Value>> firsts(counts.size());
  for (Region *region : loop.getLoopRegions()) {
    unsigned position = region->getNumArguments() - initial.size();
    for (auto [group, count] : llvm::enumerate(counts)) {
      firsts[group].push_back(region->getArgument(position));
      position += count;
    }
  }
  return firsts;
}

class Rotator {
public:
  Rotator(MLIRContext *context, const llvm::SetVector<Operation *> &kept)
      : rewriter(context), kept(kept) {}

  void rotate(LoopLikeOpInterface op);
  ArrayRef<Operation *> getEndless() const { return allEndless; }

private:
  SmallVector<memref::AllocOp> collect(LoopLikeOpInterface loop);
  void boundLifetimes(CarryingLoop &loop,
                      ArrayRef<memref::AllocOp> allocations);

  IRRewriter rewriter;
  const llvm::SetVector<Operation *> &kept;
  /// The allocations that cannot be rotated.
  SmallVector<Operation *> allEndless;
};

/// If a loop may keep a buffer for an unknown number of iterations, replaces
/// the buffer by a copy, unless the loop carries operations in flight.
void Rotator::boundLifetimes(CarryingLoop &loop,
                             ArrayRef<memref::AllocOp> allocations) {
  llvm::SmallBitVector endless(loop.getArguments().size());
  for (memref::AllocOp allocation : allocations) {
    if (loop.getLifetime(allocation))
      continue;
    if (loop.carriesTokens()) {
      allEndless.push_back(allocation);
      continue;
    }
    for (unsigned number = 0; number < endless.size(); ++number) {
      llvm::SmallBitVector reached(endless.size());
      reached.set(number);
      for (unsigned step = 0; step < endless.size() && !endless.test(number);
           ++step) {
        reached = loop.getCarried(reached);
        if (reached.test(number))
          endless.set(number);
      }
    }
  }
  scf::YieldOp yield = loop.getYield();
  rewriter.setInsertionPoint(yield);
  for (unsigned number : endless.set_bits()) {
    OpOperand &operand = yield->getOpOperand(number);
    if (isa<MemRefType>(operand.get().getType()))
      operand.set(createCopy(rewriter, yield.getLoc(), operand.get()));
  }
}

/// The allocations of static sizes in `loop`. Those of inner loops are carried
/// by `loop` alone, if at all: what an inner loop carries is allocated before
/// it now.
SmallVector<memref::AllocOp> Rotator::collect(LoopLikeOpInterface loop) {
  SmallVector<memref::AllocOp> allocations;
  loop->walk([&](memref::AllocOp allocation) {
    if (allocation.getDynamicSizes().empty() && !kept.contains(allocation) &&
        !llvm::is_contained(allEndless, allocation))
      allocations.push_back(allocation);
  });
  return allocations;
}

void Rotator::rotate(LoopLikeOpInterface op) {
  CarryingLoop loop(op);
  SmallVector<memref::AllocOp> allocations = collect(op);
  if (allocations.empty())
    return;
  boundLifetimes(loop, allocations);

  SmallVector<memref::AllocOp> carried;
  SmallVector<unsigned> counts;
  SmallVector<Value> initial;
  rewriter.setInsertionPoint(op);
  for (memref::AllocOp allocation : collect(op)) {
    std::optional<unsigned> lifetime = loop.getLifetime(allocation);
    if (!lifetime || *lifetime == 0)
      continue;
    carried.push_back(allocation);
    counts.push_back(*lifetime + 1);
    for (unsigned index = 0; index <= *lifetime; ++index)
      initial.push_back(rewriter.clone(*allocation)->getResult(0));
  }
  if (carried.empty())
    return;
  SmallVector<SmallVector<Value>> firsts =
      loop.rotate(rewriter, initial, counts);
  for (auto [allocation, first] : llvm::zip_equal(carried, firsts)) {
    for (Value value : first)
      if (value.getParentRegion()->isAncestor(allocation->getParentRegion()))
        allocation.replaceAllUsesWith(value);
    allocation.erase();
  }
}

struct RotateLoopBuffersPass
    : public braid::StructuralPass<
          braid::impl::RotateLoopBuffersPassBase<RotateLoopBuffersPass>> {
  LogicalResult transform() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      for (Operation *endless : rotateLoopBuffers(function))
        return endless->emitOpError()
               << "is carried by a loop for an unknown number of iterations, "
                  "and the loop carries operations in flight, whose buffers "
                  "cannot be copied";
    return success();
  }
};

} // namespace

SmallVector<Operation *>
braid::rotateLoopBuffers(func::FuncOp function,
                         const llvm::SetVector<Operation *> &kept) {
  Rotator rotator(function.getContext(), kept);
  // Inner loops first, because outer loops may carry their buffers.
  SmallVector<LoopLikeOpInterface> loops;
  function.walk([&](LoopLikeOpInterface loop) {
    if (isa<scf::ForOp, scf::WhileOp>(loop))
      loops.push_back(loop);
  });
  for (LoopLikeOpInterface loop : loops)
    rotator.rotate(loop);
  return SmallVector<Operation *>(rotator.getEndless());
}
