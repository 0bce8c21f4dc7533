//===- InductorNewestModel.cpp - Inductor's newest NCCL formula -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InductorNewestModel.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace braid;
using namespace braid::inductor_newest;
using comm::CollectiveKind;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// The base latency, and the latency of one step, in microseconds.
static constexpr double baseLatency[NumAlgorithms][NumProtocols] = {
    {6.8, 14, 8.4}, {6.6, 14, 8.4}};
static constexpr double nvLinkLatency[NumAlgorithms][NumProtocols] = {
    {0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}};
static constexpr double netLatency[NumAlgorithms][NumProtocols] = {
    {5.0, 8.5, 14}, {2.7, 4.0, 14.0}};

namespace {
/// The bandwidths of one generation, in GB/s, on 1, 2, and 4 or more nodes.
struct GenerationFigures {
  double llMax[3];
  double ringLL128PerChannel[3];
  double treeLL128PerChannel[3];
  double treePerChannel[3];
  double numChannels;
  double intraNodeBandwidth;
  double interNodeBandwidth;
};
} // namespace

static constexpr GenerationFigures volta = {
    {39, 39, 20.4}, {20, 20, 20}, {20, 20, 20}, {26.5, 18.5, 10}, 2, 120, 12};
static constexpr GenerationFigures ampere = {
    {87.7, 22.5, 19}, {20, 20, 20}, {20, 20, 20}, {24, 23.6, 17.8}, 8, 240, 25};
static constexpr GenerationFigures hopper = {{141, 45, 35},
                                             {36.7, 36.7, 36.7},
                                             {36.7, 36.7, 29},
                                             {38.7, 41.4, 36},
                                             16,
                                             370,
                                             50};
static constexpr GenerationFigures blackwell = {{282, 90, 70},
                                                {40, 40, 40},
                                                {55.6, 31.67, 20},
                                                {70, 42.8, 24},
                                                32,
                                                720,
                                                50};

/// The efficiency of trees for 64 B, 128 B, ... 512 MB.
static constexpr unsigned numTreeCorrections = 24;
static constexpr double treeCorrection[NumProtocols][numTreeCorrections] = {
    {1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
     .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1,  1},
    {1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
     .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1,  1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}};

/// Inductor assumes Ampere for unknown GPUs.
static const GenerationFigures &getFigures(GpuGeneration generation) {
  switch (generation) {
  case GpuGeneration::Volta:
    return volta;
  case GpuGeneration::None:
  case GpuGeneration::Ampere:
    return ampere;
  case GpuGeneration::Hopper:
    return hopper;
  case GpuGeneration::Blackwell:
    return blackwell;
  }
  llvm_unreachable("unknown generation");
}

//===----------------------------------------------------------------------===//
// Formula
//===----------------------------------------------------------------------===//

namespace {
/// The steps and bytes of a collective on a ring of n ranks.
struct RingShape {
  double steps;
  double interNodeSteps;
  /// The bytes of the operation divided by the bytes on the bus.
  double busToAlgorithm;
};
} // namespace

static RingShape getRingShape(CollectiveKind kind, double n, double nodes) {
  double gatherInterSteps = nodes - 1;
  // Upstream counts two steps for each part of an all-to-all.
  if (kind == CollectiveKind::all_to_all)
    return {2 * (n - 1), gatherInterSteps, n / (2 * (n - 1))};
  switch (comm::getTraits(kind).ring) {
  case BRAID_RT_RING_TWO_ROUNDS:
    return {2 * (n - 1), 2 * (nodes - 1), n / (2 * (n - 1))};
  case BRAID_RT_RING_BARRIER:
    return {2 * (n - 1), 2 * (nodes - 1), 1};
  case BRAID_RT_RING_ONE_ROUND:
    return {n - 1, gatherInterSteps, n / (n - 1)};
  case BRAID_RT_RING_PIPELINE:
    return {n - 1, gatherInterSteps, 1};
  case BRAID_RT_RING_ONE_STEP:
    return {1, nodes > 1 ? 1.0 : 0.0, 1};
  }
  llvm_unreachable("unknown ring");
}

/// Microseconds with one algorithm and protocol.
static double estimateOne(const GenerationFigures &figures, CollectiveKind kind,
                          Algorithm algorithm, Protocol protocol, double n,
                          int64_t numNodes, uint64_t byteCount) {
  auto bytes = static_cast<double>(byteCount);
  auto nodes = static_cast<double>(numNodes);
  bool isOneNode = numNodes == 1;
  unsigned scale = static_cast<unsigned>(std::min<int64_t>(numNodes, 3) - 1);

  double bandwidth =
      isOneNode ? figures.intraNodeBandwidth : figures.interNodeBandwidth;
  if (!isOneNode) {
    bandwidth *= 0.77 + 0.23 * std::min(1.0, (nodes - 1) / 7);
    constexpr double small = 50e6;
    if (numNodes > 2)
      bandwidth *= std::pow(std::max(bytes, small) / small, 0.17);
  }
  // For several nodes upstream uses the first row.
  double llMax = (isOneNode ? figures : volta).llMax[scale];

  double bus = bandwidth;
  RingShape ring = getRingShape(kind, n, nodes);
  double algorithmBandwidth;
  if (algorithm == Ring) {
    if (protocol == LL)
      bus = std::min(llMax, 0.5 * bandwidth);
    else if (protocol == LL128)
      bus = std::min(bandwidth * 120 / 128,
                     figures.numChannels * figures.ringLL128PerChannel[scale]);
    algorithmBandwidth = bus * ring.busToAlgorithm;
  } else {
    if (protocol == LL)
      bus = std::min(bandwidth / 3.8, llMax);
    else if (protocol == LL128)
      bus = std::min(bandwidth * (isOneNode ? 7.0 / 9.0 : 120.0 / 128.0),
                     figures.numChannels * figures.treeLL128PerChannel[scale]);
    else
      bus = std::min(0.92 * bandwidth,
                     figures.numChannels * figures.treePerChannel[scale]);
    algorithmBandwidth = 0.5 * bus;
    unsigned index = byteCount >= 64 ? llvm::Log2_64(byteCount >> 6) : 0;
    if (index < numTreeCorrections)
      algorithmBandwidth *= treeCorrection[protocol][index];
  }

  double netOverhead = isOneNode ? 0 : protocol == Simple ? 3 : 1;
  double intra = std::max(nvLinkLatency[algorithm][protocol], netOverhead);
  double inter = netLatency[algorithm][protocol];
  double latency = baseLatency[algorithm][protocol];
  if (algorithm == Ring)
    latency += (ring.steps - ring.interNodeSteps) * intra +
               ring.interNodeSteps * inter;
  else
    latency += 2 * ((n / nodes - 1) * intra + std::log2(nodes) * inter);
  return latency + bytes / (1000 * algorithmBandwidth);
}

static int64_t countNodes(int64_t groupSize, int64_t gpusPerNode) {
  return llvm::divideCeilSigned(groupSize, gpusPerNode);
}

std::optional<Estimate> inductor_newest::estimate(GpuGeneration generation,
                                                  CollectiveKind kind,
                                                  int64_t groupSize,
                                                  int64_t gpusPerNode,
                                                  uint64_t bytes) {
  if (kind != CollectiveKind::all_reduce &&
      kind != CollectiveKind::all_gather &&
      kind != CollectiveKind::reduce_scatter &&
      kind != CollectiveKind::all_to_all)
    return std::nullopt;
  if (groupSize <= 1)
    return Estimate{0.0, Ring, LL};

  int64_t numNodes = countNodes(groupSize, gpusPerNode);
  std::optional<Estimate> best;
  for (Algorithm algorithm : {Tree, Ring}) {
    if (algorithm == Tree && kind != CollectiveKind::all_reduce)
      continue;
    for (Protocol protocol : {LL, LL128, Simple}) {
      // LL128 does not work over InfiniBand.
      if (protocol == LL128 && numNodes > 1)
        continue;
      double microseconds =
          estimateOne(getFigures(generation), kind, algorithm, protocol,
                      static_cast<double>(groupSize), numNodes, bytes);
      if (!best || microseconds < best->microseconds)
        best = Estimate{microseconds, algorithm, protocol};
    }
  }
  return best;
}

CollectiveTime InductorNewestModel::estimate(const CollectiveCall &call) const {
  if (std::optional<Estimate> best = inductor_newest::estimate(
          generation, call.kind, call.groupSize, gpusPerNode, call.inputBytes))
    return {best->microseconds * 1e3, /*exact=*/true, /*channels=*/0,
            getLinkBytes(call)};
  if (call.groupSize <= 1)
    return {0.0, /*exact=*/false};
  double microseconds =
      estimateOne(getFigures(generation), call.kind, Ring, Simple,
                  static_cast<double>(call.groupSize),
                  countNodes(call.groupSize, gpusPerNode),
                  comm::getTraits(call.kind).flow == BRAID_RT_FLOW_NONE
                      ? 0
                      : call.getWholeBytes());
  return {microseconds * 1e3, /*exact=*/false, /*channels=*/0,
          getLinkBytes(call)};
}

//===----------------------------------------------------------------------===//
// Saturation
//===----------------------------------------------------------------------===//

namespace {
struct LinkFigures {
  double busBandwidth; ///< GB/s
  double stepUs;
  double baseUs;
  double minBytes;
};
} // namespace

static constexpr double mebibyte = 1 << 20;

static LinkFigures getLinkFigures(LinkProfile link) {
  switch (link) {
  case LinkProfile::NvLinkV100:
    return {14, 50, 10, 0};
  case LinkProfile::NvLinkA100:
    return {22, 45, 10, 0};
  case LinkProfile::NvLinkH100:
    return {36, 40, 10, 0};
  case LinkProfile::NvLinkB200:
    return {60, 30, 10, 0};
  case LinkProfile::InfiniBandHdr:
    return {11, 14, 30, 75 * mebibyte};
  case LinkProfile::InfiniBandNdr:
    return {22, 12, 30, 100 * mebibyte};
  case LinkProfile::Pcie:
    return {10, 60, 15, 0};
  }
  llvm_unreachable("unknown link");
}

double inductor_newest::computeMinSaturationBytes(LinkProfile link,
                                                  CollectiveKind kind,
                                                  int64_t groupSize,
                                                  double efficiency) {
  LinkFigures figures = getLinkFigures(link);
  double steps = static_cast<double>(groupSize - 1) *
                 (kind == CollectiveKind::all_reduce ? 2 : 1);
  double seconds = (figures.baseUs + steps * figures.stepUs) * 1e-6;
  double bytes =
      efficiency / (1 - efficiency) * seconds * figures.busBandwidth * 1e9;
  return std::max(bytes, figures.minBytes);
}
