//===- GraphTestUtils.cpp - Graphs for tests of lib/Schedule --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphTestUtils.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <limits>
#include <random>
#include <set>

using namespace braid;
using namespace braid::test;

std::string NamedGraph::print(llvm::ArrayRef<unsigned> order) const {
  std::vector<std::string> result;
  for (unsigned node : order)
    result.push_back(names[node]);
  return llvm::join(result, ",");
}

static ScheduleNode classify(llvm::StringRef name) {
  ScheduleNode node;
  auto numbered = [&](llvm::StringRef prefix) {
    llvm::StringRef rest = name;
    return rest.consume_front(prefix) && llvm::all_of(rest, llvm::isDigit);
  };
  bool otherLane = numbered("b") && name.size() > 1;
  if (numbered("ar") || (numbered("a") && name.size() > 1) || otherLane) {
    node.kind = NodeKind::Start;
    node.lane = otherLane;
    node.cost = 100;
  } else if (numbered("w")) {
    node.kind = NodeKind::Wait;
  } else if (numbered("op")) {
    node.kind = NodeKind::Opaque;
    node.cost = 1;
  } else {
    node.cost = numbered("mm") ? 5 : 1;
  }
  return node;
}

NamedGraph test::parseGraph(llvm::StringRef program) {
  NamedGraph result;
  std::vector<std::pair<unsigned, unsigned>> edges;
  while (!(program = program.ltrim(", \n")).empty()) {
    llvm::StringRef head = program.take_until(
        [](char c) { return c == ',' || c == '(' || c == ' '; });
    program = program.drop_front(head.size());
    auto [name, cost] = head.split(':');
    ScheduleNode node = classify(name);
    if (!cost.empty() && cost.getAsInteger(10, node.cost))
      llvm::report_fatal_error("not a cost: " + cost);
    unsigned index = result.graph.addNode(node);
    if (program.consume_front("(")) {
      auto [operands, rest] = program.split(')');
      program = rest;
      for (llvm::StringRef operand : llvm::split(operands, ',')) {
        auto it = llvm::find(result.names, operand.trim());
        if (it == result.names.end())
          llvm::report_fatal_error("unknown node: " + operand);
        edges.emplace_back(it - result.names.begin(), index);
      }
    }
    result.names.push_back(name.str());
    if (node.kind == NodeKind::Opaque)
      for (unsigned before = 0; before != index; ++before)
        edges.emplace_back(before, index);
    for (unsigned before = 0; before != index; ++before)
      if (result.graph[before].kind == NodeKind::Opaque)
        edges.emplace_back(before, index);
  }
  for (auto [from, to] : edges)
    result.graph.addEdge(from, to);
  result.graph.finalize();
  return result;
}

RandomGraphOptions test::varyOptions(uint64_t seed, unsigned numNodes) {
  RandomGraphOptions options;
  options.numNodes = numNodes;
  options.startEvery = 3 + seed % 15;
  options.maxWaits = 1 + seed % 4;
  options.opaqueEvery = seed % 3 ? 20 * (seed % 7) : 0;
  options.maxOperands = seed % 5;
  options.maxComputeCost = seed % 2 ? 40 : 400;
  return options;
}

ScheduleGraph test::makeRandomGraph(uint64_t seed,
                                    const RandomGraphOptions &options) {
  // The distributions of the standard library differ between implementations;
  // the engine does not.
  std::mt19937_64 engine(seed);
  auto below = [&](uint64_t bound) { return bound ? engine() % bound : 0; };

  ScheduleGraph graph;
  std::vector<unsigned> unawaited;
  // Nodes since the last opaque one: it has to follow them all.
  std::vector<unsigned> sinceBarrier;
  int64_t barrier = -1;
  std::vector<std::pair<unsigned, unsigned>> edges;
  auto add = [&](ScheduleNode node) {
    unsigned index = graph.addNode(node);
    if (barrier >= 0)
      edges.emplace_back(barrier, index);
    if (node.kind == NodeKind::Opaque) {
      for (unsigned before : sinceBarrier)
        edges.emplace_back(before, index);
      sinceBarrier.clear();
      barrier = index;
    } else {
      sinceBarrier.push_back(index);
    }
    return index;
  };
  auto isValue = [&](unsigned node) {
    return graph[node].kind != NodeKind::Start;
  };
  auto addOperands = [&](unsigned index) {
    for (uint64_t i = 0, n = below(options.maxOperands + 1); i < n && index;
         ++i) {
      unsigned operand = below(index);
      // Half of the operands are recent.
      if (below(2))
        operand = index - 1 - below(std::min<unsigned>(index, 10));
      if (isValue(operand))
        edges.emplace_back(operand, index);
    }
  };

  while (graph.size() < options.numNodes) {
    ScheduleNode node;
    if (below(options.startEvery) == 0) {
      node.kind = NodeKind::Start;
      node.lane = below(2);
      node.cost = below(options.maxStartCost + 1);
      unsigned start = add(node);
      addOperands(start);
      for (uint64_t i = 0, n = 1 + below(options.maxWaits); i < n; ++i)
        unawaited.push_back(start);
    } else if (!unawaited.empty() && below(options.startEvery) < 2) {
      node.kind = NodeKind::Wait;
      unsigned wait = add(node);
      unsigned which = below(unawaited.size());
      edges.emplace_back(unawaited[which], wait);
      unawaited.erase(unawaited.begin() + which);
      // Now and then a buffer orders a wait after something else.
      if (below(8) == 0)
        addOperands(wait);
    } else {
      if (options.opaqueEvery && below(options.opaqueEvery) == 0)
        node.kind = NodeKind::Opaque;
      node.cost = below(options.maxComputeCost + 1);
      addOperands(add(node));
    }
  }
  for (auto [from, to] : edges)
    graph.addEdge(from, to);
  graph.finalize();
  return graph;
}

ScheduleGraph test::permute(const ScheduleGraph &graph,
                            llvm::ArrayRef<unsigned> order) {
  ScheduleGraph result;
  std::vector<unsigned> position(graph.size());
  for (unsigned node : order)
    position[node] = result.addNode(graph[node]);
  for (unsigned node = 0; node != graph.size(); ++node)
    for (unsigned successor : graph.successors(node))
      result.addEdge(position[node], position[successor]);
  result.finalize();
  return result;
}

ScheduleOrder test::makeRandomOrder(const ScheduleGraph &graph, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<unsigned> missing(graph.size()), ready;
  for (unsigned node = 0; node != graph.size(); ++node) {
    missing[node] = graph.predecessors(node).size();
    if (missing[node] == 0)
      ready.push_back(node);
  }
  ScheduleOrder order;
  while (!ready.empty()) {
    std::swap(ready[engine() % ready.size()], ready.back());
    unsigned node = ready.back();
    ready.pop_back();
    order.push_back(node);
    for (unsigned successor : graph.successors(node))
      if (--missing[successor] == 0)
        ready.push_back(successor);
  }
  return order;
}

//===----------------------------------------------------------------------===//
// The rules, word by word
//===----------------------------------------------------------------------===//

ScheduleOrder test::sinkNaively(const ScheduleGraph &graph) {
  ScheduleOrder order;
  std::set<unsigned> held;
  // Emits what is held and has to precede `node`, itself in that order.
  auto emitHeldBefore = [&](unsigned node) {
    std::set<unsigned> needed;
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned wait : held) {
        bool needs = graph.hasEdge(wait, node) ||
                     llvm::any_of(needed, [&](unsigned other) {
                       return graph.hasEdge(wait, other);
                     });
        if (needs)
          changed |= needed.insert(wait).second;
      }
    }
    for (unsigned wait : needed) {
      order.push_back(wait);
      held.erase(wait);
    }
  };
  for (unsigned node = 0; node != graph.size(); ++node) {
    if (graph[node].kind == NodeKind::Wait) {
      held.insert(node);
      continue;
    }
    emitHeldBefore(node);
    order.push_back(node);
  }
  order.insert(order.end(), held.begin(), held.end());
  return order;
}

ScheduleOrder test::raiseNaively(const ScheduleGraph &graph) {
  ScheduleOrder reversed;
  std::vector<unsigned> queue;
  for (unsigned node = graph.size(); node-- != 0;) {
    if (graph[node].kind == NodeKind::Start) {
      queue.push_back(node);
      continue;
    }
    while (llvm::any_of(
        queue, [&](unsigned start) { return graph.hasEdge(node, start); })) {
      reversed.push_back(queue.front());
      queue.erase(queue.begin());
    }
    reversed.push_back(node);
  }
  llvm::append_range(reversed, queue);
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

static ScheduleOrder reorderNaivelyWith(const ScheduleGraph &graph,
                                        const std::set<NodeKind> &fillers) {
  unsigned n = graph.size();
  llvm::ArrayRef<unsigned> comms = graph.starts();
  if (comms.empty())
    return getProgramOrder(graph);

  // Edges with the order of the starts, and their transitive closure.
  std::vector<std::set<unsigned>> preds(n);
  for (unsigned node = 0; node != n; ++node)
    for (unsigned pred : graph.predecessors(node))
      preds[node].insert(pred);
  for (unsigned i = 1; i < comms.size(); ++i)
    preds[comms[i]].insert(comms[i - 1]);
  std::vector<std::vector<bool>> anc(n, std::vector<bool>(n, false));
  for (unsigned node = 0; node != n; ++node)
    for (unsigned pred : preds[node]) {
      anc[node][pred] = true;
      for (unsigned other = 0; other != n; ++other)
        if (anc[pred][other])
          anc[node][other] = true;
    }

  std::vector<bool> done(n, false);
  ScheduleOrder order;
  auto isReady = [&](unsigned node) {
    return llvm::all_of(preds[node], [&](unsigned p) { return done[p]; });
  };
  auto scheduleNodes = [&](std::set<unsigned> nodes) {
    while (!nodes.empty()) {
      bool progress = false;
      for (unsigned node : std::set<unsigned>(nodes)) {
        if (!isReady(node))
          continue;
        done[node] = true;
        order.push_back(node);
        nodes.erase(node);
        progress = true;
      }
      if (!progress)
        llvm::report_fatal_error("no node is ready");
    }
  };
  auto unscheduledAncestors = [&](unsigned node) {
    std::set<unsigned> result;
    for (unsigned other = 0; other != n; ++other)
      if (anc[node][other] && !done[other])
        result.insert(other);
    return result;
  };

  std::set<unsigned> first = unscheduledAncestors(comms[0]);
  first.insert(comms[0]);
  scheduleNodes(first);
  int64_t rolled = 0;
  for (unsigned i = 1; i < comms.size(); ++i) {
    unsigned previous = comms[i - 1];
    std::set<unsigned> need;
    int64_t total = rolled;
    for (unsigned node : unscheduledAncestors(comms[i]))
      if (!anc[node][previous]) {
        need.insert(node);
        total += graph[node].cost;
      }
    int64_t budget = graph[previous].cost;
    scheduleNodes(need);
    int64_t step1 = total;
    if (step1 < budget) {
      std::vector<std::pair<unsigned, unsigned>> candidates;
      for (unsigned node = 0; node != n; ++node) {
        if (done[node] || !isReady(node) || anc[node][previous] ||
            fillers.count(graph[node].kind) == 0)
          continue;
        unsigned firstComm = comms.size();
        for (unsigned j = comms.size(); j-- != 0;)
          if (anc[comms[j]][node])
            firstComm = j;
        candidates.emplace_back(firstComm, node);
      }
      std::sort(candidates.begin(), candidates.end());
      for (auto [firstComm, node] : candidates) {
        if (total >= budget)
          break;
        if (2 * (budget - total) <= graph[node].cost)
          continue;
        scheduleNodes({node});
        total += graph[node].cost;
      }
    }
    int64_t rollable = total - step1;
    std::set<unsigned> need3 = unscheduledAncestors(comms[i]);
    scheduleNodes(need3);
    scheduleNodes({comms[i]});
    rolled = need3.empty() ? rollable : 0;
  }
  std::set<unsigned> rest;
  for (unsigned node = 0; node != n; ++node)
    if (!done[node])
      rest.insert(node);
  scheduleNodes(rest);
  return order;
}

ScheduleOrder test::reorderNaively(const ScheduleGraph &graph) {
  return reorderNaivelyWith(graph, {NodeKind::Compute});
}

ScheduleOrder test::reorderNaivelyWaitsAsFiller(const ScheduleGraph &graph) {
  return reorderNaivelyWith(graph, {NodeKind::Compute, NodeKind::Wait});
}
