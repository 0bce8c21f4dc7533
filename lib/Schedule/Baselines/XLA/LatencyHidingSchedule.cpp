//===- LatencyHidingSchedule.cpp - XLA's list scheduler -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/XLA/LatencyHidingSchedule.h"

#include "LatencyHidingLimits.h"
#include "LatencyHidingRules.h"
#include "braid/Support/Units.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <set>

using namespace braid;
using namespace llvm;

namespace {

/// One walk from the end of the block to its beginning. Time counts from the
/// end, too.
class BackwardScheduler {
public:
  BackwardScheduler(const SchedulingProblem &problem,
                    const LatencyHidingOptions &options,
                    std::optional<int64_t> memoryLimit);

  LatencyHidingResult run();

private:
  /// Ready nodes by rank.
  using Ranks = std::set<unsigned>;

  bool isStart(unsigned node) const {
    return graph[node].kind == NodeKind::Start;
  }
  /// Waits whose operation was started elsewhere are done nodes that occupy
  /// nothing.
  bool isDone(unsigned node) const {
    return graph[node].kind == NodeKind::Wait || !awaits.awaited[node].empty();
  }
  int64_t getStreamNs(unsigned node) const;
  void computeDepths();
  void computeRanks();

  void addReady(unsigned node);
  void removeReady(unsigned node);
  Ranks &getReadyDones(unsigned node);
  void release(unsigned node);
  void place(unsigned node);
  ReadyNode describe(unsigned node, bool withMemory) const;
  void collect(const Ranks &ranks, std::vector<unsigned> &nodes) const;
  std::vector<unsigned> collectCandidates();
  unsigned chooseBest(ArrayRef<unsigned> candidates);

  const SchedulingProblem &problem;
  const ScheduleGraph &graph;
  const unsigned maxCompared;
  AwaitLists awaits;
  InFlightLimits limits;
  BackwardMemory memory;
  RuleContext context;
  LatencyHidingResult result;

  std::vector<int64_t> asyncDepth;
  /// Ready nodes with more communication before them are looked at first, then
  /// those that unlock waits, then those that stand later in the program.
  std::vector<unsigned> rankOf, nodeOf;
  /// Nodes that have to come later and are not placed yet.
  std::vector<unsigned> missing;
  /// When nodes were placed, of those that were.
  std::vector<int64_t> timeNs;
  /// When each start may be placed without a stall.
  std::vector<int64_t> dueNs;
  /// Where each start stands among the starts.
  std::vector<unsigned> ordinalOf;

  /// The ready nodes: done nodes of one operation by its lane, other done
  /// nodes, starts, and compute. A start moves to `dueStarts` in time.
  std::vector<Ranks> laneDones;
  Ranks otherDones, dueStarts, others;
  std::set<std::pair<int64_t, unsigned>> futureStarts;
};

} // namespace

//===----------------------------------------------------------------------===//
// Facts of the problem
//===----------------------------------------------------------------------===//

BackwardScheduler::BackwardScheduler(const SchedulingProblem &problem,
                                     const LatencyHidingOptions &options,
                                     std::optional<int64_t> memoryLimit)
    : problem(problem), graph(problem.graph),
      maxCompared(std::max(1u, options.maxCompared)), awaits(problem),
      limits(problem, options, awaits), memory(problem),
      missing(graph.size(), 0), timeNs(graph.size(), 0), dueNs(graph.size(), 0),
      ordinalOf(graph.size(), 0), laneDones(limits.getNumLanes()) {
  context.aggressive = options.aggressive;
  context.memoryLimit = memoryLimit;
  for (auto [ordinal, start] : enumerate(graph.starts()))
    ordinalOf[start] = ordinal;
  computeDepths();
  computeRanks();

  for (unsigned node = 0, end = graph.size(); node != end; ++node)
    missing[node] = graph.successors(node).size();
  if (problem.keepOrderOfStarts && !graph.starts().empty())
    for (unsigned start : graph.starts().drop_back())
      ++missing[start];
  result.reasons.resize(graph.size());
}

int64_t BackwardScheduler::getStreamNs(unsigned node) const {
  const ScheduleNode &info = graph[node];
  if (info.kind == NodeKind::Start || info.cost == 0)
    return 0;
  return addNs(info.cost, problem.machine.launchNs);
}

void BackwardScheduler::computeDepths() {
  asyncDepth.assign(graph.size(), 0);
  for (unsigned node = 0, end = graph.size(); node != end; ++node) {
    int64_t &depth = asyncDepth[node];
    for (unsigned predecessor : graph.predecessors(node))
      depth = std::max(depth, asyncDepth[predecessor]);
    for (unsigned start : awaits.awaited[node])
      depth = std::max(depth, addNs(asyncDepth[start], graph[start].cost));
  }
}

void BackwardScheduler::computeRanks() {
  std::vector<bool> unlocks(graph.size());
  for (unsigned node = 0, end = graph.size(); node != end; ++node)
    unlocks[node] = any_of(graph.predecessors(node),
                           [&](unsigned other) { return isDone(other); });
  nodeOf = getProgramOrder(graph);
  llvm::sort(nodeOf, [&](unsigned a, unsigned b) {
    return std::tuple(asyncDepth[a], bool(unlocks[a]), a) >
           std::tuple(asyncDepth[b], bool(unlocks[b]), b);
  });
  rankOf.resize(graph.size());
  for (auto [rank, node] : enumerate(nodeOf))
    rankOf[node] = rank;
}

//===----------------------------------------------------------------------===//
// Ready nodes
//===----------------------------------------------------------------------===//

BackwardScheduler::Ranks &BackwardScheduler::getReadyDones(unsigned node) {
  ArrayRef<unsigned> starts = awaits.awaited[node];
  // Limits are the same to all of one lane if each brings one operation.
  if (starts.size() == 1 && awaits.awaiters[starts.front()].size() == 1)
    return laneDones[graph[starts.front()].lane];
  return otherDones;
}

void BackwardScheduler::addReady(unsigned node) {
  if (isDone(node)) {
    getReadyDones(node).insert(rankOf[node]);
    limits.addQueued(node);
    return;
  }
  if (!isStart(node)) {
    others.insert(rankOf[node]);
    return;
  }
  // An operation without a wait here is in flight to the end.
  int64_t endNs = 0;
  for (unsigned awaiter : awaits.awaiters[node])
    endNs = std::max(endNs, addNs(timeNs[awaiter], getStreamNs(awaiter)));
  dueNs[node] = addNs(endNs, graph[node].cost);
  futureStarts.emplace(dueNs[node], rankOf[node]);
}

void BackwardScheduler::removeReady(unsigned node) {
  if (isDone(node)) {
    getReadyDones(node).erase(rankOf[node]);
    limits.removeQueued(node);
  } else if (!isStart(node)) {
    others.erase(rankOf[node]);
  } else if (!dueStarts.erase(rankOf[node])) {
    futureStarts.erase({dueNs[node], rankOf[node]});
  }
}

void BackwardScheduler::release(unsigned node) {
  assert(missing[node] != 0 && "the node is not ready yet");
  if (--missing[node] == 0)
    addReady(node);
}

void BackwardScheduler::place(unsigned node) {
  removeReady(node);
  result.order.push_back(node);
  timeNs[node] =
      isStart(node) ? std::max(context.nowNs, dueNs[node]) : context.nowNs;
  context.nowNs = addNs(timeNs[node], getStreamNs(node));
  memory.place(node);
  limits.place(node);

  for (unsigned predecessor : graph.predecessors(node))
    release(predecessor);
  if (problem.keepOrderOfStarts && isStart(node) && ordinalOf[node] != 0)
    release(graph.starts()[ordinalOf[node] - 1]);
}

void BackwardScheduler::collect(const Ranks &ranks,
                                std::vector<unsigned> &nodes) const {
  unsigned numLeft = maxCompared;
  for (auto it = ranks.begin(); it != ranks.end() && numLeft != 0;
       ++it, --numLeft)
    nodes.push_back(nodeOf[*it]);
}

/// The ready nodes of which one may be the best. Without a limit on memory a
/// done node beats all others, so that only these are looked at.
std::vector<unsigned> BackwardScheduler::collectCandidates() {
  std::vector<unsigned> nodes;
  for (InFlightLimits::Level level :
       {InFlightLimits::Level::All, InFlightLimits::Level::OfProblem,
        InFlightLimits::Level::None}) {
    result.numForced += level == InFlightLimits::Level::OfProblem;
    for (Ranks &dones : laneDones)
      if (!dones.empty() &&
          (limits.isOrdered() || limits.hasRoom(nodeOf[*dones.begin()], level)))
        collect(dones, nodes);
    collect(otherDones, nodes);
    for (unsigned start : limits.getNextStarts())
      for (unsigned awaiter : awaits.awaiters[start])
        if (getReadyDones(awaiter).count(rankOf[awaiter]) &&
            !is_contained(nodes, awaiter))
          nodes.push_back(awaiter);
    erase_if(nodes,
             [&](unsigned node) { return !limits.hasRoom(node, level); });
    if (!nodes.empty() && !context.memoryLimit)
      return nodes;

    collect(dueStarts, nodes);
    collect(others, nodes);
    unsigned numLeft = maxCompared;
    for (auto it = futureStarts.begin();
         it != futureStarts.end() && numLeft != 0; ++it, --numLeft)
      nodes.push_back(nodeOf[it->second]);
    if (!nodes.empty())
      break;
  }
  return nodes;
}

ReadyNode BackwardScheduler::describe(unsigned node, bool withMemory) const {
  ReadyNode ready;
  ready.node = node;
  ready.isDone = isDone(node);
  ready.isStart = isStart(node);
  ready.costNs = getStreamNs(node);
  ready.asyncDepthNs = asyncDepth[node];
  if (ready.isStart) {
    ready.isBackedUp = limits.isBackedUp(node);
    ready.stallNs = std::max<int64_t>(0, dueNs[node] - context.nowNs);
  }
  for (unsigned predecessor : graph.predecessors(node)) {
    ready.unlocksDone |= isDone(predecessor);
    ready.numUnlocked += missing[predecessor] == 1;
  }
  if (!withMemory)
    return ready;
  std::tie(ready.addedBytes, ready.peakBytes) = memory.getEffect(node);
  // A done node is judged together with the start that it leads to.
  for (unsigned start : awaits.awaited[node]) {
    auto [addedBytes, peakBytes] = memory.getEffect(start);
    ready.addedBytes = std::min(ready.addedBytes, addedBytes);
    ready.peakBytes = std::max(ready.peakBytes, peakBytes);
  }
  return ready;
}

unsigned BackwardScheduler::chooseBest(ArrayRef<unsigned> candidates) {
  context.liveBytes = memory.getLive();
  bool withMemory =
      context.memoryLimit && context.liveBytes > *context.memoryLimit / 2;
  if (candidates.size() == 1) {
    unsigned only = candidates.front();
    bool isOnlyReady =
        others.empty() && dueStarts.empty() && futureStarts.empty();
    result.reasons[only] =
        isDone(only) && !isOnlyReady ? "ScheduleDone" : "only choice";
    return only;
  }
  ReadyNode best = describe(candidates.front(), withMemory);
  StringRef reason;
  for (unsigned candidate : candidates.drop_front()) {
    ReadyNode other = describe(candidate, withMemory);
    Verdict verdict = compareReadyNodes(context, best, other);
    reason = verdict.reason;
    if (verdict.order > 0)
      best = other;
  }
  result.reasons[best.node] = reason;
  return best.node;
}

LatencyHidingResult BackwardScheduler::run() {
  result.order.reserve(graph.size());
  for (unsigned node = 0, end = graph.size(); node != end; ++node)
    if (missing[node] == 0)
      addReady(node);
  while (result.order.size() != graph.size()) {
    while (!futureStarts.empty() &&
           futureStarts.begin()->first <= context.nowNs) {
      dueStarts.insert(futureStarts.begin()->second);
      futureStarts.erase(futureStarts.begin());
    }
    context.nextDueNs.reset();
    if (!futureStarts.empty())
      context.nextDueNs = futureStarts.begin()->first;
    std::vector<unsigned> candidates = collectCandidates();
    assert(!candidates.empty() && "the graph has no cycle");
    place(chooseBest(candidates));
  }
  std::reverse(result.order.begin(), result.order.end());
  result.peakBytes = memory.getPeak();
  return std::move(result);
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

static int64_t getPeakBytes(const SchedulingProblem &problem,
                            ArrayRef<unsigned> order) {
  BackwardMemory memory(problem);
  for (unsigned node : llvm::reverse(order))
    memory.place(node);
  return memory.getPeak();
}

/// Moves starts up to the last node that they need, and to the start before
/// them on their lane, or before them at all if the problem keeps their order.
static ScheduleOrder raiseStarts(const SchedulingProblem &problem,
                                 ArrayRef<unsigned> order) {
  const ScheduleGraph &graph = problem.graph;
  auto isStart = [&](unsigned node) {
    return graph[node].kind == NodeKind::Start;
  };
  // The start after each start, and how many nodes each node still needs.
  constexpr unsigned nothing = ~0u;
  std::vector<unsigned> next(graph.size(), nothing), missing(graph.size());
  std::vector<unsigned> lastOfLane;
  for (unsigned node : order) {
    missing[node] += graph.predecessors(node).size();
    if (!isStart(node))
      continue;
    size_t lane = problem.keepOrderOfStarts ? 0 : graph[node].lane;
    if (lane >= lastOfLane.size())
      lastOfLane.resize(lane + 1, nothing);
    if (lastOfLane[lane] != nothing) {
      next[lastOfLane[lane]] = node;
      ++missing[node];
    }
    lastOfLane[lane] = node;
  }

  ScheduleOrder raised;
  raised.reserve(order.size());
  // Starts that may be placed, in the order in which they became ready.
  std::vector<unsigned> ready;
  auto release = [&](unsigned node) {
    if (--missing[node] == 0 && isStart(node))
      ready.push_back(node);
  };
  auto place = [&](unsigned node) {
    raised.push_back(node);
    for (unsigned successor : graph.successors(node))
      release(successor);
    if (next[node] != nothing)
      release(next[node]);
  };
  auto placeReady = [&] {
    for (size_t i = 0; i != ready.size(); ++i)
      place(ready[i]);
    ready.clear();
  };
  for (unsigned node : order)
    if (isStart(node) && missing[node] == 0)
      ready.push_back(node);
  placeReady();
  for (unsigned node : order) {
    if (isStart(node))
      continue;
    place(node);
    placeReady();
  }
  return raised;
}

/// Moves waits down to the first node that needs them.
static ScheduleOrder lowerWaits(const ScheduleGraph &graph,
                                ArrayRef<unsigned> order) {
  std::vector<unsigned> missing(graph.size());
  auto isWait = [&](unsigned node) {
    return graph[node].kind == NodeKind::Wait;
  };
  ScheduleOrder reversed;
  reversed.reserve(order.size());
  std::vector<unsigned> ready;
  auto placeReady = [&](auto &&place) {
    for (size_t i = 0; i != ready.size(); ++i)
      place(ready[i]);
    ready.clear();
  };
  auto place = [&](unsigned node) {
    reversed.push_back(node);
    for (unsigned predecessor : llvm::reverse(graph.predecessors(node)))
      if (--missing[predecessor] == 0 && isWait(predecessor))
        ready.push_back(predecessor);
  };
  for (unsigned node : llvm::reverse(order)) {
    missing[node] = graph.successors(node).size();
    if (isWait(node) && missing[node] == 0)
      ready.push_back(node);
  }
  placeReady(place);
  for (unsigned node : llvm::reverse(order)) {
    if (isWait(node))
      continue;
    place(node);
    placeReady(place);
  }
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

LatencyHidingResult
braid::latencyHidingSchedule(const SchedulingProblem &problem,
                             const LatencyHidingOptions &options) {
  LatencyHidingResult result;
  if (problem.graph.starts().empty()) {
    result.order = getProgramOrder(problem.graph);
    result.reasons.resize(problem.graph.size(), "OriginalOrder");
    result.peakBytes = getPeakBytes(problem, result.order);
    return result;
  }
  std::optional<int64_t> limit = problem.maxMemory;
  result = BackwardScheduler(problem, options, limit).run();
  for (unsigned rerun = 1; rerun <= options.reruns && problem.maxMemory &&
                           result.peakBytes > *problem.maxMemory;
       ++rerun) {
    limit = static_cast<int64_t>(static_cast<double>(*limit) * 0.9);
    result = BackwardScheduler(problem, options, limit).run();
    result.numReruns = rerun;
  }

  // Limits in flight speak of the order as it is.
  if (options.postProcess && problem.maxInFlight == 0) {
    ScheduleOrder moved =
        lowerWaits(problem.graph, raiseStarts(problem, result.order));
    int64_t peakBytes = getPeakBytes(problem, moved);
    if (!problem.maxMemory ||
        peakBytes <= std::max(*problem.maxMemory, result.peakBytes)) {
      result.order = std::move(moved);
      result.peakBytes = peakBytes;
    }
  }
  if (!isAllowedOrder(problem, result.order)) {
    result.order = getProgramOrder(problem.graph);
    result.peakBytes = getPeakBytes(problem, result.order);
  }
  return result;
}
