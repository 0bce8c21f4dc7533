//===- LagrangianRelaxation.cpp - Contention as multipliers ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LagrangianRelaxation.h"

#include "ContentionRates.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
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

class LagrangianRelaxation : ContentionRates {
public:
  explicit LagrangianRelaxation(const SchedulingProblem &problem);

  std::vector<RelaxedProblem> getProblems(ArrayRef<double> factors) const;

private:
  /// By kind.
  using Multipliers = SmallVector<double, 8>;

  /// Limits the multipliers of ops that may run during launches, and says which
  /// ops these are.
  void findMultipliersBeside();
  /// The multiplier of each kind, if that of a lane is at most `most[lane]`; as
  /// much of it as sets of kinds may cost.
  Multipliers getMultipliers(ArrayRef<double> most) const;
  /// Reduces multipliers that sets of kinds exceed.
  void shrink(Multipliers &multipliers) const;
  /// The most that the multipliers of what runs at once can be.
  double getMostMultipliers(const Multipliers &multipliers) const {
    return getMostBeside(multipliers, none);
  }
  /// The same for what runs during the launch gap of `node`, which nothing that
  /// the node awaits reaches into.
  double getMostBeside(const Multipliers &multipliers, unsigned node) const;
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

  /// By node of the stream: the most that its multiplier may be.
  std::vector<double> mostMultiplierOfOp;
  /// By start: the most of those that may run beside it.
  std::vector<double> mostBesideStart;
  std::vector<unsigned> sample;
  /// The number of nodes that each node of the sample represents.
  double weight = 1;
};

} // namespace

LagrangianRelaxation::LagrangianRelaxation(const SchedulingProblem &problem)
    : ContentionRates(problem) {
  findMultipliersBeside();
  findSample();
}

void LagrangianRelaxation::findMultipliersBeside() {
  const ScheduleGraph &graph = problem.graph;
  mostMultiplierOfOp.assign(graph.size(), 1);
  mostBesideStart.assign(graph.size(), 1);
  if (llvm::all_of(launchNs, [](int64_t ns) { return ns == 0; }))
    return;
  // Ops with about the same multiplier are a group.
  constexpr unsigned numGroups = 16;
  Multipliers zeros(kinds.size(), 0), ones(kinds.size(), 1);
  std::vector<std::pair<unsigned, unsigned>> groupOf;
  for (unsigned node = 0; node != graph.size(); ++node) {
    if (graph[node].kind == NodeKind::Start || costs[node] == 0)
      continue;
    auto group =
        unsigned(std::ceil(getMultiplierOfOp(zeros, ones, node) * numGroups));
    mostMultiplierOfOp[node] = double(group) / numGroups;
    if (group != 0)
      groupOf.emplace_back(dag.vertexOfNode[node], group);
  }
  std::vector<uint32_t> groups = dag.getGroupsBeside(groupOf);
  for (unsigned start : graph.starts())
    mostBesideStart[start] =
        double(Log2_32(groups[dag.vertexOfNode[start]] | 1)) / numGroups;
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

double LagrangianRelaxation::getMostBeside(const Multipliers &multipliers,
                                           unsigned node) const {
  double most = 0;
  for (const KindSet &set : sets) {
    if (node != none && !isBeside(set, node))
      continue;
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
  double least = mostMultiplierOfOp[node];
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
  for (unsigned node : sample) {
    bound += double(costs[node]) * getStretchOfOp(multipliers, node);
    if (!isBody[node])
      bound +=
          double(machine.launchNs) * (1 - getMostBeside(multipliers, node));
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
  result.multiplierNs.assign(graph.size(), 0);
  // What doubles round is far less than that.
  constexpr double exactly = double(RelaxedProblem::unitsPerNs) * (1 - 1e-12);
  double most = getMostMultipliers(multipliers), mostOfOps = 0;
  SmallVector<double, 8> stretchOfKind;
  for (unsigned kind = 0; kind != kinds.size(); ++kind)
    stretchOfKind.push_back(getStretchOfKind(multipliers, kind));
  std::vector<double> multiplierOfOp(graph.size(), 0);
  for (unsigned node = 0; node != graph.size(); ++node)
    if (graph[node].kind != NodeKind::Start && costs[node] != 0) {
      multiplierOfOp[node] =
          getMultiplierOfOp(multipliers, stretchOfKind, node);
      mostOfOps = std::max(mostOfOps, multiplierOfOp[node]);
    }
  for (unsigned node = 0; node != graph.size(); ++node) {
    ScheduleNode copy = graph[node];
    double cost = double(costs[node]);
    if (copy.kind != NodeKind::Start) {
      result.multiplierNs[node] = multiplierOfOp[node] * cost;
      cost *= getStretchOfOp(multipliers, node) - multiplierOfOp[node];
      if (!isBody[node] && costs[node] != 0)
        cost +=
            double(machine.launchNs) * (1 - getMostBeside(multipliers, node));
    } else if (kindOf[node] != none) {
      result.multiplierNs[node] = multipliers[kindOf[node]] * cost;
      cost *= stretchOfKind[kindOf[node]];
      cost += double(launchNs[node]) *
              std::max(1 - most - mostBesideStart[node], 0.0);
    } else {
      cost *= 1 - most - mostOfOps;
    }
    result.multipliersNs += result.multiplierNs[node];
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
    // Less than these gives nothing away, but launch gaps hide for nothing.
    double least = std::min(2 * factor, 1.0) / double(lanes.size());
    for (auto [multiplier, kind] : zip_equal(multipliers, kinds))
      multiplier = std::max(multiplier, kind.leastMultiplier * least);
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
