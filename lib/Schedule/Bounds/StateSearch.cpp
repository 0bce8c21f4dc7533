//===- StateSearch.cpp - Exact search where ops share ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateSearch.h"

#include "RemainderBound.h"
#include "Schedule/Model/LimitTracker.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <tuple>

using namespace braid;

namespace {

/// The nodes of `issued` have been issued.
struct State {
  ContentionMachine machine;
  std::vector<uint64_t> issued;
  /// What `RemainderBound` needs.
  std::vector<double> sums;
  LimitTracker limits;
  unsigned numLeft;
  /// The last of its steps.
  unsigned last;
  double boundNs = 0;

  bool isIssued(unsigned node) const {
    return issued[node / 64] >> (node % 64) & 1;
  }
  /// The least bound goes first, of these the one with the fewest nodes left.
  bool operator<(const State &other) const {
    return std::tuple(boundNs, numLeft, last) <
           std::tuple(other.boundNs, other.numLeft, other.last);
  }
};

class StateSearch {
public:
  StateSearch(const FlatProblem &flat, int64_t upperNs, uint64_t &steps);

  StateSearchResult run(uint64_t maxSteps);

private:
  static constexpr unsigned none = ~0u;
  using Nodes = llvm::SmallVector<unsigned, 16>;
  /// By lane.
  using InFlight = llvm::SmallVector<llvm::SmallVector<unsigned, 4>, 4>;

  /// What is next on the way to a whole order: of what follows `state` the
  /// one with the least bound; the others are open.
  std::unique_ptr<State> expand(const State &state);
  /// What may follow, ops on the stream first.
  Nodes getReady(const State &state) const;
  bool takesNoTime(const State &state, unsigned node) const;
  InFlight getInFlight(const ContentionMachine &machine) const;
  /// Leaves out waits that another one may precede. By lane: true if a wait is
  /// left, and no start that nodes but its waits depend on.
  llvm::SmallVector<bool, 4> orderWaits(const State &state, Nodes &ready,
                                        const InFlight &inFlight) const;
  /// The start that `node`, which takes no time by itself, awaits alone.
  unsigned getOnlyAwaited(unsigned node) const {
    return !flat.isStart(node) && costs[node] == 0 &&
                   flat.awaited[node].size() == 1
               ? flat.awaited[node].front()
               : none;
  }
  /// True if a start that waits for its lane could have been issued now.
  bool hasEarlyStart(const State &state) const;
  std::unique_ptr<State> getNext(const State &state, unsigned node);
  /// False if there is nothing to gain.
  bool isOpen(State &state);
  void push(std::unique_ptr<State> state);
  ScheduleOrder getOrder(unsigned last) const;

  const FlatProblem &flat;
  uint64_t &steps;
  RemainderBound remainder;
  std::vector<SimulatedOp> ops;
  std::vector<SimulatedTimes> times;
  PairRates pairs;
  std::vector<int64_t> costs;
  /// Starts that not only those that await them have to follow.
  std::vector<bool> hasOthersBehind;
  /// The nodes that lead to states, each with the one before.
  std::vector<std::pair<unsigned, unsigned>> path;
  /// The earliest time of each state but for its time, by the bytes of what
  /// `appendState` gives.
  llvm::StringMap<int64_t, llvm::BumpPtrAllocator> earliestNs;
  std::vector<int64_t> key;
  /// A heap.
  std::vector<std::unique_ptr<State>> open;
  /// States that nobody needs, whose memory the next ones take.
  std::vector<std::unique_ptr<State>> unused;
  StateSearchResult result;
};

} // namespace

StateSearch::StateSearch(const FlatProblem &flat, int64_t upperNs,
                         uint64_t &steps)
    : flat(flat), steps(steps), remainder(flat),
      ops(getOpsByNode(flat.problem)), times(flat.size()) {
  result.makespanNs = upperNs;
  for (const SimulatedOp &op : ops)
    costs.push_back(op.costNs);
  for (unsigned node = 0, end = flat.size(); node != end; ++node)
    hasOthersBehind.push_back(
        flat.isStart(node) &&
        llvm::any_of(flat.successors[node], [&](unsigned successor) {
          return !llvm::is_contained(flat.awaiters[node], successor);
        }));
}

bool StateSearch::takesNoTime(const State &state, unsigned node) const {
  return !flat.isStart(node) && costs[node] == 0 &&
         llvm::none_of(flat.awaited[node], [&](unsigned start) {
           return state.machine.isInFlight(start);
         });
}

StateSearch::Nodes StateSearch::getReady(const State &state) const {
  Nodes ready, starts;
  for (unsigned node = 0, end = flat.size(); node != end; ++node) {
    if (state.isIssued(node) ||
        llvm::any_of(flat.predecessors[node], [&](unsigned predecessor) {
          return !state.isIssued(predecessor);
        }))
      continue;
    if (!flat.hasLimits() && takesNoTime(state, node))
      return {node};
    if (state.limits.fits(node))
      (flat.isStart(node) ? starts : ready).push_back(node);
  }
  ready.append(starts.begin(), starts.end());
  return ready;
}

StateSearch::InFlight
StateSearch::getInFlight(const ContentionMachine &machine) const {
  InFlight inFlight(flat.numLanes);
  machine.visitInFlight(costs, [&](unsigned start, int64_t) {
    inFlight[flat.lane[start]].push_back(start);
  });
  return inFlight;
}

llvm::SmallVector<bool, 4>
StateSearch::orderWaits(const State &state, Nodes &ready,
                        const InFlight &inFlight) const {
  // By lane: how many of its operations are not behind the first one with a
  // wait.
  llvm::SmallVector<size_t, 4> first;
  for (llvm::ArrayRef<unsigned> operations : inFlight)
    first.push_back(llvm::find_if(operations,
                                  [&](unsigned start) {
                                    return llvm::any_of(
                                        ready, [&](unsigned node) {
                                          return getOnlyAwaited(node) == start;
                                        });
                                  }) -
                    operations.begin());
  llvm::erase_if(ready, [&](unsigned node) {
    unsigned start = getOnlyAwaited(node);
    if (start == none)
      return false;
    llvm::ArrayRef<unsigned> operations = inFlight[flat.lane[start]];
    return llvm::is_contained(
        operations.drop_front(
            std::min(first[flat.lane[start]] + 1, operations.size())),
        start);
  });
  llvm::SmallVector<bool, 4> isOrdered;
  for (auto [index, operations] : llvm::zip_equal(first, inFlight))
    isOrdered.push_back(index != operations.size());
  for (unsigned start : flat.problem.graph.starts())
    if (hasOthersBehind[start] && !state.isIssued(start))
      isOrdered[flat.lane[start]] = false;
  return isOrdered;
}

bool StateSearch::hasEarlyStart(const State &state) const {
  return llvm::any_of(getInFlight(state.machine),
                      [&](llvm::ArrayRef<unsigned> operations) {
                        return operations.size() > 1 &&
                               llvm::none_of(flat.successors[operations.back()],
                                             [&](unsigned node) {
                                               return state.isIssued(node);
                                             });
                      });
}

std::unique_ptr<State> StateSearch::getNext(const State &state, unsigned node) {
  // The events of one node, and the copy of the machine.
  steps += 50 + flat.size() / 4;
  std::unique_ptr<State> next;
  if (unused.empty()) {
    next = std::make_unique<State>(state);
  } else {
    next = std::move(unused.back());
    unused.pop_back();
    *next = state;
  }
  next->machine.issue(node);
  next->issued[node / 64] |= uint64_t(1) << (node % 64);
  next->limits.place(node);
  --next->numLeft;
  remainder.remove(node, next->sums);
  path.emplace_back(node, state.last);
  next->last = path.size() - 1;
  return next;
}

bool StateSearch::isOpen(State &state) {
  if (state.numLeft == 0) {
    state.machine.drain();
    if (state.machine.getNowNs() < result.makespanNs) {
      result.makespanNs = state.machine.getNowNs();
      result.order = getOrder(state.last);
    }
    return false;
  }
  int64_t nowNs = state.machine.getNowNs();
  double leftNs = remainder.get(state.issued, state.sums, state.machine);
  state.boundNs = std::max(state.boundNs, double(nowNs) + leftNs);
  if (state.boundNs >= double(result.makespanNs))
    return false;
  key.assign(state.issued.begin(), state.issued.end());
  state.machine.appendState(key);
  llvm::StringRef bytes(reinterpret_cast<const char *>(key.data()),
                        key.size() * sizeof(int64_t));
  auto [known, isNew] = earliestNs.try_emplace(bytes, nowNs);
  if (!isNew && known->second <= nowNs)
    return false;
  known->second = nowNs;
  return true;
}

void StateSearch::push(std::unique_ptr<State> state) {
  open.push_back(std::move(state));
  std::push_heap(open.begin(), open.end(),
                 [](const auto &a, const auto &b) { return *b < *a; });
}

std::unique_ptr<State> StateSearch::expand(const State &state) {
  std::unique_ptr<State> best;
  Nodes ready = getReady(state);
  bool reduces = !flat.hasLimits() &&
                 !(ready.size() == 1 && takesNoTime(state, ready.front()));
  InFlight inFlight = getInFlight(state.machine);
  llvm::SmallVector<bool, 4> isOrdered(flat.numLanes, false);
  if (reduces)
    isOrdered = orderWaits(state, ready, inFlight);
  for (unsigned node : ready) {
    if (flat.isStart(node) && isOrdered[flat.lane[node]])
      continue;
    std::unique_ptr<State> next = getNext(state, node);
    if (reduces && !flat.isStart(node)) {
      for (auto [lane, operations] : llvm::enumerate(inFlight))
        if (llvm::none_of(operations, [&](unsigned start) {
              return next->machine.isInFlight(start);
            }))
          isOrdered[lane] = false;
    }
    if ((reduces && !flat.isStart(node) && hasEarlyStart(*next)) ||
        !isOpen(*next)) {
      unused.push_back(std::move(next));
      continue;
    }
    if (!best || *next < *best)
      std::swap(best, next);
    if (next)
      push(std::move(next));
  }
  return best;
}

ScheduleOrder StateSearch::getOrder(unsigned last) const {
  ScheduleOrder order;
  for (; last != none; last = path[last].second)
    order.push_back(path[last].first);
  std::reverse(order.begin(), order.end());
  return order;
}

StateSearchResult StateSearch::run(uint64_t maxSteps) {
  if (!remainder)
    return std::move(result);
  // Memory for so many states; each has about a kilobyte.
  constexpr size_t maxStates = 300'000;
  uint64_t lastStep = steps + maxSteps;
  auto first = std::make_unique<State>(
      State{ContentionMachine(ops, flat.problem.machine, times, &pairs),
            std::vector<uint64_t>(flat.size() / 64 + 1, 0), remainder.getSums(),
            LimitTracker(flat), flat.size(), none});
  first->machine.reset();
  if (isOpen(*first))
    push(std::move(first));
  double boundNs = 0;
  // From time to time an order is followed to its end, as others need not be
  // followed beyond its time.
  unsigned numExpanded = 0, nextOrder = 1;
  while (!open.empty()) {
    std::pop_heap(open.begin(), open.end(),
                  [](const auto &a, const auto &b) { return *b < *a; });
    std::unique_ptr<State> state = std::move(open.back());
    open.pop_back();
    boundNs = state->boundNs;
    if (boundNs >= double(result.makespanNs))
      break;
    if (steps >= lastStep || earliestNs.size() >= maxStates) {
      result.boundNs = int64_t(std::ceil(boundNs));
      return std::move(result);
    }
    bool followsOrder = ++numExpanded == nextOrder;
    if (followsOrder)
      nextOrder += 1 + nextOrder / 4;
    while (state) {
      std::unique_ptr<State> next = expand(*state);
      unused.push_back(std::move(state));
      if (next && !followsOrder) {
        push(std::move(next));
        break;
      }
      state = std::move(next);
    }
  }
  result.boundNs = result.makespanNs;
  return std::move(result);
}

StateSearchResult braid::searchStates(const FlatProblem &flat, int64_t upperNs,
                                      uint64_t maxSteps, uint64_t &steps) {
  assert(flat.size() <= maxStateNodes && flat.timing == TimingModel::Contended);
  return StateSearch(flat, upperNs, steps).run(maxSteps);
}
