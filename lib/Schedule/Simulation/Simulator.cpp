//===- Simulator.cpp - Simulates an order on a machine --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Simulation/Simulator.h"

#include "ContentionSimulator.h"
#include "Schedule/Model/Contention.h"
#include "SimulationSums.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

using namespace braid;
using namespace llvm;

/// Says when each of `ops` is issued, begins and ends if all take their costs.
static void simulateExactly(ArrayRef<SimulatedOp> ops,
                            const MachineModel &machine,
                            MutableArrayRef<SimulatedTimes> times) {
  int64_t streamNs = 0;
  std::vector<int64_t> laneFreeNs;
  for (auto [op, result] : zip_equal(ops, times)) {
    result.issuedNs = streamNs;
    if (op.role == StreamRole::Start) {
      if (op.lane >= laneFreeNs.size())
        laneFreeNs.resize(op.lane + 1);
      result.startNs = std::max(streamNs, laneFreeNs[op.lane]);
      result.endNs = addNs(result.startNs, op.costNs);
      laneFreeNs[op.lane] = result.endNs;
      continue;
    }
    for (unsigned start : op.awaits)
      streamNs = std::max(streamNs, times[start].endNs);
    streamNs = addNs(streamNs, getLaunchGap(op, machine));
    result.startNs = op.role == StreamRole::Wait ? result.issuedNs : streamNs;
    streamNs = result.endNs = addNs(streamNs, op.costNs);
  }
}

/// Holds the stream, which stands at `streamNs`, until `starts` have ended.
/// Each operation answers for the time that passes after all that end before
/// it.
static int64_t holdStream(int64_t streamNs, SmallVector<unsigned> starts,
                          Simulation &result) {
  llvm::sort(starts, [&](unsigned a, unsigned b) {
    return std::pair(result.times[a].endNs, a) <
           std::pair(result.times[b].endNs, b);
  });
  for (unsigned start : starts) {
    SimulatedTimes &times = result.times[start];
    if (times.endNs <= streamNs)
      continue;
    int64_t stall = times.endNs - streamNs;
    times.exposedNs = addNs(times.exposedNs, stall);
    result.exposedNs = addNs(result.exposedNs, stall);
    streamNs = times.endNs;
  }
  return streamNs;
}

std::vector<TimeInterval>
braid::mergeIntervals(std::vector<TimeInterval> intervals) {
  llvm::sort(intervals);
  std::vector<TimeInterval> merged;
  for (TimeInterval interval : intervals) {
    if (merged.empty() || merged.back().second < interval.first)
      merged.push_back(interval);
    else
      merged.back().second = std::max(merged.back().second, interval.second);
  }
  return merged;
}

std::pair<int64_t, int64_t>
braid::getCommunicationAndHidden(ArrayRef<TimeInterval> onStream,
                                 std::vector<TimeInterval> onLanes) {
  llvm::sort(onLanes);
  const TimeInterval *compute = onStream.begin();
  int64_t communicationNs = 0, hiddenNs = 0, mergedNs = 0;
  for (auto [beginNs, endNs] : onLanes) {
    beginNs = std::max(beginNs, mergedNs);
    if (beginNs >= endNs)
      continue;
    mergedNs = endNs;
    communicationNs += endNs - beginNs;
    while (compute != onStream.end() && compute->second <= beginNs)
      ++compute;
    for (const auto *it = compute; it != onStream.end() && it->first < endNs;
         ++it) {
      compute = it;
      hiddenNs += std::min(endNs, it->second) - std::max(beginNs, it->first);
    }
  }
  return {communicationNs, hiddenNs};
}

/// Sums up the times of all ops: what is exposed, lost and hidden.
static void sumUpTimes(ArrayRef<SimulatedOp> ops, const MachineModel &machine,
                       bool awaitsAll, Simulation &result) {
  // The intervals of the stream are disjoint and ascend.
  std::vector<TimeInterval> onStream, onLanes;
  auto getLost = [](const SimulatedOp &op, int64_t beginNs, int64_t endNs) {
    return std::max<int64_t>(endNs - beginNs - op.costNs, 0);
  };
  int64_t streamNs = 0;
  for (auto [op, times] : zip_equal(ops, result.times)) {
    if (op.role == StreamRole::Start) {
      result.communicationNs = addNs(result.communicationNs, op.costNs);
      times.lostNs = getLost(op, times.startNs, times.endNs);
      result.communicationLostNs =
          addNs(result.communicationLostNs, times.lostNs);
      if (times.endNs > times.startNs)
        onLanes.emplace_back(times.startNs, times.endNs);
      continue;
    }
    // The host had not issued the op.
    int64_t idleNs = std::max<int64_t>(times.issuedNs - streamNs, 0);
    result.launchNs = addNs(result.launchNs, idleNs);
    streamNs = addNs(streamNs, idleNs);
    if (!op.awaits.empty())
      streamNs = holdStream(
          streamNs, SmallVector<unsigned>(op.awaits.begin(), op.awaits.end()),
          result);
    int64_t gap = getLaunchGap(op, machine);
    int64_t beginNs = addNs(streamNs, gap);
    times.lostNs = getLost(op, beginNs, times.endNs);
    result.computeNs = addNs(result.computeNs, op.costNs);
    result.launchNs = addNs(result.launchNs, gap);
    result.computeLostNs = addNs(result.computeLostNs, times.lostNs);
    if (times.endNs > beginNs)
      onStream.emplace_back(beginNs, times.endNs);
    streamNs = times.endNs;
  }

  // What is still in flight is exposed: there is nothing left to hide it.
  SmallVector<unsigned> inFlight;
  for (auto [index, op] : llvm::enumerate(ops))
    if (awaitsAll && op.role == StreamRole::Start &&
        result.times[index].endNs > streamNs)
      inFlight.push_back(index);
  result.makespanNs = holdStream(streamNs, std::move(inFlight), result);

  std::tie(result.communicationUnionNs, result.hiddenNs) =
      getCommunicationAndHidden(onStream, std::move(onLanes));
}

void braid::sumUpMemory(ArrayRef<SimulatedOp> ops, int64_t liveBytes,
                        Simulation &result) {
  result.peakBytes = liveBytes;
  for (auto [index, op] : llvm::enumerate(ops)) {
    const SimulatedTimes &times = result.times[index];
    bool onLane = op.role == StreamRole::Start;
    liveBytes = addNs(liveBytes, op.allocatedBytes);
    int64_t mostBytes = addNs(liveBytes, op.transientBytes);
    if (op.allocatedBytes != 0 || op.transientBytes != 0)
      result.memory.push_back({onLane ? times.issuedNs : times.startNs,
                               mostBytes, unsigned(index)});
    if (mostBytes > result.peakBytes) {
      result.peakBytes = mostBytes;
      result.peakOp = index;
    }
    liveBytes = subtractNs(liveBytes, op.freedBytes);
    if (op.freedBytes != 0 || op.transientBytes != 0)
      result.memory.push_back(
          {onLane ? times.issuedNs : times.endNs, liveBytes, unsigned(index)});
  }
}

/// The longest chain of dependences, the work of the stream, or the work of a
/// lane. In a chain, an op is ready when all that it depends on has ended, and
/// a start lets go of the stream at once.
static int64_t getLowerBound(ArrayRef<SimulatedOp> ops,
                             const MachineModel &machine) {
  std::vector<int64_t> readyNs(ops.size()), endNs(ops.size()), laneNs;
  int64_t longest = 0, streamNs = 0;
  for (auto [index, op] : llvm::enumerate(ops)) {
    int64_t ready = 0;
    for (unsigned predecessor : op.predecessors)
      ready = std::max(ready, readyNs[predecessor]);
    for (unsigned start : op.awaits)
      ready = std::max(ready, endNs[start]);
    int64_t leastNs = op.leastNs.value_or(op.costNs);
    if (op.role == StreamRole::Start) {
      readyNs[index] = ready;
      endNs[index] = addNs(ready, leastNs);
      if (op.lane >= laneNs.size())
        laneNs.resize(op.lane + 1);
      laneNs[op.lane] = addNs(laneNs[op.lane], leastNs);
    } else {
      leastNs = addNs(leastNs, getLaunchGap(op, machine));
      streamNs = addNs(streamNs, leastNs);
      readyNs[index] = endNs[index] = addNs(ready, leastNs);
    }
    longest = std::max(longest, endNs[index]);
  }
  for (int64_t work : laneNs)
    longest = std::max(longest, work);
  return std::max(longest, streamNs);
}

Simulation braid::simulateOps(ArrayRef<SimulatedOp> ops,
                              const MachineModel &machine, bool awaitsAll) {
  Simulation result;
  result.times.resize(ops.size());
  bool slowsDown =
      machine.hasContention() && llvm::any_of(ops, [&](const SimulatedOp &op) {
        return isShared(op.demand, machine);
      });
  if (slowsDown)
    simulateWithContention(ops, machine, result.times);
  else
    simulateExactly(ops, machine, result.times);
  sumUpTimes(ops, machine, awaitsAll, result);
  return result;
}

Simulation braid::simulate(ArrayRef<SimulatedOp> ops,
                           const MachineModel &machine, int64_t liveBytes) {
  Simulation result = simulateOps(ops, machine, /*awaitsAll=*/true);
  sumUpMemory(ops, liveBytes, result);
  result.lowerBoundNs = getLowerBound(ops, machine);
  return result;
}
