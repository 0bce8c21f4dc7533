//===- ListScheduler.cpp - List schedules by priority ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ListScheduler.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <limits>

using namespace braid;

std::vector<int64_t> braid::getTails(const FlatProblem &flat) {
  std::vector<int64_t> tails(flat.size(), 0);
  for (unsigned node = flat.size(); node-- != 0;) {
    int64_t after = 0;
    for (unsigned successor : flat.successors[node])
      after = std::max(after, tails[successor]);
    if (!flat.isStart(node)) {
      tails[node] = flat.cost[node] + after;
      continue;
    }
    int64_t afterEnd = 0;
    for (unsigned waiter : flat.awaiters[node])
      afterEnd = std::max(afterEnd, tails[waiter]);
    tails[node] = std::max(after, flat.cost[node] + afterEnd);
  }
  return tails;
}

std::vector<int64_t> braid::getNearestStarts(const FlatProblem &flat) {
  constexpr int64_t none = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> nearest(flat.size(), none);
  for (unsigned node = flat.size(); node-- != 0;) {
    if (flat.isStart(node)) {
      nearest[node] = 0;
      continue;
    }
    for (unsigned successor : flat.successors[node])
      if (nearest[successor] != none)
        nearest[node] =
            std::max(nearest[node], nearest[successor] - flat.cost[node]);
  }
  return nearest;
}

std::vector<unsigned> braid::getStartsAhead(const FlatProblem &flat,
                                            llvm::ArrayRef<int64_t> nearest) {
  std::vector<unsigned> ahead(flat.size(), flat.size());
  for (unsigned node = flat.size(); node-- != 0;) {
    if (flat.isStart(node)) {
      ahead[node] = node;
      continue;
    }
    for (unsigned successor : flat.successors[node])
      if (ahead[successor] != flat.size() && ahead[node] == flat.size() &&
          nearest[node] == nearest[successor] - flat.cost[node])
        ahead[node] = ahead[successor];
  }
  return ahead;
}

ListScheduler::ListScheduler(const FlatProblem &flat)
    : flat(flat), limited(flat.hasLimits()), endNs(flat.size()),
      startsOfLane(flat.numLanes), limits(flat) {}

void ListScheduler::reset(const PriorityRule &newRule) {
  rule = newRule;
  if (rule.maxInsertedLaneIdleNs > 0 && nearestNs.empty()) {
    nearestNs = getNearestStarts(flat);
    startAhead = getStartsAhead(flat, nearestNs);
  }
  streamNs = 0;
  laneFreeNs.assign(flat.numLanes, 0);
  placed.assign(flat.size(), false);
  immediate.clear();
  compute = {};
  urgentCompute = {};
  missingOfLane.assign(flat.numLanes, 0);
  for (int32_t lane : flat.lane)
    if (lane >= 0)
      ++missingOfLane[lane];
  pending = {};
  for (Heap &heap : startsOfLane)
    heap = {};
  if (limited) {
    limits.reset();
    aside.clear();
    leading = {};
    baseFirst = 0;
    basePosition.resize(rule.base.size());
    for (auto [position, node] : llvm::enumerate(rule.base))
      basePosition[node] = position;
  }
  missing.resize(flat.size());
  for (unsigned node = 0, end = flat.size(); node != end; ++node) {
    missing[node] = flat.predecessors[node].size();
    if (missing[node] == 0)
      makeReady(node);
  }
}

void ListScheduler::makeReady(unsigned node) {
  if (limited && !rule.base.empty() &&
      basePosition[node] > baseFirst + uint64_t(rule.maxLead)) {
    leading.emplace(-int64_t(basePosition[node]), ~node);
    return;
  }
  admit(node);
}

void ListScheduler::admit(unsigned node) {
  if (placed[node])
    return;
  if (flat.isStart(node)) {
    startsOfLane[flat.lane[node]].emplace(rule.priorities[node], ~node);
    return;
  }
  int64_t releaseNs = 0;
  for (unsigned start : flat.awaited[node])
    releaseNs = std::max(releaseNs, endNs[start]);
  if (releaseNs > streamNs)
    pending.emplace(-releaseNs, ~node);
  else if (flat.cost[node] == 0)
    immediate.push_back(node);
  else {
    compute.emplace(rule.priorities[node], ~node);
    if (!rule.urgentPriorities.empty() &&
        rule.urgentPriorities[node] != std::numeric_limits<int64_t>::min())
      urgentCompute.emplace(rule.urgentPriorities[node], ~node);
  }
}

void ListScheduler::place(unsigned node) {
  assert(!placed[node] && missing[node] == 0 && "the node is ready");
  ++steps;
  placed[node] = true;
  order->push_back(node);
  if (int32_t lane = flat.lane[node]; lane >= 0) {
    laneFreeNs[lane] = endNs[node] =
        std::max(streamNs, laneFreeNs[lane]) + flat.cost[node];
    --missingOfLane[lane];
  } else {
    for (unsigned start : flat.awaited[node])
      streamNs = std::max(streamNs, endNs[start]);
    streamNs += flat.cost[node];
    endNs[node] = streamNs;
  }
  bool endsSomething = limited && limits.place(node).endsSomething;
  if (limited) {
    while (baseFirst != rule.base.size() && placed[rule.base[baseFirst]])
      ++baseFirst;
    while (!leading.empty() &&
           -leading.top().first <= baseFirst + int64_t(rule.maxLead)) {
      unsigned next = ~leading.top().second;
      leading.pop();
      admit(next);
    }
  }
  for (unsigned successor : flat.successors[node])
    if (--missing[successor] == 0)
      makeReady(successor);
  if (endsSomething) {
    std::vector<unsigned> again;
    again.swap(aside);
    for (unsigned other : again)
      admit(other);
  }
}

unsigned ListScheduler::findFitting(Heap &heap) {
  // So many are looked at, so that each step takes constant time.
  for (unsigned i = 0; i != 32 && !heap.empty();) {
    unsigned node = ~heap.top().second;
    if (!placed[node] && fits(node))
      return node;
    heap.pop();
    if (placed[node])
      continue;
    aside.push_back(node);
    ++steps;
    ++i;
  }
  return flat.size();
}

unsigned ListScheduler::findShorter(int64_t releaseNs) {
  looked.clear();
  unsigned best = flat.size();
  for (unsigned i = 0; i != 8; ++i) {
    unsigned node = findFitting(compute);
    if (node == flat.size())
      break;
    ++steps;
    looked.push_back(compute.top());
    compute.pop();
    if (streamNs + flat.cost[node] <= releaseNs) {
      best = node;
      break;
    }
    if (best == flat.size() || flat.cost[node] < flat.cost[best])
      best = node;
  }
  for (const Entry &entry : looked)
    compute.push(entry);
  return best;
}

bool ListScheduler::isLaneIdling() const {
  for (unsigned lane = 0; lane != flat.numLanes; ++lane)
    if (missingOfLane[lane] != 0 && startsOfLane[lane].empty() &&
        laneFreeNs[lane] <= streamNs + rule.backlogNs)
      return true;
  return false;
}

int64_t ListScheduler::getNextRelease() {
  unsigned node = findFitting(pending);
  return node == flat.size() ? never : -pending.top().first;
}

/// True if the lane of `start` should rather wait for a more urgent one.
/// `next` is what the stream does next, until `horizonNs`; the number of nodes
/// if it awaits something.
bool ListScheduler::holdsLane(unsigned start, int64_t horizonNs,
                              unsigned next) {
  int32_t lane = flat.lane[start];
  int64_t limitNs =
      std::max(streamNs, laneFreeNs[lane]) + rule.maxInsertedLaneIdleNs;
  auto leadsThere = [&](unsigned node, int64_t fromNs) {
    unsigned other = startAhead[node];
    return other != flat.size() && flat.lane[other] == lane &&
           rule.priorities[other] > rule.priorities[start] &&
           fromNs - nearestNs[node] <= limitNs;
  };
  bool stall = next == flat.size();
  if (!stall && leadsThere(next, streamNs))
    return true;
  int64_t releaseNs = getNextRelease();
  return releaseNs != never &&
         leadsThere(~pending.top().second,
                    stall ? releaseNs : std::max(releaseNs, horizonNs));
}

bool ListScheduler::issueStarts(int64_t horizonNs, unsigned next) {
  for (unsigned lane = 0; lane != flat.numLanes; ++lane) {
    if (startsOfLane[lane].empty() || laneFreeNs[lane] >= horizonNs)
      continue;
    unsigned start = findFitting(startsOfLane[lane]);
    if (start == flat.size() ||
        (rule.maxInsertedLaneIdleNs > 0 && !rule.eagerStarts &&
         holdsLane(start, horizonNs, next)))
      continue;
    startsOfLane[lane].pop();
    place(start);
    return true;
  }
  return false;
}

bool ListScheduler::schedule(const PriorityRule &newRule,
                             ScheduleOrder &result) {
  result.clear();
  order = &result;
  unsigned none = flat.size();
  reset(newRule);
  while (result.size() != none) {
    // What takes no time and holds nothing up goes first.
    while (!pending.empty() && -pending.top().first <= streamNs) {
      unsigned node = ~pending.top().second;
      pending.pop();
      admit(node);
    }
    if (!immediate.empty()) {
      unsigned node = immediate.back();
      immediate.pop_back();
      if (placed[node])
        continue;
      if (fits(node))
        place(node);
      else
        aside.push_back(node);
      continue;
    }

    unsigned next = none;
    if (!rule.urgentPriorities.empty() && isLaneIdling())
      next = findFitting(urgentCompute);
    bool urgent = next != none;
    if (!urgent)
      next = findFitting(compute);
    int64_t releaseNs = getNextRelease();
    if (rule.fitsEnds && !urgent && next != none && releaseNs != never &&
        releaseNs < streamNs + flat.cost[next] &&
        rule.priorities[~pending.top().second] > rule.priorities[next])
      next = findShorter(releaseNs);
    bool stall = next == none;
    if (!stall && rule.maxInsertedIdleNs > 0 && releaseNs != never &&
        releaseNs - streamNs <= rule.maxInsertedIdleNs)
      stall = rule.priorities[~pending.top().second] > rule.priorities[next];
    int64_t horizonNs = rule.eagerStarts ? never
                        : stall          ? releaseNs
                                         : streamNs + flat.cost[next];
    // A start may release something better.
    if (issueStarts(horizonNs, stall ? none : next))
      continue;
    if (!stall) {
      // Lazy deletion: the heaps drop it when it comes up.
      place(next);
      continue;
    }
    if (releaseNs != never) {
      unsigned node = ~pending.top().second;
      pending.pop();
      place(node);
      continue;
    }
    // Nothing that the rule likes fits; the order that is known to fit may
    // still have something.
    if (rule.base.empty() || baseFirst == rule.base.size())
      return false;
    unsigned node = rule.base[baseFirst];
    if (missing[node] != 0 || !fits(node))
      return false;
    place(node);
  }
  return true;
}

void ListScheduler::scheduleBackward(llvm::ArrayRef<int64_t> priorities,
                                     std::vector<int64_t> &tails) {
  unsigned size = flat.size();
  unsigned stream = flat.numLanes;
  steps += size;
  // By machine: nodes whose successors have ended, the most urgent first, and
  // those whose successors will have, by that time, negated.
  std::vector<Heap> ready(stream + 1), waiting(stream + 1);
  std::vector<int64_t> freeNs(stream + 1, 0);
  std::vector<unsigned> missingSuccessors(size);
  unsigned numWaiting = 0;
  tails.assign(size, 0);

  auto getRelease = [&](unsigned node) {
    int64_t releaseNs = 0;
    for (unsigned successor :
         flat.isStart(node) ? flat.awaiters[node] : flat.successors[node])
      releaseNs = std::max(releaseNs, tails[successor]);
    return releaseNs;
  };
  // Nodes whose successors all have their times. Those that take no time on the
  // stream need not wait for it.
  std::vector<unsigned> released;
  auto drain = [&] {
    while (!released.empty()) {
      unsigned node = released.back();
      released.pop_back();
      if (flat.isStart(node) || flat.cost[node] != 0) {
        unsigned machine = flat.isStart(node) ? flat.lane[node] : stream;
        waiting[machine].emplace(-getRelease(node), ~node);
        ++numWaiting;
        continue;
      }
      tails[node] = getRelease(node);
      for (unsigned predecessor : flat.predecessors[node])
        if (--missingSuccessors[predecessor] == 0)
          released.push_back(predecessor);
    }
  };
  auto getBegin = [&](unsigned machine) {
    if (!ready[machine].empty())
      return freeNs[machine];
    if (!waiting[machine].empty())
      return std::max(freeNs[machine], -waiting[machine].top().first);
    return never;
  };
  for (unsigned node = 0; node != size; ++node) {
    missingSuccessors[node] = flat.successors[node].size();
    if (missingSuccessors[node] == 0)
      released.push_back(node);
  }
  drain();
  for (; numWaiting != 0; --numWaiting) {
    unsigned machine = stream;
    int64_t nowNs = getBegin(stream);
    for (unsigned lane = 0; lane != stream; ++lane) {
      if (int64_t begin = getBegin(lane); begin < nowNs) {
        nowNs = begin;
        machine = lane;
      }
    }
    while (!waiting[machine].empty() &&
           -waiting[machine].top().first <= nowNs) {
      unsigned node = ~waiting[machine].top().second;
      waiting[machine].pop();
      ready[machine].emplace(priorities[node], ~node);
    }
    unsigned node = ~ready[machine].top().second;
    ready[machine].pop();
    freeNs[machine] = tails[node] = nowNs + flat.cost[node];
    // What has to follow the start itself, not the end of its operation.
    if (flat.isStart(node))
      for (unsigned successor : flat.successors[node])
        tails[node] = std::max(tails[node], tails[successor]);
    for (unsigned predecessor : flat.predecessors[node])
      if (--missingSuccessors[predecessor] == 0)
        released.push_back(predecessor);
    drain();
  }
}
