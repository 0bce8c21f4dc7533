//===- ScheduleGraph.cpp - What may be reordered in a block ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Model/ScheduleGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace braid;

llvm::StringRef braid::stringifyNodeKind(NodeKind kind) {
  switch (kind) {
  case NodeKind::Compute:
    return "compute";
  case NodeKind::Start:
    return "start";
  case NodeKind::Wait:
    return "wait";
  case NodeKind::Opaque:
    return "opaque";
  }
  llvm_unreachable("unknown kind of node");
}

void ScheduleGraph::reserve(size_t numNodes) {
  nodes.reserve(numNodes);
  // More than most programs need. Room that is not touched costs nothing, and
  // one large piece keeps the allocator from giving memory back to the system
  // and faulting it in again with every table.
  pending.reserve(8 * numNodes);
}

unsigned ScheduleGraph::addNode(const ScheduleNode &node) {
  assert(predecessorBegin.empty() && "the graph is finalized");
  assert(node.cost >= 0 && "a cost is not negative");
  unsigned index = nodes.size();
  nodes.push_back(node);
  if (node.kind == NodeKind::Start)
    startList.push_back(index);
  return index;
}

void ScheduleGraph::addEdge(unsigned from, unsigned to) {
  assert(from <= to && to < nodes.size() && "edges follow the program order");
  if (from != to)
    pending.emplace_back(from, to);
}

void ScheduleGraph::finalize() {
  assert(predecessorBegin.empty() && "the graph is finalized already");
  unsigned numNodes = nodes.size();

  // A counting sort by target. Most nodes have few predecessors, and builders
  // add them in order or nearly so.
  predecessorBegin.assign(numNodes + 1, 0);
  for (auto [from, to] : pending)
    ++predecessorBegin[to + 1];
  std::partial_sum(predecessorBegin.begin(), predecessorBegin.end(),
                   predecessorBegin.begin());
  predecessorList.resize(pending.size());
  std::vector<unsigned> cursor(predecessorBegin.begin(),
                               predecessorBegin.end());
  for (auto [from, to] : pending)
    predecessorList[cursor[to]++] = from;
  std::vector<std::pair<unsigned, unsigned>>().swap(pending);

  // Drop what was added twice.
  successorBegin.assign(numNodes + 1, 0);
  auto end = predecessorList.begin();
  for (unsigned node = 0; node != numNodes; ++node) {
    auto first = predecessorList.begin() + predecessorBegin[node];
    auto last = predecessorList.begin() + cursor[node];
    if (!std::is_sorted(first, last))
      std::sort(first, last);
    predecessorBegin[node] = end - predecessorList.begin();
    for (last = std::unique(first, last); first != last; ++first) {
      ++successorBegin[*first + 1];
      *end++ = *first;
    }
  }
  predecessorBegin[numNodes] = end - predecessorList.begin();
  predecessorList.erase(end, predecessorList.end());

  std::partial_sum(successorBegin.begin(), successorBegin.end(),
                   successorBegin.begin());
  successorList.resize(predecessorList.size());
  cursor.assign(successorBegin.begin(), successorBegin.end());
  for (unsigned node = 0; node != numNodes; ++node)
    for (unsigned from : predecessors(node))
      successorList[cursor[from]++] = node;
}

bool ScheduleGraph::hasEdge(unsigned from, unsigned to) const {
  llvm::ArrayRef<unsigned> targets = successors(from);
  return std::binary_search(targets.begin(), targets.end(), to);
}

ScheduleOrder braid::getProgramOrder(const ScheduleGraph &graph) {
  ScheduleOrder order(graph.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool braid::isProgramOrder(llvm::ArrayRef<unsigned> order) {
  for (auto [position, node] : llvm::enumerate(order))
    if (node != position)
      return false;
  return true;
}

bool braid::isLegalOrder(const ScheduleGraph &graph,
                         llvm::ArrayRef<unsigned> order, std::string *reason) {
  auto fail = [&](const llvm::Twine &message) {
    if (reason)
      *reason = message.str();
    return false;
  };
  if (order.size() != graph.size())
    return fail("the order has " + llvm::Twine(order.size()) +
                " nodes, the graph " + llvm::Twine(graph.size()));
  std::vector<bool> placed(graph.size(), false);
  for (unsigned node : order) {
    if (node >= graph.size())
      return fail("there is no node " + llvm::Twine(node));
    if (placed[node])
      return fail("node " + llvm::Twine(node) + " stands twice in the order");
    for (unsigned predecessor : graph.predecessors(node))
      if (!placed[predecessor])
        return fail("node " + llvm::Twine(node) + " stands before node " +
                    llvm::Twine(predecessor) + ", which it has to follow");
    placed[node] = true;
  }
  return true;
}

ScheduleOrder braid::sinkWaitsIn(const ScheduleGraph &graph,
                                 llvm::ArrayRef<unsigned> order) {
  ScheduleOrder sunk;
  sunk.reserve(order.size());
  // By node: its place in `order`, if it is a wait that is held back.
  std::vector<unsigned> held(order.size(), ~0u);
  llvm::SmallVector<unsigned> needed;
  auto need = [&](unsigned node) {
    for (unsigned predecessor : graph.predecessors(node))
      if (held[predecessor] != ~0u) {
        needed.push_back(held[predecessor]);
        held[predecessor] = ~0u;
      }
  };
  for (auto [place, node] : llvm::enumerate(order)) {
    if (graph[node].kind == NodeKind::Wait) {
      held[node] = place;
      continue;
    }
    // Waits may have to follow other waits.
    needed.clear();
    need(node);
    for (size_t i = 0; i != needed.size(); ++i)
      need(order[needed[i]]);
    llvm::sort(needed);
    for (unsigned wait : needed)
      sunk.push_back(order[wait]);
    sunk.push_back(node);
  }
  for (unsigned node : order)
    if (held[node] != ~0u)
      sunk.push_back(node);
  return sunk;
}

ScheduleOrder braid::sinkWaits(const ScheduleGraph &graph) {
  return sinkWaitsIn(graph, getProgramOrder(graph));
}

bool braid::keepsOrderOfStarts(const ScheduleGraph &graph,
                               llvm::ArrayRef<unsigned> order) {
  size_t next = 0;
  for (unsigned node : order) {
    if (graph[node].kind != NodeKind::Start)
      continue;
    if (graph.starts()[next++] != node)
      return false;
  }
  return next == graph.starts().size();
}
