//===- ContentionQueue.cpp - Ops that queue for multiprocessors -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the machine that hands out multiprocessors one after the other.
// PersistentKernel.h has the rules.
//
//===----------------------------------------------------------------------===//

#include "ContentionSimulator.h"
#include "braid/Support/Units.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace braid;

unsigned ContentionMachine::findOnStream() const {
  for (unsigned i = 0, size = running.size(); i != size; ++i)
    if (running[i].lane < 0)
      return i;
  return none;
}

int64_t ContentionMachine::getHeldByLanes() const {
  int64_t held = 0;
  for (const RunningOp &op : running)
    if (op.lane >= 0)
      held += getHeldMultiprocessors(*op.demand, *machine);
  return held;
}

int64_t ContentionMachine::getFreeForKernel(int64_t held) const {
  int64_t single = 0, clustered = 0;
  for (const RunningOp &op : running)
    if (op.lane >= 0)
      (op.demand->clusterSize > 1 ? clustered : single) +=
          getHeldMultiprocessors(*op.demand, *machine);
  return machine->multiprocessors - getTakenFromPairs(*machine, single) -
         clustered - held;
}

bool ContentionMachine::hasRoomOnStream() const {
  if (!machine->isQueued())
    return true;
  const ResourceDemand &demand = ops[next].demand;
  // Bodies are simulated on their own.
  if (demand.arithmeticNs == 0 && demand.memoryBytes == 0)
    return true;
  return waiting.empty() && getHeldByLanes() < machine->multiprocessors;
}

double ContentionMachine::getClock(const Progress &current) const {
  if (!current.slowed)
    return double(nowNs - current.startNs);
  double costNs = isPersistent(current.op) ? kernel.getEnd()
                                           : double(ops[current.op].costNs);
  return costNs - current.leftNs;
}

bool ContentionMachine::hasRoomOnLane(unsigned op, double readyClock) const {
  int64_t free = machine->multiprocessors - getHeldByLanes();
  unsigned onStream = findOnStream();
  bool isCrowded = onStream != none && isPersistent(progress[onStream].op);
  if (isCrowded)
    free -= kernel.getHeld(getClock(progress[onStream]));
  else if (onStream != none &&
           getClock(progress[onStream]) + PersistentKernel::tolerance <
               readyClock)
    return false;
  return free >= getNeededMultiprocessors(ops[op].demand, *machine, isCrowded);
}

void ContentionMachine::launch(unsigned op, unsigned lane) {
  if (machine->laneLaunchNs == 0) {
    waitForRoom(op, lane);
    return;
  }
  times[op].waitedNs = 0;
  times[op].heldBy = std::nullopt;
  launching.push_back({op, lane, addNs(nowNs, machine->laneLaunchNs)});
}

void ContentionMachine::askForRoom() {
  while (!launching.empty() && launching.front().asksNs <= nowNs) {
    Launching first = launching.front();
    launching.erase(launching.begin());
    waitForRoom(first.op, first.lane);
  }
}

void ContentionMachine::waitForRoom(unsigned op, unsigned lane) {
  double readyClock = 0;
  unsigned onStream = findOnStream();
  if (onStream != none && !isPersistent(progress[onStream].op)) {
    const SimulatedOp &compute = ops[progress[onStream].op];
    if (compute.demand.tiles > 0) {
      double waveNs =
          double(compute.costNs) /
          double(llvm::divideCeil(uint64_t(compute.demand.tiles),
                                  uint64_t(machine->multiprocessors)));
      double waves =
          (getClock(progress[onStream]) - PersistentKernel::tolerance) / waveNs;
      readyClock = std::max(std::ceil(waves), 0.0) * waveNs;
    }
  }
  times[op].waitedNs = 0;
  times[op].heldBy = std::nullopt;
  if (waiting.empty() && hasRoomOnLane(op, readyClock)) {
    run(op, lane);
    return;
  }
  // Named is who holds most.
  int64_t most = 0;
  for (auto [other, current] : llvm::zip_equal(running, progress)) {
    int64_t held = getHeldMultiprocessors(*other.demand, *machine);
    if (other.lane < 0)
      held = isPersistent(current.op) ? kernel.getHeld(getClock(current))
                                      : machine->multiprocessors;
    if (held > most) {
      most = held;
      times[op].heldBy = current.op;
    }
  }
  waiting.push_back({op, lane, nowNs, readyClock});
}

void ContentionMachine::serveWaiting() {
  while (!waiting.empty() &&
         hasRoomOnLane(waiting.front().op, waiting.front().readyClock)) {
    Waiting first = waiting.front();
    waiting.erase(waiting.begin());
    times[first.op].waitedNs = nowNs - first.sinceNs;
    run(first.op, first.lane);
  }
  unsigned onStream = findOnStream();
  if (!waiting.empty() || onStream == none ||
      !isPersistent(progress[onStream].op))
    return;
  Progress &current = progress[onStream];
  double clock = getClock(current);
  int64_t free = getFreeForKernel(kernel.getHeld(clock));
  if (free <= 0 || kernel.getPending(clock) == 0)
    return;
  kernel.join(free, clock);
  current.slowed = true;
  current.leftNs = kernel.getEnd() - clock;
}

int64_t ContentionMachine::getNextLeaveNs() const {
  constexpr int64_t never = std::numeric_limits<int64_t>::max();
  unsigned onStream = findOnStream();
  if (onStream == none)
    return never;
  double clock = getClock(progress[onStream]);
  std::optional<double> leave;
  if (isPersistent(progress[onStream].op))
    leave = kernel.getNextLeave(clock);
  else if (waiting.front().readyClock > clock + PersistentKernel::tolerance)
    leave = waiting.front().readyClock;
  if (!leave)
    return never;
  // As an op's end is rounded.
  double leftNs = std::ceil(
      std::max((*leave - clock) / running[onStream].rate - 1.0 / 1024, 0.0));
  if (leftNs >= double(never))
    return never;
  return addNs(nowNs, int64_t(leftNs));
}
