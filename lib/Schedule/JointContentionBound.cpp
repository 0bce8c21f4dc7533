//===- JointContentionBound.cpp - Several lanes beside the stream ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contention bound for several lanes at once, where two of them may hide
// beside the same compute, but slow it down more than one does.
//
// In a simulation of any order, let y(i, s) be how long op i of the stream runs
// while exactly the lanes of the set s do, z(s) the same for the time in which
// nothing runs on the stream, r(i, s) the highest rate that i can have then,
// and p(i, s) the highest that the lanes can have. Then
//
//   sum over s of r(i, s) y(i, s) >= c(i), the work of each op,
//   sum of p(i, s) y(i, s) and z(s) over s with l >= C(l), that of each lane,
//   T >= sum(y) + sum(z).
//
// That is a linear program, and every solution of its dual bounds it from
// below: for prices v(l) >= 0 of the lanes that add up to at most 1,
//
//   T >= sum(v(l) C(l)) + sum over i of c(i) min over s of
//                         (1 - p(i, s) sum over l in s of v(l)) / r(i, s).
//
// A launch gap is an op that nothing slows down. With windows it is as in
// ContentionBound.cpp.
//
//===----------------------------------------------------------------------===//

#include "ContentionBound.h"

#include "braid/Schedule/Contention.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace braid;
using namespace llvm;

namespace {

class JointBound {
public:
  JointBound(const SchedulingProblem &problem, ArrayRef<NodeJob> stream,
             ArrayRef<Communication> lanes, std::pair<int64_t, int64_t> window);

  /// The bound at the best prices found.
  double getBound() const;

private:
  using Prices = SmallVector<double, 4>;

  double getBoundAt(const Prices &prices) const;
  /// Tries all prices that are multiples of `step`.
  void search(Prices &prices, size_t lane, double left, double step,
              double &best, Prices &bestPrices) const;

  size_t numSets;
  double outside = 0, launchNs = 0;
  /// By lane: C above.
  SmallVector<double, 4> toPlace;
  /// By op within the window: its work, and by set of lanes 1 / r and p / r.
  std::vector<double> work, slowdown, progress;
};

} // namespace

JointBound::JointBound(const SchedulingProblem &problem,
                       ArrayRef<NodeJob> stream, ArrayRef<Communication> lanes,
                       std::pair<int64_t, int64_t> window)
    : numSets(size_t(1) << lanes.size()) {
  auto [head, tail] = window;
  outside = double(head) + double(tail);
  // What each set of lanes takes at least.
  std::vector<int64_t> held(numSets, 0);
  std::vector<double> memory(numSets, 0);
  for (auto [index, lane] : llvm::enumerate(lanes)) {
    double total = 0, within = 0;
    for (const Communication::Part &part : lane.parts) {
      total += double(part.work);
      if (part.head >= head && part.tail >= tail)
        within += double(part.work);
    }
    toPlace.push_back(std::max(total - outside, within));
    for (size_t set = 0; set != numSets; ++set)
      if (set >> index & 1) {
        held[set] += lane.getLeastMultiprocessors();
        if (!lane.sharesLink)
          memory[set] += lane.getLeastMemoryDemand();
      }
  }

  const MachineModel &machine = problem.machine;
  for (const NodeJob &entry : stream) {
    if (entry.job.head < head || entry.job.tail < tail)
      continue;
    int64_t costNs = problem.graph[entry.node].cost;
    int64_t gapNs = costNs > 0 ? machine.launchNs : 0;
    launchNs += double(gapNs);
    work.push_back(double(entry.job.work - gapNs));
    // Of a body, nothing but its least time is known.
    bool isKnown = entry.job.work - gapNs == costNs && costNs > 0;
    for (size_t set = 0; set != numSets; ++set) {
      double rate = 1, part = 1;
      if (isKnown && set != 0) {
        const ResourceDemand &demand = problem.demands[entry.node];
        rate = getComputeRate(costNs, demand, machine, held[set]);
        double memoryOfOp = getMemoryDemand(costNs, demand, machine);
        double least = memoryOfOp * getComputeRate(costNs, demand, machine,
                                                   lanes.front().mostHeld);
        double both = memoryOfOp * rate + memory[set];
        if (least > 0 && least + memory[set] > machine.memoryBandwidth &&
            memory[set] > 0)
          part = machine.memoryBandwidth / (least + memory[set]);
        // Lanes that use no memory go on at full rate.
        for (auto [index, lane] : llvm::enumerate(lanes))
          if ((set >> index & 1) &&
              (lane.sharesLink || lane.getLeastMemoryDemand() == 0))
            part = 1;
        if (memoryOfOp > 0 && both > machine.memoryBandwidth)
          rate *= machine.memoryBandwidth / both;
      }
      slowdown.push_back(1 / rate);
      progress.push_back(part / rate);
    }
  }
}

double JointBound::getBoundAt(const Prices &prices) const {
  SmallVector<double, 16> ofSet(numSets, 0);
  double bound = outside;
  for (auto [index, price] : llvm::enumerate(prices)) {
    bound += price * toPlace[index];
    for (size_t set = 0; set != numSets; ++set)
      if (set >> index & 1)
        ofSet[set] += price;
  }
  bound += launchNs * (1 - ofSet.back());
  for (size_t op = 0; op != work.size(); ++op) {
    double least = 1;
    for (size_t set = 1; set != numSets; ++set)
      least = std::min(least, slowdown[op * numSets + set] -
                                  progress[op * numSets + set] * ofSet[set]);
    bound += work[op] * std::max(least, 0.0);
  }
  return bound;
}

void JointBound::search(Prices &prices, size_t lane, double left, double step,
                        double &best, Prices &bestPrices) const {
  if (lane == prices.size()) {
    double bound = getBoundAt(prices);
    if (bound > best) {
      best = bound;
      bestPrices = prices;
    }
    return;
  }
  for (double price = 0; price <= left; price += step) {
    prices[lane] = price;
    search(prices, lane + 1, left - price, step, best, bestPrices);
  }
}

double JointBound::getBound() const {
  double best = 0;
  Prices prices(toPlace.size(), 0), bestPrices = prices;
  // Powers of two, so that sums are exact.
  double step = 0.25;
  search(prices, 0, 1, step, best, bestPrices);
  for (; step >= 1.0 / 64; step /= 2) {
    prices = bestPrices;
    for (size_t lane = 0; lane != prices.size(); ++lane)
      for (double change : {-step, step}) {
        Prices tried = bestPrices;
        tried[lane] += change;
        double sum = 0;
        for (double price : tried)
          sum += price;
        if (tried[lane] < 0 || sum > 1)
          continue;
        if (double bound = getBoundAt(tried); bound > best) {
          best = bound;
          bestPrices = tried;
        }
      }
  }
  return best;
}

double braid::getJointContentionBound(const SchedulingProblem &problem,
                                      ArrayRef<NodeJob> stream,
                                      ArrayRef<Communication> lanes,
                                      std::pair<int64_t, int64_t> window) {
  bool isEmpty = llvm::none_of(stream, [&](const NodeJob &entry) {
    return entry.job.head >= window.first && entry.job.tail >= window.second;
  });
  if (isEmpty)
    return 0;
  return JointBound(problem, stream, lanes, window).getBound();
}
