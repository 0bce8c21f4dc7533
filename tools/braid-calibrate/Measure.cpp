//===- Measure.cpp - Times of loads under sustained load ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure.h"

#include "LaneLaunch.h"
#include "PairTimes.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
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

/// Leaves the devices idle.
static void standStill(double ns) {
  std::this_thread::sleep_for(
      std::chrono::nanoseconds(static_cast<int64_t>(ns)));
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
  standStill(restNs);
  for (double doneNs = 0; doneNs < warmNs;) {
    int64_t number = countFor(warmNs - doneNs, ns, most);
    Expected<double> time = runBlock(load, count, number);
    if (!time)
      return time.takeError();
    ns = *time;
    doneNs += std::max(ns, 1.0) * static_cast<double>(number);
  }
  int64_t number = countFor(durations.blockNs, ns, most);
  std::vector<double> blocks;
  for (int64_t block = 0; block < durations.blocks; ++block) {
    Expected<double> time = runBlock(load, count, number);
    if (!time)
      return time.takeError();
    blocks.push_back(*time);
  }
  return summarize(blocks);
}

Expected<MeasuredTime> Meter::measureGap(const MatmulCall &matmul) {
  constexpr int64_t kernels = 400, leads = 20;
  Load load;
  load.matmul = matmul;
  std::vector<double> gaps;
  for (int64_t block = 0; block <= durations.blocks; ++block) {
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

Expected<MeasuredTime> Meter::measureHost(Load load, int64_t Load::*count) {
  // The engine launches more calls in a row than these as a graph.
  constexpr int64_t calls = 6, runsOfBlock = 20;
  std::vector<double> blocks;
  for (int64_t block = 0; block <= durations.blocks; ++block) {
    std::vector<double> differences;
    for (int64_t run = 0; run < runsOfBlock; ++run) {
      double times[2];
      for (int64_t with : {0, 1}) {
        load.*count = with * calls;
        Expected<std::vector<double>> ofRanks =
            world.run(load, /*ofHost=*/true);
        if (!ofRanks)
          return ofRanks.takeError();
        times[with] = *llvm::max_element(*ofRanks);
      }
      differences.push_back(std::max(0.0, times[1] - times[0]) / calls);
    }
    // The first block loads and connects.
    if (block > 0)
      blocks.push_back(summarize(differences).ns);
  }
  return summarize(blocks);
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// The factors of the compute, on the rank on which it slows down most, and of
/// the collective, which takes `collectiveAloneNs` alone, at the clocks at
/// which the compute alone takes `settledNs` (0: at those of the run); none if
/// the compute was short.
static Expected<std::optional<std::pair<double, double>>>
runPair(World &world, const Load &load, int64_t aloneNs,
        double collectiveAloneNs, double settledNs) {
  Expected<std::vector<double>> ran = world.run(load);
  if (!ran)
    return ran.takeError();
  std::pair<double, double> factors = {0, 0};
  for (int64_t rank = 0; rank < world.ranks(); ++rank) {
    PairTimes times = readPairTimes(world.takeTrace(rank), aloneNs);
    if (times.computeAloneNs <= 0 || times.computeNs <= 0)
      return std::nullopt;
    factors.first =
        std::max(factors.first, times.computeNs / times.computeAloneNs);
    double clocks = settledNs > 0 ? settledNs / times.computeAloneNs : 1;
    factors.second = std::max(factors.second,
                              clocks * times.collectiveNs / collectiveAloneNs);
  }
  return factors;
}

Expected<MeasuredPair> braid::calibrate::measurePair(World &world,
                                                     const Durations &durations,
                                                     Load load,
                                                     double settledNs) {
  int64_t Load::*compute =
      load.leadsAreMatmuls ? &Load::matmuls : &Load::elementwise;
  Meter meter(world, durations);
  load.leads = load.collectives = load.matmuls = load.elementwise = 0;
  // As curves are measured, which the factor multiplies: beside matmuls the
  // clocks are lower, and kernels of collectives take longer for that reason,
  // too.
  Expected<MeasuredTime> collectiveAlone =
      meter.measure(load, &Load::collectives, durations.otherWarmNs);
  if (!collectiveAlone)
    return collectiveAlone.takeError();
  Expected<MeasuredTime> computeAlone =
      meter.measure(load, compute, durations.otherWarmNs);
  if (!computeAlone)
    return computeAlone.takeError();

  // What these say is how many there have to be. The compute runs alone and
  // beside collectives within a tenth of a second, because clocks change: leads
  // that settle the clocks and keep the device busy while the host issues the
  // rest, so many collectives that single ones do not count, and so much
  // compute that it outlasts them.
  constexpr int64_t collectives = 60;
  double warmNs =
      load.leadsAreMatmuls ? durations.matmulWarmNs : durations.otherWarmNs;
  load.collectives = collectives;
  load.leads = countFor(warmNs + 2 * durations.blockNs, computeAlone->ns,
                        4 * mostOperations);
  double beside = 2.5 * collectives * collectiveAlone->ns;
  std::vector<double> computeFactors, collectiveFactors;
  for (int64_t run = 0; run <= durations.blocks; ++run) {
    standStill(durations.idleNs);
    load.*compute = countFor(beside + 2 * durations.blockNs, computeAlone->ns,
                             4 * mostOperations);
    Expected<std::optional<std::pair<double, double>>> factors =
        runPair(world, load, static_cast<int64_t>(durations.blockNs),
                collectiveAlone->ns, settledNs);
    if (!factors)
      return factors.takeError();
    // The first run loads and connects.
    if (!*factors)
      beside *= 2;
    else if (run > 0) {
      computeFactors.push_back((*factors)->first);
      collectiveFactors.push_back((*factors)->second);
    }
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
braid::calibrate::measureLaneLaunch(World &world, const Durations &durations,
                                    Load load) {
  // The leads keep the device busy while the host issues the rest.
  constexpr int64_t leads = 20, rounds = 50;
  load.leads = leads;
  load.rounds = rounds;
  std::vector<double> medians;
  for (int64_t block = 0; block <= durations.blocks; ++block) {
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
