//===- LoopStarts.cpp - Starts that may leave their iteration -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopStarts.h"

#include "braid/Support/IR/Operations.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// What depends on the induction variable alone
//===----------------------------------------------------------------------===//

void braid::comm::visitUsedValues(Operation *op,
                                  function_ref<void(Value)> visit) {
  op->walk([&](Operation *user) {
    for (Value operand : user->getOperands())
      if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
        visit(operand);
  });
}

/// True if `op`, in a loop's body, may be computed in another iteration.
static bool mayMove(Operation *op) {
  auto isToken = llvm::IsaPred<TokenType>;
  return !op->hasTrait<OpTrait::IsTerminator>() && isMemoryEffectFree(op) &&
         llvm::none_of(op->getOperandTypes(), isToken) &&
         llvm::none_of(op->getResultTypes(), isToken) &&
         !op->walk([&](Operation *nested) {
              return isa<WaitOp>(nested) || getAsyncStart(nested)
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            }).wasInterrupted();
}

IndexedOps::IndexedOps(scf::ForOp loop) : loop(loop) {
  for (Operation &op : *loop.getBody())
    if (mayMove(&op) && hasIndexedOperands(&op))
      ops.insert(&op);
}

bool IndexedOps::isIndexed(Value value) const {
  scf::ForOp around = loop;
  if (value == around.getInductionVar() || around.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && ops.contains(op);
}

bool IndexedOps::hasIndexedOperands(Operation *op) const {
  bool areIndexed = true;
  visitUsedValues(op, [&](Value value) { areIndexed &= isIndexed(value); });
  return areIndexed;
}

SmallVector<Operation *> MovableOps::getChain(Operation *op) const {
  llvm::SmallDenseSet<Operation *> chain;
  SmallVector<Operation *> pending = {op};
  while (!pending.empty())
    visitUsedValues(pending.pop_back_val(), [&](Value value) {
      Operation *producer = value.getDefiningOp();
      if (producer && ops.contains(producer) && chain.insert(producer).second)
        pending.push_back(producer);
    });
  SmallVector<Operation *> ordered(chain.begin(), chain.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

//===----------------------------------------------------------------------===//
// What all iterations share
//===----------------------------------------------------------------------===//

/// True if all iterations of `loop` may share what `op`, a start of its body,
/// gives: one wait of the body awaits each token, and no op overwrites that.
static bool isSharable(Operation &op, scf::ForOp loop) {
  auto start = dyn_cast<CollectiveOpInterface>(op);
  auto async = dyn_cast<AsyncStartOpInterface>(op);
  if (!start || !async || async.isBufferForm() || start.isPointToPoint() ||
      op.hasAttr(CommDialect::kOrderAttrName))
    return false;
  return llvm::all_of(async.getTokens(), [&](Value token) {
    auto wait =
        token.hasOneUse() ? dyn_cast<WaitOp>(*token.user_begin()) : WaitOp();
    return wait && wait->getNumOperands() == 1 &&
           wait->getBlock() == loop.getBody() &&
           llvm::none_of(wait->getUses(), [](OpOperand &use) {
             auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
             return user && user.isDpsInit(&use);
           });
  });
}

InvariantOps::InvariantOps(scf::ForOp loop) {
  llvm::SmallPtrSet<Operation *, 8> waits;
  for (Operation &op : *loop.getBody()) {
    bool isInvariant = true;
    visitUsedValues(&op, [&](Value value) {
      isInvariant &= loop.isDefinedOutsideOfLoop(value) ||
                     ops.contains(value.getDefiningOp());
    });
    if (!isInvariant)
      continue;
    if (isSharable(op, loop)) {
      waits.insert_range(op.getUsers());
      ops.insert(&op);
    } else if (waits.contains(&op) || mayMove(&op)) {
      ops.insert(&op);
    }
  }
}

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

namespace {
class StartFinder {
public:
  /// `communicatesInside`: an op of the body does in its regions.
  StartFinder(scf::ForOp loop, bool communicatesInside)
      : loop(loop), communicatesInside(communicatesInside), indexed(loop),
        invariant(loop) {}

  void add(CollectiveOpInterface start, LoopStarts &found);

private:
  StringRef delay(AsyncStartOpInterface start,
                  SmallVectorImpl<Operation *> &users);

  scf::ForOp loop;
  bool communicatesInside;
  IndexedOps indexed;
  InvariantOps invariant;
};
} // namespace

/// Finds the waits of `start` and what is computed from them. Returns why they
/// cannot move to the next iteration; empty if they can.
StringRef StartFinder::delay(AsyncStartOpInterface start,
                             SmallVectorImpl<Operation *> &users) {
  Block *body = loop.getBody();
  llvm::SmallSetVector<Operation *, 8> moved;
  llvm::SmallBitVector yielded(loop.getNumRegionIterArgs());
  SmallVector<Value> pending(start.getTokens());
  while (!pending.empty())
    for (OpOperand &use : pending.pop_back_val().getUses()) {
      Operation *user = body->findAncestorOpInBlock(*use.getOwner());
      if (user == body->getTerminator()) {
        yielded.set(use.getOperandNumber());
        continue;
      }
      if (getAsyncStart(user))
        return "another collective of its iteration uses its result";
      if (!isa<WaitOp>(user) && !mayMove(user))
        return "its result is used where the order of effects counts";
      if (moved.insert(user))
        llvm::append_range(pending, user->getResults());
    }
  if (yielded.none())
    return "nothing behind the loop uses its result";
  bool usesOthers = false;
  for (Operation *op : moved)
    visitUsedValues(op, [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      bool isCarried = argument && argument.getOwner() == body &&
                       value != loop.getInductionVar();
      Operation *producer = value.getDefiningOp();
      if (isCarried)
        usesOthers |= !yielded.test(argument.getArgNumber() - 1);
      else if (!isa<TokenType>(value.getType()))
        usesOthers |= !indexed.isIndexed(value) && !moved.contains(producer);
    });
  if (usesOthers)
    return "its result is used together with other values of its iteration";
  for (unsigned number : yielded.set_bits())
    for (Operation *user : loop.getRegionIterArg(number).getUsers())
      if (!moved.contains(body->findAncestorOpInBlock(*user)))
        return "the next iteration reads its result";
  users.assign(moved.begin(), moved.end());
  llvm::sort(users,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return {};
}

void StartFinder::add(CollectiveOpInterface start, LoopStarts &found) {
  auto async = cast<AsyncStartOpInterface>(start.getOperation());
  auto keep = [&](StringRef reason) { found.kept.push_back({start, reason}); };
  if (async.isBufferForm())
    return keep("it is on buffers");
  if (start.isPointToPoint())
    return keep("it meets a single rank");
  if (start->hasAttr(CommDialect::kOrderAttrName))
    return keep("it has a number in the total order");
  bool isCarried = false, isAwaitedInside = false;
  for (Value token : async.getTokens()) {
    if (token.use_empty())
      return keep("nothing awaits it");
    for (Operation *user : token.getUsers()) {
      isCarried |= user == loop.getBody()->getTerminator();
      isAwaitedInside |=
          !isa<WaitOp>(user) || user->getBlock() != loop.getBody();
    }
  }
  // An inner loop may carry the token, whose first iterations await it.
  bool mayPrefetch = indexed.hasIndexedOperands(start);
  if (isCarried || (isAwaitedInside && !mayPrefetch))
    return keep("its token is awaited elsewhere");
  if (invariant.contains(start)) {
    found.shifted.push_back(
        {start, StartShift::Hoist, llvm::to_vector(start->getUsers())});
    return;
  }
  if (mayPrefetch) {
    found.shifted.push_back({start, StartShift::Prefetch, {}});
    return;
  }
  if (communicatesInside)
    return keep("an op of the loop communicates inside");
  SmallVector<Operation *> users;
  StringRef reason = delay(async, users);
  if (!reason.empty())
    return keep(reason);
  found.shifted.push_back({start, StartShift::Delay, std::move(users)});
}

/// Why no start may leave its iteration; empty if starts may.
/// `communicatesInside` becomes true if an op of the body does in its regions.
static StringRef findObstacle(scf::ForOp loop, CallEffects &calls,
                              RankUniformity &uniformity,
                              bool &communicatesInside) {
  if (!uniformity.areReachedTogether(*loop.getBody()))
    return "ranks may run the loop differently";
  if (loop.getUnsignedCmp())
    return "the bounds of the loop are unsigned";
  std::optional<int64_t> count = getStaticTripCount(loop);
  if (count && *count < 2)
    return "the loop has no second iteration";
  for (Operation &op : *loop.getBody()) {
    if (isa<WaitOp>(op) || getAsyncStart(&op))
      continue;
    OpEffects effects = getOpEffects(&op, calls);
    if (effects.isUnknown)
      return "the loop has an op of unknown effects";
    communicatesInside |= effects.hasStart || effects.hasWait;
  }
  return {};
}

LoopStarts braid::comm::findShiftedStarts(scf::ForOp loop, CallEffects &calls,
                                          RankUniformity &uniformity) {
  LoopStarts found;
  SmallVector<CollectiveOpInterface> starts;
  for (Operation &op : *loop.getBody())
    if (auto start = dyn_cast<CollectiveOpInterface>(op))
      starts.push_back(start);
  if (starts.empty())
    return found;
  bool communicatesInside = false;
  StringRef obstacle =
      findObstacle(loop, calls, uniformity, communicatesInside);
  if (!obstacle.empty()) {
    for (CollectiveOpInterface start : starts)
      found.kept.push_back({start, obstacle});
    return found;
  }
  StartFinder finder(loop, communicatesInside);
  for (CollectiveOpInterface start : starts)
    finder.add(start, found);
  return found;
}
