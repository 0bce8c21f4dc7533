//===- KnapsackBound.cpp - Bound of a knapsack of chains ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads look at one vertex at a time: the first all-reduce of each of two
// micro-batches can be the first on the lane. This bound counts what they can
// do together.
//
// Take a time t. Let W be all work of the resource, and U what it can have done
// by t at most. If W > U, then W - U is left at t, so that every order takes at
// least t + W - U: the resource has stood idle for t - U by then.
//
// For U, the jobs of the supplier are covered with chains of dependences, and
// each job of the resource is held to need, of all that it needs, only the job
// of the supplier with the latest end, and so those before that in its chain.
// Let g(c, k) be the work of the first k jobs of chain c, and f(c, k) the work
// of the jobs of the resource that need no more of that chain, each as far as t
// allows after its head. By t the supplier has worked for no more than t - h,
// its least head, so that
//
//   U <= f(none) + max sum(f(c, k_c))  with  sum(g(c, k_c)) <= t - h
//
// and only such k_c whose k_c-th job can have ended by t. This is a knapsack
// with one choice for each chain. Its weights are rounded down to a grid, which
// only makes U larger.
//
//===----------------------------------------------------------------------===//

#include "KnapsackBound.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace braid;
using namespace llvm;

namespace {

class Knapsack {
public:
  Knapsack(const PrecedenceDag &dag, ArrayRef<int64_t> heads, int32_t resource,
           int32_t supplier)
      : dag(dag), heads(heads), resource(resource), supplier(supplier) {
    findChains();
  }

  std::vector<IdleTime> getIdleTimes(size_t steps);

private:
  static constexpr unsigned none = ~0u;

  /// A job of the resource, and what it needs.
  struct Dependent {
    int64_t head, work;
    /// A chain and how many of its jobs; `none` and 0.
    unsigned chain, depth;
  };
  /// A job of the supplier.
  struct Supply {
    /// The work of the chain up to and with it, and when it ends at the
    /// earliest.
    int64_t sum, end;
  };

  void findChains();
  /// t - U, if anything is left to do at t.
  int64_t getIdleAt(int64_t time);

  const PrecedenceDag &dag;
  ArrayRef<int64_t> heads;
  int32_t resource, supplier;

  std::vector<Dependent> dependents;
  std::vector<std::vector<Supply>> chains;
  size_t numSupplies = 0;
  int64_t leastHead = std::numeric_limits<int64_t>::max();
  int64_t allWork = 0, allSupply = 0;

  /// Cells of the grid, and what one stands for.
  size_t numCells = 0;
  int64_t cellNs = 1;
  std::vector<std::vector<int64_t>> gains;
  std::vector<int64_t> most, next;
};

} // namespace

void Knapsack::findChains() {
  // By vertex: the job of the supplier with the latest end that has to end
  // before it.
  std::vector<unsigned> latest(dag.size(), none);
  std::vector<int64_t> latestEnd(dag.size(), -1);
  std::vector<unsigned> chainOf(dag.size(), none), depthOf(dag.size(), 0);
  for (unsigned vertex = 0; vertex != dag.size(); ++vertex) {
    for (unsigned predecessor : dag.predecessors(vertex)) {
      unsigned candidate = latest[predecessor];
      int64_t end = latestEnd[predecessor];
      if (chainOf[predecessor] != none) {
        candidate = predecessor;
        end = addNs(heads[predecessor], dag.work[predecessor]);
      }
      if (end > latestEnd[vertex]) {
        latestEnd[vertex] = end;
        latest[vertex] = candidate;
      }
    }
    if (dag.work[vertex] == 0 || heads[vertex] < 0)
      continue;
    unsigned needs = latest[vertex];
    if (dag.resource[vertex] == resource) {
      dependents.push_back({heads[vertex], dag.work[vertex],
                            needs == none ? none : chainOf[needs],
                            needs == none ? 0 : depthOf[needs]});
      allWork = addNs(allWork, dag.work[vertex]);
    } else if (dag.resource[vertex] == supplier) {
      // The vertex continues the chain of its latest predecessor if that is the
      // last of the chain.
      unsigned chain = chains.size();
      if (needs != none && depthOf[needs] == chains[chainOf[needs]].size())
        chain = chainOf[needs];
      else
        chains.emplace_back();
      int64_t before = chains[chain].empty() ? 0 : chains[chain].back().sum;
      int64_t end = addNs(heads[vertex], dag.work[vertex]);
      chains[chain].push_back({addNs(before, dag.work[vertex]), end});
      chainOf[vertex] = chain;
      depthOf[vertex] = chains[chain].size();
      ++numSupplies;
      leastHead = std::min(leastHead, heads[vertex]);
      allSupply = addNs(allSupply, dag.work[vertex]);
    }
  }
}

int64_t Knapsack::getIdleAt(int64_t time) {
  int64_t available = 0;
  for (auto [chain, gain] : zip_equal(chains, gains))
    gain.assign(chain.size() + 1, 0);
  for (const Dependent &job : dependents) {
    int64_t done = std::clamp<int64_t>(time - job.head, 0, job.work);
    if (job.chain == none)
      available += done;
    else
      gains[job.chain][job.depth] += done;
  }

  // What ends at `time` itself has not made anything possible yet.
  size_t capacity = std::max<int64_t>(time - leastHead - 1, 0) / cellNs;
  capacity = std::min(capacity, numCells - 1);
  most.assign(capacity + 1, 0);
  for (auto [chain, gain] : zip_equal(chains, gains)) {
    next = most;
    int64_t sum = 0;
    for (auto [supply, more] : zip_equal(chain, ArrayRef(gain).drop_front())) {
      size_t cells = supply.sum / cellNs;
      if (cells > capacity || supply.end >= time)
        break;
      sum += more;
      if (more == 0)
        continue;
      for (size_t i = cells; i <= capacity; ++i)
        next[i] = std::max(next[i], most[i - cells] + sum);
    }
    std::swap(most, next);
  }
  int64_t done = available + most.back();
  return allWork > done ? time - done : 0;
}

std::vector<IdleTime> Knapsack::getIdleTimes(size_t steps) {
  std::vector<IdleTime> result;
  bool needsAny = llvm::any_of(
      dependents, [](const Dependent &job) { return job.chain != none; });
  // Sums of what is there have to fit.
  constexpr int64_t tooLong = std::numeric_limits<int64_t>::max() / 4;
  if (!needsAny || allWork > tooLong || allSupply > tooLong ||
      leastHead > tooLong)
    return result;

  // The finest grid that the steps allow, for so many times.
  constexpr unsigned numLevels = 3, numTimes = 16;
  constexpr size_t maxCells = 4096;
  numCells = std::clamp<size_t>(
      steps / (numLevels * numTimes * (numSupplies + 1)), 1, maxCells);
  cellNs = std::max<int64_t>(
      allSupply / int64_t(numCells - 1 ? numCells - 1 : 1), 1);
  numCells = allSupply / cellNs + 1;
  gains.resize(chains.size());

  // Times from when the supplier can begin to when it can have ended, then
  // closer and closer to the best one.
  int64_t mostIdle = 0, bestTime = leastHead, begin = leastHead;
  int64_t end = leastHead;
  for (ArrayRef<Supply> chain : chains)
    end = std::max(end, chain.back().end);
  end = std::max(end, addNs(leastHead, allSupply));
  for (unsigned level = 0; level != numLevels; ++level) {
    int64_t step = std::max<int64_t>((end - begin) / numTimes, 1);
    for (int64_t time = begin; time <= end; time += step) {
      int64_t idle = getIdleAt(time);
      if (idle <= 0)
        continue;
      result.push_back({time, idle});
      if (idle > mostIdle) {
        mostIdle = idle;
        bestTime = time;
      }
    }
    begin = std::max(bestTime - step, leastHead);
    end = bestTime + step;
  }
  return result;
}

std::vector<IdleTime> braid::getIdleTimes(const PrecedenceDag &dag,
                                          ArrayRef<int64_t> heads,
                                          int32_t resource, int32_t supplier,
                                          size_t steps) {
  return Knapsack(dag, heads, resource, supplier).getIdleTimes(steps);
}
