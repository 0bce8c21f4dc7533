//===- ScheduleEvaluator.cpp - Makespan and peak of many orders -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/ScheduleEvaluator.h"
#include "FlatProblem.h"

#include <algorithm>
#include <cassert>

using namespace braid;

ScheduleEvaluator::ScheduleEvaluator(const SchedulingProblem &problem)
    : owned(std::make_unique<FlatProblem>(problem)), flat(*owned),
      endNs(flat.size()), laneFreeNs(flat.numLanes) {
  for (size_t i = 0, end = flat.bufferBytes.size(); i != end; ++i)
    numUsers.push_back(flat.usersOf[i].size());
}

ScheduleEvaluator::ScheduleEvaluator(const FlatProblem &flat)
    : flat(flat), endNs(flat.size()), laneFreeNs(flat.numLanes) {
  for (size_t i = 0, end = flat.bufferBytes.size(); i != end; ++i)
    numUsers.push_back(flat.usersOf[i].size());
}

ScheduleEvaluator::~ScheduleEvaluator() = default;

ScheduleEvaluator::Value
ScheduleEvaluator::evaluate(llvm::ArrayRef<unsigned> order) {
  assert(order.size() == flat.size() && "an order has all nodes");
  ++numOrders;
  if (!flat.hasExactTimes) {
    Simulation simulation = simulateOrder(flat.problem, order);
    return {simulation.makespanNs, simulation.peakBytes};
  }

  std::fill(laneFreeNs.begin(), laneFreeNs.end(), 0);
  missingUsers = numUsers;
  int64_t streamNs = 0, liveBytes = flat.liveBytes;
  int64_t peakBytes = liveBytes;
  for (unsigned node : order) {
    if (int32_t lane = flat.lane[node]; lane >= 0) {
      laneFreeNs[lane] = std::max(streamNs, laneFreeNs[lane]) + flat.cost[node];
      endNs[node] = laneFreeNs[lane];
    } else {
      for (unsigned start : flat.awaited[node])
        streamNs = std::max(streamNs, endNs[start]);
      streamNs += flat.cost[node];
    }
    int64_t freedBytes = 0;
    for (unsigned buffer : flat.buffersOf[node]) {
      if (missingUsers[buffer] == numUsers[buffer])
        liveBytes += flat.bufferBytes[buffer];
      if (--missingUsers[buffer] == 0 && !flat.escapes[buffer])
        freedBytes += flat.bufferBytes[buffer];
    }
    peakBytes = std::max(peakBytes, liveBytes + flat.transientBytes[node]);
    liveBytes -= freedBytes;
  }
  // What is still in flight has to end, too.
  for (int64_t freeNs : laneFreeNs)
    streamNs = std::max(streamNs, freeNs);
  return {streamNs, peakBytes};
}
