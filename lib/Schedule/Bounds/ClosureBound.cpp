//===- ClosureBound.cpp - Bound of a maximum closure ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClosureBound.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace braid;

namespace {

/// The graph from one end.
class ClosureFinder {
public:
  explicit ClosureFinder(const PrecedenceDag &dag);

  /// How long `wanted` stands still at least before `untilNs`.
  struct Idle {
    int64_t ns = 0;
    int64_t untilNs = 0;
  };
  /// For the best time and factor. `wanted` and `limited`, which keeps it from
  /// working, are -1 for the stream, or a lane.
  Idle findIdle(int32_t wanted, int32_t limited, uint64_t maxVisits);

private:
  /// Work of `wanted` in nodes that may begin before `t`, less what the flow
  /// takes away, in parts of `unit`. So is the factor.
  int64_t getFlowWork(int64_t t, int64_t factor);
  /// The idle time before `t`.
  Idle getIdle(int64_t t, int64_t factor);
  /// The same with a good factor.
  Idle getBestIdle(int64_t t);

  /// Finds what chains leave of `limited` between two of their own nodes.
  void findGaps();
  /// All sums of works of `limited` up to `most`, and the first beyond it; none
  /// if there are too many.
  std::vector<int64_t> getSums(int64_t most) const;
  /// When the first of the wanted nodes that may not begin before `t` does, if
  /// what is lost on `limited` until then counts as time by `factor`.
  int64_t getDelayedTime(int64_t t, int64_t factor);

  static constexpr int64_t unit = 64;
  static constexpr unsigned none = ~0u;

  const PrecedenceDag &dag;
  std::vector<int64_t> heads;
  /// By vertex: the one before it on the longest chain that leads to it.
  std::vector<unsigned> critical;
  /// Vertices by the time at which they can begin, in the order of dependence
  /// among equals. The flow numbers vertices by their place in this order, so
  /// that what may begin before some time is a range.
  std::vector<unsigned> byHead;
  /// By place: the head, and the places of the predecessors.
  std::vector<int64_t> flowHeads;
  FlatLists flowPredecessors;
  uint64_t visits = 0;

  int32_t wanted = -1, limited = -1;
  int64_t firstWanted = 0, firstLimited = 0;
  /// The number of the best factor for the last time.
  int bestFactor = 0;
  /// By place: the work of limited nodes, 0 for others.
  std::vector<int64_t> limitedWork;
  /// The places of the wanted nodes that have work, and their work.
  std::vector<std::pair<unsigned, int64_t>> sources;
  /// By place: what the flow has not used of limited nodes, the predecessor
  /// that is next, and marks of nodes from which nothing can be reached any
  /// more.
  std::vector<int64_t> capacity;
  std::vector<unsigned> cursor, path;
  std::vector<uint8_t> dead;

  /// A gap between a limited node and the one before it on its chain. Whole
  /// nodes fill all of it but `rest`, and more if it is longer by `missing`.
  struct Gap {
    int64_t rest = 0, missing = 0;
  };
  /// By vertex; empty if nothing is lost anywhere.
  std::vector<Gap> gaps;
  /// By vertex: what its chain has lost.
  std::vector<int64_t> losses;
};

} // namespace

ClosureFinder::ClosureFinder(const PrecedenceDag &dag)
    : dag(dag), heads(dag.getLongestPaths()), capacity(dag.size()),
      cursor(dag.size()), dead(dag.size()) {
  critical.assign(dag.size(), none);
  for (unsigned vertex = 0; vertex != dag.size(); ++vertex) {
    byHead.push_back(vertex);
    for (unsigned predecessor : dag.predecessors(vertex))
      if (heads[predecessor] >= 0 &&
          heads[predecessor] + dag.work[predecessor] == heads[vertex])
        critical[vertex] = predecessor;
  }
  llvm::sort(byHead, [&](unsigned a, unsigned b) {
    return std::pair(heads[a], a) < std::pair(heads[b], b);
  });
  std::vector<unsigned> place(dag.size());
  for (auto [index, vertex] : llvm::enumerate(byHead))
    place[vertex] = index;
  std::vector<std::pair<unsigned, unsigned>> edges;
  for (unsigned vertex : byHead) {
    flowHeads.push_back(heads[vertex]);
    for (unsigned predecessor : dag.predecessors(vertex))
      edges.emplace_back(place[vertex], place[predecessor]);
  }
  flowPredecessors = FlatLists(dag.size(), edges);
}

int64_t ClosureFinder::getFlowWork(int64_t t, int64_t factor) {
  // All that may begin before `t`, in an order in which dependences come first.
  int64_t work = 0;
  size_t end = llvm::lower_bound(flowHeads, t) - flowHeads.begin();
  visits += end;
  std::fill_n(dead.begin(), end, 0);
  std::fill_n(cursor.begin(), end, 0);
  for (size_t place = 0; place != end; ++place)
    capacity[place] = factor * limitedWork[place];
  for (auto [source, sourceWork] : sources) {
    if (source >= end)
      break;
    int64_t supply = unit * sourceWork;
    path.assign(1, source);
    while (supply > 0 && !path.empty()) {
      unsigned node = path.back();
      int64_t flow = std::min(supply, capacity[node]);
      supply -= flow;
      capacity[node] -= flow;
      llvm::ArrayRef<unsigned> predecessors = flowPredecessors[node];
      unsigned &next = cursor[node];
      while (next != predecessors.size() && dead[predecessors[next]])
        ++next;
      ++visits;
      if (supply == 0)
        break;
      if (next != predecessors.size()) {
        path.push_back(predecessors[next]);
        continue;
      }
      dead[node] = true;
      path.pop_back();
    }
    work += supply;
  }
  return work;
}

std::vector<int64_t> ClosureFinder::getSums(int64_t most) const {
  constexpr size_t maxWorks = 8, maxSums = 1'000;
  std::vector<int64_t> works;
  for (unsigned vertex = 0; vertex != dag.size(); ++vertex) {
    int64_t work = dag.work[vertex];
    if (dag.resource[vertex] != limited || work == 0 ||
        llvm::is_contained(works, work))
      continue;
    if (works.size() == maxWorks)
      return {};
    works.push_back(work);
  }
  std::vector<int64_t> sums = {0};
  for (int64_t work : works)
    // Each sum may grow by as many of the same.
    for (size_t i = 0; i != sums.size(); ++i) {
      if (sums[i] > most)
        continue;
      if (sums.size() == maxSums)
        return {};
      sums.push_back(sums[i] + work);
    }
  llvm::sort(sums);
  sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
  return sums;
}

void ClosureFinder::findGaps() {
  // By vertex: when the limited node before it on its chain ends, or -1.
  std::vector<int64_t> lastEnd(dag.size(), -1);
  std::vector<int64_t> lengths(dag.size(), 0);
  int64_t longest = 0;
  for (unsigned vertex = 0; vertex != dag.size(); ++vertex) {
    if (critical[vertex] != none)
      lastEnd[vertex] = lastEnd[critical[vertex]];
    if (dag.resource[vertex] != limited || dag.work[vertex] == 0)
      continue;
    if (lastEnd[vertex] >= 0)
      lengths[vertex] = heads[vertex] - lastEnd[vertex];
    longest = std::max(longest, lengths[vertex]);
    lastEnd[vertex] = heads[vertex] + dag.work[vertex];
  }
  gaps.clear();
  std::vector<int64_t> sums = getSums(longest);
  if (sums.empty())
    return;
  gaps.resize(dag.size());
  losses.resize(dag.size());
  for (unsigned vertex = 0; vertex != dag.size(); ++vertex) {
    int64_t length = lengths[vertex];
    if (length == 0)
      continue;
    auto next = llvm::lower_bound(sums, length);
    if (*next != length)
      gaps[vertex] = {length - *std::prev(next), *next - length};
  }
}

int64_t ClosureFinder::getDelayedTime(int64_t t, int64_t factor) {
  visits += dag.size() / 4;
  for (unsigned vertex = 0; vertex != dag.size(); ++vertex) {
    const Gap &gap = gaps[vertex];
    int64_t before = critical[vertex] == none ? 0 : losses[critical[vertex]];
    losses[vertex] =
        before + std::min(factor * gap.rest, (unit - factor) * gap.missing);
  }
  int64_t least = std::numeric_limits<int64_t>::max();
  for (unsigned vertex = 0; vertex != dag.size(); ++vertex)
    if (dag.resource[vertex] == wanted && dag.work[vertex] != 0 &&
        heads[vertex] >= t)
      least = std::min(least, heads[vertex] + losses[vertex] / (unit - factor));
  return least;
}

ClosureFinder::Idle ClosureFinder::getIdle(int64_t t, int64_t factor) {
  int64_t flowWork = getFlowWork(t, factor);
  // Up to then nothing begins that may not begin before `t`.
  int64_t until = t;
  if (factor < unit && t >= firstLimited && !gaps.empty())
    until = std::max(until, getDelayedTime(t, factor));
  // An upper bound on the wanted work by `until`, in whole nanoseconds.
  int64_t room = std::max<int64_t>(until - firstLimited, 0);
  int64_t work = (flowWork + factor * room) / unit;
  return {until - std::min(work, std::max<int64_t>(until - firstWanted, 0)),
          until};
}

ClosureFinder::Idle ClosureFinder::getBestIdle(int64_t t) {
  // Factors of 0 and from 1/16 to 16, each a seventh larger than the one
  // before. The best is near that of another time.
  constexpr int numFactors = 44;
  std::array<int64_t, numFactors> factors;
  std::array<Idle, numFactors> values;
  factors[0] = 0;
  for (int i = 1; i != numFactors; ++i)
    factors[i] = std::max<int64_t>(factors[i - 1] * 8 / 7, unit / 16 + i - 1);
  values.fill({-1, 0});
  auto evaluate = [&](int index) {
    if (values[index].ns < 0)
      values[index] = getIdle(t, factors[index]);
    return values[index];
  };
  for (int step : {8, 3, 1}) {
    for (int direction : {-step, step})
      while (true) {
        int next = bestFactor + direction;
        if (next < 0 || next >= numFactors ||
            evaluate(next).ns <= evaluate(bestFactor).ns)
          break;
        bestFactor = next;
      }
  }
  return evaluate(bestFactor);
}

ClosureFinder::Idle ClosureFinder::findIdle(int32_t newWanted,
                                            int32_t newLimited,
                                            uint64_t maxVisits) {
  wanted = newWanted;
  limited = newLimited;
  int64_t lastHead = 0;
  firstWanted = firstLimited = std::numeric_limits<int64_t>::max();
  bestFactor = 20;
  for (unsigned node = 0, end = dag.size(); node != end; ++node) {
    if (dag.resource[node] == wanted && dag.work[node] != 0) {
      lastHead = std::max(lastHead, heads[node]);
      firstWanted = std::min(firstWanted, heads[node]);
    }
    if (dag.resource[node] == limited && dag.work[node] != 0)
      firstLimited = std::min(firstLimited, heads[node]);
  }
  if (firstLimited > lastHead)
    return {};
  limitedWork.assign(dag.size(), 0);
  sources.clear();
  for (auto [place, vertex] : llvm::enumerate(byHead)) {
    if (dag.resource[vertex] == limited)
      limitedWork[place] = dag.work[vertex];
    if (dag.resource[vertex] == wanted && dag.work[vertex] != 0)
      sources.emplace_back(place, dag.work[vertex]);
  }
  findGaps();

  // Evenly spread times, then closer around the best.
  uint64_t lastVisit = visits + maxVisits;
  Idle best;
  int64_t center = 0;
  auto tryTime = [&](int64_t t) {
    if (t <= 0 || t > lastHead || visits >= lastVisit)
      return;
    if (Idle idle = getBestIdle(t); idle.ns > best.ns) {
      best = idle;
      center = t;
    }
  };
  int64_t step = std::max<int64_t>(lastHead / 12, 1);
  for (int64_t t = step; t <= lastHead; t += step)
    tryTime(t);
  for (unsigned round = 0; round != 6 && step > 1; ++round) {
    step = std::max<int64_t>(step / 2, 1);
    int64_t around = center;
    tryTime(around - step);
    tryTime(around + step);
  }
  return best;
}

int64_t braid::getClosureBound(const PrecedenceDag &before,
                               const PrecedenceDag &after, int64_t knownNs,
                               size_t maxVisits) {
  // By resource, the stream first.
  std::vector<int64_t> work(1, 0);
  int64_t total = 0;
  for (unsigned vertex = 0; vertex != before.size(); ++vertex) {
    int32_t resource = before.resource[vertex];
    if (resource == PrecedenceDag::onNothing)
      continue;
    if (size_t(resource + 1) >= work.size())
      work.resize(resource + 2, 0);
    work[resource + 1] = addNs(work[resource + 1], before.work[vertex]);
    total = addNs(total, before.work[vertex]);
  }
  // Factors are below 2^11, times may be sums over all resources, and products
  // must not overflow.
  if (total >= int64_t(1) << 50)
    return knownNs;

  // The stream and the two lanes with the most work.
  llvm::SmallVector<int32_t> machines;
  for (int32_t lane = 0, end = work.size() - 1; lane != end; ++lane)
    machines.push_back(lane);
  llvm::sort(machines, [&](int32_t a, int32_t b) {
    return std::pair(-work[a + 1], a) < std::pair(-work[b + 1], b);
  });
  if (machines.size() > 2)
    machines.truncate(2);
  machines.push_back(PrecedenceDag::onStream);

  int64_t best = knownNs;
  size_t each = maxVisits / (2 * machines.size() * machines.size());
  ClosureFinder begin(before), end(after);
  for (int32_t wanted : machines) {
    ClosureFinder::Idle first, last;
    for (int32_t limited : machines) {
      if (wanted == limited)
        continue;
      ClosureFinder::Idle found = begin.findIdle(wanted, limited, each);
      if (found.ns > first.ns)
        first = found;
      found = end.findIdle(wanted, limited, each);
      if (found.ns > last.ns)
        last = found;
    }
    int64_t most = std::max(first.ns, last.ns);
    if (first.untilNs + last.untilNs <= best)
      most = first.ns + last.ns;
    best = std::max(best, work[wanted + 1] + most);
  }
  return best;
}
