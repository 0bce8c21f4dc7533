//===- Measure.cpp - Times of loads under sustained load ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure.h"

#include "LaneLaunch.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

using namespace braid;
using namespace braid::calibrate;
using llvm::Expected;

/// The operations of one invocation at most: launches wait on the host where
/// more than about a thousand are queued.
static constexpr int64_t mostOperations = 1000;

MeasuredTime braid::calibrate::summarize(std::vector<double> blocks) {
  std::vector<double> sorted = blocks;
  llvm::sort(sorted);
  size_t middle = sorted.size() / 2;
  double median = sorted.size() % 2 ? sorted[middle]
                                    : (sorted[middle - 1] + sorted[middle]) / 2;
  std::vector<double> deviations;
  for (double block : blocks)
    deviations.push_back(median > 0 ? std::abs(block - median) / median : 0);
  llvm::sort(deviations);
  // The host is late now and then, which the median does not feel.
  constexpr size_t fewest = 3;
  size_t counted = deviations.size() - (deviations.size() >= fewest ? 2 : 1);
  double spread = deviations[counted];
  return {median, spread};
}

/// How many operations of `ns` fill `totalNs`.
static int64_t countFor(double totalNs, double ns, int64_t most) {
  double count = std::ceil(totalNs / std::max(ns, 1.0));
  return std::clamp<int64_t>(
      static_cast<int64_t>(std::min(count, static_cast<double>(most))), 1,
      most);
}

Expected<double> Meter::runBlock(Load &load, int64_t Load::*count,
                                 int64_t number) {
  load.*count = number;
  Expected<std::vector<double>> times = world.run(load);
  if (!times)
    return times.takeError();
  return *llvm::max_element(*times) / static_cast<double>(number);
}

Expected<MeasuredTime> Meter::measure(Load load, int64_t Load::*count,
                                      double warmNs, double restNs) {
  int64_t most = count == &Load::collectives ? mostCollectives : mostOperations;
  // The first one chooses algorithms and connects ranks.
  double ns = 0;
  for (int64_t number : {1, 1, 4}) {
    Expected<double> time = runBlock(load, count, number);
    if (!time)
      return time.takeError();
    ns = *time;
  }
  std::this_thread::sleep_for(
      std::chrono::nanoseconds(static_cast<int64_t>(restNs)));
  for (double doneNs = 0; doneNs < warmNs;) {
    int64_t number = countFor(warmNs - doneNs, ns, most);
    Expected<double> time = runBlock(load, count, number);
    if (!time)
      return time.takeError();
    ns = *time;
    doneNs += std::max(ns, 1.0) * static_cast<double>(number);
  }
  int64_t number = countFor(patience.blockNs, ns, most);
  std::vector<double> blocks;
  for (int64_t block = 0; block < patience.blocks; ++block) {
    Expected<double> time = runBlock(load, count, number);
    if (!time)
      return time.takeError();
    blocks.push_back(*time);
  }
  return summarize(blocks);
}

Expected<MeasuredTime> Meter::measureGap(const ProductCall &product) {
  constexpr int64_t kernels = 400, leads = 20;
  Load load;
  load.product = product;
  std::vector<double> gaps;
  for (int64_t block = 0; block <= patience.blocks; ++block) {
    double times[2];
    for (int64_t with : {0, 1}) {
      load.leads = leads;
      load.empty = with ? kernels : 0;
      Expected<std::vector<double>> ofRanks = world.run(load);
      if (!ofRanks)
        return ofRanks.takeError();
      times[with] = *llvm::max_element(*ofRanks);
    }
    // The first block loads the kernels.
    if (block > 0)
      gaps.push_back(std::max(0.0, times[1] - times[0]) / kernels);
  }
  return summarize(gaps);
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

namespace {
/// Times of one rank.
struct PairTimes {
  double computeNs = 0, collectiveNs = 0;
  /// The compute has ended before the collectives.
  bool isShort = false;
};
} // namespace

/// The mean time of the spans that lie within a window, with the gaps between
/// them; 0 if there are none.
static double meanOf(llvm::ArrayRef<TracedSpan> spans, int64_t fromNs,
                     int64_t toNs) {
  int64_t firstNs = 0, lastNs = 0, count = 0;
  for (const TracedSpan &span : spans) {
    if (span.beginNs < fromNs || span.endNs > toNs)
      continue;
    if (count++ == 0)
      firstNs = span.beginNs;
    lastNs = span.endNs;
  }
  return count ? static_cast<double>(lastNs - firstNs) /
                     static_cast<double>(count)
               : 0.0;
}

/// The times of compute and collectives while both run.
static PairTimes readTimes(const World &world, int64_t rank) {
  std::vector<TracedSpan> compute, collectives;
  for (const TracedSpan &span : world.takeTrace(rank))
    (span.isCollective ? collectives : compute).push_back(span);
  auto byBegin = [](const TracedSpan &a, const TracedSpan &b) {
    return a.beginNs < b.beginNs;
  };
  llvm::sort(compute, byBegin);
  llvm::sort(collectives, byBegin);
  constexpr int64_t ever = std::numeric_limits<int64_t>::max();
  PairTimes times;
  if (collectives.empty()) {
    times.computeNs = meanOf(compute, 0, ever);
    return times;
  }
  int64_t fromNs = collectives.front().beginNs, toNs = collectives.back().endNs;
  times.collectiveNs = meanOf(collectives, 0, ever);
  times.computeNs = meanOf(compute, fromNs, toNs);
  times.isShort = compute.empty() || compute.back().endNs < toNs;
  return times;
}

/// The times on the slowest rank.
static Expected<PairTimes> runPair(World &world, const Load &load) {
  Expected<std::vector<double>> ran = world.run(load);
  if (!ran)
    return ran.takeError();
  PairTimes slowest;
  for (int64_t rank = 0; rank < world.ranks(); ++rank) {
    PairTimes times = readTimes(world, rank);
    slowest.computeNs = std::max(slowest.computeNs, times.computeNs);
    slowest.collectiveNs = std::max(slowest.collectiveNs, times.collectiveNs);
    slowest.isShort |= times.isShort;
  }
  return slowest;
}

Expected<MeasuredPair> braid::calibrate::measurePair(World &world,
                                                     const Patience &patience,
                                                     Load load) {
  int64_t Load::*compute =
      load.leadsAreProducts ? &Load::products : &Load::elementwise;
  Meter meter(world, patience);
  load.leads = load.collectives = load.products = load.elementwise = 0;
  Expected<MeasuredTime> collectiveAlone =
      meter.measure(load, &Load::collectives, patience.otherWarmNs);
  if (!collectiveAlone)
    return collectiveAlone.takeError();
  Expected<MeasuredTime> computeAlone =
      meter.measure(load, compute, patience.productWarmNs, patience.restNs);
  if (!computeAlone)
    return computeAlone.takeError();

  // Beside each other: behind leads that keep the device busy while the host
  // issues the rest, so many collectives that the start does not count, and so
  // much compute that it ends last.
  constexpr int64_t collectives = 60;
  double leadNs = patience.blockNs / 5;
  load.collectives = collectives;
  load.leads = countFor(leadNs, computeAlone->ns, mostOperations);
  double beside = 2.5 * collectives * collectiveAlone->ns;
  std::vector<double> computeFactors, collectiveFactors;
  for (int64_t run = 0; run <= patience.blocks; ++run) {
    load.*compute = countFor(beside, computeAlone->ns, 4 * mostOperations);
    Expected<PairTimes> times = runPair(world, load);
    if (!times)
      return times.takeError();
    // The first run warms up.
    if (run == 0 || times->isShort) {
      if (times->isShort)
        beside *= 2;
      continue;
    }
    computeFactors.push_back(times->computeNs / computeAlone->ns);
    collectiveFactors.push_back(times->collectiveNs / collectiveAlone->ns);
  }
  if (computeFactors.empty())
    return llvm::createStringError(
        "the collective outlasts all compute beside it");
  MeasuredTime ofCompute = summarize(computeFactors),
               ofCollective = summarize(collectiveFactors);
  return MeasuredPair{std::max(1.0, ofCompute.ns),
                      std::max(1.0, ofCollective.ns),
                      std::max(ofCompute.spread, ofCollective.spread)};
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Expected<MeasuredTime>
braid::calibrate::measureLaneLaunch(World &world, const Patience &patience,
                                    Load load) {
  // The leads keep the device busy while the host issues the rest.
  constexpr int64_t leads = 20, rounds = 50;
  load.leads = leads;
  load.rounds = rounds;
  std::vector<double> medians;
  for (int64_t block = 0; block <= patience.blocks; ++block) {
    Expected<std::vector<double>> ran = world.run(load);
    if (!ran)
      return ran.takeError();
    double slowest = 0;
    for (int64_t rank = 0; rank < world.ranks(); ++rank) {
      Expected<std::vector<double>> launches =
          readLaneLaunches(world.takeTrace(rank), leads, rounds);
      if (!launches)
        return launches.takeError();
      slowest = std::max(slowest, summarize(*launches).ns);
    }
    // The first block loads the kernels.
    if (block > 0)
      medians.push_back(slowest);
  }
  return summarize(medians);
}
