//===- MessageBatch.cpp - Messages of one launch --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MessageBatch.h"

using namespace braid;
using namespace mlir;

static bool isMessageOf(Operation *op, Attribute lane) {
  auto message = dyn_cast_if_present<comm::CollectiveOpInterface>(op);
  return message && message.isPointToPoint() && message.getLane() == lane;
}

/// True if `op` may await a message of `lane`, or has messages inside.
static bool endsBatch(Operation *op, Attribute lane) {
  auto wait = dyn_cast<comm::WaitOp>(op);
  if (!wait) {
    WalkResult found = op->walk([&](Operation *inner) {
      return WalkResult(
          failure(inner != op &&
                  isa<comm::WaitOp, comm::CollectiveOpInterface>(inner)));
    });
    return found.wasInterrupted();
  }
  Operation *start = wait.getToken().getDefiningOp();
  return !isa_and_present<comm::CollectiveOpInterface>(start) ||
         isMessageOf(start, lane);
}

comm::CollectiveOpInterface
braid::getLastOfBatch(comm::CollectiveOpInterface message) {
  Attribute lane = message.getLane();
  comm::CollectiveOpInterface last = message;
  for (Operation *next = message->getNextNode(); next && !endsBatch(next, lane);
       next = next->getNextNode())
    if (isMessageOf(next, lane))
      last = cast<comm::CollectiveOpInterface>(next);
  return last;
}

SmallVector<comm::CollectiveOpInterface, 2>
braid::getMessageBatch(comm::CollectiveOpInterface last) {
  SmallVector<comm::CollectiveOpInterface, 2> batch;
  if (getLastOfBatch(last) != last)
    return batch;
  Attribute lane = last.getLane();
  for (Operation *op = last; op && !endsBatch(op, lane); op = op->getPrevNode())
    if (isMessageOf(op, lane))
      batch.push_back(cast<comm::CollectiveOpInterface>(op));
  std::reverse(batch.begin(), batch.end());
  return batch;
}
