//===- MemorySchedule.cpp - Orders that need little memory ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemorySchedule.h"

#include "Schedule/Model/LimitTracker.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

using namespace braid;

namespace {

/// The greedy schedule.
class GreedyScheduler {
public:
  GreedyScheduler(const FlatProblem &flat, MemoryTieBreak tieBreak);
  bool run(ScheduleOrder &order);

private:
  using Key = std::tuple<int64_t, int64_t, unsigned>;
  void makeReady(unsigned node);
  void refresh(unsigned node);
  void place(unsigned node);

  const FlatProblem &flat;
  MemoryTieBreak tieBreak;
  ScheduleOrder *order = nullptr;
  LimitTracker limits;
  std::vector<unsigned> missing;
  std::vector<bool> isReady;
  std::vector<Key> keys;
  std::set<Key> ready;
  /// Starts that are ready but would be too many in flight.
  std::vector<unsigned> held;
  int64_t clock = 0;
};

} // namespace

GreedyScheduler::GreedyScheduler(const FlatProblem &flat,
                                 MemoryTieBreak tieBreak)
    : flat(flat), tieBreak(tieBreak), limits(flat), missing(flat.size()),
      isReady(flat.size(), false), keys(flat.size()) {}

void GreedyScheduler::makeReady(unsigned node) {
  isReady[node] = true;
  int64_t second = tieBreak == MemoryTieBreak::Latest ? -++clock : 0;
  keys[node] = {limits.getAddedBytes(node), second, node};
  ready.insert(keys[node]);
}

void GreedyScheduler::refresh(unsigned node) {
  if (!isReady[node])
    return;
  ready.erase(keys[node]);
  std::get<0>(keys[node]) = limits.getAddedBytes(node);
  ready.insert(keys[node]);
}

void GreedyScheduler::place(unsigned node) {
  order->push_back(node);
  isReady[node] = false;
  bool endsSomething = limits.place(node).endsSomething;
  for (unsigned buffer : flat.buffersOf[node]) {
    unsigned left = limits.getMissingUsers(buffer);
    if (left == 1 || left + 1 == flat.usersOf[buffer].size())
      for (unsigned user : flat.usersOf[buffer])
        refresh(user);
  }
  for (unsigned successor : flat.successors[node])
    if (--missing[successor] == 0)
      makeReady(successor);
  if (endsSomething) {
    for (unsigned start : held)
      makeReady(start);
    held.clear();
  }
}

bool GreedyScheduler::run(ScheduleOrder &result) {
  result.clear();
  order = &result;
  for (unsigned node = 0, end = flat.size(); node != end; ++node) {
    missing[node] = flat.predecessors[node].size();
    if (missing[node] == 0)
      makeReady(node);
  }
  while (!ready.empty()) {
    unsigned node = std::get<2>(*ready.begin());
    ready.erase(ready.begin());
    if (limits.mayStart(node)) {
      place(node);
      continue;
    }
    isReady[node] = false;
    held.push_back(node);
  }
  return result.size() == flat.size();
}

bool braid::scheduleForMemory(const FlatProblem &flat, MemoryTieBreak tieBreak,
                              ScheduleOrder &order) {
  return GreedyScheduler(flat, tieBreak).run(order);
}

ScheduleOrder braid::scheduleDepthFirst(const FlatProblem &flat) {
  unsigned size = flat.size();
  // The longest chain before each node.
  std::vector<unsigned> depth(size, 0);
  for (unsigned node = 0; node != size; ++node)
    for (unsigned predecessor : flat.predecessors[node])
      depth[node] = std::max(depth[node], depth[predecessor] + 1);

  ScheduleOrder order;
  order.reserve(size);
  std::vector<bool> visited(size, false);
  // A node and its predecessors, the deepest last, as a stack takes them.
  struct Frame {
    unsigned node;
    std::vector<unsigned> left;
  };
  std::vector<Frame> stack;
  auto visit = [&](unsigned node) {
    visited[node] = true;
    Frame frame{node, flat.predecessors[node].vec()};
    llvm::sort(frame.left, [&](unsigned a, unsigned b) {
      return std::pair(depth[a], b) < std::pair(depth[b], a);
    });
    stack.push_back(std::move(frame));
  };
  for (unsigned root = 0; root != size; ++root) {
    if (visited[root] || !flat.successors[root].empty())
      continue;
    visit(root);
    while (!stack.empty()) {
      std::vector<unsigned> &left = stack.back().left;
      if (left.empty()) {
        order.push_back(stack.back().node);
        stack.pop_back();
        continue;
      }
      unsigned next = left.back();
      left.pop_back();
      if (!visited[next])
        visit(next);
    }
  }
  return order;
}

MemoryPeak braid::getMemoryPeak(const FlatProblem &flat,
                                llvm::ArrayRef<unsigned> order) {
  MemoryPeak peak;
  peak.bytes = flat.liveBytes;
  LimitTracker limits(flat);
  for (auto [place, node] : llvm::enumerate(order))
    if (int64_t bytes = limits.place(node).neededBytes; bytes > peak.bytes) {
      peak.bytes = bytes;
      peak.place = place;
    }
  peak.buffers = getLiveBuffers(flat.problem, order, peak.place);
  return peak;
}

/// The part of `order` from `begin` to `end`, with the memory around it.
static ScheduleWindow getMemoryWindow(const FlatProblem &flat,
                                      llvm::ArrayRef<unsigned> order,
                                      unsigned begin, unsigned end,
                                      std::vector<unsigned> &position,
                                      std::vector<int64_t> &zeros) {
  ScheduleWindow window = getWholeWindow(flat, order, position, zeros);
  window.nodes.assign(order.begin() + begin, order.begin() + end);
  window.begin = begin;
  LimitTracker limits(flat);
  for (unsigned node : order.take_front(begin))
    limits.place(node);
  window.liveBytes = limits.getLiveBytes();
  window.inFlight = limits.getInFlight();
  return window;
}

void braid::lowerPeak(const FlatProblem &flat, WindowSearch &search,
                      int64_t limitBytes, uint64_t maxSteps,
                      ScheduleOrder &order) {
  uint64_t spent = 0;
  std::vector<unsigned> position;
  std::vector<int64_t> zeros;
  unsigned size = flat.size();
  while (spent < maxSteps) {
    MemoryPeak peak = getMemoryPeak(flat, order);
    spent += size;
    if (peak.bytes <= limitBytes)
      return;
    // Windows of growing size, and at several places around the peak.
    bool improved = false;
    for (auto [length, before] :
         {std::pair(16u, 8u), std::pair(24u, 20u), std::pair(24u, 4u),
          std::pair(40u, 20u), std::pair(64u, 56u), std::pair(64u, 8u)}) {
      unsigned begin = peak.place - std::min(peak.place, before);
      unsigned end = std::min(size, begin + length);
      ScheduleWindow window =
          getMemoryWindow(flat, order, begin, end, position, zeros);
      uint64_t stepsBefore = search.getSteps();
      WindowSearch::Result result =
          search.searchPeak(window, peak.bytes, 2000, maxSteps - spent);
      spent += search.getSteps() - stepsBefore + size;
      if (result.improved) {
        llvm::copy(result.order, order.begin() + begin);
        improved = true;
        break;
      }
      if (spent >= maxSteps)
        break;
    }
    if (!improved)
      return;
  }
}

int64_t braid::getLeastPeak(const FlatProblem &flat) {
  unsigned size = flat.size(), numBuffers = flat.bufferBytes.size();
  int64_t least = flat.liveBytes;
  // What escapes lives at the end.
  int64_t atEnd = flat.liveBytes;
  for (unsigned buffer = 0; buffer != numBuffers; ++buffer)
    if (flat.escapes[buffer])
      atEnd += flat.bufferBytes[buffer];
  least = std::max(least, atEnd);

  // By node: the buffers that something before it uses, and those that
  // something after it uses.
  bool closed = size <= 4096 && numBuffers <= 4096;
  std::vector<llvm::BitVector> before, after;
  if (closed) {
    before.assign(size, llvm::BitVector(numBuffers));
    after = before;
    for (unsigned node = 0; node != size; ++node)
      for (unsigned predecessor : flat.predecessors[node]) {
        before[node] |= before[predecessor];
        for (unsigned buffer : flat.buffersOf[predecessor])
          before[node].set(buffer);
      }
    for (unsigned node = size; node-- != 0;)
      for (unsigned successor : flat.successors[node]) {
        after[node] |= after[successor];
        for (unsigned buffer : flat.buffersOf[successor])
          after[node].set(buffer);
      }
    for (unsigned buffer = 0; buffer != numBuffers; ++buffer)
      if (flat.escapes[buffer])
        for (unsigned node = 0; node != size; ++node)
          after[node].set(buffer);
  }
  llvm::BitVector lives(numBuffers);
  for (unsigned node = 0; node != size; ++node) {
    lives.reset();
    if (closed) {
      lives = before[node];
      lives &= after[node];
    }
    for (unsigned buffer : flat.buffersOf[node])
      lives.set(buffer);
    int64_t bytes = flat.liveBytes + flat.transientBytes[node];
    for (unsigned buffer : lives.set_bits())
      bytes += flat.bufferBytes[buffer];
    least = std::max(least, bytes);
  }
  return least;
}

void braid::explainExcess(const FlatProblem &flat, SearchResult &result) {
  if (!result.excess)
    result.excess.emplace();
  MemoryExcess &excess = *result.excess;
  MemoryPeak peak = getMemoryPeak(flat, result.order);
  excess.bytes = result.peakBytes - flat.maxMemory;
  excess.leastPeakBytes = std::max(excess.leastPeakBytes, getLeastPeak(flat));
  excess.proven |= excess.leastPeakBytes > flat.maxMemory;
  excess.node = peak.place < result.order.size() ? result.order[peak.place] : 0;
  excess.buffers = std::move(peak.buffers);
}
