//===- ExposureReasons.cpp - Why communication is exposed -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Simulation/ExposureReasons.h"

#include "ScheduleEvaluator.h"
#include "SimulationSums.h"
#include "braid/Schedule/Simulation/LoopSimulator.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace braid;
using namespace llvm;

StringRef braid::stringifyExposureKind(ExposureKind kind) {
  switch (kind) {
  case ExposureKind::NotMoved:
    return "not-moved";
  case ExposureKind::MemoryLimit:
    return "memory-limit";
  case ExposureKind::InFlightLimit:
    return "in-flight-limit";
  case ExposureKind::OrderConstraint:
    return "order-constraint";
  case ExposureKind::MultiprocessorsHeld:
    return "multiprocessors-held";
  case ExposureKind::LaneBusy:
    return "lane-busy";
  case ExposureKind::DependencyChain:
    return "dependency-chain";
  case ExposureKind::NoIndependentCompute:
    return "no-independent-compute";
  }
  llvm_unreachable("unknown kind of reason");
}

namespace {

class Explainer {
public:
  Explainer(const SchedulingProblem &problem, ArrayRef<unsigned> order);

  std::vector<ExposureReason> run();

private:
  /// How nodes of a window depend on a start or on what awaits it.
  enum Dependence : uint8_t {
    Independent,
    /// Only because of an opaque op.
    ThroughOpaque,
    Dependent
  };
  /// A part of the order, and the dependence of each of its nodes.
  struct Window {
    unsigned begin, end;
    std::vector<Dependence> dependence;
    /// Of a node that depends through an opaque op: that op.
    std::vector<unsigned> opaque;
    void resize() {
      dependence.assign(end - begin, Independent);
      opaque.assign(end - begin, 0);
    }
    bool contains(unsigned position) const {
      return position >= begin && position < end;
    }
  };

  const ScheduleNode &getNode(unsigned position) const {
    return problem.graph[order[position]];
  }
  /// Compute that hides nothing for at least half of its time.
  bool isIdle(unsigned position) const {
    return getNode(position).kind == NodeKind::Compute &&
           getNode(position).cost > 0 && idle[position];
  }
  void findIdleCompute();
  Window getWindowBefore(unsigned start) const;
  Window getWindowAfter(unsigned start, unsigned waiter) const;
  /// A node takes over the stronger of two dependences.
  void inherit(Window &window, unsigned to, unsigned from) const;

  /// `order` with the node at `position`, and what has to move along, moved to
  /// directly after `start`, which it stands before, or before `waiter`, which
  /// it stands after. `moved` gets the nodes that move.
  ScheduleOrder moveBeside(unsigned position, unsigned start, unsigned waiter,
                           std::vector<unsigned> &moved) const;
  ScheduleEvaluator::Value evaluate(ArrayRef<unsigned> newOrder);
  /// Says what stands against the new order, if anything, and true if it is
  /// faster at all.
  bool tryMove(unsigned position, unsigned waiter, ExposureReason &reason);
  void explain(ExposureReason &reason);
  /// What `start` had to wait for, if it was issued at once when that had
  /// ended.
  std::optional<unsigned> findLastPredecessor(unsigned start) const;

  const SchedulingProblem &problem;
  ArrayRef<unsigned> order;
  std::vector<unsigned> position;
  Simulation simulation;
  std::vector<bool> idle;
  /// By node: the first position that awaits it; the size of the order if none.
  std::vector<unsigned> waiterOf;
  /// By node: the start before it on its lane.
  std::vector<std::optional<unsigned>> laneBefore;
  ScheduleEvaluator evaluator;
  /// Nodes that may still be simulated.
  int64_t budget = 10'000'000;

  static constexpr unsigned maxWindow = 512;
  static constexpr unsigned maxMoves = 8;
};

} // namespace

Explainer::Explainer(const SchedulingProblem &problem, ArrayRef<unsigned> order)
    : problem(problem), order(order), position(order.size()),
      waiterOf(order.size(), order.size()), laneBefore(order.size()),
      evaluator(problem) {
  std::vector<std::optional<unsigned>> lastOfLane;
  for (auto [index, node] : llvm::enumerate(order)) {
    position[node] = index;
    const ScheduleNode &info = problem.graph[node];
    if (info.kind != NodeKind::Start)
      continue;
    if (size_t(info.lane) >= lastOfLane.size())
      lastOfLane.resize(info.lane + 1);
    laneBefore[node] = std::exchange(lastOfLane[info.lane], node);
  }
  for (auto [node, start] : problem.awaits)
    waiterOf[start] = std::min(waiterOf[start], position[node]);
  simulation = problem.carriedAwaits.empty()
                   ? simulateOrder(problem, order)
                   : simulateLoopOrder(problem, order).iteration;
  findIdleCompute();
}

void Explainer::findIdleCompute() {
  std::vector<TimeInterval> onLanes;
  for (auto [index, times] : llvm::enumerate(simulation.times))
    if (getNode(index).kind == NodeKind::Start && times.startNs < times.endNs)
      onLanes.emplace_back(times.startNs, times.endNs);
  // What reaches into the next iteration came from the one before.
  if (!problem.carriedAwaits.empty())
    for (size_t i = 0, end = onLanes.size(); i != end; ++i)
      if (onLanes[i].second > simulation.makespanNs)
        onLanes.emplace_back(onLanes[i].first - simulation.makespanNs,
                             onLanes[i].second - simulation.makespanNs);
  // Merged, they ascend as the compute does.
  std::vector<TimeInterval> merged = mergeIntervals(std::move(onLanes));
  idle.assign(order.size(), false);
  auto next = merged.begin();
  for (auto [index, times] : llvm::enumerate(simulation.times)) {
    if (getNode(index).kind != NodeKind::Compute)
      continue;
    while (next != merged.end() && next->second <= times.startNs)
      ++next;
    int64_t hiddenNs = 0;
    for (auto it = next; it != merged.end() && it->first < times.endNs; ++it)
      hiddenNs += std::min(it->second, times.endNs) -
                  std::max(it->first, times.startNs);
    idle[index] = hiddenNs <= (times.endNs - times.startNs) / 2;
  }
}

void Explainer::inherit(Window &window, unsigned to, unsigned from) const {
  Dependence &mine = window.dependence[to - window.begin];
  Dependence theirs = window.dependence[from - window.begin];
  if (theirs == Dependent && getNode(from).kind == NodeKind::Opaque)
    theirs = ThroughOpaque;
  if (theirs <= mine)
    return;
  mine = theirs;
  if (theirs == ThroughOpaque)
    window.opaque[to - window.begin] = getNode(from).kind == NodeKind::Opaque
                                           ? order[from]
                                           : window.opaque[from - window.begin];
}

Explainer::Window Explainer::getWindowBefore(unsigned start) const {
  Window window;
  window.end = start + 1;
  window.begin = start < maxWindow ? 0 : start - maxWindow;
  window.resize();
  window.dependence.back() = Dependent;
  for (unsigned from = start + 1; from-- != window.begin;) {
    if (window.dependence[from - window.begin] == Independent)
      continue;
    for (unsigned predecessor : problem.graph.predecessors(order[from]))
      if (window.contains(position[predecessor]))
        inherit(window, position[predecessor], from);
  }
  return window;
}

Explainer::Window Explainer::getWindowAfter(unsigned start,
                                            unsigned waiter) const {
  Window window;
  window.begin = waiter;
  window.end = std::min<size_t>(order.size(), size_t(waiter) + maxWindow);
  window.resize();
  for (unsigned to = window.begin; to != window.end; ++to) {
    if (llvm::is_contained(problem.getAwaitedStarts(order[to]), order[start]))
      window.dependence[to - window.begin] = Dependent;
    for (unsigned predecessor : problem.graph.predecessors(order[to]))
      if (window.contains(position[predecessor]))
        inherit(window, to, position[predecessor]);
  }
  return window;
}

ScheduleOrder Explainer::moveBeside(unsigned moving, unsigned start,
                                    unsigned waiter,
                                    std::vector<unsigned> &moved) const {
  bool isBefore = moving < start;
  unsigned begin = isBefore ? moving : waiter;
  unsigned end = isBefore ? start + 1 : moving + 1;
  std::vector<bool> moves(end - begin, false);
  moves[moving - begin] = true;
  // Its descendants up to the start; or its ancestors down to the waiter.
  if (isBefore) {
    for (unsigned to = moving + 1; to != start; ++to)
      moves[to - begin] = llvm::any_of(
          problem.graph.predecessors(order[to]), [&](unsigned other) {
            return position[other] >= moving && moves[position[other] - begin];
          });
  } else {
    for (unsigned from = moving + 1; from-- != waiter;)
      if (moves[from - begin])
        for (unsigned other : problem.graph.predecessors(order[from]))
          if (position[other] >= waiter)
            moves[position[other] - begin] = true;
  }

  ScheduleOrder result(order.begin(), order.begin() + begin);
  std::vector<unsigned> stays;
  for (unsigned index = begin; index != end; ++index)
    (moves[index - begin] ? moved : stays).push_back(order[index]);
  llvm::append_range(result, isBefore ? stays : moved);
  llvm::append_range(result, isBefore ? moved : stays);
  result.insert(result.end(), order.begin() + end, order.end());
  return result;
}

ScheduleEvaluator::Value Explainer::evaluate(ArrayRef<unsigned> newOrder) {
  // Several iterations of a loop are simulated.
  budget -= (problem.carriedAwaits.empty() ? 1 : 11) * int64_t(order.size());
  return evaluator.evaluate(newOrder);
}

bool Explainer::tryMove(unsigned moving, unsigned waiter,
                        ExposureReason &reason) {
  std::vector<unsigned> moved;
  ScheduleOrder newOrder =
      moveBeside(moving, position[reason.start], waiter, moved);
  ScheduleEvaluator::Value value = evaluate(newOrder);
  if (value.makespanNs >= simulation.makespanNs)
    return false;
  reason.node = order[moving];
  reason.gainNs = simulation.makespanNs - value.makespanNs;
  if (problem.keepOrderOfStarts &&
      !keepsOrderOfStarts(problem.graph, newOrder)) {
    reason.kind = ExposureKind::OrderConstraint;
    // A start that has to move along, else the one that is passed.
    auto it = llvm::find_if(moved, [&](unsigned node) {
      return problem.graph[node].kind == NodeKind::Start;
    });
    reason.node = it != moved.end() ? *it : reason.start;
    return true;
  }
  if (!isAllowedOrder(problem, newOrder)) {
    reason.kind = ExposureKind::InFlightLimit;
    return true;
  }
  if (problem.maxMemory && value.peakBytes > *problem.maxMemory) {
    reason.kind = ExposureKind::MemoryLimit;
    reason.excessBytes = value.peakBytes - *problem.maxMemory;
    return true;
  }
  reason.kind = ExposureKind::NotMoved;
  return true;
}

std::optional<unsigned> Explainer::findLastPredecessor(unsigned start) const {
  int64_t issuedNs = simulation.times[position[start]].issuedNs;
  for (unsigned predecessor : problem.graph.predecessors(start)) {
    if (problem.graph[predecessor].kind == NodeKind::Start ||
        simulation.times[position[predecessor]].endNs != issuedNs ||
        issuedNs == 0)
      continue;
    // What a wait has waited for says more than the wait.
    for (unsigned awaited : problem.getAwaitedStarts(predecessor))
      if (simulation.times[position[awaited]].endNs == issuedNs)
        return awaited;
    return predecessor;
  }
  return std::nullopt;
}

void Explainer::explain(ExposureReason &reason) {
  unsigned start = position[reason.start];
  unsigned waiter = waiterOf[reason.start];
  Window before = getWindowBefore(start);
  Window after = getWindowAfter(start, waiter);

  std::vector<unsigned> candidates;
  std::optional<unsigned> opaque;
  bool hasIndependent = false;
  auto look = [&](const Window &window, unsigned index, unsigned &left) {
    Dependence dependence = window.dependence[index - window.begin];
    if (getNode(index).kind != NodeKind::Compute || getNode(index).cost == 0)
      return;
    hasIndependent |= dependence == Independent;
    if (!isIdle(index))
      return;
    if (dependence == ThroughOpaque && !opaque)
      opaque = window.opaque[index - window.begin];
    if (dependence == Independent && left != 0) {
      --left;
      candidates.push_back(index);
    }
  };
  unsigned left = maxMoves;
  for (unsigned index = after.begin; index != after.end; ++index)
    look(after, index, left);
  left = maxMoves;
  for (unsigned index = start; index-- != before.begin;)
    look(before, index, left);
  for (unsigned index = start + 1; index != std::min(waiter, start + maxWindow);
       ++index)
    hasIndependent |=
        getNode(index).kind == NodeKind::Compute && getNode(index).cost > 0;

  std::optional<ExposureReason> blocked;
  for (unsigned index : candidates) {
    if (budget < 0)
      break;
    ExposureReason tried = reason;
    if (!tryMove(index, waiter, tried))
      continue;
    if (tried.kind == ExposureKind::NotMoved) {
      reason = tried;
      return;
    }
    if (!blocked || tried.kind < blocked->kind)
      blocked = tried;
  }
  if (blocked) {
    reason = *blocked;
    return;
  }
  if (opaque) {
    reason.kind = ExposureKind::OrderConstraint;
    reason.node = opaque;
    return;
  }
  const SimulatedTimes &times = simulation.times[start];
  if (times.heldBy && times.waitedNs >= reason.exposedNs - times.waitedNs) {
    reason.kind = ExposureKind::MultiprocessorsHeld;
    reason.node = order[*times.heldBy];
    return;
  }
  int64_t laneNs = times.startNs - times.issuedNs - times.waitedNs;
  if (laneBefore[reason.start] && laneNs >= reason.exposedNs - laneNs) {
    reason.kind = ExposureKind::LaneBusy;
    reason.node = laneBefore[reason.start];
    return;
  }
  if (hasIndependent) {
    if (std::optional<unsigned> last = findLastPredecessor(reason.start)) {
      reason.kind = ExposureKind::DependencyChain;
      reason.node = last;
      return;
    }
  }
  reason.kind = ExposureKind::NoIndependentCompute;
}

std::vector<ExposureReason> Explainer::run() {
  std::vector<ExposureReason> reasons;
  for (auto [index, times] : llvm::enumerate(simulation.times))
    if (times.exposedNs > 0)
      reasons.push_back({order[index], times.exposedNs,
                         ExposureKind::NoIndependentCompute, std::nullopt});
  std::vector<ExposureReason *> byExposure;
  for (ExposureReason &reason : reasons)
    byExposure.push_back(&reason);
  llvm::sort(byExposure, [](const ExposureReason *a, const ExposureReason *b) {
    return std::pair(-a->exposedNs, a->start) <
           std::pair(-b->exposedNs, b->start);
  });
  for (ExposureReason *reason : byExposure)
    explain(*reason);
  return reasons;
}

std::vector<ExposureReason>
braid::getExposureReasons(const SchedulingProblem &problem,
                          ArrayRef<unsigned> order) {
  return Explainer(problem, order).run();
}

std::string
braid::describeExposureReason(const ExposureReason &reason,
                              function_ref<std::string(unsigned)> getName) {
  std::string name = reason.node ? getName(*reason.node) : "";
  switch (reason.kind) {
  case ExposureKind::NotMoved:
    return (Twine(name) + " could run beside it, which gains " +
            Twine(reason.gainNs) + " ns")
        .str();
  case ExposureKind::MemoryLimit:
    return (Twine(name) + " could run beside it and gain " +
            Twine(reason.gainNs) + " ns, but exceeds the memory limit by " +
            Twine(reason.excessBytes) + " bytes")
        .str();
  case ExposureKind::InFlightLimit:
    return (Twine(name) + " could run beside it and gain " +
            Twine(reason.gainNs) +
            " ns, but too many operations would be in flight")
        .str();
  case ExposureKind::OrderConstraint:
    return "what could hide it cannot pass " + name;
  case ExposureKind::MultiprocessorsHeld:
    return "it waits for multiprocessors that " + name + " holds";
  case ExposureKind::LaneBusy:
    return "its lane was busy with " + name;
  case ExposureKind::DependencyChain:
    return "it could only start when " + name + " had ended";
  case ExposureKind::NoIndependentCompute:
    return "no independent compute is left";
  }
  llvm_unreachable("unknown kind of reason");
}
