//===- WaitOrderTracker.cpp - Keeps waits after starts --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WaitOrderTracker.h"

#include "Analysis/Tokens/AwaitedTokens.h"

using namespace mlir;
using namespace braid;

void WaitOrderTracker::addStart(unsigned node, Operation *op,
                                Attribute messageLane) {
  last = node;
  lastOp = op;
  if (messageLane)
    messages[messageLane] = node;
  else
    others.push_back(node);
}

void WaitOrderTracker::addNestedStart(unsigned node, bool hasMessage) {
  last = node;
  lastOp = nullptr;
  if (hasMessage) {
    messages.clear();
    nestedMessage = node;
  }
  others.assign({node});
  afterOthers.reset();
}

void WaitOrderTracker::addBarrier() {
  last.reset();
  lastOp = nullptr;
  messages.clear();
  nestedMessage.reset();
  others.clear();
  afterOthers.reset();
}

bool WaitOrderTracker::areRanksDivergent() {
  if (!isDivergent)
    isDivergent = !uniformity.areReachedTogether(block);
  return *isDivergent;
}

void WaitOrderTracker::addWait(unsigned node, comm::WaitOp wait) {
  comm::AsyncStartOpInterface awaited = wait.getStart();
  if (!last || (awaited && !isa<comm::CollectiveOpInterface>(*awaited)))
    return;
  // The token says that the wait stands after its start.
  bool awaitsLast = awaited && awaited == lastOp;
  if (!awaitsLast && areRanksDivergent()) {
    graph.addEdge(*last, node);
    return;
  }
  if (nestedMessage)
    graph.addEdge(*nestedMessage, node);
  for (auto &[lane, message] : messages)
    graph.addEdge(message, node);
  if (!mayBeMessage(wait.getToken()))
    return;
  if (afterOthers)
    graph.addEdge(*afterOthers, node);
  for (unsigned start : others)
    graph.addEdge(start, node);
  if (others.size() < maxPending)
    return;
  others.clear();
  afterOthers = node;
}
