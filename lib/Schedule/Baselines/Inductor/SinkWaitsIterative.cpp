//===- SinkWaitsIterative.cpp - Waits down, within a budget ---------------===//
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

class Sinker : public IterativeAlgorithm {
public:
  Sinker(const SchedulingProblem &problem, llvm::ArrayRef<unsigned> order,
         const IterativeOptions &options)
      : IterativeAlgorithm(problem, order, options, Direction::Right),
        holds(problem.graph.size(), false) {
    for (unsigned node : order)
      holds[node] = problem.graph[node].kind == NodeKind::Wait;
    for (auto [node, start] : problem.awaits)
      holds[node] = true;
    for (CarriedAwait await : problem.carriedAwaits)
      holds[await.waiter] = true;
  }

  IterativeResult run();

private:
  MoveStatistics moveWait(unsigned wait);
  void findStart(unsigned wait, MoveStatistics &statistics);
  bool isNeverDragged(unsigned node) const override { return holds[node]; }
  void noteDragged(unsigned candidate) override;
  bool mayPass(unsigned candidate, MoveStatistics &statistics) override;
  void notePassed(unsigned candidate, MoveStatistics &statistics) override;
  bool exposesMore(unsigned candidate, MoveStatistics &statistics);

  /// True if compute that the wait passes hides its operation: nothing else
  /// ends the operation before.
  bool gains(const MoveStatistics &statistics) const {
    return start != MovableOrder::none && statistics.stop == statistics.node;
  }

  /// True for nodes that hold the stream.
  std::vector<bool> holds;

  /// Of the wait that moves: what it awaits, the compute that it drags along,
  /// and the exposure of the operations that its group has started.
  unsigned start = MovableOrder::none;
  double draggedNs = 0;
  llvm::SmallVector<std::pair<unsigned, Exposure>, 2> started;
  bool dragsStart = false;
};

} // namespace

/// Of several operations that a wait awaits, the most exposed one counts.
void Sinker::findStart(unsigned wait, MoveStatistics &statistics) {
  start = MovableOrder::none;
  Exposure exposure;
  for (unsigned awaited : problem.getAwaitedStarts(wait)) {
    Exposure other = time.getInitialExposure(awaited);
    if (start != MovableOrder::none &&
        other.getExposedNs() <= exposure.getExposedNs())
      continue;
    start = awaited;
    exposure = other;
  }
  statistics.commNs = exposure.commNs;
  statistics.initialCompNs = statistics.finalCompNs = exposure.compNs;
  statistics.stop = exposure.stop;
}

void Sinker::noteDragged(unsigned candidate) {
  if (!isStart(candidate)) {
    draggedNs += time.getRuntime(candidate);
    return;
  }
  dragsStart = true;
  if (options.useRuntimeEstimations)
    started.emplace_back(candidate, time.measure(candidate, order, numSteps));
}

bool Sinker::exposesMore(unsigned candidate, MoveStatistics &statistics) {
  // The operations that the candidate awaits lose the dragged compute.
  if (holds[candidate] && draggedNs > 0) {
    for (unsigned awaited : problem.getAwaitedStarts(candidate)) {
      Exposure exposure = time.measure(awaited, order, numSteps);
      if (exposure.stop != candidate)
        continue;
      double before = getExposedNs(exposure.commNs, exposure.compNs);
      double after = getExposedNs(exposure.commNs, exposure.compNs - draggedNs);
      if (after <= before)
        continue;
      statistics.limit = {LimitingFactor::ExposedCandidate, candidate,
                          MovableOrder::none, after, before};
      return true;
    }
  }

  // Starts of the group lose the candidate's time, which hid them.
  double ns = isStart(candidate) ? 0 : time.getRuntime(candidate);
  if (ns <= 0 || started.empty())
    return false;
  double before = getExposedNs(statistics.commNs, statistics.finalCompNs);
  double after = before;
  if (gains(statistics))
    after = getExposedNs(statistics.commNs, statistics.finalCompNs + ns);
  unsigned member = MovableOrder::none;
  for (auto &[node, exposure] : started) {
    double exposedNs = getExposedNs(exposure.commNs, exposure.compNs);
    double exposedAfterNs = getExposedNs(exposure.commNs, exposure.compNs - ns);
    before += exposedNs;
    after += exposedAfterNs;
    if (member == MovableOrder::none && exposedAfterNs > exposedNs)
      member = node;
  }
  if (after <= before)
    return false;
  statistics.limit = {LimitingFactor::ExposedGroup, candidate, member, after,
                      before};
  return true;
}

bool Sinker::mayPass(unsigned candidate, MoveStatistics &statistics) {
  // A start that is dragged along passes no other: they keep their order.
  if (isStart(candidate) && (!options.swapWithCollectives || dragsStart)) {
    statistics.limit = {LimitingFactor::CollectiveOrdering, candidate};
    return false;
  }
  return !options.useRuntimeEstimations || !exposesMore(candidate, statistics);
}

void Sinker::notePassed(unsigned candidate, MoveStatistics &statistics) {
  if (isStart(candidate))
    return;
  double ns = time.getRuntime(candidate);
  for (auto &[node, exposure] : started)
    exposure.compNs -= ns;
  if (!gains(statistics))
    return;
  // What awaits an operation of the lane that was started later ends this one,
  // too. What stands before the wait stands where it stood at first.
  const ScheduleGraph &graph = problem.graph;
  bool ends =
      llvm::any_of(problem.getAwaitedStarts(candidate), [&](unsigned other) {
        return graph[other].lane == graph[start].lane &&
               time.getPosition(other) >= time.getPosition(start);
      });
  if (ends)
    statistics.stop = candidate;
  else
    statistics.finalCompNs += ns;
}

MoveStatistics Sinker::moveWait(unsigned wait) {
  MoveStatistics statistics;
  statistics.node = wait;
  findStart(wait, statistics);
  draggedNs = 0;
  started.clear();
  dragsStart = false;

  moveNode(statistics);
  if (start != MovableOrder::none)
    describeOverlap(start, statistics);
  return statistics;
}

IterativeResult Sinker::run() {
  std::vector<MoveStatistics> statistics;
  for (unsigned node : llvm::reverse(initialOrder))
    if (problem.graph[node].kind == NodeKind::Wait)
      statistics.push_back(moveWait(node));
  return finish(std::move(statistics));
}

IterativeResult braid::sinkWaitsIterative(const SchedulingProblem &problem,
                                          llvm::ArrayRef<unsigned> order,
                                          const IterativeOptions &options) {
  return Sinker(problem, order, options).run();
}
