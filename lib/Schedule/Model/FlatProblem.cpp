//===- FlatProblem.cpp - A scheduling problem in flat arrays --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatProblem.h"

#include "Contention.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace braid;

using Entries = std::vector<std::pair<unsigned, unsigned>>;

static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

FlatLists::FlatLists(unsigned size,
                     llvm::ArrayRef<std::pair<unsigned, unsigned>> entries)
    : begin(size + 1, 0), values(entries.size()) {
  for (auto [index, value] : entries)
    ++begin[index + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<unsigned> cursor(begin.begin(), begin.end());
  for (auto [index, value] : entries)
    values[cursor[index]++] = value;
}

bool FlatProblem::hasMemoryLimit() const { return maxMemory != unlimited; }

FlatProblem::FlatProblem(const SchedulingProblem &problem) : problem(problem) {
  addCosts();
  addEdges();
  addMemory();
  maxInFlight = problem.maxInFlight;
  if (maxInFlight >= problem.graph.starts().size())
    maxInFlight = 0;

  bool slowsDown =
      problem.machine.hasContention() &&
      llvm::any_of(problem.demands, [&](const ResourceDemand &demand) {
        return isShared(demand, problem.machine);
      });
  if (!sumsFit || !problem.carriedAwaits.empty())
    timing = TimingModel::Simulated;
  else if (slowsDown)
    timing = TimingModel::Contended;
}

void FlatProblem::addCosts() {
  const ScheduleGraph &graph = problem.graph;
  unsigned size = graph.size();
  // Sums along an order and of head and tail must not overflow.
  int64_t largestCost = unlimited / 8 / std::max(size, 1u);
  cost.resize(size);
  lane.assign(size, -1);
  for (unsigned node = 0; node != size; ++node) {
    const ScheduleNode &info = graph[node];
    int64_t ns = info.cost;
    if (info.kind == NodeKind::Start) {
      lane[node] = info.lane;
      numLanes = std::max(numLanes, static_cast<unsigned>(info.lane) + 1);
    } else {
      bool isBody = problem.getLeastNs(node).has_value();
      ns = addNs(ns, problem.machine.getLaunchGap(ns, isBody));
    }
    sumsFit &= ns <= largestCost;
    cost[node] = std::min(ns, largestCost);
  }
}

void FlatProblem::addEdges() {
  const ScheduleGraph &graph = problem.graph;
  unsigned size = graph.size();
  Entries forward, backward;
  forward.reserve(graph.numEdges());
  backward.reserve(graph.numEdges());
  unsigned previousStart = size;
  for (unsigned node = 0; node != size; ++node) {
    bool needsPrevious = false;
    if (problem.keepOrderOfStarts && isStart(node)) {
      needsPrevious = previousStart != size;
      if (needsPrevious && !graph.hasEdge(previousStart, node)) {
        forward.emplace_back(previousStart, node);
        backward.emplace_back(node, previousStart);
      }
      previousStart = node;
    }
    for (unsigned predecessor : graph.predecessors(node)) {
      forward.emplace_back(predecessor, node);
      backward.emplace_back(node, predecessor);
    }
  }
  successors = FlatLists(size, forward);
  predecessors = FlatLists(size, backward);

  Entries swapped;
  swapped.reserve(problem.awaits.size());
  for (auto [node, start] : problem.awaits)
    swapped.emplace_back(start, node);
  awaited = FlatLists(size, problem.awaits);
  awaiters = FlatLists(size, swapped);
}

void FlatProblem::addMemory() {
  unsigned size = problem.graph.size();
  unsigned numBuffers = problem.buffers.size();
  int64_t largestSize = unlimited / 8 / (size + numBuffers + 1);
  auto clampBytes = [&](int64_t bytes) {
    sumsFit &= bytes <= largestSize;
    return std::min(bytes, largestSize);
  };
  liveBytes = problem.liveBytes;
  if (liveBytes > unlimited / 8) {
    sumsFit = false;
    liveBytes = unlimited / 8;
  }
  int64_t allBytes = liveBytes;
  Entries users, buffers;
  bufferBytes.reserve(numBuffers);
  escapes.reserve(numBuffers);
  std::vector<unsigned> seen(size, ~0u);
  for (auto [index, buffer] : llvm::enumerate(problem.buffers)) {
    bufferBytes.push_back(clampBytes(buffer.bytes));
    allBytes += bufferBytes.back();
    escapes.push_back(buffer.escapes);
    for (unsigned user : buffer.users) {
      if (seen[user] == index)
        continue;
      seen[user] = index;
      users.emplace_back(index, user);
      buffers.emplace_back(user, index);
    }
  }
  usersOf = FlatLists(numBuffers, users);
  buffersOf = FlatLists(size, buffers);
  transientBytes.assign(size, 0);
  int64_t largestTransient = 0;
  for (auto [node, bytes] : problem.transientBytes) {
    transientBytes[node] = clampBytes(bytes);
    largestTransient = std::max(largestTransient, transientBytes[node]);
  }

  maxMemory = problem.maxMemory.value_or(unlimited);
  if (maxMemory >= allBytes + largestTransient && sumsFit)
    maxMemory = unlimited;
}
