//===- MovableOrder.cpp - An order that changes swap by swap --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/Inductor/MovableOrder.h"

#include "Schedule/Model/LimitTracker.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <limits>

using namespace braid;
using namespace llvm;

/// The most bytes that one buffer may count for, so that no sum overflows.
static int64_t getLargestBytes(const SchedulingProblem &problem) {
  int64_t total = problem.liveBytes;
  for (const GraphBuffer &buffer : problem.buffers)
    total = addNs(total, buffer.bytes);
  for (auto [node, bytes] : problem.transientBytes)
    total = addNs(total, bytes);
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  if (total != largest)
    return largest;
  return largest / (problem.buffers.size() + problem.transientBytes.size() + 1);
}

MovableOrder::MovableOrder(const SchedulingProblem &problem,
                           ArrayRef<unsigned> order)
    : problem(problem), graph(problem.graph), lists(problem) {
  unsigned numNodes = graph.size();
  assert(order.size() == numNodes && "an order has all nodes");
  previous.assign(numNodes, none);
  next.assign(numNodes, none);
  std::vector<unsigned> position(numNodes);
  for (auto [index, node] : llvm::enumerate(order))
    position[node] = index;
  for (unsigned index = 1; index < numNodes; ++index) {
    previous[order[index]] = order[index - 1];
    next[order[index - 1]] = order[index];
  }
  if (numNodes != 0)
    first = order.front();

  findBuffers(position);
  bytesBefore.resize(numNodes);
  int64_t live = std::min(problem.liveBytes, getLargestBytes(problem));
  for (unsigned node : order) {
    bytesBefore[node] = live;
    live += delta(node);
  }
  endBytes = live;

  memberOf.assign(numNodes, 0);
  neededBy.assign(numNodes, 0);
  dependentOn.assign(numNodes, 0);
  usedBy.assign(problem.buffers.size(), 0);
  if (problem.maxInFlight != 0)
    countInFlight(order);
}

void MovableOrder::findBuffers(ArrayRef<unsigned> position) {
  unsigned numNodes = graph.size();
  allocated.assign(numNodes, 0);
  transient.assign(numNodes, 0);
  freed.assign(numNodes, 0);
  int64_t largest = getLargestBytes(problem);
  for (const GraphBuffer &buffer : problem.buffers) {
    bytesOf.push_back(std::min(buffer.bytes, largest));
    auto isEarlier = [&](unsigned a, unsigned b) {
      return position[a] < position[b];
    };
    auto [begin, end] = std::minmax_element(buffer.users.begin(),
                                            buffer.users.end(), isEarlier);
    firstUser.push_back(*begin);
    lastUser.push_back(*end);
    allocated[*begin] += bytesOf.back();
    if (!buffer.escapes)
      freed[*end] += bytesOf.back();
  }
  for (auto [node, bytes] : problem.transientBytes)
    transient[node] += std::min(bytes, largest);
}

void MovableOrder::countInFlight(ArrayRef<unsigned> order) {
  FlatProblem flat(problem);
  if (flat.maxInFlight == 0)
    return;
  inFlight.assign(graph.size(), 0);
  LimitTracker limits(flat);
  for (unsigned node : order) {
    limits.place(node);
    if (flat.isStart(node))
      inFlight[node] = limits.getInFlight()[flat.lane[node]];
  }
}

ScheduleOrder MovableOrder::getOrder() const {
  ScheduleOrder order;
  order.reserve(graph.size());
  for (unsigned node = first; node != none; node = next[node])
    order.push_back(node);
  return order;
}

int64_t MovableOrder::getPeakBytes() const {
  assert(head == none && "no group is open");
  int64_t peak = endBytes;
  for (unsigned node = first; node != none; node = next[node])
    peak =
        std::max(peak, bytesBefore[node] + allocated[node] + transient[node]);
  return peak;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void MovableOrder::join(unsigned node) {
  memberOf[node] = group;
  for (unsigned predecessor : graph.predecessors(node))
    neededBy[predecessor] = group;
  for (unsigned successor : graph.successors(node))
    dependentOn[successor] = group;
  for (unsigned buffer : getBuffers(node))
    usedBy[buffer] = group;
  if (inFlight.empty())
    return;
  if (graph[node].kind == NodeKind::Start)
    groupStarts.push_back(node);
  if (!problem.getAwaitedStarts(node).empty())
    groupHolders.push_back(node);
}

void MovableOrder::beginGroup(unsigned node) {
  assert(head == none && "one group at a time");
  ++group;
  head = tail = node;
  groupStarts.clear();
  groupHolders.clear();
  join(node);
  groupBefore = bytesBefore[node];
  groupPeak = allocated[node] + transient[node];
  groupDelta = delta(node);
}

void MovableOrder::extendLeft() {
  unsigned node = previous[head];
  groupBefore = bytesBefore[node];
  groupPeak =
      std::max(allocated[node] + transient[node], delta(node) + groupPeak);
  groupDelta += delta(node);
  head = node;
  join(node);
}

void MovableOrder::extendRight() {
  unsigned node = next[tail];
  groupPeak =
      std::max(groupPeak, groupDelta + allocated[node] + transient[node]);
  groupDelta += delta(node);
  tail = node;
  join(node);
}

void MovableOrder::endGroup() {
  int64_t live = groupBefore;
  for (unsigned node = head, end = next[tail]; node != end; node = next[node]) {
    bytesBefore[node] = live;
    live += delta(node);
  }
  head = tail = none;
}

/// What lives in the group, node by node.
void MovableOrder::refreshProfile() {
  groupPeak = groupDelta = 0;
  for (unsigned node = head, end = next[tail]; node != end; node = next[node]) {
    groupPeak =
        std::max(groupPeak, groupDelta + allocated[node] + transient[node]);
    groupDelta += delta(node);
    ++numSteps;
  }
}

//===----------------------------------------------------------------------===//
// Buffers that change hands
//===----------------------------------------------------------------------===//

void MovableOrder::setFirst(unsigned buffer, unsigned user) {
  allocated[firstUser[buffer]] -= bytesOf[buffer];
  allocated[user] += bytesOf[buffer];
  firstUser[buffer] = user;
}

void MovableOrder::setLast(unsigned buffer, unsigned user) {
  if (!problem.buffers[buffer].escapes) {
    freed[lastUser[buffer]] -= bytesOf[buffer];
    freed[user] += bytesOf[buffer];
  }
  lastUser[buffer] = user;
}

unsigned MovableOrder::findUserInGroup(unsigned buffer, bool fromHead) const {
  for (unsigned node = fromHead ? head : tail;;
       node = fromHead ? next[node] : previous[node]) {
    assert(isInGroup(node) && "the group uses the buffer");
    ArrayRef<unsigned> buffers = getBuffers(node);
    if (std::binary_search(buffers.begin(), buffers.end(), buffer))
      return node;
  }
}

bool MovableOrder::exchangeUsers(unsigned candidate, bool left) {
  saved.clear();
  for (unsigned buffer : getBuffers(candidate)) {
    if (usedBy[buffer] != group)
      continue;
    // The one that stands first may allocate, the one that stands last may
    // free.
    unsigned begin = firstUser[buffer], end = lastUser[buffer];
    bool changesFirst = left ? begin == candidate : isInGroup(begin);
    bool changesLast = left ? isInGroup(end) : end == candidate;
    if (!changesFirst && !changesLast)
      continue;
    saved.push_back({buffer, begin, end});
    if (changesFirst)
      setFirst(buffer,
               left ? findUserInGroup(buffer, /*fromHead=*/true) : candidate);
    if (changesLast)
      setLast(buffer,
              left ? candidate : findUserInGroup(buffer, /*fromHead=*/false));
  }
  return !saved.empty();
}

void MovableOrder::restoreUsers() {
  for (const SavedUser &user : saved) {
    setFirst(user.buffer, user.first);
    setLast(user.buffer, user.last);
  }
}

//===----------------------------------------------------------------------===//
// Operations in flight
//===----------------------------------------------------------------------===//

// A start that comes before a node that awaits an operation of its lane finds
// that operation still in flight. The counts never go down: they say at most
// too much.

unsigned MovableOrder::countAwaited(unsigned node, int32_t lane) const {
  return llvm::count_if(problem.getAwaitedStarts(node), [&](unsigned start) {
    return graph[start].lane == lane;
  });
}

bool MovableOrder::staysInFlightLeft(unsigned candidate) const {
  return llvm::all_of(groupStarts, [&](unsigned start) {
    unsigned more = countAwaited(candidate, graph[start].lane);
    return more == 0 || inFlight[start] + more <= problem.maxInFlight;
  });
}

void MovableOrder::raiseInFlightLeft(unsigned candidate) {
  for (unsigned start : groupStarts)
    inFlight[start] += countAwaited(candidate, graph[start].lane);
}

bool MovableOrder::staysInFlightRight(unsigned candidate) const {
  if (inFlight.empty() || graph[candidate].kind != NodeKind::Start)
    return true;
  unsigned more = 0;
  for (unsigned holder : groupHolders)
    more += countAwaited(holder, graph[candidate].lane);
  return more == 0 || inFlight[candidate] + more <= problem.maxInFlight;
}

void MovableOrder::raiseInFlightRight(unsigned candidate) {
  if (inFlight.empty() || graph[candidate].kind != NodeKind::Start)
    return;
  for (unsigned holder : groupHolders)
    inFlight[candidate] += countAwaited(holder, graph[candidate].lane);
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

bool MovableOrder::exchangeWithin(int64_t limitBytes, unsigned candidate,
                                  bool left, int64_t *peakBytes) {
  bool changed = exchangeUsers(candidate, left);
  if (changed)
    refreshProfile();
  int64_t own = allocated[candidate] + transient[candidate];
  int64_t peak =
      left ? bytesBefore[candidate] + std::max(groupPeak, groupDelta + own)
           : groupBefore + std::max(own, delta(candidate) + groupPeak);
  if (peakBytes)
    *peakBytes = peak;
  if (peak <= limitBytes)
    return true;
  restoreUsers();
  if (changed)
    refreshProfile();
  return false;
}

void MovableOrder::swapRuns(unsigned begin, unsigned middle, unsigned end) {
  unsigned second = next[middle], left = previous[begin], right = next[end];
  (left == none ? first : next[left]) = second;
  previous[second] = left;
  next[end] = begin;
  previous[begin] = end;
  next[middle] = right;
  if (right != none)
    previous[right] = middle;
}

MovableOrder::MoveResult MovableOrder::moveLeft(int64_t limitBytes,
                                                int64_t *peakBytes) {
  unsigned candidate = previous[head];
  assert(candidate != none && !groupNeeds(candidate) && "the move is legal");
  ++numSteps;
  if (!staysInFlightLeft(candidate))
    return MoveResult::TooManyInFlight;
  if (!exchangeWithin(limitBytes, candidate, /*left=*/true, peakBytes))
    return MoveResult::TooManyBytes;

  raiseInFlightLeft(candidate);
  groupBefore = bytesBefore[candidate];
  bytesBefore[candidate] = groupBefore + groupDelta;
  swapRuns(candidate, candidate, tail);
  return MoveResult::Moved;
}

MovableOrder::MoveResult MovableOrder::moveRight(int64_t limitBytes,
                                                 int64_t *peakBytes) {
  unsigned candidate = next[tail];
  assert(candidate != none && !needsGroup(candidate) && "the move is legal");
  ++numSteps;
  if (!staysInFlightRight(candidate))
    return MoveResult::TooManyInFlight;
  if (!exchangeWithin(limitBytes, candidate, /*left=*/false, peakBytes))
    return MoveResult::TooManyBytes;

  raiseInFlightRight(candidate);
  bytesBefore[candidate] = groupBefore;
  groupBefore += delta(candidate);
  swapRuns(head, tail, candidate);
  return MoveResult::Moved;
}
