//===- ContentionSimulator.cpp - Ops that share the machine ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fluid simulation: between two events (an op begins or ends) every op runs
// at a constant rate. Events lie on whole nanoseconds, so that all times are
// integers; the work that an op has left at an event is a double. An op that
// was never slowed down ends exactly its cost after its begin, whatever its
// size; without any sharing the times are those of the exact simulation.
//
//===----------------------------------------------------------------------===//

#include "ContentionSimulator.h"

#include "Schedule/Model/Contention.h"
#include "SimulationSums.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace braid;
using namespace llvm;

void ContentionMachine::Lane::pop() {
  if (2 * ++first < issued.size())
    return;
  issued.erase(issued.begin(), issued.begin() + first);
  first = 0;
}

bool ContentionMachine::isInFlight(unsigned start) const {
  return ops[start].lane < lanes.size() &&
         is_contained(lanes[ops[start].lane].getInFlight(), start);
}

void ContentionMachine::run(unsigned op, int32_t lane) {
  times[op].startNs = nowNs;
  running.push_back({ops[op].costNs, &ops[op].demand, lane});
  progress.push_back({op, nowNs, 0, false});
  ratesAreValid = false;
}

void ContentionMachine::beginOnLane(unsigned lane, bool isIssued) {
  Lane &queue = lanes[lane];
  while (!queue.isFree()) {
    unsigned op = queue.issued[queue.first];
    if (ops[op].costNs > 0) {
      if (machine->isQueued())
        isIssued ? launch(op, lane) : waitForRoom(op, lane);
      else
        run(op, lane);
      return;
    }
    times[op].startNs = times[op].endNs = nowNs;
    queue.pop();
  }
}

void ContentionMachine::endOnStream() {
  times[next].endNs = nowNs;
  next = none;
  state = StreamState::Free;
}

void ContentionMachine::beginOnStream() {
  state = StreamState::Running;
  if (isPersistent(next))
    kernel.begin(ops[next].costNs, ops[next].demand, *machine,
                 std::max<int64_t>(getFreeForKernel(/*held=*/0), 1));
  run(next, /*lane=*/-1);
  if (isPersistent(next) && kernel.getPending(0) > 0) {
    progress.back().slowed = true;
    progress.back().leftNs = kernel.getEnd();
  }
  // A wait is shown from the moment that it holds the stream.
  if (ops[next].role == StreamRole::Wait)
    times[next].startNs = times[next].issuedNs;
}

void ContentionMachine::advanceStream() {
  if (next == none)
    return;
  const SimulatedOp &op = ops[next];
  switch (state) {
  case StreamState::Running:
    return;
  case StreamState::Launching:
    if (nowNs >= launchedNs && hasRoomOnStream())
      beginOnStream();
    return;
  case StreamState::Free:
    if (hostNs > nowNs)
      return;
    times[next].issuedNs = nowNs;
    if (op.role == StreamRole::Start) {
      if (op.lane >= lanes.size())
        lanes.resize(op.lane + 1);
      Lane &lane = lanes[op.lane];
      bool isFree = lane.isFree();
      lane.issued.push_back(next);
      next = none;
      if (isFree)
        beginOnLane(op.lane, /*isIssued=*/true);
      return;
    }
    nextAwaited = 0;
    state = StreamState::Held;
    [[fallthrough]];
  case StreamState::Held:
    while (nextAwaited != op.awaits.size() &&
           !isInFlight(op.awaits[nextAwaited]))
      ++nextAwaited;
    if (nextAwaited != op.awaits.size())
      return;
    if (op.costNs == 0) {
      times[next].startNs =
          op.role == StreamRole::Wait ? times[next].issuedNs : nowNs;
      endOnStream();
      return;
    }
    int64_t gap = getLaunchGap(op, *machine);
    launchedNs = addNs(nowNs, gap);
    state = StreamState::Launching;
    if (gap == 0 && hasRoomOnStream())
      beginOnStream();
    return;
  }
}

int64_t ContentionMachine::getEnd(const Progress &current, double rate) const {
  int64_t aloneNs = addNs(current.startNs, ops[current.op].costNs);
  if (!current.slowed && rate == 1)
    return aloneNs;
  double leftNs = current.slowed ? current.leftNs
                                 : double(ops[current.op].costNs) -
                                       double(nowNs - current.startNs);
  // The one place where time is rounded: an op ends with the nanosecond in
  // which its work is done. The tolerance takes up what divisions have rounded.
  constexpr double tolerance = 1.0 / 1024;
  double lastNs = std::ceil(std::max(leftNs / rate - tolerance, 0.0));
  if (lastNs >= double(std::numeric_limits<int64_t>::max()))
    return std::numeric_limits<int64_t>::max();
  return std::max(addNs(nowNs, int64_t(lastNs)), aloneNs);
}

void ContentionMachine::findRates() {
  if (!pairs || running.size() > 2) {
    shareMachine(running, *machine, linkDemand);
    return;
  }
  // No op asks for more than there is.
  if (running.size() < 2) {
    for (RunningOp &op : running)
      op.rate = 1;
    return;
  }
  unsigned onStream = running[0].lane < 0 ? 0 : 1, onLane = 1 - onStream;
  if (running[onStream].lane >= 0) {
    shareMachine(running, *machine, linkDemand);
    return;
  }
  PairRates::Pair &pair =
      pairs->get(progress[onStream].op, progress[onLane].op);
  if (pair.onStream != progress[onStream].op ||
      pair.onLane != progress[onLane].op) {
    shareMachine(running, *machine, linkDemand);
    pair = {progress[onStream].op, progress[onLane].op, running[onStream].rate,
            running[onLane].rate};
  }
  running[onStream].rate = pair.streamRate;
  running[onLane].rate = pair.laneRate;
}

void ContentionMachine::advanceTime() {
  if (!ratesAreValid)
    findRates();
  ratesAreValid = true;

  int64_t eventNs = std::numeric_limits<int64_t>::max();
  if (state == StreamState::Launching && launchedNs > nowNs)
    eventNs = launchedNs;
  if (next != none && state == StreamState::Free)
    eventNs = hostNs;
  if (!waiting.empty())
    eventNs = std::min(eventNs, getNextLeaveNs());
  if (!launching.empty())
    eventNs = std::min(eventNs, launching.front().asksNs);
  for (auto [op, current] : zip_equal(running, progress)) {
    current.endNs = getEnd(current, op.rate);
    eventNs = std::min(eventNs, current.endNs);
  }

  size_t kept = 0;
  SmallVector<unsigned> lanesFreed;
  bool streamEnded = false;
  for (size_t i = 0, size = running.size(); i != size; ++i) {
    RunningOp &op = running[i];
    Progress &current = progress[i];
    if (current.endNs == eventNs) {
      if (op.lane < 0) {
        streamEnded = true;
        continue;
      }
      times[current.op].endNs = eventNs;
      lanes[op.lane].pop();
      lanesFreed.push_back(op.lane);
      continue;
    }
    if (!current.slowed && op.rate != 1) {
      current.slowed = true;
      current.leftNs =
          double(ops[current.op].costNs) - double(nowNs - current.startNs);
    }
    if (current.slowed)
      current.leftNs -= op.rate * double(eventNs - nowNs);
    running[kept] = op;
    progress[kept++] = current;
  }
  ratesAreValid = kept == running.size();
  running.resize(kept);
  progress.resize(kept);
  nowNs = eventNs;
  if (streamEnded)
    endOnStream();
  if (machine->isQueued())
    serveWaiting();
  for (unsigned lane : lanesFreed)
    beginOnLane(lane, /*isIssued=*/false);
  askForRoom();
}

int64_t ContentionMachine::getMostOfHost() const {
  int64_t totalNs = 0;
  for (const SimulatedOp &op : ops)
    if (op.role != StreamRole::Wait)
      totalNs =
          addNs(totalNs, op.role == StreamRole::Start ? machine->hostStartNs
                                                      : machine->hostLaunchNs);
  return totalNs;
}

void ContentionMachine::advanceHost() {
  // The runtime launches longer runs of ops as one graph, in about the time of
  // so many launches.
  constexpr unsigned mostLaunched = 5;
  const SimulatedOp &op = ops[next];
  if (op.role != StreamRole::Compute) {
    numLaunched = 0;
    if (op.role == StreamRole::Start && op.costNs > 0)
      hostNs = addNs(hostNs, machine->hostStartNs);
  } else if (op.costNs > 0 && !op.leastNs && numLaunched < mostLaunched) {
    ++numLaunched;
    hostNs = addNs(hostNs, machine->hostLaunchNs);
  }
}

void ContentionMachine::reset() {
  nowNs = hostNs = 0;
  numLaunched = 0;
  next = none;
  state = StreamState::Free;
  for (Lane &lane : lanes) {
    lane.issued.clear();
    lane.first = 0;
  }
  running.clear();
  progress.clear();
  waiting.clear();
  launching.clear();
  ratesAreValid = false;
}

void ContentionMachine::issue(unsigned op) {
  next = op;
  advanceHost();
  advanceStream();
  while (next != none) {
    advanceTime();
    advanceStream();
  }
}

void ContentionMachine::drain() {
  while (!running.empty() || !launching.empty())
    advanceTime();
}

void ContentionMachine::simulate(ArrayRef<unsigned> order) {
  reset();
  for (unsigned op : order)
    issue(op);
  drain();
}

unsigned ContentionMachine::getNumInFlight() const {
  unsigned count = 0;
  for (const Lane &lane : lanes)
    count += lane.getInFlight().size();
  return count;
}

void ContentionMachine::visitInFlight(
    ArrayRef<int64_t> costNs,
    function_ref<void(unsigned, int64_t)> visit) const {
  for (auto [op, current] : zip_equal(running, progress)) {
    if (op.lane < 0)
      continue;
    int64_t leftNs = current.slowed ? int64_t(current.leftNs)
                                    : op.costNs - (nowNs - current.startNs);
    int64_t endNs = nowNs + std::max<int64_t>(leftNs, 0);
    visit(current.op, endNs);
    for (unsigned start : lanes[op.lane].getInFlight().drop_front()) {
      endNs += costNs[start];
      visit(start, endNs);
    }
  }
  auto visitLane = [&](unsigned lane, int64_t endNs) {
    for (unsigned start : lanes[lane].getInFlight()) {
      endNs += costNs[start];
      visit(start, endNs);
    }
  };
  for (const Waiting &current : waiting)
    visitLane(current.lane, nowNs);
  for (const Launching &current : launching)
    visitLane(current.lane, current.asksNs);
}

bool ContentionMachine::isShiftOf(const ContentionMachine &other) const {
  if (running.size() != other.running.size())
    return false;
  // A host that is ahead of both streams may fall behind later: the search
  // simulates what it has found once more.
  if ((hostNs > nowNs || other.hostNs > other.nowNs) &&
      hostNs - nowNs != other.hostNs - other.nowNs)
    return false;
  for (auto [mine, its] : zip_equal(progress, other.progress))
    if (mine.op != its.op || mine.slowed != its.slowed ||
        nowNs - mine.startNs != other.nowNs - its.startNs ||
        (mine.slowed && mine.leftNs != its.leftNs))
      return false;
  // A lane with something in flight runs it, or waits with it.
  auto hasSame = [&](unsigned lane) {
    return lanes[lane].getInFlight() == other.lanes[lane].getInFlight();
  };
  for (const RunningOp &op : running)
    if (op.lane >= 0 && !hasSame(op.lane))
      return false;
  if (waiting.size() != other.waiting.size())
    return false;
  for (auto [mine, its] : zip_equal(waiting, other.waiting))
    if (mine.op != its.op || mine.readyClock != its.readyClock ||
        !hasSame(mine.lane))
      return false;
  if (launching.size() != other.launching.size())
    return false;
  for (auto [mine, its] : zip_equal(launching, other.launching))
    if (mine.op != its.op || mine.asksNs - nowNs != its.asksNs - other.nowNs ||
        !hasSame(mine.lane))
      return false;
  unsigned onStream = findOnStream();
  return onStream == none || !isPersistent(progress[onStream].op) ||
         kernel.getJoined() == other.kernel.getJoined();
}

void ContentionMachine::appendState(std::vector<int64_t> &state) const {
  // A host that will have issued all ops by now delays none of them.
  if (nowNs < allIssuedNs) {
    state.push_back(hostNs - nowNs);
    state.push_back(numLaunched);
  }
  for (auto [op, current] : zip_equal(running, progress)) {
    state.push_back(current.op);
    state.push_back(current.startNs - nowNs);
    state.push_back(current.slowed ? llvm::bit_cast<int64_t>(current.leftNs)
                                   : -1);
  }
  if (unsigned onStream = findOnStream();
      onStream != none && isPersistent(progress[onStream].op))
    for (const PersistentKernel::Blocks &blocks : kernel.getJoined()) {
      state.push_back(llvm::bit_cast<int64_t>(blocks.clock));
      state.push_back(blocks.count);
    }
  for (const Waiting &current : waiting) {
    state.push_back(current.op);
    state.push_back(llvm::bit_cast<int64_t>(current.readyClock));
  }
  for (const Launching &current : launching) {
    state.push_back(current.op);
    state.push_back(current.asksNs - nowNs);
  }
  // What runs, waits or is launched is the first of its lane.
  for (const Lane &lane : lanes) {
    state.push_back(-1);
    state.insert(state.end(), lane.getInFlight().begin(),
                 lane.getInFlight().end());
  }
}

void braid::simulateWithContention(ArrayRef<SimulatedOp> ops,
                                   const MachineModel &machine,
                                   MutableArrayRef<SimulatedTimes> times) {
  ContentionMachine simulated(ops, machine, times);
  for (unsigned op = 0, size = ops.size(); op != size; ++op)
    simulated.issue(op);
  simulated.drain();
}
