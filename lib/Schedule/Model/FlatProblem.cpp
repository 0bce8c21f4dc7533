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

using namespace braid;

using Entries = std::vector<std::pair<unsigned, unsigned>>;

static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

bool FlatProblem::hasMemoryLimit() const { return maxMemory != unlimited; }

FlatProblem::FlatProblem(const SchedulingProblem &problem)
    : AwaitLists(problem), BufferLists(problem), problem(problem) {
  addCosts();
  addEdges();
  addMemory();
  maxInFlight = problem.maxInFlight;
  if (maxInFlight >= problem.graph.starts().size())
    maxInFlight = 0;

  bool slowsDown =
      problem.machine.hasHost() ||
      (problem.machine.hasContention() &&
       llvm::any_of(problem.demands, [&](const ResourceDemand &demand) {
         return isShared(demand, problem.machine);
       }));
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
  bufferBytes.reserve(numBuffers);
  escapes.reserve(numBuffers);
  for (const GraphBuffer &buffer : problem.buffers) {
    bufferBytes.push_back(clampBytes(buffer.bytes));
    allBytes += bufferBytes.back();
    escapes.push_back(buffer.escapes);
  }
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
