//===- ContentionLocalSearch.cpp - Better orders where ops share ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContentionLocalSearch.h"

#include "StopRule.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <limits>

using namespace braid;

/// Measured: a node that a machine goes past, and the copy of the machine.
static constexpr unsigned stepsPerNode = 10;

/// After this many nodes, getGain estimates the rest of the difference.
static constexpr unsigned horizon = 300;

/// The most places that a node moves.
static constexpr unsigned maxReach = 700;

/// Rejects a move whose state has not reconverged after this many nodes between
/// its two ends.
static constexpr unsigned mostPassed = 64;

ContentionLocalSearch::ContentionLocalSearch(const FlatProblem &flat,
                                             SearchStatistics &statistics)
    : frozen(flat), statistics(statistics), ops(getOpsByNode(flat.problem)),
      times(flat.size()), timed(frozen),
      machines(2 * (horizon + maxReach),
               ContentionMachine(ops, flat.problem.machine, times, &pairs)),
      trial(machines.front()) {}

int64_t ContentionLocalSearch::simulate(llvm::ArrayRef<unsigned> order) {
  trial.simulate(order);
  steps += stepsPerNode * order.size();
  for (unsigned node : order) {
    int64_t beginNs = times[node].startNs;
    if (!frozen.isStart(node)) {
      beginNs = times[node].issuedNs;
      for (unsigned start : frozen.awaited[node])
        beginNs = std::max(beginNs, times[start].endNs);
    }
    frozen.cost[node] = times[node].endNs - beginNs;
  }
  return trial.getNowNs();
}

void ContentionLocalSearch::restore() {
  bestNs = simulate(best);
  timed.assign(best);
}

void ContentionLocalSearch::assign(llvm::ArrayRef<unsigned> order) {
  best.assign(order.begin(), order.end());
  restore();
}

void ContentionLocalSearch::beginSweep() {
  machines.front().reset();
  firstKnown = 0;
  endKnown = 1;
}

bool ContentionLocalSearch::endSweep() {
  swapped.assign(timed.getOrder().begin(), timed.getOrder().end());
  int64_t nowNs = simulate(swapped);
  timed.assign(swapped);
  if (nowNs >= bestNs)
    return false;
  bestNs = nowNs;
  best.assign(swapped.begin(), swapped.end());
  return true;
}

const ContentionMachine &ContentionLocalSearch::getPresent(unsigned place) {
  unsigned capacity = machines.size();
  for (; endKnown <= place; ++endKnown) {
    ContentionMachine &next = machines[endKnown % capacity];
    next = machines[(endKnown - 1) % capacity];
    next.issue(timed.getOrder()[endKnown - 1]);
    steps += stepsPerNode + next.getNumInFlight() / 16;
  }
  if (endKnown - firstKnown > capacity)
    firstKnown = endKnown - capacity;
  assert(place >= firstKnown && "sweeps do not go back");
  return machines[place % capacity];
}

void ContentionLocalSearch::change(unsigned begin,
                                   llvm::ArrayRef<unsigned> nodes) {
  timed.permute(begin, nodes);
  endKnown = std::min(endKnown, begin + 1);
}

int64_t ContentionLocalSearch::estimateEnd(const ContentionMachine &machine,
                                           unsigned place) {
  unsigned size = frozen.size();
  steps += machine.getNumInFlight();
  int64_t lastNs = machine.getNowNs() + timed.getStreamTailNs(place);
  // The operations of a lane are neighbours.
  unsigned last = size;
  int64_t laneNs = 0;
  auto endLane = [&] {
    if (last == size)
      return;
    // The next of the lane that is still to come.
    unsigned next = timed.getNextOnLane(last);
    while (next != size && timed.getPlace(next) < place)
      next = timed.getNextOnLane(next);
    if (next != size)
      lastNs = std::max(lastNs,
                        laneNs + frozen.cost[next] + timed.getEndTailNs(next));
  };
  machine.visitInFlight(frozen.cost, [&](unsigned start, int64_t endNs) {
    if (last != size && frozen.lane[last] != frozen.lane[start])
      endLane();
    last = start;
    laneNs = endNs;
    lastNs = std::max(lastNs, endNs + timed.getAwaitedTail(start, place));
  });
  endLane();
  return lastNs;
}

int64_t ContentionLocalSearch::getGain(ContentionMachine &machine,
                                       unsigned place) {
  unsigned end = std::min(place + horizon, frozen.size());
  for (; !machine.isShiftOf(getPresent(place)); ++place) {
    if (place == frozen.size()) {
      ContentionMachine present = getPresent(place);
      present.drain();
      machine.drain();
      return present.getNowNs() - machine.getNowNs();
    }
    if (place == end)
      return estimateEnd(getPresent(place), place) -
             estimateEnd(machine, place);
    machine.issue(timed.getOrder()[place]);
    steps += stepsPerNode;
  }
  return getPresent(place).getNowNs() - machine.getNowNs();
}

bool ContentionLocalSearch::isLegal(const Move &move) const {
  auto isBetween = [&](unsigned node, unsigned first, unsigned last) {
    return timed.getPlace(node) >= first && timed.getPlace(node) < last;
  };
  return llvm::none_of(
      timed.getOrder().slice(move.begin, move.end - move.begin),
      [&](unsigned node) {
        if (move.isUp())
          return llvm::any_of(frozen.predecessors[node], [&](unsigned other) {
            return isBetween(other, move.to, move.begin);
          });
        return llvm::any_of(frozen.successors[node], [&](unsigned other) {
          return isBetween(other, move.end, move.to);
        });
      });
}

int64_t ContentionLocalSearch::getGain(const Move &move) {
  llvm::ArrayRef<unsigned> order = timed.getOrder();
  auto issue = [&](unsigned first, unsigned last) {
    for (unsigned node : order.slice(first, last - first))
      trial.issue(node);
    steps += stepsPerNode * (last - first);
  };
  trial = getPresent(move.first());
  if (move.isUp())
    issue(move.begin, move.end);
  // What the block goes past.
  unsigned place = move.isUp() ? move.to : move.end;
  unsigned last = move.isUp() ? move.begin : move.to;
  unsigned giveUp = place + mostPassed;
  int64_t gainNs = 0;
  for (; place != last; ++place) {
    const ContentionMachine &present = getPresent(place);
    if (trial.isShiftOf(present)) {
      gainNs = present.getNowNs() - trial.getNowNs();
      trial = getPresent(last);
      break;
    }
    if (place == giveUp)
      return std::numeric_limits<int64_t>::min();
    issue(place, place + 1);
  }
  if (!move.isUp())
    issue(move.begin, move.end);
  return gainNs + getGain(trial, move.last());
}

void ContentionLocalSearch::tryMove(const Move &move, int64_t toleranceNs) {
  steps += 2 + move.end - move.begin;
  if (!isLegal(move))
    return;
  auto getMoved = [&] {
    auto nodes =
        timed.getOrder().slice(move.first(), move.last() - move.first());
    swapped.assign(nodes.begin(), nodes.end());
    unsigned middle = move.isUp() ? move.begin : move.end;
    std::rotate(swapped.begin(), swapped.begin() + (middle - move.first()),
                swapped.end());
  };
  if (frozen.hasLimits()) {
    getMoved();
    if (!timed.keepsLimits(move.first(), swapped))
      return;
  }
  ++statistics.movesTried;
  if (getGain(move) < -toleranceNs)
    return;
  ++statistics.movesMade;
  getMoved();
  steps += swapped.size() / 4;
  change(move.first(), swapped);
}

bool ContentionLocalSearch::anneal(int64_t toleranceNs, int64_t targetNs,
                                   uint64_t maxSteps, std::mt19937_64 &engine) {
  unsigned size = frozen.size();
  int64_t beforeNs = bestNs;
  uint64_t firstStep = getSteps(), spent = 0;
  // Far moves, and those of several nodes, are rare.
  constexpr unsigned reaches[] = {2, 8, 32, 128, maxReach};
  constexpr unsigned lengths[] = {1, 1, 1, 4};
  constexpr unsigned triesEach = 4;
  while (spent < maxSteps && bestNs > targetNs) {
    beginSweep();
    for (unsigned place = 1; place < size && spent < maxSteps; ++place) {
      spent = isStopped() ? maxSteps : getSteps() - firstStep;
      // Halves eight times.
      int64_t mostNs =
          toleranceNs >>
          std::min<uint64_t>(8 * spent / std::max<uint64_t>(maxSteps, 1), 63);
      for (unsigned i = 0; i != triesEach; ++i) {
        unsigned reach =
            std::min(reaches[engine() % std::size(reaches)], place);
        unsigned length = lengths[engine() % std::size(lengths)];
        length = 1 + engine() % std::min(length, reach);
        bool isUp = engine() % 2;
        // No further than to here, where the machine is known.
        unsigned distance = 1 + engine() % reach;
        Move move;
        if (isUp)
          move = {place, std::min(place + length, size), place - distance};
        else
          move = {place - distance,
                  place - distance + std::min(length, distance), place + 1};
        tryMove(move, int64_t(engine() % uint64_t(mostNs + 1)));
      }
    }
    endSweep();
  }
  restore();
  return bestNs < beforeNs;
}

void ContentionLocalSearch::improve(const SearchParts &options,
                                    int64_t targetNs, uint64_t maxSteps,
                                    std::mt19937_64 &engine) {
  // Sums of all that nodes take must not overflow.
  if (bestNs > std::numeric_limits<int64_t>::max() / 1024)
    return;
  stop = options.stop;
  uint64_t lastStep = getSteps() + maxSteps;
  auto getLeft = [&] {
    return isStopped() ? 0 : lastStep - std::min(lastStep, getSteps());
  };
  auto isDone = [&] { return bestNs <= targetNs || getLeft() == 0; };
  int64_t workNs = 0;
  for (unsigned node = 0, end = frozen.size(); node != end; ++node)
    workNs += frozen.cost[node];
  // Uphill moves pay off only after several sweeps.
  constexpr uint64_t fewStepsPerNode = 3'000;
  int64_t toleranceNs = maxSteps < fewStepsPerNode * frozen.size()
                            ? 0
                            : workNs / frozen.size() / 16;
  if (!isDone())
    anneal(toleranceNs, targetNs, maxSteps / 4 * 3, engine);
  if (!isDone())
    anneal(toleranceNs / 16, targetNs, getLeft(), engine);
}

void ContentionLocalSearch::improveBestOf(
    std::vector<std::pair<int64_t, ScheduleOrder>> &starts,
    const SearchParts &options, int64_t targetNs, uint64_t maxSteps,
    std::mt19937_64 &engine) {
  // The shortest start often does not become the shortest order: successive
  // halving drops the worse half of the starts after each round.
  assert(!starts.empty() && "nothing to improve");
  uint64_t lastStep = getSteps() + maxSteps;
  auto getLeft = [&] { return lastStep - std::min(lastStep, getSteps()); };
  llvm::sort(starts);
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  // Skips successive halving if a start would get too few steps.
  constexpr unsigned leastStepsPerNode = 200;
  if (maxSteps / 32 < uint64_t(leastStepsPerNode) * frozen.size())
    starts.resize(1);
  for (uint64_t steps = maxSteps / 32; starts.size() > 1; steps *= 2) {
    for (auto &[makespanNs, order] : starts) {
      assign(order);
      improve(options, targetNs, std::min(steps, getLeft()), engine);
      makespanNs = bestNs;
      order = best;
      if (bestNs <= targetNs)
        return;
    }
    llvm::sort(starts);
    starts.resize(starts.size() > 2 ? starts.size() / 2 : 1);
  }
  assign(starts.front().second);
  if (options.effort == SearchEffort::High) {
    improve(options, targetNs, getLeft(), engine);
    return;
  }
  // Rounds of twice the steps each, until one of them does not pay.
  StopRule stopRule(1);
  stopRule.begin(0, bestNs);
  uint64_t round = 1;
  do {
    improve(options, targetNs, std::min(round * (maxSteps / 8), getLeft()),
            engine);
    round *= 2;
  } while (bestNs > targetNs && getLeft() != 0 &&
           !stopRule.shouldStop(round - 1, bestNs));
}
