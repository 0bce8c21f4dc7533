//===- NcclTuner.cpp - NCCL's own model of collectives --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `ncclTopoTuneModel` and `ncclTopoGetAlgoTime` of src/graph/tuning.cc, and the
// choice of `topoGetAlgoInfo` in src/enqueue.cc.
//
//===----------------------------------------------------------------------===//

#include "NcclTuner.h"

#include "NcclTunerTables.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace braid;
using namespace braid::nccl;
using namespace braid::nccl::tables;

/// The row of a generation in the tables.
static unsigned getGenerationIndex(GpuGeneration generation) {
  switch (generation) {
  case GpuGeneration::Volta:
    return 0;
  case GpuGeneration::Ampere:
    return 1;
  case GpuGeneration::Hopper:
    return 2;
  case GpuGeneration::Blackwell:
    return 3;
  case GpuGeneration::None:
    break;
  }
  llvm_unreachable("not a GPU that NCCL knows");
}

static bool isHopperOrLater(GpuGeneration generation) {
  return generation == GpuGeneration::Hopper ||
         generation == GpuGeneration::Blackwell;
}

static bool isCollNet(Algorithm algorithm) {
  return algorithm == Algorithm::CollNetDirect ||
         algorithm == Algorithm::CollNetChain;
}

static bool isNvls(Algorithm algorithm) {
  return algorithm == Algorithm::Nvls || algorithm == Algorithm::NvlsTree;
}

static bool isGatherOrScatter(Function function) {
  return function == Function::AllGather || function == Function::ReduceScatter;
}

static const Graph &getGraph(const Communicator &communicator,
                             Algorithm algorithm) {
  if (isNvls(algorithm))
    return communicator.nvls;
  if (isCollNet(algorithm))
    return communicator.collNet;
  return communicator.ring;
}

/// True if NCCL implements `function` by `algorithm` and `protocol`, and the
/// combination is enabled.
static bool isEnabled(const Communicator &communicator, Function function,
                      Algorithm algorithm, Protocol protocol) {
  bool isOneNode = communicator.numNodes == 1;
  switch (algorithm) {
  case Algorithm::Ring:
    break;
  case Algorithm::Tree:
    if (function != Function::AllReduce)
      return false;
    break;
  case Algorithm::CollNetDirect:
    if (!communicator.hasNvSwitch)
      return false;
    [[fallthrough]];
  case Algorithm::CollNetChain:
    if (!communicator.enableCollNet || isOneNode ||
        protocol != Protocol::Simple)
      return false;
    if (function != Function::AllReduce &&
        !(isGatherOrScatter(function) && algorithm == Algorithm::CollNetDirect))
      return false;
    break;
  case Algorithm::Nvls:
    // Between nodes CollNet needs reduction in the network, which all-gathers
    // and reduce-scatters do not have.
    if (!communicator.enableNvls || protocol != Protocol::Simple ||
        communicator.nvls.numChannels < 2)
      return false;
    if (!isOneNode &&
        (!communicator.enableCollNet || function != Function::AllReduce))
      return false;
    if (function != Function::AllReduce && !isGatherOrScatter(function))
      return false;
    break;
  case Algorithm::NvlsTree:
    if (!communicator.enableNvls || isOneNode || protocol != Protocol::Simple ||
        function != Function::AllReduce || communicator.nvls.numChannels < 2)
      return false;
    break;
  case Algorithm::Pat:
    // PAT needs one GPU on each node.
    if (!isGatherOrScatter(function) || protocol != Protocol::Simple ||
        communicator.numNodes != communicator.numRanks)
      return false;
    break;
  case Algorithm::PointToPoint:
  case Algorithm::CopyEngine:
    return false;
  }

  // LL128 needs flags and data to arrive together, which not every path
  // guarantees.
  if (protocol == Protocol::LL128)
    return communicator.intraPath <= PathType::Nvb &&
           communicator.interPath <= (isHopperOrLater(communicator.generation)
                                          ? PathType::Pxn
                                          : PathType::Pxb);
  return true;
}

/// The number of steps of a ring.
static double getNumSteps(Function function, double numRanks) {
  if (function == Function::AllReduce)
    return 2 * (numRanks - 1);
  return isGatherOrScatter(function) ? numRanks - 1 : numRanks;
}

/// The bytes of the operation divided by the bytes on the bus.
static double getBusToAlgorithm(Function function, Algorithm algorithm,
                                double numRanks) {
  if (algorithm == Algorithm::Ring)
    return numRanks / getNumSteps(function, numRanks);
  if (isGatherOrScatter(function))
    return 1.0;
  return isNvls(algorithm) ? numRanks / getNumSteps(function, numRanks) : 0.5;
}

/// The bus bandwidth of one channel of NVLS, in GB/s.
static double getNvlsChannelBandwidth(const Communicator &communicator,
                                      Function function, Algorithm algorithm) {
  unsigned generation = getGenerationIndex(communicator.generation);
  unsigned scale = std::min<int64_t>(communicator.numNodes, 3) - 1;
  double perNode = communicator.getRanksPerNode();
  auto channels = static_cast<double>(communicator.nvls.numChannels);
  double intra = communicator.nvls.intraBandwidth * nvlsEfficiency[generation] *
                 (channels - 1) / channels;
  intra *= function == Function::AllReduce ? 2 : (perNode - 1) / perNode;
  if (communicator.numNodes == 1)
    return intra;
  double inter = communicator.nvls.interBandwidth;
  if (algorithm == Algorithm::Nvls)
    return std::min(intra, inter);
  if (communicator.numNodes == 2)
    inter *= 2;
  return std::min({intra, inter, nvlsTreePerChannel[generation][scale]});
}

static double getBusBandwidth(const Communicator &communicator,
                              Function function, Algorithm algorithm,
                              Protocol protocol) {
  unsigned generation = getGenerationIndex(communicator.generation);
  unsigned scale = std::min<int64_t>(communicator.numNodes, 3) - 1;
  bool isOneNode = communicator.numNodes == 1;
  double llMax =
      llMaxBandwidth[isOneNode                                  ? generation
                     : communicator.cpuVendor == CpuVendor::Amd ? 1
                                                                : 0][scale];
  double perNode = communicator.getRanksPerNode();
  const Graph &graph = getGraph(communicator, algorithm);
  auto channels = static_cast<double>(graph.numChannels);
  double channelBandwidth = communicator.numNodes <= 2 || isCollNet(algorithm)
                                ? graph.intraBandwidth
                                : graph.interBandwidth;
  double bus = channels * channelBandwidth;

  switch (algorithm) {
  case Algorithm::Ring:
    if (protocol == Protocol::LL)
      return std::min(llMax, 0.5 * bus);
    if (protocol == Protocol::LL128)
      return std::min(0.92 * bus,
                      channels * ringLL128PerChannel[generation][scale]);
    return bus;
  case Algorithm::Tree:
    bus = std::min(0.92 * bus, channels * treePerChannel[generation][scale]);
    if (protocol == Protocol::LL)
      bus = std::min(bus / 3.8, llMax);
    else if (protocol == Protocol::LL128)
      bus = std::min(bus * (isOneNode ? 7.0 / 9.0 : 120.0 / 128.0),
                     channels * treeLL128PerChannel[generation][scale]);
    return communicator.hasPlainTrees ? 0.85 * bus : bus;
  case Algorithm::Pat:
    return 0.75 * bus;
  case Algorithm::CollNetDirect: {
    if (isGatherOrScatter(function))
      return perNode *
             std::min(graph.intraBandwidth, 0.9 * graph.interBandwidth);
    // The full bandwidth needs a network port for each GPU.
    double factor = perNode / channels;
    factor -= (factor - 1) / 2;
    bus /= factor;
    return isHopperOrLater(communicator.generation) ? 0.85 * bus : bus;
  }
  case Algorithm::CollNetChain:
    return bus;
  case Algorithm::Nvls:
  case Algorithm::NvlsTree:
    return channels *
           getNvlsChannelBandwidth(communicator, function, algorithm);
  case Algorithm::PointToPoint:
  case Algorithm::CopyEngine:
    break;
  }
  llvm_unreachable("not an algorithm of the tuner");
}

static double getLatency(const Communicator &communicator, Function function,
                         Algorithm algorithm, Protocol protocol) {
  auto a = static_cast<unsigned>(algorithm);
  auto p = static_cast<unsigned>(protocol);
  auto numRanks = static_cast<double>(communicator.numRanks);
  auto numNodes = static_cast<double>(communicator.numNodes);
  bool isOneNode = communicator.numNodes == 1;
  auto ranksPerNode =
      static_cast<double>(communicator.numRanks / communicator.numNodes);
  double logNodes = llvm::Log2_64(static_cast<uint64_t>(communicator.numNodes));

  double base = baseLatency[a][p];
  Link intraLink = communicator.intraPath == PathType::Nvl ? NvLink : Pci;
  double intra = linkLatency[intraLink][a][p];
  // With one GPU on each node nothing hides the latency of the network; the
  // entry of trees has this latency.
  auto tree = static_cast<unsigned>(Algorithm::Tree);
  bool isOnePerNode = communicator.numRanks == communicator.numNodes;
  double inter = linkLatency[Net][isOnePerNode ? tree : a][p];
  // The Simple protocol flushes the writes of the network.
  inter += communicator.netLatency * (protocol == Protocol::Simple ? 2 : 1);

  switch (algorithm) {
  case Algorithm::Ring: {
    double numSteps = getNumSteps(function, numRanks);
    if (function == Function::Broadcast || function == Function::Reduce) {
      Link link = isOneNode ? intraLink : Net;
      if (communicator.hasSameChannels)
        return base + linkLatency[link][a][p];
      // The Simple protocol uses the chunks of trees.
      bool isSimple = protocol == Protocol::Simple;
      return base + numSteps * linkLatency[link][isSimple ? tree : a][p];
    }
    double interSteps = 0;
    if (!isOneNode) {
      // Every step of a ring between nodes posts to the network.
      double overhead = communicator.cpuVendor == CpuVendor::Amd ? 2.0 : 1.0;
      intra = std::max(intra,
                       protocol == Protocol::Simple ? 3 * overhead : overhead);
      interSteps = getNumSteps(Function::AllGather, numNodes) *
                   (function == Function::AllReduce ? 2 : 1);
    }
    return base + (numSteps - interSteps) * intra + interSteps * inter;
  }
  case Algorithm::Tree:
    return base + 2 * ((ranksPerNode - 1) * intra + logNodes * inter);
  case Algorithm::CollNetDirect:
    return base +
           2 * (std::min(1.0, ranksPerNode - 1) * intra +
                (ranksPerNode - 1) * 0.4) +
           inter;
  case Algorithm::CollNetChain:
    return base + 2 * (ranksPerNode - 1) * intra + inter;
  case Algorithm::Nvls:
    return intra + (isOneNode ? 0 : inter);
  case Algorithm::NvlsTree:
    return base + intra + 2 * logNodes * inter;
  case Algorithm::Pat:
    return base + logNodes * inter / 3.5 + numRanks * 2.8;
  case Algorithm::PointToPoint:
  case Algorithm::CopyEngine:
    break;
  }
  llvm_unreachable("not an algorithm of the tuner");
}

std::optional<TableEntry> nccl::getTableEntry(const Communicator &communicator,
                                              Function function,
                                              Algorithm algorithm,
                                              Protocol protocol) {
  assert(communicator.numRanks > 1 && "nobody to talk to");
  if (!isEnabled(communicator, function, algorithm, protocol))
    return std::nullopt;
  double bus = getBusBandwidth(communicator, function, algorithm, protocol);
  double bandwidth =
      bus * getBusToAlgorithm(function, algorithm,
                              static_cast<double>(communicator.numRanks));
  if (!(bandwidth > 0))
    return std::nullopt;
  return TableEntry{getLatency(communicator, function, algorithm, protocol),
                    bandwidth};
}

/// The time with at most `maxBandwidth` GB/s of the operation's bytes.
static std::optional<double>
predictTimeAtMost(const Communicator &communicator, const Launch &launch,
                  Algorithm algorithm, Protocol protocol, double maxBandwidth) {
  std::optional<TableEntry> entry =
      getTableEntry(communicator, launch.function, algorithm, protocol);
  if (!entry)
    return std::nullopt;
  auto [latency, bandwidth] = *entry;
  bool isAllReduce = launch.function == Function::AllReduce;

  if (algorithm == Algorithm::Tree && isAllReduce && launch.bytes >= 64) {
    unsigned index = llvm::Log2_64(launch.bytes >> 6);
    if (index < numTreeCorrections)
      bandwidth *= treeCorrection[static_cast<unsigned>(protocol)][index];
  }
  if (algorithm == Algorithm::Ring && protocol == Protocol::Simple &&
      communicator.numNodes > 1 && isAllReduce &&
      launch.bytes / static_cast<uint64_t>(communicator.numChannels *
                                           communicator.numRanks) >=
          64)
    latency *= communicator.generation == GpuGeneration::Volta ? 1.9 : 1.4;

  // A ring has its latency for each operation of a group, a tree for each
  // batch.
  int64_t latencyCount =
      algorithm == Algorithm::Ring
          ? launch.numOperations
          : llvm::divideCeilSigned(launch.numOperations, maxBatchOperations);
  return latency * static_cast<double>(latencyCount) +
         static_cast<double>(launch.bytes) /
             (1000 * std::min(bandwidth, maxBandwidth));
}

std::optional<double> nccl::predictTime(const Communicator &communicator,
                                        const Launch &launch,
                                        Algorithm algorithm,
                                        Protocol protocol) {
  return predictTimeAtMost(communicator, launch, algorithm, protocol, HUGE_VAL);
}

Estimate nccl::chooseAlgorithm(const Communicator &communicator,
                               const Launch &launch) {
  Estimate best;
  if (communicator.numRanks <= 1)
    return best;
  bool isFound = false;
  double leastTime = 0;
  for (unsigned a = 0; a < numAlgorithms; ++a)
    for (unsigned p = 0; p < numProtocols; ++p) {
      auto algorithm = static_cast<Algorithm>(a);
      auto protocol = static_cast<Protocol>(p);
      std::optional<double> time =
          predictTime(communicator, launch, algorithm, protocol);
      if (!time)
        continue;
      // Long rings round 8-bit floats too often; prefer any other algorithm.
      bool roundsTooOften = launch.isFloat8 && algorithm == Algorithm::Ring &&
                            communicator.numRanks > 8 &&
                            launch.function != Function::AllGather &&
                            launch.function != Function::Broadcast;
      double ranking = roundsTooOften ? *time * 1024 : *time;
      if (isFound && ranking >= leastTime)
        continue;
      isFound = true;
      leastTime = ranking;
      best = {*time, algorithm, protocol, 0};
    }
  assert(isFound && "rings with the Simple protocol are never disabled");

  best.numChannels =
      countChannels(communicator, launch, best.algorithm, best.protocol);
  Communicator unlimited = communicator;
  unlimited.maxCtas = 0;
  double maxBus = HUGE_VAL;
  if (best.numChannels <
      countChannels(unlimited, launch, best.algorithm, best.protocol)) {
    const Graph &ring = communicator.ring;
    double busPerCta = static_cast<double>(ring.numChannels) *
                       (communicator.numNodes <= 2 ? ring.intraBandwidth
                                                   : ring.interBandwidth) /
                       static_cast<double>(communicator.numChannels);
    maxBus = static_cast<double>(best.numChannels) * busPerCta;
  }
  // NCCL does not know of the spine.
  if (communicator.networkShare < 1)
    maxBus = std::min(maxBus,
                      communicator.portBandwidth * communicator.networkShare);
  if (maxBus < HUGE_VAL)
    best.time = *predictTimeAtMost(
        communicator, launch, best.algorithm, best.protocol,
        maxBus * getBusToAlgorithm(launch.function, best.algorithm,
                                   static_cast<double>(communicator.numRanks)));
  return best;
}

llvm::StringRef nccl::stringify(Algorithm algorithm) {
  switch (algorithm) {
  case Algorithm::Tree:
    return "Tree";
  case Algorithm::Ring:
    return "Ring";
  case Algorithm::CollNetDirect:
    return "CollnetDirect";
  case Algorithm::CollNetChain:
    return "CollnetChain";
  case Algorithm::Nvls:
    return "NVLS";
  case Algorithm::NvlsTree:
    return "NVLSTree";
  case Algorithm::Pat:
    return "PAT";
  case Algorithm::PointToPoint:
    return "point-to-point";
  case Algorithm::CopyEngine:
    return "copy engine";
  }
  llvm_unreachable("unknown algorithm");
}

llvm::StringRef nccl::stringify(Protocol protocol) {
  switch (protocol) {
  case Protocol::LL:
    return "LL";
  case Protocol::LL128:
    return "LL128";
  case Protocol::Simple:
    return "Simple";
  }
  llvm_unreachable("unknown protocol");
}
