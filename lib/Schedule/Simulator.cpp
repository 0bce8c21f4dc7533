//===- Simulator.cpp - The textbook machine -------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Simulator.h"

#include "braid/Schedule/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace braid;
using namespace llvm;

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

/// The longest chain of dependences: an op is ready when all that it depends on
/// has ended, and a start lets go of the stream at once.
static int64_t getCriticalPath(ArrayRef<SimulatedOp> ops) {
  std::vector<int64_t> readyNs(ops.size()), endNs(ops.size());
  int64_t longest = 0;
  for (auto [index, op] : llvm::enumerate(ops)) {
    int64_t ready = 0;
    for (unsigned predecessor : op.predecessors)
      ready = std::max(ready, readyNs[predecessor]);
    for (unsigned start : op.awaits)
      ready = std::max(ready, endNs[start]);
    endNs[index] = addNs(ready, op.leastNs.value_or(op.costNs));
    readyNs[index] = op.role == StreamRole::Start ? ready : endNs[index];
    longest = std::max(longest, endNs[index]);
  }
  return longest;
}

Simulation braid::simulate(ArrayRef<SimulatedOp> ops,
                           const MachineModel &machine, int64_t liveBytes) {
  Simulation result;
  result.times.resize(ops.size());
  int64_t streamNs = 0, leastStreamNs = 0;
  std::vector<int64_t> laneFreeNs, laneWorkNs;
  result.peakBytes = liveBytes;

  for (auto [index, op] : llvm::enumerate(ops)) {
    SimulatedTimes &times = result.times[index];
    times.issuedNs = streamNs;
    if (op.role == StreamRole::Start) {
      if (op.lane >= laneFreeNs.size()) {
        laneFreeNs.resize(op.lane + 1);
        laneWorkNs.resize(op.lane + 1);
      }
      times.startNs = std::max(streamNs, laneFreeNs[op.lane]);
      times.endNs = addNs(times.startNs, op.costNs);
      laneFreeNs[op.lane] = times.endNs;
      laneWorkNs[op.lane] = addNs(laneWorkNs[op.lane], op.costNs);
      result.communicationNs = addNs(result.communicationNs, op.costNs);
    } else {
      int64_t heldNs = holdStream(
          streamNs, SmallVector<unsigned>(op.awaits.begin(), op.awaits.end()),
          result);
      times.startNs = op.role == StreamRole::Wait ? streamNs : heldNs;
      streamNs = heldNs;
      streamNs = times.endNs = addNs(streamNs, op.costNs);
      result.computeNs = addNs(result.computeNs, op.costNs);
      leastStreamNs = addNs(leastStreamNs, op.leastNs.value_or(op.costNs));
    }
    liveBytes = addNs(liveBytes, op.allocatedBytes);
    result.peakBytes =
        std::max(result.peakBytes, addNs(liveBytes, op.transientBytes));
    liveBytes -= op.freedBytes;
  }

  // What is still in flight is exposed: there is nothing left to hide it.
  SmallVector<unsigned> starts;
  for (auto [index, op] : llvm::enumerate(ops))
    if (op.role == StreamRole::Start)
      starts.push_back(index);
  result.makespanNs = holdStream(streamNs, std::move(starts), result);

  result.lowerBoundNs = std::max(getCriticalPath(ops), leastStreamNs);
  for (int64_t work : laneWorkNs)
    result.lowerBoundNs = std::max(result.lowerBoundNs, work);
  return result;
}
