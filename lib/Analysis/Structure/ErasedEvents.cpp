//===- ErasedEvents.cpp - Communication that a pass has erased ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ErasedEvents.h"

using namespace braid;
using namespace mlir;

static void dropBlocks(std::vector<CommunicationEvent> &events) {
  while (!events.empty() &&
         events.back().kind == CommunicationEvent::Kind::block)
    events.pop_back();
}

std::vector<CommunicationEvent>
braid::dropErasedEvents(const FunctionCommunication &function,
                        const llvm::DenseSet<Operation *> &erased,
                        llvm::function_ref<bool(StringAttr)> communicates) {
  std::vector<CommunicationEvent> kept;
  std::vector<bool> isErased(function.numTokens, false);
  for (const CommunicationEvent &event : function.events) {
    if (event.kind == CommunicationEvent::Kind::start &&
        erased.contains(event.op)) {
      for (unsigned index = 0; index != event.numGiven; ++index)
        isErased[event.firstGiven + index] = true;
      continue;
    }
    if (event.kind == CommunicationEvent::Kind::wait &&
        function.getAwaited(event) != ~0u &&
        isErased[function.getAwaited(event)])
      continue;
    if (event.kind == CommunicationEvent::Kind::call && event.numTaken == 0 &&
        event.numGiven == 0 && event.callee && !communicates(event.callee))
      continue;
    if (event.kind == CommunicationEvent::Kind::close ||
        event.kind == CommunicationEvent::Kind::block)
      dropBlocks(kept);
    if (event.kind == CommunicationEvent::Kind::close && !kept.empty() &&
        kept.back().kind == CommunicationEvent::Kind::open)
      kept.pop_back();
    else
      kept.push_back(event);
  }
  // The end of a function closes its last blocks.
  dropBlocks(kept);
  return kept;
}
