//===- LoopSimulator.cpp - Simulates the body of a loop -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Simulation/LoopSimulator.h"

#include "SimulationSums.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

using namespace braid;
using namespace llvm;

namespace {

/// An order of a body, simulated several times.
class UnrolledLoop {
public:
  UnrolledLoop(const SchedulingProblem &problem, ArrayRef<unsigned> order)
      : problem(problem), body(getSimulatedOps(problem, order)) {
    std::vector<unsigned> position(order.size());
    for (auto [index, node] : llvm::enumerate(order))
      position[node] = index;
    for (const CarriedAwait &carried : problem.carriedAwaits)
      carriedAwaits.push_back(
          {position[carried.waiter], position[carried.start]});
  }

  void simulate(unsigned count);
  /// The lag after which an iteration repeats, 0 if none does.
  unsigned findLag() const;
  /// `lag` 0: the mean of all iterations.
  int64_t getPeriod(unsigned lag) const;
  Simulation getIteration(int64_t periodNs) const;

  size_t size() const { return body.size(); }

private:
  /// The last iteration with others on both sides. What follows it can slow
  /// down its operations, so the very last one is of no use.
  unsigned getShown() const { return count - 2; }
  ArrayRef<SimulatedTimes> getTimes(unsigned iteration) const {
    return ArrayRef<SimulatedTimes>(result.times)
        .slice(iteration * body.size(), body.size());
  }
  /// When the stream comes to it.
  int64_t getBegin(unsigned iteration) const {
    return getTimes(iteration).front().issuedNs;
  }

  const SchedulingProblem &problem;
  std::vector<SimulatedOp> body;
  /// By position in the order.
  std::vector<CarriedAwait> carriedAwaits;
  std::vector<SimulatedOp> unrolled;
  unsigned count = 0;
  Simulation result;
};

} // namespace

void UnrolledLoop::simulate(unsigned newCount) {
  for (; count != newCount; ++count) {
    unsigned offset = unrolled.size();
    for (const SimulatedOp &op : body) {
      SimulatedOp &copy = unrolled.emplace_back(op);
      for (unsigned &start : copy.awaits)
        start += offset;
      // Only bounds look at them.
      copy.predecessors.clear();
    }
    if (offset != 0)
      for (const CarriedAwait &carried : carriedAwaits)
        unrolled[offset + carried.waiter].awaits.push_back(
            offset - body.size() + carried.start);
  }
  result = simulateOps(unrolled, problem.machine, /*awaitsAll=*/false);
}

unsigned UnrolledLoop::findLag() const {
  constexpr unsigned maxLag = 4;
  auto repeats = [&](unsigned iteration, unsigned lag) {
    int64_t shift = getBegin(iteration) - getBegin(iteration - lag);
    for (auto [now, before] :
         zip_equal(getTimes(iteration), getTimes(iteration - lag)))
      if (now.issuedNs != before.issuedNs + shift ||
          now.startNs != before.startNs + shift ||
          now.endNs != before.endNs + shift)
        return false;
    return true;
  };
  unsigned shown = getShown();
  for (unsigned lag = 1; lag <= maxLag && 2 * lag < shown; ++lag)
    // With contention, operations of two iterations ago may still run.
    if (repeats(shown, lag) && repeats(shown - lag, lag))
      return lag;
  return 0;
}

int64_t UnrolledLoop::getPeriod(unsigned lag) const {
  unsigned shown = getShown();
  if (lag != 0)
    return divideCeil(uint64_t(getBegin(shown) - getBegin(shown - lag)), lag);
  // Lanes may fall behind the stream without end, but have to catch up in the
  // end.
  int64_t endNs = 0;
  for (const SimulatedTimes &times : result.times)
    endNs = std::max(endNs, times.endNs);
  return divideCeil(uint64_t(endNs), count);
}

Simulation UnrolledLoop::getIteration(int64_t periodNs) const {
  unsigned shown = getShown();
  int64_t begin = getBegin(shown);
  Simulation iteration;
  iteration.times.assign(getTimes(shown).begin(), getTimes(shown).end());
  iteration.makespanNs = periodNs;

  std::vector<int64_t> laneNs;
  int64_t leastStreamNs = 0;
  for (auto [op, times] : zip_equal(body, iteration.times)) {
    int64_t leastNs = op.leastNs.value_or(op.costNs);
    times.issuedNs -= begin;
    times.startNs -= begin;
    times.endNs -= begin;
    // Whichever iteration it belongs to.
    if (times.heldBy)
      times.heldBy = *times.heldBy % body.size();
    if (op.role == StreamRole::Start) {
      iteration.communicationNs = addNs(iteration.communicationNs, op.costNs);
      iteration.communicationLostNs =
          addNs(iteration.communicationLostNs, times.lostNs);
      iteration.exposedNs = addNs(iteration.exposedNs, times.exposedNs);
      if (op.lane >= laneNs.size())
        laneNs.resize(op.lane + 1, 0);
      laneNs[op.lane] = addNs(laneNs[op.lane], leastNs);
      continue;
    }
    int64_t gap = getLaunchGap(op, problem.machine);
    iteration.computeNs = addNs(iteration.computeNs, op.costNs);
    iteration.computeLostNs = addNs(iteration.computeLostNs, times.lostNs);
    iteration.launchNs = addNs(iteration.launchNs, gap);
    leastStreamNs = addNs(leastStreamNs, addNs(leastNs, gap));
  }
  iteration.lowerBoundNs = leastStreamNs;
  for (int64_t work : laneNs)
    iteration.lowerBoundNs = std::max(iteration.lowerBoundNs, work);

  // What runs in this period, whichever iteration it belongs to.
  std::vector<TimeInterval> onStream, onLanes;
  for (auto [op, times] : zip_equal(unrolled, result.times)) {
    bool onLane = op.role == StreamRole::Start;
    // A wait is shown from the moment that it holds the stream.
    int64_t runNs =
        onLane ? times.startNs : times.endNs - addNs(op.costNs, times.lostNs);
    TimeInterval interval = {std::max(runNs, begin),
                             std::min(times.endNs, addNs(begin, periodNs))};
    if (interval.first < interval.second)
      (onLane ? onLanes : onStream).push_back(interval);
  }
  std::tie(iteration.communicationUnionNs, iteration.hiddenNs) =
      getCommunicationAndHidden(onStream, std::move(onLanes));
  sumUpMemory(body, problem.liveBytes, iteration);
  return iteration;
}

LoopSimulation braid::simulateLoopOrder(const SchedulingProblem &problem,
                                        ArrayRef<unsigned> order) {
  LoopSimulation result;
  if (problem.carriedAwaits.empty()) {
    result.iteration = simulateOrder(problem, order);
    result.periodNs = result.iteration.makespanNs;
    return result;
  }
  constexpr size_t maxOps = 1 << 20;
  constexpr unsigned maxIterations = 48;
  UnrolledLoop loop(problem, order);
  unsigned lag = 0;
  for (unsigned count = 6;; count *= 2) {
    loop.simulate(count);
    lag = loop.findLag();
    if (lag != 0 || 2 * count > maxIterations ||
        2 * count * loop.size() > maxOps)
      break;
  }
  result.isSteady = lag != 0;
  result.periodNs = loop.getPeriod(lag);
  result.iteration = loop.getIteration(result.periodNs);
  return result;
}
