//===- ContentionBound.cpp - What slowing each other down costs -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Take any order and its simulation with makespan T, a set A of ops on the
// stream with h = min(head) and q = min(tail), and a set L of operations on one
// lane. All of A runs within [h, T - q]. For an op i of A let c be its cost, d
// how long it runs, x how long something of L runs at the same time, r the
// highest rate that i can have then and s the highest rate that something of L
// can have then. Rates are at most 1, so
//
//   d >= c + (1 - r) x    (it gets at most r x done in x, and d - x in the
//   rest) d >= x.
//
// L gets at most s x done beside i, and at most 1 per ns otherwise: in the
// launch gaps of A, which take g together, and in the time e within the window
// when nothing of A runs or is launched. With C, what L has to do within the
// window,
//
//   T >= h + q + sum(d) + g + e    and    sum(s x) + g + e >= C.
//
// Where x > c / r, take c / r instead and add the rest to e: d >= x covers it.
// So T is at least h + q + sum(c) + g + the least value of
//
//   sum((1 - r) x) + e    with sum(s x) + e >= C - g, 0 <= x <= c / r, e >= 0,
//
// a fractional knapsack: fill the x in the order of (1 - r) / s, the price of a
// nanosecond of communication that runs beside i, as long as that is below 1,
// the price of exposing it.
//
// C is at least the work of L less h + q, as the lane does at most 1 per ns
// outside of the window, and at least the work of those of L whose heads and
// tails are no less than h and q. Any A and L will do.
//
// A link takes the place of a lane with the time that its bytes need at full
// bandwidth: while some of its operations run it gets at most 1 per ns done.
//
//===----------------------------------------------------------------------===//

#include "ContentionBound.h"

#include "braid/Schedule/Contention.h"
#include "braid/Schedule/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace braid;
using namespace llvm;

namespace {

/// An op of the stream beside which communication may run.
struct Place {
  unsigned node;
  int64_t head;
  int64_t tail;
  int64_t work;
  int64_t launchNs;
  /// What of the communication fits beside it, and what a nanosecond costs.
  double room;
  double price;
};

class ContentionBound {
public:
  ContentionBound(const SchedulingProblem &problem, ArrayRef<NodeJob> stream)
      : problem(problem), machine(problem.machine), stream(stream) {}

  /// The bound that `all` yields with the best of a few choices of A and L.
  double getBound(const Communication &all) const;

  /// The same for the lanes with the most to do together.
  double getJointBound(std::vector<Communication> lanes) const;

private:
  std::vector<Place> getPlaces(const Communication &chosen) const;
  double getBound(ArrayRef<Place> places, const Communication &chosen,
                  std::pair<int64_t, int64_t> window) const;

  const SchedulingProblem &problem;
  const MachineModel &machine;
  ArrayRef<NodeJob> stream;
};

} // namespace

std::vector<Place>
ContentionBound::getPlaces(const Communication &chosen) const {
  int64_t held = chosen.getLeastMultiprocessors();
  double memory = chosen.getLeastMemoryDemand();

  std::vector<Place> places;
  for (const NodeJob &entry : stream) {
    const ScheduleNode &node = problem.graph[entry.node];
    // Bodies are not launched.
    bool isLaunched =
        node.cost > 0 && entry.job.work == addNs(node.cost, machine.launchNs);
    int64_t launchNs = isLaunched ? machine.launchNs : 0;
    Place place{
        entry.node, entry.job.head, entry.job.tail, entry.job.work, launchNs, 0,
        0};
    int64_t leastNs = entry.job.work - launchNs;
    double rate = 1, progress = 1;
    // Of a body, nothing but its least time is known.
    if (leastNs == node.cost && node.cost > 0) {
      const ResourceDemand &demand = problem.demands[entry.node];
      rate = getComputeRate(node.cost, demand, machine, held);
      double memoryOfOp = getMemoryDemand(node.cost, demand, machine);
      // Compute that runs slower asks for less.
      double least = memoryOfOp * getComputeRate(node.cost, demand, machine,
                                                 chosen.mostHeld);
      if (least > 0 && memory > 0 && least + memory > machine.memoryBandwidth)
        progress = machine.memoryBandwidth / (least + memory);
      double both = memoryOfOp * rate + memory;
      if (!chosen.sharesLink && memoryOfOp > 0 && memory > 0 &&
          both > machine.memoryBandwidth)
        rate *= machine.memoryBandwidth / both;
    }
    place.room = progress * double(leastNs) / rate;
    place.price = (1 - rate) / progress;
    places.push_back(place);
  }
  llvm::sort(places, [](const Place &a, const Place &b) {
    return std::pair(a.price, a.node) < std::pair(b.price, b.node);
  });
  return places;
}

double ContentionBound::getBound(ArrayRef<Place> places,
                                 const Communication &chosen,
                                 std::pair<int64_t, int64_t> window) const {
  auto [head, tail] = window;
  double total = 0, within = 0;
  for (const Communication::Part &part : chosen.parts) {
    total += double(part.work);
    if (part.head >= head && part.tail >= tail)
      within += double(part.work);
  }
  double outside = double(head) + double(tail);
  double toPlace = std::max(total - outside, within);

  double makespan = outside;
  // Without anything that has these head and tail there is no window.
  bool isEmpty = within == 0;
  for (const Place &place : places) {
    if (place.head < head || place.tail < tail)
      continue;
    isEmpty = false;
    makespan += double(place.work);
    toPlace -= double(place.launchNs);
  }
  if (isEmpty)
    return 0;
  for (const Place &place : places) {
    if (toPlace <= 0 || place.price >= 1)
      break;
    if (place.head < head || place.tail < tail)
      continue;
    double placed = std::min(toPlace, place.room);
    makespan += placed * place.price;
    toPlace -= placed;
  }
  return makespan + std::max(toPlace, 0.0);
}

/// At most `count` of the values, spread evenly, the first and last included.
static void thinOut(std::vector<int64_t> &values, size_t count) {
  llvm::sort(values);
  values.erase(llvm::unique(values), values.end());
  if (values.size() <= count)
    return;
  std::vector<int64_t> kept;
  for (size_t i = 0; i != count; ++i)
    kept.push_back(values[(values.size() - 1) * i / (count - 1)]);
  values = std::move(kept);
}

double ContentionBound::getBound(const Communication &all) const {
  // Operations that take little make the price of all low, so try without them.
  std::vector<int64_t> thresholds;
  for (const Communication::Part &part : all.parts)
    thresholds.push_back(part.multiprocessors);
  thinOut(thresholds, 4);

  // Windows at which heads and tails lie; fewer on large graphs.
  std::vector<int64_t> heads, tails;
  std::vector<Job> jobs;
  for (const NodeJob &entry : stream) {
    heads.push_back(entry.job.head);
    tails.push_back(entry.job.tail);
    jobs.push_back(entry.job);
  }
  bool isLarge = stream.size() > 1000;
  size_t numWindows = isLarge ? 3 : 8;
  thinOut(heads, numWindows);
  thinOut(tails, numWindows);
  std::pair<int64_t, int64_t> critical;
  getPreemptiveMakespan(std::move(jobs), &critical);
  heads.push_back(critical.first);
  tails.push_back(critical.second);

  double best = 0;
  for (int64_t threshold : thresholds) {
    Communication chosen = all;
    llvm::erase_if(chosen.parts, [&](const Communication::Part &part) {
      return part.multiprocessors < threshold;
    });
    std::vector<Place> places = getPlaces(chosen);
    for (int64_t head : heads)
      for (int64_t tail : tails)
        best = std::max(best, getBound(places, chosen, {head, tail}));
  }
  return best;
}

double ContentionBound::getJointBound(std::vector<Communication> lanes) const {
  // Sets of lanes are looked at one by one, beside each op.
  size_t maxLanes = stream.size() <= 20'000 ? 3 : 2;
  auto getWork = [](const Communication &lane) {
    int64_t work = 0;
    for (const Communication::Part &part : lane.parts)
      work = addNs(work, part.work);
    return work;
  };
  while (lanes.size() > maxLanes) {
    auto least =
        std::min_element(lanes.begin(), lanes.end(),
                         [&](const Communication &a, const Communication &b) {
                           return getWork(a) < getWork(b);
                         });
    lanes.erase(least);
  }
  if (lanes.size() < 2)
    return 0;

  std::pair<int64_t, int64_t> all = {stream.front().job.head,
                                     stream.front().job.tail};
  std::vector<Job> jobs;
  for (const NodeJob &entry : stream) {
    all.first = std::min(all.first, entry.job.head);
    all.second = std::min(all.second, entry.job.tail);
    jobs.push_back(entry.job);
  }
  std::pair<int64_t, int64_t> critical;
  getPreemptiveMakespan(std::move(jobs), &critical);
  double best = getJointContentionBound(problem, stream, lanes, all);
  if (critical != all)
    best = std::max(best,
                    getJointContentionBound(problem, stream, lanes, critical));
  return best;
}

int64_t braid::getContentionBound(const SchedulingProblem &problem,
                                  ArrayRef<NodeJob> stream,
                                  ArrayRef<std::vector<NodeJob>> lanes) {
  const MachineModel &machine = problem.machine;
  if (!machine.hasContention() || problem.demands.empty() || stream.empty())
    return 0;

  std::vector<int64_t> mostOfLane(lanes.size(), 0);
  std::vector<unsigned> lanesOfLink(machine.linkBandwidth.size(), 0);
  int64_t mostHeld = 0;
  for (auto [lane, operations] : llvm::enumerate(lanes)) {
    for (const NodeJob &entry : operations)
      mostOfLane[lane] = std::max<int64_t>(
          mostOfLane[lane], problem.demands[entry.node].multiprocessors);
    mostHeld = addNs(mostHeld, mostOfLane[lane]);
    if (int32_t link = getLink(machine, lane); link >= 0)
      lanesOfLink[link] += !operations.empty();
  }

  ContentionBound bound(problem, stream);
  double best = 0;
  std::vector<Communication> ofLanes;
  std::vector<Communication> ofLinks(machine.linkBandwidth.size());
  for (auto [lane, operations] : llvm::enumerate(lanes)) {
    Communication ofLane;
    ofLane.mostHeld = mostHeld;
    int32_t link = getLink(machine, lane);
    ofLane.sharesLink = link >= 0 && lanesOfLink[link] > 1;
    for (const NodeJob &entry : operations) {
      const ResourceDemand &demand = problem.demands[entry.node];
      int64_t costNs = problem.graph[entry.node].cost;
      // Of a body, nothing but its least time is known.
      bool isKnown = entry.job.work == costNs;
      Communication::Part part{
          entry.job.head, entry.job.work, entry.job.tail,
          isKnown ? std::max(demand.multiprocessors, 0) : 0,
          isKnown ? getMemoryDemand(costNs, demand, machine) : 0};
      ofLane.parts.push_back(part);
      if (!ofLane.sharesLink || !isKnown)
        continue;
      double share = getLinkDemand(costNs, demand, machine, link) /
                     machine.linkBandwidth[link];
      part.work = takePart(part.work, share);
      // At a low rate it asks for little memory.
      part.memoryDemand = 0;
      if (part.work > 0)
        ofLinks[link].parts.push_back(part);
    }
    if (ofLane.parts.empty())
      continue;
    best = std::max(best, bound.getBound(ofLane));
    ofLanes.push_back(std::move(ofLane));
  }
  best = std::max(best, bound.getJointBound(ofLanes));
  for (Communication &ofLink : ofLinks) {
    ofLink.sharesLink = true;
    ofLink.mostHeld = mostHeld;
    if (!ofLink.parts.empty())
      best = std::max(best, bound.getBound(ofLink));
  }

  // The simulator lets an op end up to 1/1024 ns before its work is done, and
  // the sums above are rounded.
  best -= double(problem.graph.size()) / 512 + best * 1e-12;
  return best <= 0 ? 0 : int64_t(std::ceil(std::min(best, 9e18)));
}
