//===- ReorderPreservingPeakMemory.cpp - Starts up, within a budget -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterativeState.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;

namespace {

/// An operation that a node of the group awaits.
struct AwaitedByGroup {
  unsigned node, start;
  Exposure exposure;

  /// True if moving the group up takes compute away from the operation.
  bool losesCompute(const MovableOrder &order) const {
    return order.isInGroup(exposure.stop) && !order.isInGroup(start);
  }
};

class Reorderer {
public:
  Reorderer(const SchedulingProblem &problem, llvm::ArrayRef<unsigned> order,
            const IterativeOptions &options)
      : state(problem, order, options), order(state.order), time(state.time),
        initialOrder(order), mayReorderStarts(options.reorderCollectives &&
                                              !problem.keepOrderOfStarts),
        passedBy(problem.graph.size(), MovableOrder::none),
        passedAt(problem.graph.size(), 0) {}

  IterativeResult run();

private:
  MoveStatistics moveStart(unsigned start);
  /// Says what stands against the next step; true if nothing does but memory.
  bool mayPass(unsigned candidate, MoveStatistics &statistics);
  bool mayDrag(unsigned candidate, MoveStatistics &statistics);
  bool exposesMore(unsigned candidate, MoveStatistics &statistics);
  void drag(unsigned candidate, MoveStatistics &statistics);
  void noteMove(unsigned start, unsigned candidate, MoveStatistics &statistics);

  IterativeState state;
  MovableOrder &order;
  ExposedTime &time;
  llvm::ArrayRef<unsigned> initialOrder;
  bool mayReorderStarts;

  /// Of the start that moves: compute that it has passed so far, and that it
  /// drags along, and what its group awaits.
  double passedNs = 0, draggedNs = 0;
  llvm::SmallVector<AwaitedByGroup, 2> awaited;
  /// The start that has passed each node last, and `passedNs` right after.
  std::vector<unsigned> passedBy;
  std::vector<double> passedAt;
};

} // namespace

bool Reorderer::mayDrag(unsigned candidate, MoveStatistics &statistics) {
  LimitingFactor::Kind limit = LimitingFactor::None;
  if (state.isStart(candidate) && !state.options.groupWithCollectives)
    limit = LimitingFactor::DataDependency;
  else if (state.isMatmul(candidate) && !state.options.useRuntimeEstimations)
    limit = LimitingFactor::MatmulDependency;
  if (limit != LimitingFactor::None)
    statistics.limit = {limit, candidate};
  return limit == LimitingFactor::None;
}

void Reorderer::drag(unsigned candidate, MoveStatistics &statistics) {
  order.extendLeft();
  ++state.numSteps;
  statistics.grouped.push_back(candidate);
  if (!state.isStart(candidate))
    draggedNs += time.getRuntime(candidate);
  if (!state.options.useRuntimeEstimations)
    return;
  for (unsigned start : state.problem.getAwaitedStarts(candidate))
    if (llvm::none_of(awaited, [&](const AwaitedByGroup &other) {
          return other.start == start;
        }))
      awaited.push_back(
          {candidate, start, time.measure(start, order, state.numSteps)});
}

bool Reorderer::exposesMore(unsigned candidate, MoveStatistics &statistics) {
  if (state.isStart(candidate)) {
    // Dragged compute comes to stand before it.
    if (draggedNs <= 0)
      return false;
    Exposure exposure = time.measure(candidate, order, state.numSteps);
    double before = getExposedNs(exposure.commNs, exposure.compNs);
    double after = getExposedNs(exposure.commNs, exposure.compNs - draggedNs);
    if (after <= before)
      return false;
    statistics.limit = {LimitingFactor::ExposedCandidate, candidate,
                        MovableOrder::none, after, before};
    return true;
  }

  double ns = time.getRuntime(candidate);
  if (ns <= 0)
    return false;
  double before = getExposedNs(statistics.commNs, statistics.finalCompNs);
  double after = getExposedNs(statistics.commNs, statistics.finalCompNs + ns);
  unsigned member = MovableOrder::none;
  for (const AwaitedByGroup &other : awaited) {
    if (!other.losesCompute(order))
      continue;
    auto [commNs, compNs, stop] = other.exposure;
    double exposedNs = getExposedNs(commNs, compNs);
    before += exposedNs;
    after += getExposedNs(commNs, compNs - ns);
    if (member == MovableOrder::none &&
        getExposedNs(commNs, compNs - ns) > exposedNs)
      member = other.node;
  }
  if (after <= before)
    return false;
  statistics.limit = {LimitingFactor::ExposedGroup, candidate, member, after,
                      before};
  return true;
}

bool Reorderer::mayPass(unsigned candidate, MoveStatistics &statistics) {
  if (state.isStart(candidate) && !mayReorderStarts) {
    statistics.limit = {LimitingFactor::CollectiveOrdering, candidate};
    return false;
  }
  return !state.options.useRuntimeEstimations ||
         !exposesMore(candidate, statistics);
}

/// `start` has just passed `candidate`.
void Reorderer::noteMove(unsigned start, unsigned candidate,
                         MoveStatistics &statistics) {
  passedBy[candidate] = start;
  if (!state.isStart(candidate)) {
    double ns = time.getRuntime(candidate);
    passedNs += ns;
    passedAt[candidate] = passedNs;
    statistics.finalCompNs += ns;
    for (AwaitedByGroup &other : awaited) {
      if (other.losesCompute(order))
        other.exposure.compNs -= ns;
      else if (other.exposure.stop == candidate)
        other.exposure = time.measure(other.start, order, state.numSteps);
    }
    return;
  }

  // What awaits a later operation of the lane ends this one, too. It has been
  // passed, or stands where it stood at first, as all that follows the first
  // place of `start` does.
  if (state.problem.graph[candidate].lane != state.problem.graph[start].lane)
    return;
  for (unsigned awaiter : time.getAwaiters(candidate)) {
    double compNs = passedBy[awaiter] == start
                        ? passedNs - passedAt[awaiter]
                        : passedNs + time.getComputeBefore(awaiter) -
                              time.getComputeBefore(start);
    if (compNs >= statistics.finalCompNs)
      continue;
    statistics.finalCompNs = compNs;
    statistics.stop = awaiter;
  }
}

MoveStatistics Reorderer::moveStart(unsigned start) {
  Exposure initial = time.getInitialExposure(start);
  MoveStatistics statistics;
  statistics.node = start;
  statistics.commNs = initial.commNs;
  statistics.initialCompNs = statistics.finalCompNs = initial.compNs;
  statistics.stop = initial.stop;
  passedNs = draggedNs = 0;
  awaited.clear();

  order.beginGroup(start);
  while (true) {
    unsigned candidate = order.getPrevious(order.getHead());
    if (candidate == MovableOrder::none)
      break;
    if (!state.hasStepsLeft()) {
      statistics.limit = {LimitingFactor::StepLimit};
      break;
    }
    if (state.isHidden(statistics)) {
      statistics.limit = {LimitingFactor::Unexposed};
      break;
    }
    if (order.groupNeeds(candidate)) {
      if (!mayDrag(candidate, statistics))
        break;
      drag(candidate, statistics);
      continue;
    }
    if (!mayPass(candidate, statistics) ||
        !state.move(/*left=*/true, candidate, statistics))
      break;
    noteMove(start, candidate, statistics);
  }
  order.endGroup();
  state.describeOverlap(start, statistics);
  return statistics;
}

IterativeResult Reorderer::run() {
  std::vector<MoveStatistics> statistics;
  for (unsigned node : initialOrder)
    if (state.isStart(node))
      statistics.push_back(moveStart(node));
  return state.finish(std::move(statistics));
}

IterativeResult
braid::reorderPreservingPeakMemory(const SchedulingProblem &problem,
                                   llvm::ArrayRef<unsigned> order,
                                   const IterativeOptions &options) {
  return Reorderer(problem, order, options).run();
}
