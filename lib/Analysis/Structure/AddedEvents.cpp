//===- AddedEvents.cpp - Communication that a pass has added --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionComparison.h"

using namespace braid;
using namespace mlir;

/// True if `found`, the next event of the result, may be the next event of the
/// input and not one that the pass has added.
bool FunctionComparison::comesFromBefore(const Event &found) const {
  const Event *event = getBefore();
  if (numAddedRegions != 0)
    return false;
  switch (found.kind) {
  case EventKind::start:
    return event && event->kind == EventKind::start &&
           event->location == found.location &&
           keepsStart(before.starts[event->number], found);
  case EventKind::wait:
    return after.getAwaited(found) == ~0u || !isAdded[after.getAwaited(found)];
  case EventKind::open:
    return event && event->kind == EventKind::open &&
           event->name == found.name && event->location == found.location;
  default:
    return true;
  }
}

/// Passes over an event that the pass has added.
LogicalResult FunctionComparison::addEvent() {
  const Event &found = *getAfter();
  ++nextAfter;
  switch (found.kind) {
  case EventKind::start:
    for (Value token : found.op->getResults()) {
      if (!isa<comm::TokenType>(token.getType()))
        continue;
      if (!token.hasOneUse() || !isa<comm::WaitOp>(*token.user_begin()) ||
          token.user_begin()->getBlock() != found.op->getBlock())
        return report(found, "is new and has not one wait in its block");
    }
    for (unsigned index = 0; index != found.numGiven; ++index)
      isAdded[found.firstGiven + index] = true;
    return success();
  case EventKind::wait:
    if (after.getAwaited(found) != ~0u && isAdded[after.getAwaited(found)])
      return success();
    return report(found, "is in a new region and awaits an operation from "
                         "outside");
  case EventKind::open:
    ++numAddedRegions;
    return success();
  case EventKind::close:
    --numAddedRegions;
    return success();
  case EventKind::block:
    return success();
  case EventKind::call:
  case EventKind::carry:
    return report(found, "is in a new region and communicates");
  }
  return success();
}
