//===- ExposedTime.cpp - How much of an operation is exposed --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/Inductor/ExposedTime.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace braid;
using namespace llvm;

ExposedTime::ExposedTime(const SchedulingProblem &problem,
                         ArrayRef<unsigned> order, double commMult,
                         double computeMult)
    : problem(problem), awaits(problem),
      initialOrder(order.begin(), order.end()) {
  const ScheduleGraph &graph = problem.graph;
  unsigned numNodes = graph.size();
  // Whole numbers keep sums exact, in whatever order they are added.
  runtime.resize(numNodes);
  for (unsigned node = 0; node != numNodes; ++node)
    runtime[node] = std::round(double(graph[node].cost) *
                               (isStart(node) ? commMult : computeMult));

  position.resize(numNodes);
  computeBefore.assign(numNodes + 1, 0);
  for (auto [index, node] : llvm::enumerate(order)) {
    position[node] = index;
    computeBefore[index + 1] =
        computeBefore[index] + (isStart(node) ? 0 : runtime[node]);
  }

  // From the end, the first node that awaits anything of a lane from here on.
  initialStop.assign(numNodes, numNodes);
  SmallVector<unsigned> stopOfLane;
  for (unsigned node : llvm::reverse(order)) {
    if (!isStart(node))
      continue;
    unsigned lane = graph[node].lane;
    if (lane >= stopOfLane.size())
      stopOfLane.resize(lane + 1, numNodes);
    for (unsigned awaiter : getAwaiters(node))
      stopOfLane[lane] = std::min(stopOfLane[lane], position[awaiter]);
    initialStop[node] = stopOfLane[lane];
  }
  passedIn.assign(numNodes, 0);
}

Exposure ExposedTime::getInitialExposure(unsigned start) const {
  unsigned stop = initialStop[start];
  return {runtime[start], computeBefore[stop] - getComputeBefore(start),
          stop == initialOrder.size() ? MovableOrder::none
                                      : initialOrder[stop]};
}

Exposure ExposedTime::measure(unsigned start, const MovableOrder &order,
                              uint64_t &numSteps) {
  ++walk;
  Exposure exposure;
  exposure.commNs = runtime[start];
  int32_t lane = problem.graph[start].lane;
  passedIn[start] = walk;
  for (unsigned node = order.getNext(start); node != MovableOrder::none;
       node = order.getNext(node)) {
    ++numSteps;
    if (isStart(node)) {
      if (problem.graph[node].lane == lane)
        passedIn[node] = walk;
      continue;
    }
    if (llvm::any_of(awaits.awaited[node], [&](unsigned awaited) {
          return passedIn[awaited] == walk;
        })) {
      exposure.stop = node;
      break;
    }
    exposure.compNs += runtime[node];
  }
  return exposure;
}
