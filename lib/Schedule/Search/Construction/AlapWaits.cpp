//===- AlapWaits.cpp - Waits as late as possible --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AlapWaits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace braid;

ScheduleOrder braid::getOrderWithAlapWaits(const FlatProblem &flat,
                                           llvm::ArrayRef<unsigned> order) {
  ScheduleOrder sunk;
  sunk.reserve(order.size());
  // By node: its place in `order`, if it is a wait that is held back.
  std::vector<unsigned> held(order.size(), ~0u);
  llvm::SmallVector<unsigned> needed;
  auto need = [&](unsigned node) {
    for (unsigned predecessor : flat.predecessors[node])
      if (held[predecessor] != ~0u) {
        needed.push_back(held[predecessor]);
        held[predecessor] = ~0u;
      }
  };
  for (auto [place, node] : llvm::enumerate(order)) {
    if (flat.problem.graph[node].kind == NodeKind::Wait) {
      held[node] = place;
      continue;
    }
    // Waits may have to follow other waits.
    needed.clear();
    need(node);
    for (size_t i = 0; i != needed.size(); ++i)
      need(order[needed[i]]);
    llvm::sort(needed);
    for (unsigned wait : needed)
      sunk.push_back(order[wait]);
    sunk.push_back(node);
  }
  for (unsigned node : order)
    if (held[node] != ~0u)
      sunk.push_back(node);
  return sunk;
}
