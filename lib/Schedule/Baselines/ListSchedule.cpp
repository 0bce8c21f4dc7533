//===- ListSchedule.cpp - List scheduling for communication ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/ListSchedule.h"
#include "Schedule/Model/LimitTracker.h"
#include "braid/Schedule/Baselines/Inductor/RaiseCollectives.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <queue>
#include <tuple>

using namespace braid;

namespace {

class ListScheduler {
public:
  ListScheduler(const SchedulingProblem &problem,
                const ListScheduleOptions &options);
  ScheduleOrder run();

private:
  /// Ranks of ready nodes, the smallest first. Nodes leave late: those that are
  /// scheduled from elsewhere stay until they come first.
  using Heap = std::priority_queue<unsigned, std::vector<unsigned>,
                                   std::greater<unsigned>>;

  void rankNodes();
  void makeReady(unsigned node);
  void release(unsigned node) {
    if (--missing[node] == 0)
      makeReady(node);
  }
  void schedule(unsigned node);
  void fill(int64_t duration);
  /// The node that comes first in `heap` and is not scheduled; none if empty.
  std::optional<unsigned> pop(Heap &heap);

  bool isFull(unsigned start) const {
    return limits && !limits->mayStart(start);
  }

  const ScheduleGraph &graph;
  const ListScheduleOptions options;

  ScheduleOrder order;
  std::vector<bool> scheduled;
  /// True for nodes that hold the stream.
  std::vector<bool> holds;
  /// The next start, where starts keep their order.
  std::vector<unsigned> nextStart;
  /// Number of predecessors that are not scheduled yet.
  std::vector<unsigned> missing;
  /// The place of each node among all keys, and the node at each place.
  std::vector<unsigned> rankOf, nodeOf;
  Heap ready, fillers;

  /// If there is a limit on operations in flight; and by lane the ready starts
  /// that may not join them.
  std::optional<FlatProblem> flat;
  std::optional<LimitTracker> limits;
  std::vector<Heap> held;
};

} // namespace

static constexpr unsigned kNone = ~0u;

ListScheduler::ListScheduler(const SchedulingProblem &problem,
                             const ListScheduleOptions &options)
    : graph(problem.graph), options(options), scheduled(graph.size(), false),
      holds(graph.size(), false), missing(graph.size()) {
  order.reserve(graph.size());
  for (unsigned node = 0, end = graph.size(); node != end; ++node)
    holds[node] = graph[node].kind == NodeKind::Wait;
  for (auto [node, start] : problem.awaits)
    holds[node] = true;
  for (CarriedAwait await : problem.carriedAwaits)
    holds[await.waiter] = true;

  rankNodes();
  llvm::ArrayRef<unsigned> starts = graph.starts();
  if (problem.maxInFlight != 0) {
    flat.emplace(problem);
    limits.emplace(*flat);
    held.resize(flat->numLanes);
  }

  for (unsigned node = 0, end = graph.size(); node != end; ++node)
    missing[node] = graph.predecessors(node).size();
  if (problem.keepOrderOfStarts && !starts.empty()) {
    nextStart.assign(graph.size(), kNone);
    for (auto [start, next] :
         llvm::zip_equal(starts.drop_back(), starts.drop_front())) {
      nextStart[start] = next;
      ++missing[next];
    }
  }
  for (unsigned node = 0, end = graph.size(); node != end; ++node)
    if (missing[node] == 0)
      makeReady(node);
}

void ListScheduler::rankNodes() {
  unsigned numNodes = graph.size();
  std::vector<unsigned> first;
  if (options.raise)
    first = getFirstDependentStart(graph);
  else
    first.assign(numNodes, 0);
  auto getKey = [&](unsigned node) {
    return std::tuple(first[node], options.sink && holds[node], node);
  };
  nodeOf = getProgramOrder(graph);
  llvm::sort(nodeOf,
             [&](unsigned a, unsigned b) { return getKey(a) < getKey(b); });
  rankOf.resize(numNodes);
  for (auto [rank, node] : llvm::enumerate(nodeOf))
    rankOf[node] = rank;
}

void ListScheduler::makeReady(unsigned node) {
  if (graph[node].kind == NodeKind::Start && isFull(node)) {
    held[graph[node].lane].push(rankOf[node]);
    return;
  }
  ready.push(rankOf[node]);
  if (options.reorder && graph[node].kind == NodeKind::Compute && !holds[node])
    fillers.push(rankOf[node]);
}

std::optional<unsigned> ListScheduler::pop(Heap &heap) {
  while (!heap.empty()) {
    unsigned node = nodeOf[heap.top()];
    heap.pop();
    if (scheduled[node])
      continue;
    // Its lane may have filled up since it became ready.
    if (graph[node].kind == NodeKind::Start && isFull(node)) {
      makeReady(node);
      continue;
    }
    return node;
  }
  return std::nullopt;
}

void ListScheduler::schedule(unsigned node) {
  assert(!scheduled[node] && missing[node] == 0 && "the node is ready");
  scheduled[node] = true;
  order.push_back(node);
  if (limits) {
    std::vector<unsigned> before = limits->getInFlight().vec();
    limits->place(node);
    // As many starts become ready as operations have been awaited.
    for (auto [starts, count, now] :
         llvm::zip_equal(held, before, limits->getInFlight()))
      for (; now < count && !starts.empty(); --count) {
        ready.push(starts.top());
        starts.pop();
      }
  }
  for (unsigned successor : graph.successors(node))
    release(successor);
  if (!nextStart.empty() && nextStart[node] != kNone)
    release(nextStart[node]);
}

void ListScheduler::fill(int64_t duration) {
  while (duration > 0) {
    std::optional<unsigned> node = pop(fillers);
    if (!node)
      return;
    schedule(*node);
    duration -= graph[*node].cost;
  }
}

ScheduleOrder ListScheduler::run() {
  while (order.size() != graph.size()) {
    std::optional<unsigned> node = pop(ready);
    if (!node) {
      // All that is left follows starts that may not be in flight yet: the
      // limit cannot be kept from here on.
      Heap *first = nullptr;
      for (Heap &starts : held)
        if (!starts.empty() && (!first || starts.top() < first->top()))
          first = &starts;
      assert(first && "the graph has no cycle");
      node = nodeOf[first->top()];
      first->pop();
    }
    schedule(*node);
    if (options.reorder && graph[*node].kind == NodeKind::Start)
      fill(graph[*node].cost);
  }
  return std::move(order);
}

ScheduleOrder braid::listSchedule(const SchedulingProblem &problem,
                                  const ListScheduleOptions &options) {
  return ListScheduler(problem, options).run();
}
