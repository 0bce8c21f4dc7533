//===- RaiseCollectives.cpp - Every start as early as possible ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/Inductor/RaiseCollectives.h"

#include <algorithm>
#include <cassert>
#include <queue>

using namespace braid;

ScheduleOrder braid::raiseCollectives(const ScheduleGraph &graph) {
  // Backwards through the program, starts wait in a queue until a node comes
  // that one of them has to follow. All that joined the queue before that one
  // stand behind it in the program, and leave with it to keep their order.
  ScheduleOrder reversed;
  reversed.reserve(graph.size());
  std::vector<unsigned> queue;
  queue.reserve(graph.starts().size());
  size_t front = 0;
  // Where each start stands in the queue.
  std::vector<unsigned> position(graph.size(), 0);

  for (unsigned node = graph.size(); node-- != 0;) {
    if (graph[node].kind == NodeKind::Start) {
      position[node] = queue.size();
      queue.push_back(node);
      continue;
    }
    size_t leave = front;
    for (unsigned successor : graph.successors(node))
      if (graph[successor].kind == NodeKind::Start)
        leave = std::max<size_t>(leave, position[successor] + 1);
    for (; front != leave; ++front)
      reversed.push_back(queue[front]);
    reversed.push_back(node);
  }
  reversed.insert(reversed.end(), queue.begin() + front, queue.end());
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

std::vector<unsigned>
braid::getFirstDependentStart(const ScheduleGraph &graph) {
  unsigned ordinal = graph.starts().size();
  std::vector<unsigned> first(graph.size(), ordinal);
  for (unsigned node = graph.size(); node-- != 0;) {
    if (graph[node].kind == NodeKind::Start) {
      first[node] = --ordinal;
      continue;
    }
    for (unsigned successor : graph.successors(node))
      first[node] = std::min(first[node], first[successor]);
  }
  return first;
}

ScheduleOrder braid::raiseCollectivesWithProducers(const ScheduleGraph &graph) {
  std::vector<unsigned> first = getFirstDependentStart(graph);
  std::vector<unsigned> missing(graph.size());
  using Key = std::pair<unsigned, unsigned>;
  std::priority_queue<Key, std::vector<Key>, std::greater<Key>> ready;

  // A start counts the one before it as a predecessor.
  llvm::ArrayRef<unsigned> starts = graph.starts();
  for (unsigned node = 0, end = graph.size(); node != end; ++node) {
    missing[node] = graph.predecessors(node).size();
    if (graph[node].kind == NodeKind::Start && node != starts.front())
      ++missing[node];
    if (missing[node] == 0)
      ready.emplace(first[node], node);
  }

  ScheduleOrder order;
  order.reserve(graph.size());
  auto release = [&](unsigned node) {
    if (--missing[node] == 0)
      ready.emplace(first[node], node);
  };
  while (!ready.empty()) {
    unsigned node = ready.top().second;
    ready.pop();
    order.push_back(node);
    for (unsigned successor : graph.successors(node))
      release(successor);
    if (graph[node].kind == NodeKind::Start && first[node] + 1 < starts.size())
      release(starts[first[node] + 1]);
  }
  assert(order.size() == graph.size() && "the graph has no cycle");
  return order;
}
