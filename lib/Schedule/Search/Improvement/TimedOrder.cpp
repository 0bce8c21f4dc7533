//===- TimedOrder.cpp - An order with its times from both ends ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TimedOrder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace braid;

void OrderLimits::assign(llvm::ArrayRef<unsigned> newOrder,
                         llvm::ArrayRef<unsigned> newPlace) {
  if (!flat.hasLimits())
    return;
  order = newOrder;
  place = newPlace;
  liveBytes.assign(order.size() + 1, flat.liveBytes);
  if (flat.maxInFlight != 0)
    inFlight.assign((order.size() + 1) * flat.numLanes, 0);
  update(0, order.size());
}

void OrderLimits::enter(unsigned begin, llvm::ArrayRef<unsigned> nodes) {
  tracker.enter(nodes, liveBytes[begin],
                [&](unsigned node) { return place[node] < begin; });
  if (flat.maxInFlight != 0)
    tracker.setInFlight(getInFlight(begin));
}

void OrderLimits::update(unsigned begin, unsigned end) {
  if (!flat.hasLimits())
    return;
  enter(begin, order.slice(begin, end - begin));
  for (unsigned where = begin; where != end; ++where) {
    tracker.place(order[where]);
    liveBytes[where + 1] = tracker.getLiveBytes();
    if (flat.maxInFlight != 0)
      llvm::copy(tracker.getInFlight(),
                 inFlight.begin() + size_t(where + 1) * flat.numLanes);
  }
}

bool OrderLimits::keeps(unsigned begin, llvm::ArrayRef<unsigned> nodes) {
  if (!flat.hasLimits())
    return true;
  enter(begin, nodes);
  for (unsigned node : nodes) {
    if (!tracker.fits(node))
      return false;
    tracker.place(node);
  }
  return true;
}

TimedOrder::TimedOrder(const FlatProblem &flat)
    : flat(flat), place(flat.size()), streamNs(flat.size() + 1),
      streamTailNs(flat.size() + 1), endNs(flat.size()), endTailNs(flat.size()),
      previous(flat.size()), next(flat.size()), laneNs(flat.numLanes),
      newEndNs(flat.size()), outerTailNs(flat.size()),
      lastOnLane(flat.numLanes), limits(flat) {}

void TimedOrder::assign(llvm::ArrayRef<unsigned> newOrder) {
  order.assign(newOrder.begin(), newOrder.end());
  unsigned size = order.size();
  for (unsigned where = 0; where != size; ++where)
    place[order[where]] = where;
  std::fill(lastOnLane.begin(), lastOnLane.end(), size);
  for (unsigned node : order) {
    if (!flat.isStart(node))
      continue;
    unsigned &last = lastOnLane[flat.lane[node]];
    previous[node] = last;
    next[node] = size;
    if (last != size)
      next[last] = node;
    last = node;
  }
  streamTailNs[size] = 0;
  streamNs[0] = 0;
  // Nothing is known yet, so everything changes.
  simulateForward(0, size);
  simulateBackward(0, size, 0);
  limits.assign(order, place);
}

void TimedOrder::replace(unsigned begin, llvm::ArrayRef<unsigned> nodes) {
  unsigned end = begin + nodes.size();
  std::copy(nodes.begin(), nodes.end(), order.begin() + begin);
  auto [first, last] = link(begin, end);
  simulateForward(begin, std::max(end, last + 1));
  simulateBackward(begin, end, std::min(begin, first));
  limits.update(begin, end);
}

void TimedOrder::permute(unsigned begin, llvm::ArrayRef<unsigned> nodes) {
  unsigned end = begin + nodes.size();
  std::copy(nodes.begin(), nodes.end(), order.begin() + begin);
  link(begin, end);
  limits.update(begin, end);
}

/// Updates places and neighbours on lanes after a change of the part from
/// `begin` to `end`.
std::pair<unsigned, unsigned> TimedOrder::link(unsigned begin, unsigned end) {
  unsigned size = order.size();
  // What stands before the part on each lane: of the part's starts in the old
  // order, the neighbour that is not in the part.
  auto isInside = [&](unsigned node) {
    return place[node] >= begin && place[node] < end;
  };
  struct Border {
    unsigned lane, before, after;
  };
  llvm::SmallVector<Border> borders;
  auto getBorder = [&](unsigned lane) -> Border & {
    for (Border &border : borders)
      if (border.lane == lane)
        return border;
    borders.push_back({lane, size, size});
    return borders.back();
  };
  for (unsigned node : llvm::ArrayRef(order).slice(begin, end - begin)) {
    if (!flat.isStart(node))
      continue;
    Border &border = getBorder(flat.lane[node]);
    if (previous[node] != size && !isInside(previous[node]))
      border.before = previous[node];
    if (next[node] != size && !isInside(next[node]))
      border.after = next[node];
  }
  for (const Border &border : borders)
    lastOnLane[border.lane] = border.before;
  for (unsigned where = begin; where != end; ++where) {
    unsigned node = order[where];
    place[node] = where;
    if (!flat.isStart(node))
      continue;
    unsigned &last = lastOnLane[flat.lane[node]];
    previous[node] = last;
    if (last != size)
      next[last] = node;
    last = node;
  }
  std::pair<unsigned, unsigned> changed = {begin, end};
  for (const Border &border : borders) {
    if (border.before != size)
      changed.first = std::min(changed.first, place[border.before]);
    unsigned last = lastOnLane[border.lane];
    next[last] = border.after;
    if (border.after == size)
      continue;
    previous[border.after] = last;
    changed.second = std::max(changed.second, place[border.after]);
  }
  return changed;
}

/// Times from `begin` on: all up to `reach`, and further until nothing changes.
void TimedOrder::simulateForward(unsigned begin, unsigned reach) {
  unsigned size = order.size();
  int64_t nowNs = streamNs[begin];
  for (unsigned where = begin; where != size; ++where) {
    if (where >= reach && nowNs == streamNs[where])
      return;
    ++steps;
    streamNs[where] = nowNs;
    unsigned node = order[where];
    if (!flat.isStart(node)) {
      for (unsigned start : flat.awaited[node])
        nowNs = std::max(nowNs, endNs[start]);
      nowNs += flat.cost[node];
      continue;
    }
    int64_t beginNs = nowNs;
    if (previous[node] != size)
      beginNs = std::max(beginNs, endNs[previous[node]]);
    int64_t newNs = beginNs + flat.cost[node];
    if (newNs == endNs[node])
      continue;
    endNs[node] = newNs;
    for (unsigned waiter : flat.awaiters[node])
      reach = std::max(reach, place[waiter] + 1);
    if (next[node] != size)
      reach = std::max(reach, place[next[node]] + 1);
  }
  streamNs[size] = nowNs;
}

int64_t TimedOrder::getAwaitedTail(unsigned start, unsigned from) const {
  int64_t tailNs = 0;
  for (unsigned waiter : flat.awaiters[start])
    if (place[waiter] >= from)
      tailNs =
          std::max(tailNs, flat.cost[waiter] + streamTailNs[place[waiter] + 1]);
  return tailNs;
}

/// Tails up to `end`: all from `reach` on, and before it until nothing changes.
/// What stands from `begin` on is new there.
void TimedOrder::simulateBackward(unsigned begin, unsigned end,
                                  unsigned reach) {
  unsigned size = order.size();
  for (unsigned where = end; where-- != 0;) {
    unsigned node = order[where];
    ++steps;
    int64_t tailNs = streamTailNs[where + 1];
    if (flat.isStart(node)) {
      int64_t endTail = getAwaitedTail(node, where);
      if (unsigned after = next[node]; after != size)
        endTail = std::max(endTail, flat.cost[after] + endTailNs[after]);
      if (endTail != endTailNs[node] && previous[node] != size)
        reach = std::min(reach, place[previous[node]]);
      endTailNs[node] = endTail;
      tailNs = std::max(tailNs, flat.cost[node] + endTail);
    } else {
      tailNs += flat.cost[node];
    }
    bool same = where < begin && tailNs == streamTailNs[where];
    streamTailNs[where] = tailNs;
    if (!same)
      for (unsigned start : flat.awaited[node])
        reach = std::min(reach, place[start]);
    if (where <= reach && same)
      return;
  }
}

ScheduleWindow TimedOrder::getWindow(unsigned begin, unsigned end) {
  unsigned size = order.size();
  ScheduleWindow window;
  window.nodes.assign(order.begin() + begin, order.begin() + end);
  window.begin = begin;
  window.streamNs = streamNs[begin];
  window.streamTailNs = streamTailNs[end];
  window.laneNs.assign(flat.numLanes, 0);
  window.laneTailNs.assign(flat.numLanes, 0);
  for (unsigned node : window.nodes) {
    if (!flat.isStart(node))
      continue;
    unsigned lane = flat.lane[node];
    if (previous[node] == size || place[previous[node]] < begin)
      window.laneNs[lane] = previous[node] == size ? 0 : endNs[previous[node]];
    if (unsigned after = next[node]; after != size && place[after] >= end)
      window.laneTailNs[lane] = flat.cost[after] + endTailNs[after];
    outerTailNs[node] = getAwaitedTail(node, end);
  }
  window.endNs = endNs;
  window.endTailNs = outerTailNs;
  window.position = place;
  if (flat.hasLimits())
    window.liveBytes = limits.getLiveBytes(begin);
  if (flat.maxInFlight != 0)
    window.inFlight = limits.getInFlight(begin);
  return window;
}

int64_t TimedOrder::evaluate(unsigned begin, llvm::ArrayRef<unsigned> nodes) {
  unsigned size = order.size(), end = begin + nodes.size();
  steps += nodes.size();
  // What the lanes that the part uses begin with and lead to.
  auto oldNodes = llvm::ArrayRef(order).slice(begin, nodes.size());
  for (unsigned node : oldNodes)
    if (flat.isStart(node) &&
        (previous[node] == size || place[previous[node]] < begin))
      laneNs[flat.lane[node]] =
          previous[node] == size ? 0 : endNs[previous[node]];

  int64_t nowNs = streamNs[begin], makespanNs = 0;
  for (unsigned node : nodes) {
    if (flat.isStart(node)) {
      int64_t &lane = laneNs[flat.lane[node]];
      lane = std::max(lane, nowNs) + flat.cost[node];
      newEndNs[node] = lane;
      makespanNs = std::max(makespanNs, lane + getAwaitedTail(node, end));
      continue;
    }
    for (unsigned start : flat.awaited[node])
      nowNs = std::max(nowNs,
                       place[start] >= begin ? newEndNs[start] : endNs[start]);
    nowNs += flat.cost[node];
  }
  for (unsigned node : oldNodes) {
    if (!flat.isStart(node))
      continue;
    unsigned after = next[node];
    if (after != size && place[after] < end)
      continue;
    int64_t laneTail = after == size ? 0 : flat.cost[after] + endTailNs[after];
    makespanNs = std::max(makespanNs, laneNs[flat.lane[node]] + laneTail);
  }
  return std::max(makespanNs, nowNs + streamTailNs[end]);
}

bool TimedOrder::keepsLimits(unsigned begin, llvm::ArrayRef<unsigned> nodes) {
  if (flat.hasLimits())
    steps += nodes.size();
  return limits.keeps(begin, nodes);
}
