//===- RemainderBound.cpp - What is left at least -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RemainderBound.h"

#include "LagrangianRelaxation.h"
#include "PrecedenceDag.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace braid;
using namespace llvm;

RemainderBound::RemainderBound(const FlatProblem &flat)
    : flat(flat), roundedNs(double(flat.size()) / 512 + 1),
      numSums(2 + flat.numLanes) {
  constexpr double factors[] = {0, 0.25, 0.5, 0.75, 0.875, 1, 1.125, 1.25};
  constexpr size_t maxRefined = 1'000;
  constexpr auto unitsPerNs = double(RelaxedProblem::unitsPerNs);
  for (unsigned node = 0; node != flat.size(); ++node)
    costs.push_back(flat.problem.graph[node].cost);
  for (RelaxedProblem &relaxed : getRelaxedProblems(flat.problem, factors)) {
    PrecedenceDag dag = buildPrecedenceDag(relaxed.problem);
    std::vector<int64_t> tails = dag.transpose().getHeads(maxRefined);
    std::reverse(tails.begin(), tails.end());
    Relaxation &relaxation = relaxations.emplace_back();
    relaxation.multipliers = std::move(relaxed.multiplierNs);
    for (unsigned node = 0; node != flat.size(); ++node) {
      unsigned vertex = dag.vertexOfNode[node];
      double work = double(dag.work[vertex]) / unitsPerNs;
      double tail = double(tails[vertex]) / unitsPerNs;
      // A start may be needed before its operation.
      double chain = flat.isStart(node) ? double(tails[vertex - 1]) / unitsPerNs
                                        : work + tail;
      relaxation.work.push_back(work);
      relaxation.tails.push_back(tail);
      relaxation.chains.emplace_back(chain, node);
    }
    llvm::sort(relaxation.chains, std::greater<>());
  }
}

std::vector<double> RemainderBound::getSums() const {
  std::vector<double> sums;
  for (const Relaxation &relaxation : relaxations) {
    size_t first = sums.size();
    sums.resize(first + numSums, 0);
    for (unsigned node = 0; node != flat.size(); ++node) {
      sums[first] += relaxation.multipliers[node];
      sums[first + 2 + flat.lane[node]] += relaxation.work[node];
    }
  }
  return sums;
}

void RemainderBound::remove(unsigned node, MutableArrayRef<double> sums) const {
  size_t first = 0;
  for (const Relaxation &relaxation : relaxations) {
    sums[first] -= relaxation.multipliers[node];
    sums[first + 2 + flat.lane[node]] -= relaxation.work[node];
    first += numSums;
  }
}

double RemainderBound::get(ArrayRef<uint64_t> issued, ArrayRef<double> sums,
                           const ContentionMachine &machine) const {
  // What is in flight, and the part of it that is left.
  SmallVector<std::pair<unsigned, double>, 4> inFlight;
  SmallVector<int64_t, 4> beganNs(flat.numLanes, machine.getNowNs());
  machine.visitInFlight(costs, [&](unsigned start, int64_t endNs) {
    int64_t leftNs = endNs - std::exchange(beganNs[flat.lane[start]], endNs);
    double part = double(leftNs) / double(std::max<int64_t>(costs[start], 1));
    inFlight.emplace_back(start, std::clamp(part, 0.0, 1.0));
  });
  double most = 0;
  SmallVector<double, 4> lanes;
  for (const Relaxation &relaxation : relaxations) {
    double multipliers = sums[0], longest = sums[1];
    lanes.assign(sums.begin() + 2, sums.begin() + numSums);
    for (auto [start, part] : inFlight) {
      // It may have been launched already.
      auto launchNs = double(flat.problem.machine.laneLaunchNs);
      double work = std::max(relaxation.work[start] - launchNs, 0.0) * part;
      multipliers += relaxation.multipliers[start] * part;
      lanes[flat.lane[start]] += work;
      longest = std::max(longest, work + relaxation.tails[start]);
    }
    for (double work : lanes)
      longest = std::max(longest, work);
    for (auto [chain, node] : relaxation.chains)
      if (!(issued[node / 64] >> (node % 64) & 1)) {
        longest = std::max(longest, chain);
        break;
      }
    most = std::max(most, multipliers + longest);
    sums = sums.drop_front(numSums);
  }
  return std::max(most - roundedNs, 0.0);
}
