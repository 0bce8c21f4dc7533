//===- IterativeState.cpp - What the iterative algorithms share -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterativeState.h"

#include "braid/Schedule/SimpleOverlap.h"
#include "braid/Schedule/Units.h"

#include <limits>

using namespace braid;

/// `bytes` and a part of it more.
static int64_t addBudget(int64_t bytes, double budget) {
  double more = double(bytes) * budget;
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  return more < double(largest) ? addNs(bytes, int64_t(more)) : largest;
}

IterativeState::IterativeState(const SchedulingProblem &problem,
                               llvm::ArrayRef<unsigned> order,
                               const IterativeOptions &options)
    : problem(problem), options(options), order(problem, order),
      time(problem, order, options.commRuntimeMult, options.computeRuntimeMult),
      maxSteps(kMaxStepsPerNode * problem.graph.size()) {
  initialPeakBytes = this->order.getPeakBytes();
  limitBytes = addBudget(initialPeakBytes, options.peakMemoryBudget);
  if (problem.maxMemory)
    limitBytes = std::min(limitBytes, *problem.maxMemory);
}

bool IterativeState::isHidden(const MoveStatistics &statistics) const {
  return options.useRuntimeEstimations &&
         statistics.getFinalExposedNs() <
             -options.extraOverlap * statistics.commNs;
}

bool IterativeState::move(bool left, unsigned candidate,
                          MoveStatistics &statistics) {
  int64_t peakBytes = 0;
  switch (left ? order.moveLeft(limitBytes, &peakBytes)
               : order.moveRight(limitBytes, &peakBytes)) {
  case MovableOrder::MoveResult::Moved:
    ++statistics.moves;
    return true;
  case MovableOrder::MoveResult::TooManyInFlight:
    statistics.limit = {LimitingFactor::InFlight, candidate};
    return false;
  case MovableOrder::MoveResult::TooManyBytes:
    statistics.limit = {LimitingFactor::PeakMemory, candidate,
                        MovableOrder::none, double(peakBytes),
                        double(initialPeakBytes)};
    return false;
  }
  llvm_unreachable("unknown result of a move");
}

void IterativeState::describeOverlap(unsigned start,
                                     MoveStatistics &statistics) const {
  constexpr size_t maxNodes = 4;
  // Compute without a cost, and starts, are passed over, but not endlessly.
  constexpr unsigned maxLooks = 64;
  unsigned looks = 0;
  for (unsigned node = order.getNext(start);
       node != statistics.stop && node != MovableOrder::none;
       node = order.getNext(node)) {
    bool counts = !isStart(node) && time.getRuntime(node) > 0;
    if (++looks > maxLooks ||
        (counts && statistics.overlapped.size() == maxNodes)) {
      statistics.hasMoreOverlapped = true;
      return;
    }
    if (counts)
      statistics.overlapped.push_back(node);
  }
}

IterativeResult
IterativeState::finish(std::vector<MoveStatistics> statistics) const {
  return {order.getOrder(), std::move(statistics), initialPeakBytes,
          order.getPeakBytes()};
}
