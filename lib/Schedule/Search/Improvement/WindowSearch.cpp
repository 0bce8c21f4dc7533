//===- WindowSearch.cpp - Exact search of a part of an order --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WindowSearch.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace braid;

static constexpr unsigned none = ~0u;

ScheduleWindow braid::getWholeWindow(const FlatProblem &flat,
                                     llvm::ArrayRef<unsigned> program,
                                     std::vector<unsigned> &position,
                                     std::vector<int64_t> &zeros) {
  ScheduleWindow window;
  window.nodes.assign(program.begin(), program.end());
  window.laneNs.assign(flat.numLanes, 0);
  window.laneTailNs.assign(flat.numLanes, 0);
  zeros.assign(flat.size(), 0);
  position.resize(flat.size());
  for (auto [index, node] : llvm::enumerate(program))
    position[node] = index;
  window.endNs = window.endTailNs = zeros;
  window.position = position;
  window.liveBytes = flat.liveBytes;
  window.inFlight.assign(flat.numLanes, 0);
  return window;
}

void WindowSearch::Layer::clear() {
  masks.clear();
  bounds.clear();
  sums.clear();
  liveBytes.clear();
  times.clear();
  parents.clear();
  nextOfSet.clear();
  lastNodes.clear();
  dead.clear();
}

void WindowSearch::prepare(const ScheduleWindow &window) {
  unsigned size = window.nodes.size();
  assert(size <= 64 && "sets of nodes are words");
  unsigned end = window.begin + size;
  limited = flat.hasLimits();
  streamTailNs = window.streamTailNs;
  auto isInside = [&](unsigned node) {
    return window.position[node] >= window.begin && window.position[node] < end;
  };
  findLanes(window);
  std::vector<unsigned> local = findNodes(window);
  auto getLocal = [&](unsigned id) {
    return local[window.position[id] - window.begin];
  };

  streamNodes = 0;
  streamByEndTail.clear();
  localStarts.clear();
  for (unsigned index = 0; index != size; ++index) {
    Node &node = nodes[index];
    node.predecessors = node.awaited = node.awaiters = 0;
    node.buffers.clear();
    for (unsigned predecessor : flat.predecessors[node.id])
      if (isInside(predecessor))
        node.predecessors |= bit(getLocal(predecessor));
    for (unsigned start : flat.awaited[node.id])
      if (isInside(start))
        node.awaited |= bit(getLocal(start));
    for (unsigned waiter : flat.awaiters[node.id])
      if (isInside(waiter))
        node.awaiters |= bit(getLocal(waiter));
    if (node.isStart) {
      lanes[node.lane].starts |= bit(index);
      lanes[node.lane].byEndTail.push_back(index);
      localStarts.push_back(index);
    } else {
      streamNodes |= bit(index);
      streamByEndTail.push_back(index);
    }
  }
  auto byEndTail = [&](unsigned a, unsigned b) {
    return std::pair(nodes[a].endTailNs, a) < std::pair(nodes[b].endTailNs, b);
  };
  llvm::sort(streamByEndTail, byEndTail);
  for (Lane &lane : lanes)
    llvm::sort(lane.byEndTail, byEndTail);

  buffers.clear();
  if (flat.hasMemoryLimit())
    findBuffers(window, getLocal);
  if (flat.maxInFlight != 0)
    findInFlight(window, getLocal);
  stride = 2 + lanes.size() + localStarts.size();
}

/// Finds the lanes of the window, in ascending order.
void WindowSearch::findLanes(const ScheduleWindow &window) {
  lanes.clear();
  for (unsigned node : window.nodes)
    if (flat.isStart(node) && llvm::none_of(lanes, [&](const Lane &lane) {
          return lane.id == unsigned(flat.lane[node]);
        }))
      lanes.push_back({unsigned(flat.lane[node]), 0, 0, {}, {}, 0});
  llvm::sort(lanes, [](const Lane &a, const Lane &b) { return a.id < b.id; });
  for (Lane &lane : lanes)
    lane.tailNs = window.laneTailNs[lane.id];
}

/// Finds the times of the window's nodes. Returns their numbers by their places
/// in the window.
std::vector<unsigned> WindowSearch::findNodes(const ScheduleWindow &window) {
  unsigned size = window.nodes.size(), end = window.begin + size;
  auto isInside = [&](unsigned node) {
    return window.position[node] >= window.begin && window.position[node] < end;
  };
  // Tails in the present order, from the end; then nodes are numbered by them,
  // so that the longest tail of a set is that of its first node.
  std::vector<Node> ordered(size);
  for (unsigned i = size; i-- != 0;) {
    unsigned id = window.nodes[i];
    Node &node = ordered[i];
    node.id = id;
    node.isStart = flat.isStart(id);
    node.isWait = !node.isStart && flat.cost[id] == 0;
    node.costNs = flat.cost[id];
    node.transientBytes = flat.transientBytes[id];
    node.lane = 0;
    node.releaseNs = 0;
    node.outerTailNs = 0;
    int64_t after = window.streamTailNs;
    for (unsigned successor : flat.successors[id])
      if (isInside(successor))
        after = std::max(
            after, ordered[window.position[successor] - window.begin].tailNs);
    if (!node.isStart) {
      node.endTailNs = after;
      node.tailNs = node.costNs + after;
      for (unsigned start : flat.awaited[id])
        if (window.position[start] < window.begin)
          node.releaseNs = std::max(node.releaseNs, window.endNs[start]);
      continue;
    }
    node.lane = llvm::find_if(lanes,
                              [&](const Lane &lane) {
                                return lane.id == unsigned(flat.lane[id]);
                              }) -
                lanes.begin();
    node.outerTailNs = window.endTailNs[id];
    node.endTailNs = std::max(node.outerTailNs, lanes[node.lane].tailNs);
    for (unsigned waiter : flat.awaiters[id])
      if (isInside(waiter))
        node.endTailNs =
            std::max(node.endTailNs,
                     ordered[window.position[waiter] - window.begin].tailNs);
    node.tailNs = std::max(after, node.costNs + node.endTailNs);
  }
  std::vector<unsigned> byTail(size), local(size);
  std::iota(byTail.begin(), byTail.end(), 0);
  llvm::sort(byTail, [&](unsigned a, unsigned b) {
    return std::pair(-ordered[a].tailNs, a) < std::pair(-ordered[b].tailNs, b);
  });
  nodes.resize(size);
  for (auto [index, place] : llvm::enumerate(byTail)) {
    local[place] = index;
    nodes[index] = ordered[place];
  }
  return local;
}

void WindowSearch::findBuffers(
    const ScheduleWindow &window,
    llvm::function_ref<unsigned(unsigned)> getLocal) {
  unsigned size = nodes.size(), end = window.begin + size;
  std::vector<unsigned> outerBuffers;
  for (const Node &node : nodes)
    llvm::append_range(outerBuffers, flat.buffersOf[node.id]);
  llvm::sort(outerBuffers);
  outerBuffers.erase(llvm::unique(outerBuffers), outerBuffers.end());
  for (unsigned outer : outerBuffers) {
    Buffer buffer{flat.bufferBytes[outer], 0, false, !flat.escapes[outer]};
    for (unsigned user : flat.usersOf[outer]) {
      if (window.position[user] < window.begin)
        buffer.livesBefore = true;
      else if (window.position[user] >= end)
        buffer.diesInside = false;
      else
        buffer.users |= bit(getLocal(user));
    }
    for (unsigned index = 0; index != size; ++index)
      if (buffer.users & bit(index))
        nodes[index].buffers.push_back(buffers.size());
    buffers.push_back(buffer);
  }
}

void WindowSearch::findInFlight(
    const ScheduleWindow &window,
    llvm::function_ref<unsigned(unsigned)> getLocal) {
  auto isBefore = [&](unsigned node) {
    return window.position[node] < window.begin;
  };
  unsigned end = window.begin + window.nodes.size();
  for (Lane &lane : lanes)
    lane.numInFlightThroughout = window.inFlight[lane.id];
  llvm::SmallDenseSet<unsigned> seen;
  for (unsigned node : window.nodes)
    for (unsigned start : flat.awaited[node]) {
      auto lane = llvm::find_if(lanes, [&](const Lane &lane) {
        return lane.id == unsigned(flat.lane[start]);
      });
      if (lane == lanes.end() || !isBefore(start) ||
          llvm::any_of(flat.awaiters[start], isBefore) ||
          !seen.insert(start).second)
        continue;
      uint64_t inside = 0;
      for (unsigned waiter : flat.awaiters[start])
        if (window.position[waiter] < end)
          inside |= bit(getLocal(waiter));
      lane->inFlight.push_back(inside);
      --lane->numInFlightThroughout;
    }
}

/// True if the orders in which `node` follows `last` at once need no search.
bool WindowSearch::isRedundant(unsigned last, unsigned node) const {
  if (limited || last == none || nodes[node].isWait ||
      (nodes[node].predecessors & bit(last)))
    return false;
  if (nodes[last].isWait)
    return true;
  if (!nodes[node].isStart)
    return false;
  return !nodes[last].isStart || nodes[last].lane > nodes[node].lane;
}

bool WindowSearch::mayStart(uint64_t mask, const Node &node) const {
  if (flat.maxInFlight == 0 || !node.isStart)
    return true;
  const Lane &lane = lanes[node.lane];
  unsigned count = lane.numInFlightThroughout;
  for (uint64_t waiters : lane.inFlight)
    count += (waiters & mask) == 0;
  for (unsigned start : lane.byEndTail)
    count += (mask & bit(start)) && (nodes[start].awaiters & mask) == 0;
  return count < flat.maxInFlight;
}

int64_t WindowSearch::getNeededBytes(uint64_t mask, unsigned index,
                                     int64_t &live) const {
  const Node &node = nodes[index];
  int64_t freed = 0;
  for (unsigned which : node.buffers) {
    const Buffer &buffer = buffers[which];
    if (!buffer.livesBefore && (buffer.users & mask) == 0)
      live += buffer.bytes;
    if (buffer.diesInside && (buffer.users & ~mask) == bit(index))
      freed += buffer.bytes;
  }
  int64_t needed = live + node.transientBytes;
  live -= freed;
  return needed;
}

int64_t WindowSearch::getBound(uint64_t mask, const int64_t *times) const {
  int64_t streamNs = times[0];
  int64_t bound = std::max(times[1], streamNs + streamTailNs);
  uint64_t all = nodes.size() == 64 ? ~uint64_t(0) : bit(nodes.size()) - 1;
  uint64_t missing = all & ~mask;
  if (missing != 0)
    bound =
        std::max(bound, streamNs + nodes[llvm::countr_zero(missing)].tailNs);
  if (uint64_t stream = missing & streamNodes; stream != 0) {
    int64_t workNs = 0, leastTail = -1;
    for (unsigned node : streamByEndTail) {
      if (!(stream & bit(node)))
        continue;
      if (leastTail < 0)
        leastTail = nodes[node].endTailNs;
      workNs += nodes[node].costNs;
    }
    bound = std::max(bound, streamNs + workNs + leastTail);
  }
  for (auto [index, lane] : llvm::enumerate(lanes)) {
    int64_t laneNs = times[2 + index];
    bound = std::max(bound, laneNs + lane.tailNs);
    if ((missing & lane.starts) == 0)
      continue;
    int64_t leastTail = -1;
    for (unsigned start : lane.byEndTail) {
      if (!(missing & bit(start)))
        continue;
      if (leastTail < 0)
        leastTail = nodes[start].endTailNs;
      laneNs += nodes[start].costNs;
    }
    bound = std::max(bound, laneNs + leastTail);
  }
  const int64_t *ends = times + 2 + lanes.size();
  for (auto [index, start] : llvm::enumerate(localStarts)) {
    if (!(mask & bit(start)))
      continue;
    uint64_t waiters = nodes[start].awaiters & missing;
    if (waiters != 0)
      bound = std::max(bound,
                       ends[index] + nodes[llvm::countr_zero(waiters)].tailNs);
  }
  return bound;
}

unsigned WindowSearch::findSlot(uint64_t mask) {
  uint64_t hash = mask * 0x9E3779B97F4A7C15u;
  unsigned slot = (hash >> 32) & (table.size() - 1);
  while (table[slot] != none && next.masks[table[slot]] != mask)
    slot = (slot + 1) & (table.size() - 1);
  return slot;
}

void WindowSearch::add(uint64_t mask, int64_t upperNs, unsigned parent,
                       unsigned node, int64_t live) {
  int64_t bound = getBound(mask, scratch.data());
  if (bound >= upperNs)
    return;
  if (2 * next.size() >= table.size()) {
    table.assign(2 * table.size(), none);
    for (unsigned state = 0, end = next.size(); state != end; ++state) {
      unsigned slot = findSlot(next.masks[state]);
      // The last state of a set heads its list.
      table[slot] = state;
    }
  }
  unsigned slot = findSlot(mask);
  for (unsigned other = table[slot]; other != none;
       other = next.nextOfSet[other]) {
    if (next.dead[other])
      continue;
    steps += 1 + stride / 8;
    const int64_t *times = next.times.data() + size_t(other) * stride;
    bool better = true, worse = true;
    for (unsigned i = 0; i != stride; ++i) {
      better &= scratch[i] <= times[i];
      worse &= scratch[i] >= times[i];
    }
    if (worse)
      return;
    if (better)
      next.dead[other] = true;
  }
  int64_t sum = 0;
  for (unsigned i = 0, end = 2 + lanes.size(); i != end; ++i)
    sum += scratch[i];
  next.masks.push_back(mask);
  next.bounds.push_back(bound);
  next.sums.push_back(sum);
  next.liveBytes.push_back(live);
  next.times.insert(next.times.end(), scratch.begin(), scratch.end());
  next.parents.push_back(parent);
  next.nextOfSet.push_back(table[slot]);
  next.lastNodes.push_back(node);
  next.dead.push_back(false);
  table[slot] = next.size() - 1;
}

void WindowSearch::expand(const Layer &layer, unsigned state, int64_t upperNs) {
  uint64_t mask = layer.masks[state];
  unsigned last = layer.parents[state] == none ? none : layer.lastNodes[state];
  const int64_t *times = layer.times.data() + size_t(state) * stride;
  for (unsigned index = 0, end = nodes.size(); index != end; ++index) {
    const Node &node = nodes[index];
    if ((mask & bit(index)) || (node.predecessors & ~mask) ||
        isRedundant(last, index))
      continue;
    steps += 2 + end / 8;
    int64_t live = layer.liveBytes[state];
    if (limited && (!mayStart(mask, node) ||
                    getNeededBytes(mask, index, live) > flat.maxMemory))
      continue;
    scratch.assign(times, times + stride);
    uint64_t newMask = mask | bit(index);
    int64_t *ends = scratch.data() + 2 + lanes.size();
    if (node.isStart) {
      int64_t &laneNs = scratch[2 + node.lane];
      laneNs = std::max(laneNs, scratch[0]) + node.costNs;
      scratch[1] = std::max(scratch[1], laneNs + node.outerTailNs);
      if (node.awaiters)
        ends[llvm::find(localStarts, index) - localStarts.begin()] = laneNs;
    } else {
      int64_t &streamNs = scratch[0];
      streamNs = std::max(streamNs, node.releaseNs);
      if (node.awaited)
        for (auto [which, start] : llvm::enumerate(localStarts))
          if (node.awaited & bit(start))
            streamNs = std::max(streamNs, ends[which]);
      streamNs += node.costNs;
      // What lies in the past makes no difference.
      for (unsigned lane = 0, count = lanes.size(); lane != count; ++lane)
        scratch[2 + lane] = std::max(scratch[2 + lane], streamNs);
      for (auto [which, start] : llvm::enumerate(localStarts)) {
        if (!(mask & bit(start)))
          continue;
        bool pending = (nodes[start].awaiters & ~newMask) != 0;
        ends[which] = pending ? std::max(ends[which], streamNs) : 0;
      }
    }
    add(newMask, upperNs, state, index, live);
  }
}

/// Leaves the most promising states alone.
void WindowSearch::truncate(Layer &layer, unsigned width) {
  std::vector<unsigned> best(layer.size());
  std::iota(best.begin(), best.end(), 0);
  std::nth_element(best.begin(), best.begin() + width, best.end(),
                   [&](unsigned a, unsigned b) {
                     return std::tuple(layer.bounds[a], layer.sums[a], a) <
                            std::tuple(layer.bounds[b], layer.sums[b], b);
                   });
  for (unsigned state : llvm::ArrayRef(best).drop_front(width))
    layer.dead[state] = true;
}

WindowSearch::Result WindowSearch::search(const ScheduleWindow &window,
                                          int64_t upperNs, unsigned width,
                                          uint64_t maxSteps) {
  Result result;
  prepare(window);
  uint64_t lastStep = steps + maxSteps;
  std::vector<Trace> traces;
  current.clear();
  current.masks.push_back(0);
  current.bounds.push_back(0);
  current.sums.push_back(0);
  current.liveBytes.push_back(window.liveBytes);
  current.times.assign(stride, 0);
  current.times[0] = window.streamNs;
  for (auto [index, lane] : llvm::enumerate(lanes))
    current.times[2 + index] =
        std::max(window.laneNs[lane.id], window.streamNs);
  // Whatever is below what no order can go below makes no difference.
  current.times[1] = getBound(0, current.times.data());
  current.parents.push_back(none);
  current.nextOfSet.push_back(none);
  current.lastNodes.push_back(0);
  current.dead.push_back(false);
  result.complete = true;
  if (current.times[1] >= upperNs)
    return result;

  for (unsigned count = 0, end = nodes.size(); count != end; ++count) {
    next.clear();
    table.assign(256, none);
    Trace trace(current.size());
    for (unsigned state = 0, numStates = current.size(); state != numStates;
         ++state) {
      trace[state] = {current.parents[state], current.lastNodes[state]};
      if (current.dead[state])
        continue;
      expand(current, state, upperNs);
      if (steps >= lastStep) {
        result.complete = false;
        return result;
      }
    }
    traces.push_back(std::move(trace));
    unsigned alive = llvm::count(next.dead, false);
    if (alive == 0)
      return result;
    if (alive > width) {
      for (unsigned state = 0, numStates = next.size(); state != numStates;
           ++state)
        if (next.dead[state])
          next.bounds[state] = std::numeric_limits<int64_t>::max();
      truncate(next, width);
      result.complete = false;
    }
    std::swap(current, next);
  }

  unsigned best = none;
  for (unsigned state = 0, end = current.size(); state != end; ++state)
    if (!current.dead[state] &&
        (best == none ||
         std::pair(current.bounds[state], current.sums[state]) <
             std::pair(current.bounds[best], current.sums[best])))
      best = state;
  result.improved = true;
  result.value = current.bounds[best];
  result.order.resize(nodes.size());
  unsigned parent = current.parents[best], node = current.lastNodes[best];
  for (unsigned count = nodes.size(); count-- != 0;) {
    result.order[count] = nodes[node].id;
    std::tie(parent, node) = std::pair(traces[count][parent].first,
                                       unsigned(traces[count][parent].second));
  }
  return result;
}

WindowSearch::Result WindowSearch::searchPeak(const ScheduleWindow &window,
                                              int64_t upperBytes,
                                              unsigned width,
                                              uint64_t maxSteps) {
  Result result;
  prepare(window);
  uint64_t lastStep = steps + maxSteps;
  // Of a state: its set, what lives, and the most that has lived.
  struct State {
    uint64_t mask;
    int64_t live, peak;
    unsigned parent;
    uint8_t last;
  };
  std::vector<std::vector<State>> layers = {
      {{0, window.liveBytes, window.liveBytes, none, 0}}};
  result.complete = true;
  for (unsigned count = 0, end = nodes.size(); count != end; ++count) {
    std::vector<State> found;
    // By the smaller of a set and its complement: the map keeps the two largest
    // words for itself, which are sets of 64 and of 63 nodes.
    llvm::DenseMap<uint64_t, unsigned> stateOfSet;
    auto getKey = [&](uint64_t mask) { return count < 32 ? mask : ~mask; };
    for (auto [parent, state] : llvm::enumerate(layers.back())) {
      for (unsigned index = 0; index != end; ++index) {
        const Node &node = nodes[index];
        if ((state.mask & bit(index)) || (node.predecessors & ~state.mask) ||
            !mayStart(state.mask, node))
          continue;
        ++steps;
        int64_t live = state.live;
        int64_t peak =
            std::max(state.peak, getNeededBytes(state.mask, index, live));
        if (peak >= upperBytes)
          continue;
        State reached{state.mask | bit(index), live, peak, unsigned(parent),
                      uint8_t(index)};
        auto [it, isNew] =
            stateOfSet.try_emplace(getKey(reached.mask), found.size());
        if (isNew)
          found.push_back(reached);
        else if (peak < found[it->second].peak)
          found[it->second] = reached;
      }
      if (steps >= lastStep) {
        result.complete = false;
        return result;
      }
    }
    if (found.empty())
      return result;
    if (found.size() > width) {
      llvm::sort(found, [](const State &a, const State &b) {
        return std::tuple(a.peak, a.live, a.mask) <
               std::tuple(b.peak, b.live, b.mask);
      });
      found.resize(width);
      result.complete = false;
    }
    layers.push_back(std::move(found));
  }
  result.improved = true;
  result.value = layers.back().front().peak;
  result.order.resize(nodes.size());
  unsigned which = 0;
  for (unsigned count = nodes.size(); count != 0; --count) {
    const State &state = layers[count][which];
    result.order[count - 1] = nodes[state.last].id;
    which = state.parent;
  }
  return result;
}
