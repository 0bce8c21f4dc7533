//===- MoveWaits.cpp - Waits before accesses in flight --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HazardRepair.h"

#include "Analysis/Tokens/AwaitedTokens.h"

using namespace braid;
using namespace braid::comm;
using namespace mlir;

/// True if `value` is there before `op`.
static bool isDefinedBefore(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->getBlock() != op->getBlock())
    return true;
  return definition->isBeforeInBlock(op);
}

/// True if a start in `op` is a message of lane `lane`, or may be if the lane
/// is not known.
static bool startsMessageOf(Operation *op, Attribute lane) {
  WalkResult result = op->walk([&](Operation *nested) {
    auto collective = dyn_cast<CollectiveOpInterface>(nested);
    return collective && collective.isPointToPoint() &&
                   (!lane || collective.getLane() == lane)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Why `wait` cannot move up before `place`, an op of its block; an empty text
/// if it can.
static std::string whyNotBefore(WaitOp wait, Operation *place, Operation *start,
                                HazardContext &context) {
  for (Value operand : wait->getOperands())
    if (!isDefinedBefore(operand, place))
      return "it needs a value that comes after the access";
  auto collective = dyn_cast_if_present<CollectiveOpInterface>(start);
  bool mayBeMessage = !start || (collective && collective.isPointToPoint());
  bool areTogether = context.uniformity.areReachedTogether(*wait->getBlock());
  for (Operation *op = place; op != wait; op = op->getNextNode()) {
    for (Value buffer : wait.getWrites())
      if (context.mayAccess(op, buffer, /*onlyWrites=*/false))
        return "'" + op->getName().getStringRef().str() +
               "' would see its result";
    OpEffects effects = getOpEffects(op, context.calls);
    if (!effects.hasStart)
      continue;
    // Ranks that take different ways may wait for the start in another order.
    if (!areTogether)
      return "ranks that take different ways could wait for each other";
    // Messages with no wait between them run together, and may need each other.
    if (mayBeMessage &&
        (isa<CallOpInterface>(op) ||
         startsMessageOf(op, collective ? collective.getLane() : Attribute())))
      return "messages that run together would be separated";
    // A message may meet another op of the text, to which a rank does not come.
    if (effects.hasMessage ? !start || collective
                           : braid::mayBeMessage(wait.getToken()))
      return "ranks that exchange messages could wait for each other";
  }
  return "";
}

/// The place of `access` relative to `wait`: the ops of the innermost block
/// around both that hold them.
static std::pair<Operation *, Operation *> findCommon(Operation *access,
                                                      Operation *wait) {
  for (Operation *op = wait; op; op = op->getParentOp())
    if (Block *block = op->getBlock())
      if (Operation *ancestor = block->findAncestorOpInBlock(*access))
        return {ancestor, op};
  return {nullptr, nullptr};
}

/// Moves the waits of an operation whose token they alone use.
static std::string moveOnlyWaits(Operation *start, ArrayRef<WaitOp> waits,
                                 ArrayRef<Operation *> accesses,
                                 HazardContext &context, ProgramEdit &edit) {
  SmallVector<std::pair<WaitOp, Operation *>> places;
  for (WaitOp wait : waits) {
    Operation *first = nullptr;
    for (Operation *access : accesses) {
      auto [before, after] = findCommon(access, wait);
      if (!before || before == after || !before->isBeforeInBlock(after) ||
          (before->getBlock() == start->getBlock() &&
           !start->isBeforeInBlock(before)))
        continue;
      if (after != wait)
        return "it is in a block of its own, after the access";
      if (!first || before->isBeforeInBlock(first))
        first = before;
    }
    if (!first)
      continue;
    std::string reason = whyNotBefore(wait, first, start, context);
    if (!reason.empty())
      return reason;
    places.emplace_back(wait, first);
  }
  if (places.empty())
    return "it is not after the access";
  for (auto [wait, place] : places)
    edit.moveBefore(wait, place);
  return "";
}

/// True if `wait` names a buffer that `op` may touch in its flight.
static bool namesBufferOf(WaitOp wait, Operation *op, HazardContext &context) {
  auto isTouched = [&](Value buffer, bool onlyWrites) {
    return context.mayAccess(op, buffer, onlyWrites);
  };
  return llvm::any_of(wait.getReads(),
                      [&](Value buffer) { return isTouched(buffer, true); }) ||
         llvm::any_of(wait.getWrites(), [&](Value buffer) {
           return isTouched(buffer, true) || isTouched(buffer, false);
         });
}

/// Moves a wait of a token that comes from elsewhere, such as another iteration
/// of a loop, up before `access`.
static std::string moveCarriedWait(Operation *start, Operation *access,
                                   HazardContext &context, ProgramEdit &edit) {
  std::string reason;
  for (Operation *place = access; place && !isa<FunctionOpInterface>(place);
       place = place->getParentOp())
    for (Operation *op = place; op; op = op->getNextNode()) {
      auto wait = dyn_cast<WaitOp>(op);
      if (!wait)
        continue;
      Operation *definition = wait.getToken().getDefiningOp();
      if ((definition && definition != start && getAsyncStart(definition)) ||
          !namesBufferOf(wait, access, context))
        continue;
      std::string obstacle = whyNotBefore(wait, place, start, context);
      if (obstacle.empty()) {
        edit.moveBefore(wait, place);
        return "";
      }
      if (reason.empty())
        reason = obstacle;
    }
  return reason.empty() ? "none follows the access in its block" : reason;
}

std::string comm::moveWaits(const Hazard &hazard, HazardContext &context,
                            ProgramEdit &edit) {
  SmallVector<Operation *> accesses = findLocalAccesses(hazard, context);
  if (hazard.start)
    if (std::optional<SmallVector<WaitOp>> waits = getOnlyWaits(hazard.start))
      return moveOnlyWaits(hazard.start, *waits, accesses, context, edit);
  if (accesses.empty())
    llvm::append_range(accesses, hazard.accesses);
  std::string reason;
  for (Operation *access : accesses) {
    reason = moveCarriedWait(hazard.start, access, context, edit);
    if (!reason.empty()) {
      edit.undo();
      return reason;
    }
  }
  return "";
}
