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

#include "braid/Schedule/Contention.h"
#include "braid/Schedule/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace braid;
using namespace llvm;

namespace {

/// An op that runs, and what is left of it.
struct Progress {
  unsigned op;
  int64_t startNs;
  /// Nanoseconds of its cost that are left; only kept once it was slowed.
  double leftNs;
  bool slowed;
};

class ContentionSimulator {
public:
  ContentionSimulator(ArrayRef<SimulatedOp> ops, const MachineModel &machine,
                      MutableArrayRef<SimulatedTimes> times)
      : ops(ops), machine(machine), times(times), ended(ops.size(), false) {}

  void play();

private:
  enum class StreamState { Free, Held, Launching, Running };

  /// Takes the stream as far as it gets without time passing.
  void advanceStream();
  /// Begins the stream's op `next`.
  void beginOnStream();
  void endOnStream();
  /// Begins what has come to the head of `lane`.
  void beginOnLane(unsigned lane);
  void run(unsigned op, int32_t lane);
  /// When `current` ends at `rate`.
  int64_t getEnd(const Progress &current, double rate) const;
  /// Lets time pass until the next event.
  void advanceTime();

  ArrayRef<SimulatedOp> ops;
  const MachineModel &machine;
  MutableArrayRef<SimulatedTimes> times;

  int64_t nowNs = 0;
  std::vector<bool> ended;

  /// The op that the stream has come to.
  unsigned next = 0;
  StreamState state = StreamState::Free;
  /// The first of the starts that it awaits which may not have ended.
  unsigned nextAwaited = 0;
  int64_t launchedNs = 0;

  /// The starts of a lane that are issued; those before `first` have ended, and
  /// `first` runs.
  struct Lane {
    std::vector<unsigned> issued;
    size_t first = 0;
  };
  std::vector<Lane> lanes;

  /// What runs: the parts that the rates depend on, and beside each its
  /// progress.
  std::vector<RunningOp> running;
  std::vector<Progress> progress;
  /// Rates hold until something begins or ends.
  bool ratesAreValid = false;
  std::vector<double> linkDemand;
};

} // namespace

void ContentionSimulator::run(unsigned op, int32_t lane) {
  times[op].startNs = nowNs;
  running.push_back({ops[op].costNs, &ops[op].demand, lane});
  progress.push_back({op, nowNs, 0, false});
  ratesAreValid = false;
}

void ContentionSimulator::beginOnLane(unsigned lane) {
  Lane &queue = lanes[lane];
  while (queue.first != queue.issued.size()) {
    unsigned op = queue.issued[queue.first];
    if (ops[op].costNs > 0) {
      run(op, lane);
      return;
    }
    times[op].startNs = times[op].endNs = nowNs;
    ended[op] = true;
    ++queue.first;
  }
}

void ContentionSimulator::endOnStream() {
  times[next].endNs = nowNs;
  ended[next++] = true;
  state = StreamState::Free;
}

void ContentionSimulator::beginOnStream() {
  state = StreamState::Running;
  run(next, /*lane=*/-1);
  // A wait is shown from the moment that it holds the stream.
  if (ops[next].role == StreamRole::Wait)
    times[next].startNs = times[next].issuedNs;
}

void ContentionSimulator::advanceStream() {
  while (next != ops.size()) {
    const SimulatedOp &op = ops[next];
    switch (state) {
    case StreamState::Running:
      return;
    case StreamState::Launching:
      if (nowNs < launchedNs)
        return;
      beginOnStream();
      return;
    case StreamState::Free:
      times[next].issuedNs = nowNs;
      if (op.role == StreamRole::Start) {
        if (op.lane >= lanes.size())
          lanes.resize(op.lane + 1);
        Lane &lane = lanes[op.lane];
        bool isFree = lane.first == lane.issued.size();
        lane.issued.push_back(next++);
        if (isFree)
          beginOnLane(op.lane);
        continue;
      }
      nextAwaited = 0;
      state = StreamState::Held;
      [[fallthrough]];
    case StreamState::Held:
      while (nextAwaited != op.awaits.size() && ended[op.awaits[nextAwaited]])
        ++nextAwaited;
      if (nextAwaited != op.awaits.size())
        return;
      if (op.costNs == 0) {
        times[next].startNs =
            op.role == StreamRole::Wait ? times[next].issuedNs : nowNs;
        endOnStream();
        continue;
      }
      if (machine.launchNs == 0) {
        beginOnStream();
        return;
      }
      launchedNs = addNs(nowNs, machine.launchNs);
      state = StreamState::Launching;
      return;
    }
  }
}

int64_t ContentionSimulator::getEnd(const Progress &current,
                                    double rate) const {
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

void ContentionSimulator::advanceTime() {
  if (!ratesAreValid)
    shareMachine(running, machine, linkDemand);
  ratesAreValid = true;

  int64_t eventNs = std::numeric_limits<int64_t>::max();
  if (state == StreamState::Launching)
    eventNs = launchedNs;
  for (auto [op, current] : zip_equal(running, progress))
    eventNs = std::min(eventNs, getEnd(current, op.rate));

  size_t kept = 0;
  SmallVector<unsigned> lanesFreed;
  bool streamEnded = false;
  for (size_t i = 0, size = running.size(); i != size; ++i) {
    RunningOp &op = running[i];
    Progress &current = progress[i];
    if (getEnd(current, op.rate) == eventNs) {
      if (op.lane < 0) {
        streamEnded = true;
        continue;
      }
      times[current.op].endNs = eventNs;
      ended[current.op] = true;
      ++lanes[op.lane].first;
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
  for (unsigned lane : lanesFreed)
    beginOnLane(lane);
}

void ContentionSimulator::play() {
  advanceStream();
  while (!running.empty() || state == StreamState::Launching) {
    advanceTime();
    advanceStream();
  }
}

void braid::playWithContention(ArrayRef<SimulatedOp> ops,
                               const MachineModel &machine,
                               MutableArrayRef<SimulatedTimes> times) {
  ContentionSimulator(ops, machine, times).play();
}
