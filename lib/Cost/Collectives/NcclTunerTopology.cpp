//===- NcclTunerTopology.cpp - The topology that NCCL finds ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of `ncclTopoCompute` (src/graph/search.cc) and `ncclTopoPostset`
// (src/graph/connect.cc) on machines with a network port for each GPU, without
// a search. The table of machines gives the channels within a node; NCCL's list
// of speeds gives the channels between nodes.
//
//===----------------------------------------------------------------------===//

#include "NcclTuner.h"
#include "NcclTunerTables.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace braid;
using namespace braid::nccl;
using namespace braid::nccl::tables;

static llvm::ArrayRef<double> getInterSpeeds(GpuGeneration generation) {
  switch (generation) {
  case GpuGeneration::Hopper:
    return interSpeedsHopper;
  case GpuGeneration::Blackwell:
    return interSpeedsBlackwell;
  default:
    return interSpeeds;
  }
}

static llvm::ArrayRef<double> getNvlsSpeeds(GpuGeneration generation) {
  switch (generation) {
  case GpuGeneration::Hopper:
    return nvlsSpeedsHopper;
  case GpuGeneration::Blackwell:
    return nvlsSpeedsBlackwell;
  default:
    return {};
  }
}

/// The first of `speeds` that is at most `limit` and that `count` channels
/// reach with `total` GB/s; 0 if there is none.
static double findSpeed(llvm::ArrayRef<double> speeds, int64_t count,
                        double total, double limit) {
  for (double speed : speeds)
    if (speed <= limit && static_cast<double>(count) * speed <= total)
      return speed;
  return 0;
}

/// The ring between nodes with the most bandwidth. It has at most one channel
/// for each of `numPorts` ports of `port` GB/s. The parts of the channels
/// within the nodes share `intraTotal` GB/s, unless a node has one GPU.
static Graph searchInterNodeRing(GpuGeneration generation, int64_t numPorts,
                                 double port, double intraTotal) {
  Graph best;
  for (double speed : getInterSpeeds(generation)) {
    if (speed > port)
      continue;
    int64_t channels = numPorts;
    if (numPorts > 1)
      channels = std::min(channels, static_cast<int64_t>(intraTotal / speed));
    if (static_cast<double>(channels) * speed >
        static_cast<double>(best.numChannels) * best.intraBandwidth)
      best = {channels, speed, speed};
  }
  if (best.numChannels == 0) // the network is slower than NCCL's list of speeds
    best = {1, port, port};

  // NCCL doubles the number of fast channels (`ncclTopoDupChannels`).
  bool isAfterAmpere = generation == GpuGeneration::Hopper ||
                       generation == GpuGeneration::Blackwell;
  if (best.intraBandwidth >= 25 &&
      !(isAfterAmpere && best.intraBandwidth < 50 && best.numChannels > 4)) {
    best.numChannels *= 2;
    best.intraBandwidth /= 2;
    best.interBandwidth /= 2;
  }
  return best;
}

Communicator nccl::describeCommunicator(const Hardware &hardware,
                                        int64_t numRanks, int64_t numNodes) {
  assert(hardware.hasNccl() && "not a machine that NCCL runs on");
  assert(numRanks >= numNodes && numNodes >= 1 && "nodes without ranks");
  const NcclFigures &figures = hardware.nccl;
  constexpr double giga = 1e9;

  Communicator communicator;
  communicator.generation = hardware.generation;
  // More than any machine has, and few enough to avoid overflow.
  constexpr int64_t maxRanks = int64_t{1} << 24;
  communicator.numRanks = std::min(numRanks, maxRanks);
  communicator.numNodes = std::min(numNodes, maxRanks);
  communicator.cpuVendor = figures.cpuVendor;
  communicator.hasNvSwitch = figures.hasNvSwitch;
  communicator.enableNvls = figures.enableNvls;
  communicator.enableCollNet = figures.enableCollNet;
  communicator.maxCtas = figures.maxCtas;
  communicator.useCopyEngine = figures.useCopyEngine;
  communicator.copyEngineLatency = figures.copyEngineLatencyNs / 1000;
  communicator.copyEngineBandwidth = figures.copyEngineBandwidth / giga;

  double channelBandwidth = figures.channelBandwidth / giga;
  double intraTotal =
      static_cast<double>(figures.numChannels) * channelBandwidth;
  double port = hardware.interNodeBandwidth / giga;
  communicator.portBandwidth = port * communicator.getRanksPerNode();
  int64_t ranksPerNode = communicator.numRanks / communicator.numNodes;
  if (communicator.numNodes == 1) {
    communicator.ring = {figures.numChannels, channelBandwidth,
                         channelBandwidth};
    communicator.hasSameChannels = figures.hasSameChannels;
  } else {
    communicator.ring = searchInterNodeRing(hardware.generation, ranksPerNode,
                                            port, intraTotal);
    // Each channel has a network port of its own.
    communicator.hasSameChannels = false;
  }
  communicator.numChannels =
      std::min(maxChannels, 2 * communicator.ring.numChannels);

  // NVLS has one head for each GPU of the node, CollNet one for each port.
  double nvlsSpeed = findSpeed(getNvlsSpeeds(hardware.generation), ranksPerNode,
                               intraTotal, intraTotal);
  double portSpeed =
      findSpeed(getInterSpeeds(hardware.generation), 1, port, port);
  communicator.nvls = {nvlsSpeed > 0 ? ranksPerNode : 0, nvlsSpeed, portSpeed};
  communicator.collNet = {ranksPerNode, portSpeed, portSpeed};
  communicator.numNvlsChannels =
      hardware.generation == GpuGeneration::Blackwell ? 32 : 16;

  communicator.numPointToPointChannels = static_cast<int64_t>(
      llvm::PowerOf2Ceil(static_cast<uint64_t>(communicator.numChannels)));
  communicator.numChannelsPerPeer =
      communicator.numNodes == 1 && figures.hasNvSwitch
          ? communicator.numPointToPointChannels
          : std::min<int64_t>(2, communicator.numPointToPointChannels);
  return communicator;
}
