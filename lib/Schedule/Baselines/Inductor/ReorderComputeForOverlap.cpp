//===- ReorderComputeForOverlap.cpp - Compute behind collectives ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/Inductor/ReorderComputeForOverlap.h"
#include "braid/Schedule/Baselines/Inductor/RaiseCollectives.h"
#include "braid/Support/Units.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cassert>
#include <limits>

using namespace braid;

namespace {

/// Nodes that may fill a gap, ordered by rank. A tree of minimal costs finds
/// the next one that is short enough without looking at those that are not, of
/// which a long program may have very many.
class Candidates {
public:
  explicit Candidates(size_t numRanks)
      : numLeaves(llvm::bit_ceil(numRanks + 1)), minimum(2 * numLeaves, none) {}

  void insert(size_t rank, int64_t cost) { set(rank, cost / 2); }
  void erase(size_t rank) { set(rank, none); }

  /// The lowest rank from `begin` on at least half of which `gap` hides, or
  /// `end()`. The half counts without the half ns of an odd cost: times are
  /// whole, and `2 * gap <= cost` says the same as `gap <= cost / 2`.
  size_t findFitting(size_t begin, int64_t gap) const {
    if (begin >= numLeaves)
      return end();
    size_t position = begin + numLeaves;
    // Climb until a subtree to the right holds one, then descend to it.
    while (minimum[position] >= gap) {
      while (position & 1)
        position /= 2;
      if (position == 0)
        return end();
      ++position;
    }
    while (position < numLeaves) {
      position *= 2;
      if (minimum[position] >= gap)
        ++position;
    }
    return position - numLeaves;
  }

  size_t end() const { return numLeaves; }

private:
  /// Not below any gap.
  static constexpr int64_t none = std::numeric_limits<int64_t>::max();

  void set(size_t rank, int64_t halfCost) {
    size_t position = rank + numLeaves;
    minimum[position] = halfCost;
    while (position /= 2)
      minimum[position] =
          std::min(minimum[2 * position], minimum[2 * position + 1]);
  }

  size_t numLeaves;
  std::vector<int64_t> minimum;
};

class Scheduler {
public:
  Scheduler(const ScheduleGraph &graph, bool waitsAsFiller);

  ScheduleOrder run();

private:
  /// What a start that comes next needs, in program order.
  struct Needs {
    llvm::SmallVector<unsigned> independent, dependent;
  };

  /// The unscheduled nodes that have to precede `start`, split by whether they
  /// depend on `previous`, the last start that was scheduled.
  Needs collectNeeds(unsigned start, unsigned previous);
  void schedule(unsigned node);
  void schedule(llvm::ArrayRef<unsigned> nodes) {
    for (unsigned node : nodes)
      schedule(node);
  }
  void scheduleStart(unsigned start);
  /// Step 2: fills what is left of `duration` after `total`; returns the total
  /// with what was added.
  int64_t fill(int64_t total, int64_t duration);
  /// From now on every ready node may be taken.
  void admitDeferred();

  bool isCandidate(unsigned node) const {
    return graph[node].kind == NodeKind::Compute ||
           (waitsAsFiller && graph[node].kind == NodeKind::Wait);
  }

  const ScheduleGraph &graph;
  const bool waitsAsFiller;
  ScheduleOrder order;
  std::vector<bool> scheduled;
  /// Number of predecessors that are not scheduled yet.
  std::vector<unsigned> missing;
  /// Candidates by (first start that needs them, program order).
  std::vector<unsigned> rankOf, nodeOf;
  Candidates candidates;
  /// Ready nodes that are no candidates for the operation in flight: they
  /// depend on it, or became ready while the gap was filled.
  llvm::SmallVector<unsigned> deferred;
  bool filling = false;
  /// Nodes that directly depend on the operation in flight.
  std::vector<bool> excluded;
  /// Marks of `collectNeeds`.
  std::vector<bool> visited, dependsOnPrevious;
};

} // namespace

Scheduler::Scheduler(const ScheduleGraph &graph, bool waitsAsFiller)
    : graph(graph), waitsAsFiller(waitsAsFiller),
      scheduled(graph.size(), false), missing(graph.size()),
      rankOf(graph.size(), 0),
      candidates(llvm::count_if(llvm::seq(graph.size()),
                                [&](unsigned n) { return isCandidate(n); })),
      excluded(graph.size(), false), visited(graph.size(), false),
      dependsOnPrevious(graph.size(), false) {
  order.reserve(graph.size());

  // Bucket sort by the first start that needs the node keeps program order.
  std::vector<unsigned> first = getFirstDependentStart(graph);
  std::vector<unsigned> begin(graph.starts().size() + 2, 0);
  for (unsigned node = 0, end = graph.size(); node != end; ++node)
    if (isCandidate(node))
      ++begin[first[node] + 1];
  for (size_t i = 1; i < begin.size(); ++i)
    begin[i] += begin[i - 1];
  nodeOf.resize(begin.back());
  for (unsigned node = 0, end = graph.size(); node != end; ++node) {
    missing[node] = graph.predecessors(node).size();
    if (!isCandidate(node))
      continue;
    rankOf[node] = begin[first[node]]++;
    nodeOf[rankOf[node]] = node;
    if (missing[node] == 0)
      candidates.insert(rankOf[node], graph[node].cost);
  }
}

void Scheduler::schedule(unsigned node) {
  assert(!scheduled[node] && missing[node] == 0 && "the node is ready");
  scheduled[node] = true;
  order.push_back(node);
  if (isCandidate(node))
    candidates.erase(rankOf[node]);
  for (unsigned successor : graph.successors(node)) {
    if (--missing[successor] != 0 || !isCandidate(successor))
      continue;
    if (filling || excluded[successor])
      deferred.push_back(successor);
    else
      candidates.insert(rankOf[successor], graph[successor].cost);
  }
}

void Scheduler::scheduleStart(unsigned start) {
  // A ready node that depends on this start does so directly: all that is
  // scheduled before the next gap is filled does not depend on it.
  for (unsigned successor : graph.successors(start))
    excluded[successor] = true;
  schedule(start);
}

void Scheduler::admitDeferred() {
  for (unsigned node : deferred)
    if (!scheduled[node])
      candidates.insert(rankOf[node], graph[node].cost);
  deferred.clear();
}

Scheduler::Needs Scheduler::collectNeeds(unsigned start, unsigned previous) {
  llvm::SmallVector<unsigned> nodes;
  auto visitPredecessors = [&](unsigned node) {
    for (unsigned predecessor : graph.predecessors(node)) {
      if (!scheduled[predecessor] && !visited[predecessor]) {
        visited[predecessor] = true;
        nodes.push_back(predecessor);
      }
    }
  };
  visitPredecessors(start);
  for (size_t i = 0; i != nodes.size(); ++i)
    visitPredecessors(nodes[i]);
  llvm::sort(nodes);

  Needs needs;
  for (unsigned node : nodes) {
    dependsOnPrevious[node] =
        llvm::any_of(graph.predecessors(node), [&](unsigned predecessor) {
          return predecessor == previous || dependsOnPrevious[predecessor];
        });
    (dependsOnPrevious[node] ? needs.dependent : needs.independent)
        .push_back(node);
  }
  // The marks speak of this `previous` alone; `visited` stays, as all of these
  // nodes are scheduled before the next traversal.
  for (unsigned node : nodes)
    dependsOnPrevious[node] = false;
  return needs;
}

int64_t Scheduler::fill(int64_t total, int64_t duration) {
  filling = true;
  size_t rank = 0;
  while (total < duration) {
    rank = candidates.findFitting(rank, duration - total);
    if (rank == candidates.end())
      break;
    unsigned node = nodeOf[rank++];
    schedule(node);
    total = addNs(total, graph[node].cost);
  }
  filling = false;
  return total;
}

ScheduleOrder Scheduler::run() {
  llvm::ArrayRef<unsigned> starts = graph.starts();
  if (starts.empty())
    return getProgramOrder(graph);

  constexpr unsigned nothing = ~0u;
  schedule(collectNeeds(starts.front(), nothing).independent);
  scheduleStart(starts.front());

  int64_t rolledOver = 0;
  for (auto [previous, start] :
       llvm::zip_equal(starts.drop_back(), starts.drop_front())) {
    int64_t duration = graph[previous].cost;
    Needs needs = collectNeeds(start, previous);
    int64_t needed = rolledOver;
    for (unsigned node : needs.independent)
      needed = addNs(needed, graph[node].cost);
    schedule(needs.independent);

    int64_t total = fill(needed, duration);

    for (unsigned successor : graph.successors(previous))
      excluded[successor] = false;
    admitDeferred();
    schedule(needs.dependent);
    scheduleStart(start);
    rolledOver = needs.dependent.empty() ? total - needed : 0;
  }

  for (unsigned node = 0, end = graph.size(); node != end; ++node)
    if (!scheduled[node])
      schedule(node);
  return std::move(order);
}

ScheduleOrder braid::reorderComputeForOverlap(const ScheduleGraph &graph) {
  return Scheduler(graph, /*waitsAsFiller=*/false).run();
}

ScheduleOrder
braid::reorderComputeForOverlapWaitsAsFiller(const ScheduleGraph &graph) {
  return Scheduler(graph, /*waitsAsFiller=*/true).run();
}
