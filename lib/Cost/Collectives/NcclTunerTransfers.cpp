//===- NcclTunerTransfers.cpp - Transfers without a model in NCCL ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages between pairs of ranks, and copies by copy engines. The numbers of
// channels follow `scheduleP2pTasksToPlan` in NCCL's src/enqueue.cc; the times
// are Braid's own model.
//
//===----------------------------------------------------------------------===//

#include "NcclTuner.h"
#include "NcclTunerTables.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace braid;
using namespace braid::nccl;
using namespace braid::nccl::tables;

/// The number of channels of a message of `bytes`.
static int64_t countMessageChannels(const Communicator &communicator,
                                    uint64_t bytes) {
  bool isOneNode = communicator.numNodes == 1;
  int64_t channels = communicator.numChannelsPerPeer;
  while (channels > 1 && channels * communicator.numRanks >
                             communicator.numPointToPointChannels)
    channels /= 2;
  uint64_t maxPart = isOneNode ? intraNodeChunk * intraNodeChunksPerChannel
                               : interNodeChunk * interNodeChunksPerChannel;
  while (channels <= communicator.numChannelsPerPeer / 2 &&
         llvm::divideCeil(bytes, static_cast<uint64_t>(channels)) > maxPart)
    channels *= 2;
  return channels;
}

bool nccl::usesCopyEngine(const Communicator &communicator) {
  return communicator.useCopyEngine && communicator.numNodes == 1 &&
         communicator.copyEngineBandwidth > 0;
}

Estimate nccl::estimateCopyEngine(const Communicator &communicator,
                                  uint64_t bytes) {
  Estimate estimate;
  if (communicator.numRanks <= 1)
    return estimate;
  auto numRanks = static_cast<double>(communicator.numRanks);
  double sent = static_cast<double>(bytes) * (numRanks - 1) / numRanks;
  estimate.time = communicator.copyEngineLatency +
                  sent / (1000 * communicator.copyEngineBandwidth);
  estimate.algorithm = Algorithm::CopyEngine;
  return estimate;
}

Estimate nccl::estimateTransfer(const Communicator &communicator,
                                Transfer transfer, uint64_t bytes) {
  if (communicator.numRanks <= 1)
    return {};
  if (transfer != Transfer::SendReceive && usesCopyEngine(communicator))
    return estimateCopyEngine(communicator, bytes);

  bool isOneNode = communicator.numNodes == 1;
  auto numRanks = static_cast<double>(communicator.numRanks);
  double perNode = communicator.getRanksPerNode();
  const Graph &ring = communicator.ring;
  // The share of a rank in the links: within a node all links of a ring,
  // between nodes one of the ports of a ring. Without switches a pair of ranks
  // has one link.
  double linkBandwidth =
      static_cast<double>(ring.numChannels) * ring.intraBandwidth;
  if (!isOneNode)
    linkBandwidth *= communicator.networkShare / std::max(1.0, perNode);
  else if (transfer == Transfer::SendReceive && !communicator.hasNvSwitch)
    linkBandwidth = ring.intraBandwidth;

  // The bytes on the link, and the number of messages that share the channels.
  double sent = static_cast<double>(bytes);
  uint64_t messageBytes = bytes;
  int64_t numMessages = 1;
  if (transfer != Transfer::SendReceive) {
    // Messages within the node use faster links.
    sent *= (numRanks - (isOneNode ? 1 : perNode)) / numRanks;
    messageBytes =
        llvm::divideCeil(bytes, static_cast<uint64_t>(communicator.numRanks));
    numMessages = communicator.numRanks - 1;
  }
  int64_t perMessage = countMessageChannels(communicator, messageBytes);

  Estimate estimate;
  estimate.algorithm = Algorithm::PointToPoint;
  estimate.protocol =
      messageBytes <= pointToPointLLBytes * static_cast<uint64_t>(perMessage)
          ? Protocol::LL
          : Protocol::Simple;
  estimate.numChannels =
      std::min(communicator.numPointToPointChannels, perMessage * numMessages);
  if (communicator.maxCtas > 0) {
    // NCCL rounds the limit up to a power of two.
    auto limit = static_cast<int64_t>(
        llvm::PowerOf2Ceil(static_cast<uint64_t>(communicator.maxCtas)));
    if (limit < estimate.numChannels) {
      linkBandwidth *= static_cast<double>(limit) /
                       static_cast<double>(estimate.numChannels);
      estimate.numChannels = limit;
    }
  }

  auto ringIndex = static_cast<unsigned>(Algorithm::Ring);
  auto p = static_cast<unsigned>(estimate.protocol);
  Link link = !isOneNode                                ? Net
              : communicator.intraPath == PathType::Nvl ? NvLink
                                                        : Pci;
  estimate.time = baseLatency[ringIndex][p] + linkLatency[link][ringIndex][p] +
                  sent / (1000 * linkBandwidth);
  return estimate;
}
