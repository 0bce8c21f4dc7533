//===- LagrangianRelaxation.cpp - Contention as multipliers ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LagrangianRelaxation.h"

#include "KernelOverlap.h"
#include "PrecedenceDag.h"
#include "Schedule/Model/Contention.h"
#include "Schedule/Model/PersistentKernel.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

using namespace braid;
using namespace llvm;

int64_t RelaxedProblem::getBound(int64_t boundOfProblem) const {
  double bound = multipliersNs + double(boundOfProblem) / double(unitsPerNs);
  bound -= 1e-12 * std::abs(bound);
  return int64_t(std::ceil(std::clamp(bound, 0.0, 9e18)));
}

int64_t RelaxedProblem::getBoundOfProblem(int64_t boundNs) const {
  double bound = (double(boundNs) - multipliersNs) * double(unitsPerNs);
  return int64_t(std::ceil(std::clamp(bound + 1, 0.0, 9e18)));
}

namespace {

/// Operations of one lane that ask for about the same.
struct Kind {
  unsigned lane = 0;
  /// What each of them asks for at least, and of the link at most.
  int64_t multiprocessors = 0;
  /// Where multiprocessors are queued for: those that have to be free, and that
  /// persistent kernels lose.
  int64_t needed = 0, taken = 0;
  double memoryDemand = 0;
  double leastLinkDemand = 0, mostLinkDemand = 0;
  /// The demands that interfere differently with compute, one of each engine.
  SmallVector<const ResourceDemand *, 2> engines;
  /// False if nothing is known of one of them.
  bool isKnown = true;
  int64_t workNs = 0;
  /// What a ns beside the op that it slows down most costs.
  double mostMultiplier = 0;
  /// What it costs at least.
  double leastMultiplier = 1;
};

/// Operations that may run at once: at most one kind of each lane.
struct KindSet {
  SmallVector<unsigned, 4> kinds;
  /// The highest rate that each of them can have beside compute that uses no
  /// memory.
  SmallVector<double, 4> rates;
  /// What all of them take at least.
  int64_t multiprocessors = 0;
  double memoryDemand = 0;
  /// The kinds as bits.
  uint32_t mask = 0;
  /// Where multiprocessors are queued for: what a persistent kernel has at most
  /// beside them if it begins after them, and what it may have if they begin
  /// after it.
  int64_t leftToLater = 0, leftToEarlier = 0;
};

class LagrangianRelaxation {
public:
  explicit LagrangianRelaxation(const SchedulingProblem &problem);

  std::vector<RelaxedProblem> getProblems(ArrayRef<double> factors) const;

private:
  /// By kind.
  using Multipliers = SmallVector<double, 8>;

  void findKinds();
  void findKindsOf(unsigned lane, ArrayRef<unsigned> starts, unsigned maxKinds);
  void findSets();
  void findBeside();
  void findRates();
  void findRatesOf(unsigned node);
  /// What compute of `costNs` and the operations of `set` do to each other at
  /// least.
  Interference getLeastInterference(int64_t costNs,
                                    const ResourceDemand &demand,
                                    const KindSet &set) const;
  /// True if the operations of `set` may all run beside `node`.
  bool isBeside(const KindSet &set, unsigned node) const {
    return (set.mask & ~beside[node]) == 0;
  }
  /// True if `set` leaves too little to `node` for both to run at any time.
  bool isTaken(const KindSet &set, unsigned node) const {
    return !getOverlaps(node).empty() &&
           getMostBlocks(problem.demands[node], machine) >
               std::max(set.leftToLater, set.leftToEarlier);
  }
  ArrayRef<KernelOverlap> getOverlaps(unsigned node) const {
    auto [begin, end] = overlapsOf[node];
    return ArrayRef(overlaps).slice(begin, end - begin);
  }
  /// Of a body that may be faster, nothing but its least time is known.
  bool isKnown(unsigned node) const {
    return costs[node] == problem.graph[node].cost;
  }
  /// The multiplier of each kind, if that of a lane is at most `most[lane]`; as
  /// much of it as sets of kinds may cost.
  Multipliers getMultipliers(ArrayRef<double> most) const;
  /// Reduces multipliers that sets of kinds exceed.
  void shrink(Multipliers &multipliers) const;
  /// The most that the multipliers of what runs at once can be.
  double getMostMultipliers(const Multipliers &multipliers) const;
  /// What a ns of an operation of `kind` takes at least on the clock.
  double getStretchOfKind(const Multipliers &multipliers, unsigned kind) const;
  /// What a ns of `node`, an op on the stream, takes at least on the clock,
  /// before its own multiplier.
  double getStretchOfOp(const Multipliers &multipliers, unsigned node) const;
  /// What the operations of the set at `index` take off a ns of `node`.
  double getMultiplied(const Multipliers &multipliers, unsigned node,
                       size_t index) const;
  /// The largest multiplier of `node` at which operations beside it take no
  /// less on the clock than elsewhere: `stretchOfKind` by kind.
  double getMultiplierOfOp(const Multipliers &multipliers,
                           ArrayRef<double> stretchOfKind, unsigned node) const;
  /// Compute in the order of what it asks for; of much of it a part.
  void findSample();
  /// The bound that the work of the stream gives, from the sample.
  double getStreamBound(const Multipliers &multipliers) const;
  RelaxedProblem getProblem(const Multipliers &multipliers) const;

  static constexpr unsigned none = ~0u;

  const SchedulingProblem &problem;
  const MachineModel &machine;
  std::vector<Kind> kinds;
  /// By node: of starts their kind.
  std::vector<unsigned> kindOf;
  std::vector<KindSet> sets;
  unsigned numLanes = 0;
  /// False if there are operations without a kind.
  bool allHaveKinds = true;
  /// What all lanes together hold at most, and what each asks of its link.
  int64_t mostHeld = 0;
  std::vector<double> mostLinkOf;
  /// By node of the stream whose rates are known: where its rates begin.
  std::vector<unsigned> rateIndex;
  /// By op and set: 1 / q above, and how much slower memory makes operations
  /// that use it, divided by q.
  std::vector<double> slowdown, progress;
  /// By op and set: the highest rate of operations beside the op, but for
  /// memory, times the op's slowdown.
  std::vector<double> progressBeside;
  /// By node of the stream: the kinds that may run beside it, as bits.
  std::vector<uint32_t> beside;
  /// By node: of starts what their launch takes at least.
  std::vector<int64_t> launchNs;
  /// By node of the stream whose blocks may keep operations waiting: where its
  /// overlaps begin.
  std::vector<std::pair<unsigned, unsigned>> overlapsOf;
  std::vector<KernelOverlap> overlaps;
  std::vector<unsigned> sample;
  /// The number of nodes that each node of the sample represents.
  double weight = 1;
  /// By node: what it takes at least.
  std::vector<int64_t> costs;
  std::vector<bool> isBody;
};

} // namespace

LagrangianRelaxation::LagrangianRelaxation(const SchedulingProblem &problem)
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
  findSample();
}

/// True if operations that ask for `a` and `b` interfere alike with compute.
static bool isOfSameEngine(const ResourceDemand &a, const ResourceDemand &b) {
  auto getEngine = [](const ResourceDemand &demand) {
    return std::pair(demand.multiprocessors > 0,
                     demand.memoryBytes > 0 || demand.linkBytes > 0);
  };
  return getEngine(a) == getEngine(b);
}

void LagrangianRelaxation::findKinds() {
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

void LagrangianRelaxation::findKindsOf(unsigned lane, ArrayRef<unsigned> starts,
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

void LagrangianRelaxation::findSets() {
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

void LagrangianRelaxation::findBeside() {
  std::vector<std::pair<unsigned, unsigned>> kindOfVertex;
  uint32_t all = maskTrailingOnes<uint32_t>(kinds.size());
  beside.assign(problem.graph.size(), all);
  launchNs.assign(problem.graph.size(), 0);
  // Operations of the iteration before may run beside anything.
  if (!problem.carriedAwaits.empty() || kinds.empty())
    return;
  PrecedenceDag dag = buildPrecedenceDag(problem);
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

Interference LagrangianRelaxation::getLeastInterference(
    int64_t costNs, const ResourceDemand &demand, const KindSet &set) const {
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

void LagrangianRelaxation::findRates() {
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

void LagrangianRelaxation::findRatesOf(unsigned node) {
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

LagrangianRelaxation::Multipliers
LagrangianRelaxation::getMultipliers(ArrayRef<double> most) const {
  Multipliers multipliers;
  for (const Kind &kind : kinds)
    multipliers.push_back(std::min(most[kind.lane], kind.mostMultiplier));
  shrink(multipliers);
  return multipliers;
}

void LagrangianRelaxation::shrink(Multipliers &multipliers) const {
  if (double sum = getMostMultipliers(multipliers); sum > 1)
    for (double &multiplier : multipliers)
      multiplier /= sum * (1 + 1e-12);
}

double
LagrangianRelaxation::getMostMultipliers(const Multipliers &multipliers) const {
  double most = 0;
  for (const KindSet &set : sets) {
    double sum = 0;
    for (auto [kind, rate] : zip_equal(set.kinds, set.rates))
      sum += multipliers[kind] * rate;
    most = std::max(most, sum);
  }
  return most;
}

double LagrangianRelaxation::getStretchOfKind(const Multipliers &multipliers,
                                              unsigned kind) const {
  // Slower than that it only takes longer: the sum is at most 1.
  double least = 1;
  for (const KindSet &set : sets) {
    if (!llvm::is_contained(set.kinds, kind))
      continue;
    double sum = 0, ownRate = 1;
    for (auto [other, rate] : zip_equal(set.kinds, set.rates)) {
      sum += multipliers[other] * rate;
      if (other == kind)
        ownRate = rate;
    }
    least = std::min(least, (1 - sum) / ownRate);
  }
  return std::max(least, 0.0);
}

double LagrangianRelaxation::getMultiplied(const Multipliers &multipliers,
                                           unsigned node, size_t index) const {
  // All that runs, and what of it uses memory and may be slowed down by it.
  double sum = 0, ofMemory = 0;
  const KindSet &set = sets[index];
  for (auto [kind, rate] : zip_equal(set.kinds, set.rates))
    (kinds[kind].memoryDemand > 0 ? ofMemory : sum) += multipliers[kind] * rate;
  if (rateIndex[node] == none)
    return sum + ofMemory;
  size_t entry = rateIndex[node] + index;
  return progressBeside[entry] * sum + progress[entry] * ofMemory;
}

double LagrangianRelaxation::getStretchOfOp(const Multipliers &multipliers,
                                            unsigned node) const {
  // What a ns beside operations takes less than alone, at most: beside those
  // that a kernel may wait for, and beside others.
  double most = 0, mostOfTaken = 0;
  for (auto [index, set] : llvm::enumerate(sets)) {
    if (!isBeside(set, node))
      continue;
    double less = getMultiplied(multipliers, node, index);
    if (rateIndex[node] != none)
      less -= slowdown[rateIndex[node] + index] - 1;
    double &mostOfSet = isTaken(set, node) ? mostOfTaken : most;
    mostOfSet = std::max(mostOfSet, less);
  }
  double least = 1 - most;
  if (mostOfTaken > most) {
    least = std::numeric_limits<double>::max();
    for (const KernelOverlap &last : getOverlaps(node))
      least = std::min(least, last.time * (1 - most) -
                                  last.overlap * (mostOfTaken - most));
  }
  return std::max(least, 0.0);
}

double LagrangianRelaxation::getMultiplierOfOp(const Multipliers &multipliers,
                                               ArrayRef<double> stretchOfKind,
                                               unsigned node) const {
  if (rateIndex[node] == none)
    return 0;
  double least = 1;
  for (auto [index, set] : llvm::enumerate(sets)) {
    if (set.kinds.empty() || !isBeside(set, node))
      continue;
    size_t entry = rateIndex[node] + index;
    double left = slowdown[entry] - getMultiplied(multipliers, node, index);
    double needed = 0;
    for (auto [kind, rate] : zip_equal(set.kinds, set.rates))
      needed = std::max(needed, stretchOfKind[kind] * rate *
                                    (kinds[kind].memoryDemand > 0
                                         ? progress
                                         : progressBeside)[entry]);
    least = std::min(least, left - needed);
  }
  return std::max(least * (1 - 1e-9), 0.0);
}

void LagrangianRelaxation::findSample() {
  for (unsigned node = 0; node != costs.size(); ++node)
    if (problem.graph[node].kind != NodeKind::Start && costs[node] != 0)
      sample.push_back(node);
  constexpr size_t maxNodes = 4'000;
  if (sample.size() <= maxNodes)
    return;
  // Every so many nodes of a program that repeats itself would always be the
  // same ops of a layer; of sorted ones every kind has its part.
  llvm::sort(sample, [&](unsigned a, unsigned b) {
    auto getKey = [&](unsigned node) {
      const ResourceDemand &demand = problem.demands[node];
      return std::tuple(bool(isBody[node]), costs[node], demand.arithmeticNs,
                        demand.tiles, demand.memoryBytes, node);
    };
    return getKey(a) < getKey(b);
  });
  weight = double(sample.size()) / maxNodes;
  for (size_t i = 0; i != maxNodes; ++i)
    sample[i] = sample[(2 * i + 1) * sample.size() / (2 * maxNodes)];
  sample.resize(maxNodes);
}

double
LagrangianRelaxation::getStreamBound(const Multipliers &multipliers) const {
  double bound = 0;
  double launch =
      double(machine.launchNs) * (1 - getMostMultipliers(multipliers));
  for (unsigned node : sample) {
    bound += double(costs[node]) * getStretchOfOp(multipliers, node);
    if (!isBody[node])
      bound += launch;
  }
  bound *= weight;
  for (auto [kind, multiplier] : zip_equal(kinds, multipliers))
    bound += multiplier * double(kind.workNs);
  return bound;
}

RelaxedProblem
LagrangianRelaxation::getProblem(const Multipliers &multipliers) const {
  const ScheduleGraph &graph = problem.graph;
  RelaxedProblem result;
  SchedulingProblem &relaxed = result.problem;
  relaxed.graph.reserve(graph.size());
  // What doubles round is far less than that.
  constexpr double exactly = double(RelaxedProblem::unitsPerNs) * (1 - 1e-12);
  double most = getMostMultipliers(multipliers), mostOfOps = 0;
  std::vector<double> mostBeside(kinds.size(), 0);
  SmallVector<double, 8> stretchOfKind;
  for (unsigned kind = 0; kind != kinds.size(); ++kind)
    stretchOfKind.push_back(getStretchOfKind(multipliers, kind));
  std::vector<double> multiplierOfOp(graph.size(), 0);
  for (unsigned node = 0; node != graph.size(); ++node)
    if (graph[node].kind != NodeKind::Start && costs[node] != 0) {
      multiplierOfOp[node] =
          getMultiplierOfOp(multipliers, stretchOfKind, node);
      mostOfOps = std::max(mostOfOps, multiplierOfOp[node]);
      for (unsigned kind = 0; kind != kinds.size(); ++kind)
        if (beside[node] & (1u << kind))
          mostBeside[kind] = std::max(mostBeside[kind], multiplierOfOp[node]);
    }
  for (unsigned node = 0; node != graph.size(); ++node) {
    ScheduleNode copy = graph[node];
    double cost = double(costs[node]);
    if (copy.kind != NodeKind::Start) {
      result.multipliersNs += multiplierOfOp[node] * cost;
      cost *= getStretchOfOp(multipliers, node) - multiplierOfOp[node];
      if (!isBody[node] && costs[node] != 0)
        cost += double(machine.launchNs) * (1 - most);
    } else if (kindOf[node] != none) {
      result.multipliersNs += multipliers[kindOf[node]] * cost;
      cost *= stretchOfKind[kindOf[node]];
      cost += double(launchNs[node]) *
              std::max(1 - most - mostBeside[kindOf[node]], 0.0);
    } else {
      cost *= 1 - most - mostOfOps;
    }
    copy.cost = int64_t(std::max(cost, 0.0) * exactly);
    relaxed.graph.addNode(copy);
    for (unsigned predecessor : graph.predecessors(node))
      relaxed.graph.addEdge(predecessor, node);
  }
  relaxed.graph.finalize();
  relaxed.awaits = problem.awaits;
  relaxed.carriedAwaits = problem.carriedAwaits;
  relaxed.keepOrderOfStarts = problem.keepOrderOfStarts;
  // The simulator lets an op end up to 1/1024 ns before its work is done.
  result.multipliersNs -=
      double(graph.size()) / 512 + 1e-12 * result.multipliersNs;
  return result;
}

std::vector<RelaxedProblem>
LagrangianRelaxation::getProblems(ArrayRef<double> factors) const {
  // The best multipliers for the work of the stream, lane by lane.
  std::vector<double> most(numLanes, 0);
  double best = getStreamBound(getMultipliers(most));
  auto consider = [&](const std::vector<double> &tried) {
    double bound = getStreamBound(getMultipliers(tried));
    if (bound <= best)
      return;
    best = bound;
    most = tried;
  };
  // All multiples of a quarter, then closer and closer around the best.
  SmallVector<unsigned> lanes;
  for (const Kind &kind : kinds)
    if (lanes.empty() || lanes.back() != kind.lane)
      lanes.push_back(kind.lane);
  constexpr unsigned numSteps = 5;
  unsigned numMultipliers = 1;
  for (size_t i = 0; i != lanes.size(); ++i)
    numMultipliers *= numSteps;
  for (unsigned index = 0; index != numMultipliers; ++index) {
    std::vector<double> tried(numLanes, 0);
    unsigned rest = index;
    for (unsigned lane : lanes) {
      tried[lane] = 0.25 * (rest % numSteps);
      rest /= numSteps;
    }
    consider(tried);
  }
  for (double step = 0.125; step >= 1.0 / 64; step /= 2)
    for (unsigned lane : lanes)
      for (double change : {step, -step}) {
        std::vector<double> tried = most;
        tried[lane] += change;
        if (tried[lane] >= 0 && tried[lane] <= 1)
          consider(tried);
      }
  std::vector<RelaxedProblem> result;
  for (double factor : factors) {
    std::vector<double> tried = most;
    for (double &multiplier : tried)
      multiplier *= factor;
    Multipliers multipliers = getMultipliers(tried);
    // Less than these would give nothing away.
    for (auto [multiplier, kind] : zip_equal(multipliers, kinds))
      multiplier =
          std::max(multiplier, kind.leastMultiplier / double(lanes.size()));
    shrink(multipliers);
    result.push_back(getProblem(multipliers));
  }
  return result;
}

std::vector<RelaxedProblem>
braid::getRelaxedProblems(const SchedulingProblem &problem,
                          ArrayRef<double> factors) {
  if (!problem.machine.hasContention() || problem.demands.empty())
    return {};
  // Sums have to fit.
  constexpr int64_t tooLong = std::numeric_limits<int64_t>::max() / 1024;
  int64_t total = 0;
  for (unsigned node = 0; node != problem.graph.size(); ++node) {
    total =
        addNs(total, addNs(problem.graph[node].cost, problem.machine.launchNs));
    if (total >= tooLong)
      return {};
  }
  return LagrangianRelaxation(problem).getProblems(factors);
}
