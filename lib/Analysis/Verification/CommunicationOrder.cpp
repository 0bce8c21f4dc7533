//===- CommunicationOrder.cpp - Rules on starts and waits --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommunicationOrder.h"

#include "Analysis/Tokens/AwaitedTokens.h"
#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

Communication braid::getCommunication(Operation *op, unsigned before,
                                      const BlockEffects::Entry &entry) {
  Communication found;
  found.op = op;
  found.before = before;
  comm::CollectiveOpInterface collective;
  if (auto wait = dyn_cast<comm::WaitOp>(op)) {
    comm::AsyncStartOpInterface start = wait.getStart();
    if (start)
      collective = dyn_cast<comm::CollectiveOpInterface>(*start);
    // Compute on a side stream waits for no other rank.
    found.isWait = !start || collective;
    found.awaitsAny = !start;
    found.mayAwaitMessage = found.isWait && mayBeMessage(wait.getToken());
  } else if ((collective = dyn_cast<comm::CollectiveOpInterface>(op))) {
    found.isStart = true;
    found.startsMessage = collective.isPointToPoint();
  } else if (!comm::getAsyncStart(op)) {
    found.isStart = entry.hasStart;
    found.startsMessage = entry.hasMessage;
    found.isWait = found.awaitsAny = found.mayAwaitMessage = entry.hasWait;
  }
  if (collective && collective.isPointToPoint())
    found.messageLane =
        cast<comm::AsyncStartOpInterface>(*collective).getLane();
  return found;
}

/// Checks that starts with `comm.order` keep their order.
LogicalResult CommunicationOrder::validateNumbers() {
  const Communication *last = nullptr;
  int64_t lastNumber = 0;
  for (const Communication &next : communications) {
    auto number =
        next.op->getAttrOfType<IntegerAttr>(comm::CommDialect::kOrderAttrName);
    if (!number)
      continue;
    if (last && number.getInt() < lastNumber && next.before < last->before)
      return emit(last->op, next.op, "starts with comm.order keep their order");
    last = &next;
    lastNumber = number.getInt();
  }
  return success();
}

/// Checks starts and waits where ranks may take different paths: starts keep
/// their order, and no wait has moved above a start.
LogicalResult CommunicationOrder::validateDivergence() {
  const Communication *start = nullptr, *wait = nullptr;
  for (const Communication &next : communications) {
    const Communication *passed = nullptr;
    StringRef rule;
    if (next.isStart && start && next.before < start->before) {
      passed = start;
      rule = "starts keep their order where ranks may take different paths";
    } else if (next.isStart && wait && next.before < wait->before) {
      passed = wait;
      rule = "a wait stands after the starts that it stood after where ranks "
             "may take different paths";
    }
    // Few orders need this check, which reads the whole module.
    if (passed)
      return uniformity.areReachedTogether(block)
                 ? success()
                 : emit(passed->op, next.op, rule);
    if (next.isStart)
      start = &next;
    if (next.isWait && (!wait || wait->before < next.before))
      wait = &next;
  }
  return success();
}

/// Checks that no wait has moved above a message. The ranks of an SPMD program
/// may exchange messages at different places of it: a rank that waits too early
/// never sends what another rank waits for.
LogicalResult CommunicationOrder::validateWaits() {
  // Of the waits above `next`, those that were last before the pass.
  const Communication *wait = nullptr, *ofMessage = nullptr;
  for (const Communication &next : communications) {
    if (next.startsMessage && wait && next.before < wait->before)
      return emit(wait->op, next.op,
                  "a wait stands after the messages that it stood after");
    if (next.isStart && ofMessage && next.before < ofMessage->before)
      return emit(ofMessage->op, next.op,
                  "a wait for a message stands after the starts that it stood "
                  "after");
    if (next.isWait && (!wait || wait->before < next.before))
      wait = &next;
    if (next.mayAwaitMessage && (!ofMessage || ofMessage->before < next.before))
      ofMessage = &next;
  }
  return success();
}

/// For each message the number of waits above it, before the pass, that may be
/// of its lane. Messages with equal numbers run together.
static llvm::DenseMap<Operation *, unsigned>
countWaitsBefore(ArrayRef<Communication> communications) {
  SmallVector<const Communication *> stood =
      llvm::to_vector(llvm::make_pointer_range(communications));
  llvm::sort(stood, [](const Communication *a, const Communication *b) {
    return a->before < b->before;
  });
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::DenseMap<Attribute, unsigned> numWaits;
  unsigned numOfAny = 0;
  for (const Communication *next : stood) {
    if (next->awaitsAny)
      ++numOfAny;
    else if (next->messageLane && next->isWait)
      ++numWaits[next->messageLane];
    else if (next->messageLane)
      numbers[next->op] = numWaits[next->messageLane] + numOfAny;
  }
  return numbers;
}

/// Checks the messages of each lane, and the waits for them. Messages with no
/// wait between them run together.
LogicalResult CommunicationOrder::validateMessages() {
  if (llvm::none_of(communications, [](const Communication &communication) {
        return communication.messageLane;
      }))
    return success();
  struct Lane {
    /// The last message so far, and the last wait after it.
    const Communication *message = nullptr, *split = nullptr;
  };
  llvm::MapVector<Attribute, Lane> lanes;
  for (const Communication &next : communications)
    if (next.messageLane)
      lanes.insert({next.messageLane, Lane()});
  llvm::DenseMap<Operation *, unsigned> waitsBefore =
      countWaitsBefore(communications);
  for (const Communication &next : communications) {
    if (next.awaitsAny)
      for (auto &[attribute, lane] : lanes)
        lane.split = &next;
    if (!next.messageLane)
      continue;
    Lane &lane = lanes[next.messageLane];
    if (next.isWait) {
      lane.split = &next;
      continue;
    }
    const Communication *message = lane.message;
    if (message && next.before < message->before)
      return emit(message->op, next.op,
                  "the messages of a group keep their order");
    if (message && lane.split &&
        waitsBefore.lookup(message->op) == waitsBefore.lookup(next.op))
      return emit(lane.split->op, message->op,
                  "no wait comes between messages that run together");
    lane.message = &next;
    lane.split = nullptr;
  }
  return success();
}

LogicalResult CommunicationOrder::validate() {
  return success(succeeded(validateNumbers()) &&
                 succeeded(validateDivergence()) &&
                 succeeded(validateWaits()) && succeeded(validateMessages()));
}
