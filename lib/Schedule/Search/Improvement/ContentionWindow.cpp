//===- ContentionWindow.cpp - A window where ops share --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContentionWindow.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <tuple>

using namespace braid;

static constexpr unsigned noNumber = ~0u;

/// Measured: the events of one node, the estimate, and the copy of the machine.
static constexpr unsigned stepsPerWindowNode = 25;

unsigned ContentionWindow::takeMachine() {
  if (freeMachines.empty()) {
    machines.push_back(machines.front());
    return machines.size() - 1;
  }
  unsigned machine = freeMachines.back();
  freeMachines.pop_back();
  return machine;
}

void ContentionWindow::prepareOuter(
    llvm::ArrayRef<std::pair<unsigned, int64_t>> starts) {
  outerStarts.clear();
  for (auto [start, tailNs] : starts) {
    uint64_t waiters = 0;
    for (unsigned waiter : flat.awaiters[start])
      if (numberOf[waiter] != noNumber)
        waiters |= bit(numberOf[waiter]);
    outerOf[start] = outerStarts.size();
    outerStarts.push_back({waiters, tailNs});
  }
}

void ContentionWindow::estimate(State &state,
                                const ContentionMachine &machine) {
  scratch.assign(stride, machine.getNowNs());
  scratch[1] = 0;
  uint64_t all = nodes.size() == 64 ? ~uint64_t(0) : bit(nodes.size()) - 1;
  uint64_t missing = all & ~state.mask;
  int64_t *ends = scratch.data() + 2 + lanes.size();
  machine.visitInFlight(flat.cost, [&](unsigned start, int64_t endNs) {
    for (auto [index, lane] : llvm::enumerate(lanes))
      if (lane.id == unsigned(flat.lane[start]))
        scratch[2 + index] = std::max(scratch[2 + index], endNs);
    if (unsigned number = numberOf[start]; number != noNumber) {
      ends[llvm::find(localStarts, number) - localStarts.begin()] = endNs;
      scratch[1] = std::max(scratch[1], endNs + nodes[number].outerTailNs);
      return;
    }
    const Outer &before = outerStarts[outerOf[start]];
    int64_t tailNs = before.tailNs;
    if (uint64_t waiters = before.waiters & missing; waiters != 0)
      tailNs = std::max(tailNs, nodes[llvm::countr_zero(waiters)].tailNs);
    scratch[1] = std::max(scratch[1], endNs + tailNs);
  });
  state.boundNs = getBound(state.mask, scratch.data());
  state.sum = 0;
  for (unsigned i = 0, end = 2 + lanes.size(); i != end; ++i)
    state.sum += scratch[i];
}

void ContentionWindow::tryNode(const State &state, unsigned parent,
                               unsigned node) {
  State child = state;
  if (limited &&
      (!mayStart(state.mask, nodes[node]) ||
       getNeededBytes(state.mask, node, child.liveBytes) > flat.maxMemory))
    return;
  steps += stepsPerWindowNode + machines[state.machine].getNumInFlight() / 4;
  child.mask |= bit(node);
  child.parent = parent;
  child.last = node;
  child.machine = takeMachine();
  ContentionMachine &machine = machines[child.machine];
  machine = machines[state.machine];
  machine.issue(nodes[node].id);
  key.assign(1, int64_t(child.mask));
  machine.appendState(key);
  uint64_t hash = 0;
  for (int64_t word : key) {
    hash = (hash ^ uint64_t(word)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  seen.push_back(hash);
  estimate(child, machine);
  children.push_back(child);
}

void ContentionWindow::expandState(const std::vector<State> &layer,
                                   unsigned index) {
  const State &state = layer[index];
  auto isReady = [&](unsigned node) {
    return !(state.mask & bit(node)) &&
           !(nodes[node].predecessors & ~state.mask);
  };
  // What takes no time and holds nothing up goes first.
  if (!limited)
    for (unsigned node = 0, end = nodes.size(); node != end; ++node) {
      if (!isReady(node) || nodes[node].isStart || nodes[node].costNs != 0)
        continue;
      if (llvm::none_of(flat.awaited[nodes[node].id], [&](unsigned start) {
            return machines[state.machine].isInFlight(start);
          })) {
        tryNode(state, index, node);
        return;
      }
    }
  for (unsigned node = 0, end = nodes.size(); node != end; ++node)
    if (isReady(node))
      tryNode(state, index, node);
}

void ContentionWindow::search(
    const ScheduleWindow &window, const ContentionMachine &machine,
    llvm::ArrayRef<std::pair<unsigned, int64_t>> outer, unsigned width,
    unsigned count, uint64_t maxSteps, std::vector<Found> &found) {
  found.clear();
  uint64_t lastStep = steps + maxSteps;
  prepare(window);
  numberOf.resize(flat.size(), noNumber);
  outerOf.resize(flat.size(), noNumber);
  for (auto [index, node] : llvm::enumerate(nodes))
    numberOf[node.id] = index;
  prepareOuter(outer);
  machines.assign(1, machine);
  freeMachines.clear();

  using Trace = std::vector<std::pair<unsigned, unsigned>>;
  std::vector<Trace> traces;
  std::vector<State> layer = {
      {0, window.liveBytes, 0, 0, noNumber, noNumber, 0}};
  auto precedes = [](const State &a, const State &b) {
    return std::tuple(a.boundNs, a.sum, a.parent, a.last) <
           std::tuple(b.boundNs, b.sum, b.parent, b.last);
  };
  llvm::DenseSet<uint64_t> states;
  for (unsigned depth = 0, end = nodes.size(); depth != end; ++depth) {
    children.clear();
    seen.clear();
    Trace &trace = traces.emplace_back();
    for (unsigned index = 0, size = layer.size(); index != size; ++index) {
      trace.push_back({layer[index].parent, layer[index].last});
      expandState(layer, index);
      freeMachines.push_back(layer[index].machine);
    }
    states.clear();
    layer.clear();
    if (steps >= lastStep)
      break;
    for (auto [child, hash] : llvm::zip_equal(children, seen)) {
      if (states.insert(hash >> 2).second)
        layer.push_back(child);
      else
        freeMachines.push_back(child.machine);
    }
    if (layer.size() <= width)
      continue;
    std::nth_element(layer.begin(), layer.begin() + width, layer.end(),
                     precedes);
    for (const State &state : llvm::ArrayRef(layer).drop_front(width))
      freeMachines.push_back(state.machine);
    layer.resize(width);
  }

  llvm::sort(layer, precedes);
  for (const State &state : layer) {
    if (found.size() == count)
      break;
    Found &result =
        found.emplace_back(Found{{}, machines[state.machine], state.boundNs});
    result.order.resize(nodes.size());
    unsigned parent = state.parent, node = state.last;
    for (unsigned depth = nodes.size(); depth-- != 0;) {
      result.order[depth] = nodes[node].id;
      std::tie(parent, node) = traces[depth][parent];
    }
  }
  for (const Node &node : nodes)
    numberOf[node.id] = noNumber;
}
