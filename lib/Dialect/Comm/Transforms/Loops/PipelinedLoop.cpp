//===- PipelinedLoop.cpp - Loops whose starts run ahead or behind ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopRewrites.h"

#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// The induction variable of the last iteration of `loop`, which has one.
static Value createLast(RewriterBase &rewriter, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value first = loop.getLowerBound(), step = loop.getStep();
  if (std::optional<int64_t> count = getStaticTripCount(loop))
    return arith::ConstantOp::create(
        rewriter, loc,
        rewriter.getIntegerAttr(step.getType(),
                                *getConstantIntValue(first) +
                                    (*count - 1) * *getConstantIntValue(step)));
  Value one = arith::ConstantOp::create(
      rewriter, loc, rewriter.getIntegerAttr(step.getType(), 1));
  Value last =
      rewriter.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(), one);
  if (matchPattern(step, m_One()))
    return last;
  Value distance = rewriter.createOrFold<arith::SubIOp>(loc, last, first);
  Value steps = rewriter.createOrFold<arith::DivUIOp>(loc, distance, step);
  Value offset = rewriter.createOrFold<arith::MulIOp>(loc, steps, step);
  return rewriter.createOrFold<arith::AddIOp>(loc, first, offset);
}

/// Moves `loop` into a branch that only runs if there is an iteration, unless
/// there is one for sure.
static void guard(RewriterBase &rewriter, scf::ForOp loop) {
  if (getStaticTripCount(loop).value_or(0) >= 1)
    return;
  OpBuilder::InsertionGuard insertion(rewriter);
  rewriter.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  Value any = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                    loop.getLowerBound(), loop.getUpperBound());
  auto branch = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), any,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  rewriter.replaceAllUsesWith(loop.getResults(), branch.getResults());
  rewriter.moveOpBefore(loop, branch.thenBlock(), branch.thenBlock()->begin());
  rewriter.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(rewriter, loc, loop.getResults());
  rewriter.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, loop.getInitArgs());
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

static SmallVector<Value> lookUp(const IRMapping &mapping, ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// Clones `op`, or what it folds to: indices of the first and the last
/// iteration are constants. Null if it folds.
static Operation *cloneOrFold(RewriterBase &rewriter, Operation *op,
                              IRMapping &mapping) {
  Operation *clone = rewriter.clone(*op, mapping);
  SmallVector<Value> folded;
  if (op->getNumRegions() != 0 || failed(rewriter.tryFold(clone, folded)) ||
      folded.empty() || folded == SmallVector<Value>(clone->getResults()))
    return clone;
  mapping.map(op->getResults(), folded);
  rewriter.eraseOp(clone);
  return nullptr;
}

/// Clones those of `ops` that `mapping` does not have yet.
static void cloneOnce(RewriterBase &rewriter, ArrayRef<Operation *> ops,
                      IRMapping &mapping) {
  for (Operation *op : ops)
    if (!mapping.contains(op->getResult(0)))
      cloneOrFold(rewriter, op, mapping);
}

/// Lets `op` and its nested ops use what `mapping` has for their operands.
static void remapOperands(RewriterBase &rewriter, Operation *op,
                          const IRMapping &mapping) {
  op->walk([&](Operation *user) {
    rewriter.modifyOpInPlace(user, [&]() {
      for (OpOperand &operand : user->getOpOperands())
        operand.set(mapping.lookupOrDefault(operand.get()));
    });
  });
}

/// Maps the arguments of the body of `loop` to those of one iteration.
static IRMapping mapIteration(scf::ForOp loop, Value index,
                              ValueRange carried) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), index);
  mapping.map(loop.getRegionIterArgs(), carried);
  return mapping;
}

/// Makes a loop from `first` to `end` of the block of `loop`, that carries
/// `initial` and `tokens`. `loop` stays, without a body.
static scf::ForOp takeLoop(RewriterBase &rewriter, scf::ForOp loop, Value first,
                           Value end, ValueRange initial, ValueRange tokens) {
  SmallVector<Value> inits(initial);
  llvm::append_range(inits, tokens);
  auto taken = scf::ForOp::create(rewriter, loop.getLoc(), first, end,
                                  loop.getStep(), inits);
  taken->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  taken.getRegion().takeBody(loop.getRegion());
  for (Value token : tokens)
    taken.getBody()->addArgument(token.getType(), token.getLoc());
  return taken;
}

/// Erases those of `ops`, which stand in their order, that nothing uses.
static void eraseUnused(RewriterBase &rewriter, ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      rewriter.eraseOp(op);
}

/// The ops in their order in the block.
static SmallVector<Operation *>
sortOps(const llvm::SetVector<Operation *> &ops) {
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}

static SmallVector<Value> getTokens(ArrayRef<ShiftedStart> starts) {
  SmallVector<Value> tokens;
  for (const ShiftedStart &start : starts)
    llvm::append_range(tokens, start.start->getResults());
  return tokens;
}

/// `starts`, which all iterations share, what they are computed from and their
/// waits, in the order of the body.
static SmallVector<Operation *> getShared(scf::ForOp loop,
                                          ArrayRef<ShiftedStart> starts) {
  InvariantOps invariant(loop);
  llvm::SetVector<Operation *> shared;
  for (const ShiftedStart &start : starts) {
    shared.insert_range(invariant.getChain(start.start));
    shared.insert(start.start);
    shared.insert_range(start.users);
  }
  return sortOps(shared);
}

/// Moves `starts`, what they are computed from and their waits in front of
/// `loop`, which has an iteration.
static void hoist(RewriterBase &rewriter, scf::ForOp loop,
                  ArrayRef<ShiftedStart> starts) {
  for (Operation *op : getShared(loop, starts))
    rewriter.moveOpBefore(op, loop);
}

/// Clones the body of `loop`, but for `left` ops, by `mapping`. Returns the
/// clones of `chain`.
static SmallVector<Operation *>
cloneBody(RewriterBase &rewriter, scf::ForOp loop,
          const llvm::SetVector<Operation *> &left,
          const llvm::SetVector<Operation *> &chain, IRMapping &mapping) {
  SmallVector<Operation *> clonedChain;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (left.contains(&op))
      continue;
    Operation *clone = cloneOrFold(rewriter, &op, mapping);
    if (clone && chain.contains(&op))
      clonedChain.push_back(clone);
  }
  return clonedChain;
}

/// Clones `ops`, and the chains of `indexed` that they are computed from.
static void cloneWithChains(RewriterBase &rewriter, ArrayRef<Operation *> ops,
                            const IndexedOps &indexed, IRMapping &mapping) {
  for (Operation *op : ops) {
    cloneOnce(rewriter, indexed.getChain(op), mapping);
    rewriter.clone(*op, mapping);
  }
}

/// Lets `ops` of `loop` compute by `mapping` in another iteration, whose
/// induction variable `ShiftOp` gives, and carries `tokens` there.
template <typename ShiftOp>
static void shift(RewriterBase &rewriter, scf::ForOp loop,
                  ArrayRef<Operation *> ops, const IndexedOps &indexed,
                  const llvm::SetVector<Operation *> &chain, ValueRange tokens,
                  IRMapping mapping) {
  rewriter.setInsertionPoint(ops.front());
  mapping.map(loop.getInductionVar(),
              rewriter.createOrFold<ShiftOp>(
                  loop.getLoc(), loop.getInductionVar(), loop.getStep()));
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    cloneOnce(rewriter, indexed.getChain(op), mapping);
  }
  for (Operation *op : ops)
    remapOperands(rewriter, op, mapping);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  rewriter.modifyOpInPlace(yield,
                           [&]() { yield.getResultsMutable().append(tokens); });
  eraseUnused(rewriter, sortOps(chain));
}

/// The induction variable of the second iteration.
static Value createSecond(RewriterBase &rewriter, scf::ForOp loop) {
  return rewriter.createOrFold<arith::AddIOp>(
      loop.getLoc(), loop.getLowerBound(), loop.getStep());
}

/// Puts the first iteration of `loop`, which has one, in front of it. The
/// others use what `starts` give there.
static scf::ForOp share(RewriterBase &rewriter, scf::ForOp loop,
                        ArrayRef<ShiftedStart> starts) {
  SmallVector<Operation *> shared = getShared(loop, starts);
  rewriter.setInsertionPoint(loop);
  IRMapping first =
      mapIteration(loop, loop.getLowerBound(), loop.getInitArgs());
  cloneBody(rewriter, loop, /*left=*/{}, /*chain=*/{}, first);
  scf::ForOp taken = takeLoop(
      rewriter, loop, createSecond(rewriter, loop), loop.getUpperBound(),
      lookUp(first, loop.getYieldedValues()), /*tokens=*/{});
  rewriter.replaceOp(loop, taken);
  for (const ShiftedStart &start : starts)
    for (Operation *wait : start.users)
      rewriter.replaceAllUsesWith(wait->getResults(),
                                  lookUp(first, wait->getResults()));
  eraseUnused(rewriter, shared);
  return taken;
}

/// Lets each iteration of `loop`, which has one, begin `starts` for the next.
static scf::ForOp prefetch(RewriterBase &rewriter, scf::ForOp loop,
                           ArrayRef<ShiftedStart> starts) {
  IndexedOps indexed(loop);
  llvm::SetVector<Operation *> left, chain;
  for (const ShiftedStart &start : starts) {
    left.insert(start.start);
    chain.insert_range(indexed.getChain(start.start));
  }
  ArrayRef<Operation *> ops = left.getArrayRef();
  SmallVector<Value> tokens = getTokens(starts);

  // The operations of the first iteration.
  rewriter.setInsertionPoint(loop);
  Value last = createLast(rewriter, loop);
  IRMapping first =
      mapIteration(loop, loop.getLowerBound(), loop.getInitArgs());
  cloneWithChains(rewriter, ops, indexed, first);

  unsigned numCarried = loop.getNumRegionIterArgs();
  scf::ForOp taken = takeLoop(rewriter, loop, loop.getLowerBound(), last,
                              loop.getInitArgs(), lookUp(first, tokens));

  // The last iteration.
  IRMapping end = mapIteration(taken, last, taken.getResults());
  end.map(tokens, taken.getResults().drop_front(numCarried));
  rewriter.setInsertionPointAfter(taken);
  SmallVector<Operation *> clonedChain =
      cloneBody(rewriter, taken, left, chain, end);
  rewriter.replaceOp(loop, lookUp(end, taken.getYieldedValues()));
  eraseUnused(rewriter, clonedChain);

  // The operations of the next iteration.
  for (auto [token, argument] : llvm::zip_equal(
           tokens, taken.getRegionIterArgs().drop_front(numCarried)))
    rewriter.replaceAllUsesWith(token, argument);
  shift<arith::AddIOp>(rewriter, taken, ops, indexed, chain, tokens, {});
  return taken;
}

/// Lets each iteration of `loop` await and use what `starts` give for the one
/// before it.
static scf::ForOp delay(RewriterBase &rewriter, scf::ForOp loop,
                        ArrayRef<ShiftedStart> starts) {
  guard(rewriter, loop);
  IndexedOps indexed(loop);
  llvm::SetVector<Operation *> users, chain;
  for (const ShiftedStart &start : starts)
    users.insert_range(start.users);
  SmallVector<Operation *> ordered = sortOps(users);
  for (Operation *user : ordered)
    chain.insert_range(indexed.getChain(user));
  SmallVector<Value> tokens = getTokens(starts);
  SmallVector<Value> yielded(loop.getYieldedValues());
  auto isLate = [&](Value value) {
    return users.contains(value.getDefiningOp());
  };

  rewriter.setInsertionPoint(loop);
  IRMapping first =
      mapIteration(loop, loop.getLowerBound(), loop.getInitArgs());
  SmallVector<Operation *> clonedChain =
      cloneBody(rewriter, loop, users, chain, first);
  SmallVector<Value> initial;
  for (auto [value, init] : llvm::zip_equal(yielded, loop.getInitArgs()))
    initial.push_back(isLate(value) ? init : first.lookupOrDefault(value));
  Value last = createLast(rewriter, loop);
  Value second = createSecond(rewriter, loop);
  unsigned numCarried = loop.getNumRegionIterArgs();
  scf::ForOp taken = takeLoop(rewriter, loop, second, loop.getUpperBound(),
                              initial, lookUp(first, tokens));
  eraseUnused(rewriter, clonedChain);

  // What uses the results of the last iteration.
  rewriter.setInsertionPointAfter(taken);
  IRMapping end = mapIteration(taken, last, taken.getResults());
  end.map(tokens, taken.getResults().drop_front(numCarried));
  cloneWithChains(rewriter, ordered, indexed, end);
  SmallVector<Value> results;
  for (auto [value, result] :
       llvm::zip_equal(yielded, taken.getResults().take_front(numCarried)))
    results.push_back(isLate(value) ? end.lookup(value) : Value(result));
  rewriter.replaceOp(loop, results);

  // What uses the results of the iteration before.
  IRMapping before;
  before.map(tokens, taken.getRegionIterArgs().drop_front(numCarried));
  shift<arith::SubIOp>(rewriter, taken, ordered, indexed, chain, tokens,
                       before);
  return taken;
}

scf::ForOp braid::comm::pipelineLoop(RewriterBase &rewriter, scf::ForOp loop,
                                     ArrayRef<ShiftedStart> starts) {
  auto select = [&](StartShift shift) {
    SmallVector<ShiftedStart> selected;
    llvm::copy_if(
        starts, std::back_inserter(selected),
        [&](const ShiftedStart &start) { return start.shift == shift; });
    return selected;
  };
  SmallVector<ShiftedStart> hoisted = select(StartShift::Hoist);
  SmallVector<ShiftedStart> shared = select(StartShift::Share);
  SmallVector<ShiftedStart> prefetched = select(StartShift::Prefetch);
  SmallVector<ShiftedStart> delayed = select(StartShift::Delay);
  if (!hoisted.empty() || !shared.empty() || !prefetched.empty())
    guard(rewriter, loop);
  if (!hoisted.empty())
    hoist(rewriter, loop, hoisted);
  if (!shared.empty())
    return share(rewriter, loop, shared);
  if (!prefetched.empty())
    loop = prefetch(rewriter, loop, prefetched);
  // A single iteration that is left has no next one.
  std::optional<int64_t> count = getStaticTripCount(loop);
  if (!delayed.empty() && (!count || *count > 1))
    loop = delay(rewriter, loop, delayed);
  return loop;
}
