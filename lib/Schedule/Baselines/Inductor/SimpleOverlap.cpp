//===- SimpleOverlap.cpp - Swaps that cost no memory ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/Inductor/SimpleOverlap.h"
#include "braid/Schedule/Baselines/Inductor/MovableOrder.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;

ScheduleOrder braid::simpleOverlap(const SchedulingProblem &problem,
                                   llvm::ArrayRef<unsigned> order) {
  const ScheduleGraph &graph = problem.graph;
  MovableOrder movable(problem, order);
  int64_t peakBytes = movable.getPeakBytes();
  uint64_t maxSteps = kMaxStepsPerNode * graph.size();

  for (unsigned node : order) {
    if (graph[node].kind != NodeKind::Start)
      continue;
    movable.beginGroup(node);
    while (movable.getNumSteps() < maxSteps) {
      unsigned candidate = movable.getPrevious(node);
      if (candidate == MovableOrder::none || movable.groupNeeds(candidate) ||
          graph[candidate].kind == NodeKind::Start ||
          movable.moveLeft(peakBytes) != MovableOrder::MoveResult::Moved)
        break;
    }
    movable.endGroup();
  }

  for (unsigned node : llvm::reverse(order)) {
    if (graph[node].kind != NodeKind::Wait)
      continue;
    movable.beginGroup(node);
    while (movable.getNumSteps() < maxSteps) {
      unsigned candidate = movable.getNext(node);
      if (candidate == MovableOrder::none || movable.needsGroup(candidate) ||
          graph[candidate].kind == NodeKind::Wait ||
          movable.moveRight(peakBytes) != MovableOrder::MoveResult::Moved)
        break;
    }
    movable.endGroup();
  }
  return movable.getOrder();
}
