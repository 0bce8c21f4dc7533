//===- NcclTunerChannels.cpp - Channels that NCCL launches ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small messages take fewer channels, and so fewer multiprocessors:
// `topoGetAlgoInfo` and `scheduleCollTasksToPlan` of NCCL's src/enqueue.cc.
//
//===----------------------------------------------------------------------===//

#include "NcclTuner.h"
#include "NcclTunerTables.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace braid;
using namespace braid::nccl;
using namespace braid::nccl::tables;

/// The channels of the communicator for `algorithm`.
static int64_t getChannelLimit(const Communicator &communicator,
                               Algorithm algorithm) {
  int64_t limit = communicator.numChannels;
  if (algorithm == Algorithm::Nvls || algorithm == Algorithm::NvlsTree)
    limit = communicator.numNodes > 1 && algorithm == Algorithm::Nvls
                ? std::min(communicator.numNvlsChannels, limit)
                : communicator.numNvlsChannels;
  if (communicator.maxCtas > 0)
    limit = std::min(limit, communicator.maxCtas);
  return std::max<int64_t>(limit, 1);
}

/// The number of channels with enough work for all their threads.
static int64_t countBusyChannels(const Communicator &communicator,
                                 uint64_t bytes, Algorithm algorithm,
                                 Protocol protocol, int64_t limit) {
  int64_t channels = limit;
  auto isTooLittle = [&](int64_t bytesPerChannel) {
    return bytes < static_cast<uint64_t>(channels * bytesPerChannel);
  };
  switch (algorithm) {
  case Algorithm::CollNetDirect: {
    int64_t heads = communicator.collNet.numChannels;
    int64_t threshold = collNetThreshold;
    bool isAgain = true;
    for (int64_t floor = 16; floor >= 1 && isAgain; floor /= 2)
      while ((isAgain = isTooLittle(collNetThreads * heads * threshold)) &&
             channels > floor) {
        if (channels == floor + floor / 2)
          threshold /= 2;
        --channels;
      }
    return channels;
  }
  case Algorithm::CollNetChain:
    while (channels > 1 && isTooLittle(collNetThreads * collNetThreshold))
      --channels;
    return channels;
  case Algorithm::Ring:
  case Algorithm::Tree: {
    auto p = static_cast<unsigned>(protocol);
    int64_t perChannel = maxThreads[p] * threadThreshold[p];
    if (algorithm == Algorithm::Ring && protocol == Protocol::LL)
      perChannel *= communicator.numRanks;
    while (channels > 1 && isTooLittle(perChannel))
      --channels;
    return channels;
  }
  case Algorithm::Nvls:
  case Algorithm::NvlsTree:
  case Algorithm::Pat:
  case Algorithm::PointToPoint:
  case Algorithm::CopyEngine:
    return channels;
  }
  return channels;
}

int64_t nccl::countChannels(const Communicator &communicator,
                            const Launch &launch, Algorithm algorithm,
                            Protocol protocol) {
  int64_t limit = getChannelLimit(communicator, algorithm);
  // More bytes do not change the result, but could overflow below.
  uint64_t bytes = std::min<uint64_t>(launch.bytes, uint64_t{1} << 40);
  int64_t busy =
      countBusyChannels(communicator, bytes, algorithm, protocol, limit);
  if (algorithm == Algorithm::CollNetDirect ||
      algorithm == Algorithm::CollNetChain)
    return busy;

  // Assign cells of 16 KiB of traffic to channels.
  auto numRanks = static_cast<uint64_t>(communicator.numRanks);
  uint64_t count = bytes; // the bytes of one rank
  uint64_t trafficPerByte = 1;
  if (launch.function == Function::AllReduce)
    trafficPerByte = 2;
  if (launch.function == Function::AllGather ||
      launch.function == Function::ReduceScatter) {
    trafficPerByte = numRanks;
    count = llvm::divideCeil(bytes, numRanks);
  }
  if (protocol == Protocol::LL)
    trafficPerByte *= 4;
  uint64_t traffic = std::max(minTrafficPerChannel, count * trafficPerByte);
  uint64_t trafficPerChannel =
      std::max(minTrafficPerChannel, traffic / static_cast<uint64_t>(busy));
  uint64_t cellSize =
      llvm::alignTo(llvm::divideCeil(minTrafficPerChannel, trafficPerByte), 16);
  uint64_t cells = llvm::divideCeil(count, cellSize);
  if (cells == 0)
    return 1;
  uint64_t cellsPerChannel = std::min(
      cells, llvm::divideCeil(trafficPerChannel, cellSize * trafficPerByte));
  return std::min(
      static_cast<int64_t>(llvm::divideCeil(cells, cellsPerChannel)), limit);
}
