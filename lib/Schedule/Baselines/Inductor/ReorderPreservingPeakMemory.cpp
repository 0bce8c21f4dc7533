//===- ReorderPreservingPeakMemory.cpp - Starts up, within a budget -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterativeAlgorithm.h"

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

class Reorderer : public IterativeAlgorithm {
public:
  Reorderer(const SchedulingProblem &problem, llvm::ArrayRef<unsigned> order,
            const IterativeOptions &options)
      : IterativeAlgorithm(problem, order, options, Direction::Left),
        mayReorderStarts(options.reorderCollectives &&
                         !problem.keepOrderOfStarts),
        passedBy(problem.graph.size(), MovableOrder::none),
        passedAt(problem.graph.size(), 0) {}

  IterativeResult run();

private:
  MoveStatistics moveStart(unsigned start);
  void noteDragged(unsigned candidate) override;
  bool mayPass(unsigned candidate, MoveStatistics &statistics) override;
  void notePassed(unsigned candidate, MoveStatistics &statistics) override;
  bool exposesMore(unsigned candidate, MoveStatistics &statistics);

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

void Reorderer::noteDragged(unsigned candidate) {
  if (!isStart(candidate))
    draggedNs += time.getRuntime(candidate);
  if (!options.useRuntimeEstimations)
    return;
  for (unsigned start : problem.getAwaitedStarts(candidate))
    if (llvm::none_of(awaited, [&](const AwaitedByGroup &other) {
          return other.start == start;
        }))
      awaited.push_back(
          {candidate, start, time.measure(start, order, numSteps)});
}

bool Reorderer::exposesMore(unsigned candidate, MoveStatistics &statistics) {
  if (isStart(candidate)) {
    // Dragged compute comes to stand before it.
    if (draggedNs <= 0)
      return false;
    Exposure exposure = time.measure(candidate, order, numSteps);
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
  if (isStart(candidate) && !mayReorderStarts) {
    statistics.limit = {LimitingFactor::CollectiveOrdering, candidate};
    return false;
  }
  return !options.useRuntimeEstimations || !exposesMore(candidate, statistics);
}

void Reorderer::notePassed(unsigned candidate, MoveStatistics &statistics) {
  unsigned start = statistics.node;
  passedBy[candidate] = start;
  if (!isStart(candidate)) {
    double ns = time.getRuntime(candidate);
    passedNs += ns;
    passedAt[candidate] = passedNs;
    statistics.finalCompNs += ns;
    for (AwaitedByGroup &other : awaited) {
      if (other.losesCompute(order))
        other.exposure.compNs -= ns;
      else if (other.exposure.stop == candidate)
        other.exposure = time.measure(other.start, order, numSteps);
    }
    return;
  }

  // What awaits a later operation of the lane ends this one, too. It has been
  // passed, or stands where it stood at first, as all that follows the first
  // place of `start` does.
  if (problem.graph[candidate].lane != problem.graph[start].lane)
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

  moveNode(statistics);
  describeOverlap(start, statistics);
  return statistics;
}

IterativeResult Reorderer::run() {
  std::vector<MoveStatistics> statistics;
  for (unsigned node : initialOrder)
    if (isStart(node))
      statistics.push_back(moveStart(node));
  return finish(std::move(statistics));
}

IterativeResult
braid::reorderPreservingPeakMemory(const SchedulingProblem &problem,
                                   llvm::ArrayRef<unsigned> order,
                                   const IterativeOptions &options) {
  return Reorderer(problem, order, options).run();
}
