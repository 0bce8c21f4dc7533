//===- ContentionRates.cpp - Rates of ops beside lanes --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContentionRates.h"

#include "Schedule/Model/PersistentKernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

using namespace braid;
using namespace llvm;

ContentionRates::ContentionRates(const SchedulingProblem &problem)
    : problem(problem), machine(problem.machine) {
  const ScheduleGraph &graph = problem.graph;
  isBody.assign(graph.size(), false);
  for (unsigned node = 0; node != graph.size(); ++node)
    costs.push_back(graph[node].cost);
  for (auto [node, leastNs] : problem.leastNs) {
    isBody[node] = true;
    costs[node] = std::min(costs[node], leastNs);
  }
  findKinds();
  findSets();
  findBeside();
  findRates();
}

/// True if operations that ask for `a` and `b` interfere alike with compute.
static bool isOfSameEngine(const ResourceDemand &a, const ResourceDemand &b) {
  auto getEngine = [](const ResourceDemand &demand) {
    return std::pair(demand.multiprocessors > 0,
                     demand.memoryBytes > 0 || demand.linkBytes > 0);
  };
  return getEngine(a) == getEngine(b);
}

void ContentionRates::findKinds() {
  const ScheduleGraph &graph = problem.graph;
  for (unsigned start : graph.starts())
    numLanes = std::max(numLanes, unsigned(graph[start].lane) + 1);
  std::vector<std::vector<unsigned>> startsOf(numLanes);
  std::vector<int64_t> workOf(numLanes, 0), heldOf(numLanes, 0);
  mostLinkOf.assign(numLanes, 0);
  for (unsigned start : graph.starts()) {
    unsigned lane = graph[start].lane;
    int64_t costNs = graph[start].cost;
    startsOf[lane].push_back(start);
    workOf[lane] += costs[start];
    if (costNs == 0)
      continue;
    const ResourceDemand &demand = problem.demands[start];
    heldOf[lane] = std::max<int64_t>(heldOf[lane], demand.multiprocessors);
    mostLinkOf[lane] =
        std::max(mostLinkOf[lane], getLinkDemand(costNs, demand, machine,
                                                 getLink(machine, lane)));
  }
  for (int64_t held : heldOf)
    mostHeld += held;

  // Sets are looked at one by one, so only what matters most has a multiplier.
  std::vector<unsigned> lanes;
  for (unsigned lane = 0; lane != numLanes; ++lane)
    if (workOf[lane] > 0)
      lanes.push_back(lane);
  llvm::sort(lanes, [&](unsigned a, unsigned b) {
    return std::pair(-workOf[a], a) < std::pair(-workOf[b], b);
  });
  constexpr size_t maxLanes = 3;
  if (lanes.size() > maxLanes) {
    lanes.resize(maxLanes);
    allHaveKinds = false;
  }
  constexpr std::array<unsigned, maxLanes> maxKindsOf = {6, 3, 2};
  unsigned maxKinds = lanes.empty() ? 0 : maxKindsOf[lanes.size() - 1];

  kindOf.assign(graph.size(), none);
  for (unsigned lane : lanes)
    findKindsOf(lane, startsOf[lane], maxKinds);
}

void ContentionRates::findKindsOf(unsigned lane, ArrayRef<unsigned> starts,
                                  unsigned maxKinds) {
  // From the least demanding to the most.
  std::vector<std::pair<Kind, unsigned>> entries;
  for (unsigned start : starts) {
    if (costs[start] == 0)
      continue;
    Kind kind;
    kind.lane = lane;
    if (isKnown(start)) {
      const ResourceDemand &demand = problem.demands[start];
      kind.multiprocessors = std::max(demand.multiprocessors, 0);
      if (machine.isQueued()) {
        kind.multiprocessors = getHeldMultiprocessors(demand, machine);
        kind.needed = getNeededMultiprocessors(demand, machine, true);
        kind.taken = demand.clusterSize > 1
                         ? kind.multiprocessors
                         : getTakenFromPairs(machine, kind.multiprocessors);
      }
      kind.memoryDemand = getMemoryDemand(costs[start], demand, machine);
      kind.leastLinkDemand =
          getLinkDemand(costs[start], demand, machine, getLink(machine, lane));
      kind.engines.push_back(&demand);
    }
    kind.mostLinkDemand = kind.leastLinkDemand;
    entries.emplace_back(kind, start);
  }
  llvm::sort(entries, [](const auto &a, const auto &b) {
    return std::tuple(a.first.multiprocessors, a.first.memoryDemand, a.second) <
           std::tuple(b.first.multiprocessors, b.first.memoryDemand, b.second);
  });
  // A kind begins where more is asked for than at its beginning.
  unsigned firstKind = kinds.size();
  for (auto &[entry, start] : entries) {
    bool isNew = kinds.size() == firstKind;
    if (!isNew && kinds.size() - firstKind < maxKinds) {
      const Kind &last = kinds.back();
      isNew = entry.multiprocessors != last.multiprocessors ||
              entry.memoryDemand > 1.1 * last.memoryDemand;
    }
    if (isNew)
      kinds.push_back(entry);
    Kind &kind = kinds.back();
    kind.needed = std::min(kind.needed, entry.needed);
    kind.taken = std::min(kind.taken, entry.taken);
    kind.memoryDemand = std::min(kind.memoryDemand, entry.memoryDemand);
    kind.leastLinkDemand =
        std::min(kind.leastLinkDemand, entry.leastLinkDemand);
    kind.mostLinkDemand = std::max(kind.mostLinkDemand, entry.mostLinkDemand);
    for (const ResourceDemand *demand : entry.engines)
      if (llvm::none_of(kind.engines, [&](const ResourceDemand *other) {
            return isOfSameEngine(*demand, *other);
          }))
        kind.engines.push_back(demand);
    kind.isKnown &= !entry.engines.empty();
    kind.workNs += costs[start];
    kindOf[start] = kinds.size() - 1;
  }
}

void ContentionRates::findSets() {
  sets.emplace_back();
  for (unsigned first = 0, last = 0; first != kinds.size(); first = last) {
    while (last != kinds.size() && kinds[last].lane == kinds[first].lane)
      ++last;
    size_t numSets = sets.size();
    for (size_t i = 0; i != numSets; ++i)
      for (unsigned added = first; added != last; ++added) {
        KindSet set = sets[i];
        set.kinds.push_back(added);
        sets.push_back(std::move(set));
      }
  }
  std::vector<double> least(machine.linkBandwidth.size());
  std::vector<double> most(machine.linkBandwidth.size());
  for (KindSet &set : sets) {
    llvm::fill(least, 0);
    llvm::fill(most, 0);
    auto getLinkOf = [&](unsigned kind) {
      return getLink(machine, kinds[kind].lane);
    };
    // Other lanes may ask for the same link, too.
    for (unsigned lane = 0; lane != numLanes; ++lane) {
      bool isInSet = llvm::any_of(
          set.kinds, [&](unsigned kind) { return kinds[kind].lane == lane; });
      int32_t link = getLink(machine, lane);
      if (link >= 0 && !isInSet)
        most[link] += mostLinkOf[lane];
    }
    for (unsigned kind : set.kinds)
      if (int32_t link = getLinkOf(kind); link >= 0) {
        least[link] += kinds[kind].leastLinkDemand;
        most[link] += kinds[kind].mostLinkDemand;
      }
    for (unsigned index : set.kinds) {
      const Kind &kind = kinds[index];
      int32_t link = getLinkOf(index);
      auto getRate = [&](ArrayRef<double> demand, double mine) {
        bool isShared = link >= 0 && mine > 0 &&
                        machine.linkBandwidth[link] > 0 &&
                        demand[link] > machine.linkBandwidth[link];
        return isShared ? machine.linkBandwidth[link] / demand[link] : 1;
      };
      set.rates.push_back(getRate(least, kind.leastLinkDemand));
      set.multiprocessors += kind.multiprocessors;
      // An operation that its link slows down asks for less memory.
      set.memoryDemand +=
          kind.memoryDemand * getRate(most, kind.mostLinkDemand);
    }
    if (set.memoryDemand > machine.memoryBandwidth)
      for (auto [kind, rate] : zip_equal(set.kinds, set.rates))
        if (kinds[kind].memoryDemand > 0)
          rate *= machine.memoryBandwidth / set.memoryDemand;
    for (unsigned kind : set.kinds)
      set.mask |= 1u << kind;
    set.leftToLater = set.leftToEarlier =
        machine.multiprocessors - set.multiprocessors;
    if (set.kinds.size() == 1) {
      const Kind &kind = kinds[set.kinds.front()];
      set.leftToEarlier = machine.multiprocessors - kind.needed;
      // Between the blocks of an operation without a kind others may begin.
      if (allHaveKinds)
        set.leftToLater = machine.multiprocessors - kind.taken;
    }
  }
}

void ContentionRates::findBeside() {
  std::vector<std::pair<unsigned, unsigned>> kindOfVertex;
  uint32_t all = maskTrailingOnes<uint32_t>(kinds.size());
  beside.assign(problem.graph.size(), all);
  launchNs.assign(problem.graph.size(), 0);
  // Operations of the iteration before may run beside anything.
  if (!problem.carriedAwaits.empty() || kinds.empty())
    return;
  dag = buildPrecedenceDag(problem);
  for (unsigned start : problem.graph.starts())
    launchNs[start] = dag.work[dag.vertexOfNode[start]] - costs[start];
  for (unsigned start : problem.graph.starts())
    if (kindOf[start] != none)
      kindOfVertex.emplace_back(dag.vertexOfNode[start], kindOf[start]);
  llvm::sort(kindOfVertex, [](auto a, auto b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
  std::vector<uint32_t> groups = dag.getGroupsBeside(kindOfVertex);
  for (unsigned node = 0; node != problem.graph.size(); ++node)
    beside[node] = groups[dag.vertexOfNode[node]];
}

Interference ContentionRates::getLeastInterference(int64_t costNs,
                                                   const ResourceDemand &demand,
                                                   const KindSet &set) const {
  Interference least;
  for (auto [index, kindIndex] : llvm::enumerate(set.kinds)) {
    const Kind &kind = kinds[kindIndex];
    Interference ofKind;
    for (auto [engine, onLane] : llvm::enumerate(kind.engines)) {
      Interference both = getInterference(costNs, demand, *onLane, machine);
      if (engine == 0 && kind.isKnown)
        ofKind = both;
      ofKind.compute = std::min(ofKind.compute, both.compute);
      ofKind.communication = std::min(ofKind.communication, both.communication);
    }
    least.compute = std::max(least.compute, ofKind.compute);
    least.communication =
        index == 0 ? ofKind.communication
                   : std::min(least.communication, ofKind.communication);
  }
  return least;
}

void ContentionRates::findRates() {
  const ScheduleGraph &graph = problem.graph;
  rateIndex.assign(graph.size(), none);
  overlapsOf.assign(graph.size(), {0, 0});
  for (unsigned node = 0; node != graph.size(); ++node) {
    if (graph[node].kind == NodeKind::Start || costs[node] == 0)
      continue;
    if (isKnown(node))
      findRatesOf(node);
    else
      for (Kind &kind : kinds)
        kind.leastMultiplier = 0;
  }
}

void ContentionRates::findRatesOf(unsigned node) {
  rateIndex[node] = slowdown.size();
  const ResourceDemand &demand = problem.demands[node];
  double memory = getMemoryDemand(costs[node], demand, machine);
  // Compute that runs slower asks for less.
  double leastMemory =
      memory * getComputeRate(costs[node], demand, machine, mostHeld);
  // Of a persistent kernel, what sets leave at most that do not leave all.
  bool waits = isPersistentOn(demand, machine);
  int64_t blocks = waits ? getMostBlocks(demand, machine) : 0;
  int64_t mostLater = -1, mostEarlier = -1;
  for (const KindSet &set : sets)
    if (waits && isBeside(set, node) &&
        blocks > std::max(set.leftToLater, set.leftToEarlier)) {
      mostLater = std::max(mostLater, set.leftToLater);
      mostEarlier = std::max(mostEarlier, set.leftToEarlier);
    }
  if (mostEarlier >= 0) {
    overlapsOf[node].first = overlaps.size();
    append_range(overlaps, getKernelOverlaps(costs[node], demand, machine,
                                             mostLater, mostEarlier));
    overlapsOf[node].second = overlaps.size();
  }
  for (const KindSet &set : sets) {
    double rate =
        getComputeRate(costs[node], demand, machine, set.multiprocessors);
    double together = memory * rate + set.memoryDemand;
    if (memory > 0 && together > machine.memoryBandwidth)
      rate *= machine.memoryBandwidth / together;
    // What memory that the op takes leaves of the rates above.
    double part = 1;
    double asked = leastMemory + set.memoryDemand;
    if (memory > 0 && asked > machine.memoryBandwidth)
      part = std::max(machine.memoryBandwidth, set.memoryDemand) / asked;
    Interference both = getLeastInterference(costs[node], demand, set);
    rate /= both.compute;
    slowdown.push_back(1 / rate);
    progressBeside.push_back(1 / (rate * both.communication));
    progress.push_back(part / (rate * both.communication));
    if (set.kinds.size() != 1 || !isBeside(set, node))
      continue;
    // What a ns of the kind costs at most and at least.
    Kind &kind = kinds[set.kinds.front()];
    double most = 0, least = 0;
    if (isTaken(set, node)) {
      ArrayRef<KernelOverlap> all = getOverlaps(node);
      least = std::numeric_limits<double>::max();
      for (const KernelOverlap &last : all) {
        if (last.overlap == 0)
          continue;
        double lost = (last.time - all.front().time) / last.overlap;
        most = std::max(most, lost);
        least = std::min(least, lost);
      }
    }
    double ofKind = (kind.memoryDemand > 0 ? progress : progressBeside).back();
    double slower = 1 / rate - 1;
    kind.mostMultiplier =
        std::max(kind.mostMultiplier, (most + slower) / ofKind);
    kind.leastMultiplier =
        std::min(kind.leastMultiplier, (least + slower) / ofKind);
  }
}
