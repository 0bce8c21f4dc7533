//===- LatencyHidingLimits.cpp - Operations in flight ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LatencyHidingLimits.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace llvm;

BackwardMemory::BackwardMemory(const SchedulingProblem &problem)
    : buffers(problem.buffers), lists(problem),
      transientBytes(problem.graph.size(), 0), live(problem.liveBytes) {
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    missing.push_back(lists.usersOf[index].size());
    if (buffer.escapes)
      live = addNs(live, buffer.bytes);
  }
  for (auto [node, bytes] : problem.transientBytes)
    transientBytes[node] = bytes;
  peak = live;
}

std::pair<int64_t, int64_t> BackwardMemory::getEffect(unsigned node) const {
  int64_t most = live, after = 0;
  for (unsigned index : lists.buffersOf[node]) {
    const GraphBuffer &buffer = buffers[index];
    if (!buffer.escapes && missing[index] == lists.usersOf[index].size())
      most = addNs(most, buffer.bytes);
    if (missing[index] == 1)
      after = addNs(after, buffer.bytes);
  }
  return {subtractNs(most, after) - live, addNs(most, transientBytes[node])};
}

void BackwardMemory::place(unsigned node) {
  auto [added, most] = getEffect(node);
  live += added;
  peak = std::max(peak, most);
  for (unsigned index : lists.buffersOf[node])
    --missing[index];
}

InFlightLimits::InFlightLimits(const SchedulingProblem &problem,
                               const LatencyHidingOptions &options,
                               const AwaitLists &awaits)
    : graph(problem.graph), awaits(awaits), maxInFlight(problem.maxInFlight),
      missing(graph.size(), 0), isBusy(graph.size(), false) {
  kinds[false].limit = options.overlapLimit;
  kinds[true].limit = options.pointToPointLimit;
  for (unsigned start : graph.starts()) {
    const ScheduleNode &info = graph[start];
    if (static_cast<size_t>(info.lane) >= lanes.size())
      lanes.resize(info.lane + 1);
    Lane &lane = lanes[info.lane];
    lane.starts.push_back(start);
    lane.isPointToPoint = info.pointToPoint;
    getKind(lane).starts.push_back(start);
    missing[start] = awaits.awaiters[start].size();
  }
  auto orderSequence = [&](Sequence &sequence) {
    const std::vector<unsigned> &starts = sequence.starts;
    sequence.numIdle = starts.size();
    sequence.isOrdered = starts.size() > 1;
    for (size_t i = 1; i < starts.size(); ++i)
      sequence.isOrdered &=
          problem.keepOrderOfStarts || graph.hasEdge(starts[i - 1], starts[i]);
    ordered |= sequence.isOrdered;
  };
  for_each(lanes, orderSequence);
  for_each(kinds, orderSequence);
  for (auto [a, b] : options.exclusiveLanes) {
    if (a == b || static_cast<size_t>(std::max(a, b)) >= lanes.size())
      continue;
    lanes[a].exclusive.push_back(b);
    lanes[b].exclusive.push_back(a);
  }
  for (unsigned start : graph.starts())
    if (missing[start] == 0)
      setInFlight(start);
}

void InFlightLimits::setInFlight(unsigned start) {
  Lane &lane = lanes[graph[start].lane];
  ++lane.inFlight;
  ++getKind(lane).inFlight;
  isBusy[start] = true;
  skipBusy(lane);
  skipBusy(getKind(lane));
}

void InFlightLimits::skipBusy(Sequence &sequence) const {
  while (sequence.numIdle != 0 && isBusy[sequence.starts[sequence.numIdle - 1]])
    --sequence.numIdle;
}

void InFlightLimits::place(unsigned node) {
  for (unsigned start : awaits.awaited[node])
    if (--missing[start] == 0)
      setInFlight(start);
  if (graph[node].kind != NodeKind::Start)
    return;
  Lane &lane = lanes[graph[node].lane];
  --lane.inFlight;
  --getKind(lane).inFlight;
}

void InFlightLimits::changeQueue(unsigned node, int change) {
  for (unsigned start : awaits.awaited[node]) {
    Lane &lane = lanes[graph[start].lane];
    lane.queued += change;
    getKind(lane).queued += change;
  }
}

bool InFlightLimits::isExcluded(const Lane &lane) const {
  return any_of(lane.exclusive,
                [&](unsigned other) { return lanes[other].inFlight != 0; });
}

bool InFlightLimits::isBackedUp(unsigned start) const {
  const Lane &lane = lanes[graph[start].lane];
  const Kind &kind = getKind(lane);
  if (kind.limit != 0 && kind.inFlight >= kind.limit && kind.queued != 0)
    return true;
  bool isFull = !lane.isPointToPoint ||
                (maxInFlight != 0 && lane.inFlight >= maxInFlight);
  return (isFull && lane.queued != 0) ||
         any_of(lane.exclusive,
                [&](unsigned other) { return lanes[other].queued != 0; });
}

bool InFlightLimits::hasRoomForStart(unsigned start,
                                     ArrayRef<unsigned> together,
                                     Level level) const {
  const Lane &lane = lanes[graph[start].lane];
  const Kind &kind = getKind(lane);
  unsigned inLane = lane.inFlight + lane.getPlacesNeeded(start);
  unsigned inKind = kind.inFlight + kind.getPlacesNeeded(start);
  for (unsigned other : together) {
    const Lane &otherLane = lanes[graph[other].lane];
    inLane += &otherLane == &lane;
    inKind += otherLane.isPointToPoint == lane.isPointToPoint;
    if (level == Level::All &&
        is_contained(lane.exclusive, unsigned(graph[other].lane)))
      return false;
  }
  auto fits = [](unsigned inFlight, unsigned limit) {
    return limit == 0 || inFlight <= limit;
  };
  if (!fits(inLane, maxInFlight))
    return false;
  if (level == Level::OfProblem)
    return true;
  return fits(inLane, lane.isPointToPoint ? 0 : 1) &&
         fits(inKind, kind.limit) && !isExcluded(lane);
}

bool InFlightLimits::hasRoom(unsigned node, Level level) const {
  if (level == Level::None)
    return true;
  SmallVector<unsigned, 2> together;
  for (unsigned start : awaits.awaited[node]) {
    if (missing[start] != 1)
      continue;
    if (!hasRoomForStart(start, together, level))
      return false;
    together.push_back(start);
  }
  return true;
}

SmallVector<unsigned> InFlightLimits::getNextStarts() const {
  SmallVector<unsigned> next;
  auto add = [&](const Sequence &sequence) {
    if (sequence.isOrdered && sequence.numIdle != 0)
      next.push_back(sequence.starts[sequence.numIdle - 1]);
  };
  for_each(lanes, add);
  for_each(kinds, add);
  return next;
}
