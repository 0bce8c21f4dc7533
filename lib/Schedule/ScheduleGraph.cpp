//===- ScheduleGraph.cpp - What may be reordered in a block ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/ScheduleGraph.h"

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

  // Two counting sorts, by source and then by target, leave the sources of
  // every target in ascending order with equal edges side by side.
  std::vector<size_t> begin(numNodes + 1, 0);
  for (auto [from, to] : pending)
    ++begin[from + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::pair<unsigned, unsigned>> bySource(pending.size());
  for (auto edge : pending)
    bySource[begin[edge.first]++] = edge;

  std::vector<size_t> &targetBegin = begin;
  targetBegin.assign(numNodes + 1, 0);
  for (auto [from, to] : bySource)
    ++targetBegin[to + 1];
  std::partial_sum(targetBegin.begin(), targetBegin.end(), targetBegin.begin());
  std::vector<std::pair<unsigned, unsigned>> &byTarget = pending;
  for (auto edge : bySource)
    byTarget[targetBegin[edge.second]++] = edge;
  byTarget.erase(llvm::unique(byTarget), byTarget.end());

  predecessorBegin.assign(numNodes + 1, 0);
  successorBegin.assign(numNodes + 1, 0);
  predecessorList.reserve(byTarget.size());
  for (auto [from, to] : byTarget) {
    predecessorList.push_back(from);
    ++predecessorBegin[to + 1];
    ++successorBegin[from + 1];
  }
  std::partial_sum(predecessorBegin.begin(), predecessorBegin.end(),
                   predecessorBegin.begin());
  std::partial_sum(successorBegin.begin(), successorBegin.end(),
                   successorBegin.begin());
  successorList.resize(byTarget.size());
  std::vector<size_t> cursor(successorBegin.begin(), successorBegin.end());
  for (auto [from, to] : byTarget)
    successorList[cursor[from]++] = to;
  std::vector<std::pair<unsigned, unsigned>>().swap(pending);
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
