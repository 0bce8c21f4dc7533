//===- IterativeAlgorithm.cpp - What both iterative algorithms share ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterativeAlgorithm.h"

#include "braid/Schedule/Baselines/Inductor/SimpleOverlap.h"
#include "braid/Support/Units.h"

#include <limits>

using namespace braid;

/// `bytes` and a part of it more.
static int64_t addBudget(int64_t bytes, double budget) {
  double more = double(bytes) * budget;
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  return more < double(largest) ? addNs(bytes, int64_t(more)) : largest;
}

IterativeAlgorithm::IterativeAlgorithm(const SchedulingProblem &problem,
                                       llvm::ArrayRef<unsigned> order,
                                       const IterativeOptions &options,
                                       Direction direction)
    : problem(problem), options(options), initialOrder(order),
      order(problem, order),
      time(problem, order, options.commRuntimeMult, options.computeRuntimeMult),
      direction(direction), maxSteps(kMaxStepsPerNode * problem.graph.size()) {
  initialPeakBytes = this->order.getPeakBytes();
  limitBytes = addBudget(initialPeakBytes, options.peakMemoryBudget);
  if (problem.maxMemory)
    limitBytes = std::min(limitBytes, *problem.maxMemory);
}

/// True if `statistics` says that the operation is hidden and the options make
/// that count.
bool IterativeAlgorithm::isHidden(const MoveStatistics &statistics) const {
  return options.useRuntimeEstimations &&
         statistics.getFinalExposedNs() <
             -options.extraOverlap * statistics.commNs;
}

/// Says what stands against dragging `candidate` along; true if nothing does.
bool IterativeAlgorithm::mayDrag(unsigned candidate,
                                 MoveStatistics &statistics) const {
  LimitingFactor::Kind limit = LimitingFactor::None;
  if (isNeverDragged(candidate) ||
      (isStart(candidate) && !options.groupWithCollectives))
    limit = LimitingFactor::DataDependency;
  else if (isMatmul(candidate) && !options.useRuntimeEstimations)
    limit = LimitingFactor::MatmulDependency;
  if (limit != LimitingFactor::None)
    statistics.limit = {limit, candidate};
  return limit == LimitingFactor::None;
}

/// Tries to move the group past `candidate`, its neighbour. Returns false, and
/// says why, if that is not possible.
bool IterativeAlgorithm::pass(unsigned candidate, MoveStatistics &statistics) {
  int64_t peakBytes = 0;
  switch (direction == Direction::Left
              ? order.moveLeft(limitBytes, &peakBytes)
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

void IterativeAlgorithm::moveNode(MoveStatistics &statistics) {
  bool left = direction == Direction::Left;
  order.beginGroup(statistics.node);
  while (true) {
    unsigned candidate = left ? order.getPrevious(order.getHead())
                              : order.getNext(order.getTail());
    if (candidate == MovableOrder::none)
      break;
    if (!hasStepsLeft()) {
      statistics.limit = {LimitingFactor::StepLimit};
      break;
    }
    if (isHidden(statistics)) {
      statistics.limit = {LimitingFactor::Unexposed};
      break;
    }
    if (left ? order.groupNeeds(candidate) : order.needsGroup(candidate)) {
      if (!mayDrag(candidate, statistics))
        break;
      left ? order.extendLeft() : order.extendRight();
      ++numSteps;
      statistics.grouped.push_back(candidate);
      noteDragged(candidate);
      continue;
    }
    if (!mayPass(candidate, statistics) || !pass(candidate, statistics))
      break;
    notePassed(candidate, statistics);
  }
  order.endGroup();
}

void IterativeAlgorithm::describeOverlap(unsigned start,
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
IterativeAlgorithm::finish(std::vector<MoveStatistics> statistics) const {
  return {order.getOrder(), std::move(statistics), initialPeakBytes,
          order.getPeakBytes()};
}
