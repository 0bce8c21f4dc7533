//===- NcclCollectiveModel.cpp - NCCL's tuner as a cost model -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NcclCollectiveModel.h"
#include "NcclTunerTables.h"

#include <algorithm>
#include <cassert>

using namespace braid;
using namespace braid::nccl;
using comm::CollectiveKind;

/// The tuner's function for `kind`; none if the tuner has no model of `kind`.
static std::optional<Function> getFunction(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::all_reduce:
    return Function::AllReduce;
  case CollectiveKind::reduce:
    return Function::Reduce;
  case CollectiveKind::broadcast:
    return Function::Broadcast;
  case CollectiveKind::all_gather:
    return Function::AllGather;
  case CollectiveKind::reduce_scatter:
    return Function::ReduceScatter;
  default:
    return std::nullopt;
  }
}

static Transfer getTransfer(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::all_to_all:
    return Transfer::AllToAll;
  case CollectiveKind::gather:
    return Transfer::Gather;
  case CollectiveKind::scatter:
    return Transfer::Scatter;
  default:
    return Transfer::SendReceive;
  }
}

NcclCollectiveModel::NcclCollectiveModel(const Hardware &hardware)
    : hardware(hardware) {
  assert(hardware.hasNccl() && "not a machine that NCCL runs on");
}

Communicator NcclCollectiveModel::describe(const CollectiveCall &call) const {
  Communicator communicator = describeCommunicator(
      hardware, call.groupSize,
      std::clamp<int64_t>(call.numNodes, 1, call.groupSize));
  if (call.maxCtas > 0)
    communicator.maxCtas = communicator.maxCtas > 0
                               ? std::min(communicator.maxCtas, call.maxCtas)
                               : call.maxCtas;
  communicator.useCopyEngine |= call.usesCopyEngine;
  communicator.networkShare = call.network.rate;
  return communicator;
}

Estimate NcclCollectiveModel::choose(const CollectiveCall &call) const {
  if (call.groupSize <= 1)
    return {0, Algorithm::Ring, Protocol::Simple, 0};
  Communicator communicator = describe(call);
  uint64_t bytes = call.getWholeBytes();
  if (comm::getTraits(call.kind).flow == BRAID_RT_FLOW_NONE)
    return chooseAlgorithm(communicator, {Function::AllReduce, 1});
  if (call.kind == CollectiveKind::all_gather && usesCopyEngine(communicator))
    return estimateCopyEngine(communicator, bytes);
  if (std::optional<Function> function = getFunction(call.kind))
    return chooseAlgorithm(
        communicator, {*function, bytes, call.numOperands, call.reducesFloat8});
  return estimateTransfer(communicator, getTransfer(call.kind), bytes);
}

double
NcclCollectiveModel::getFurtherOperandsNs(const CollectiveCall &call) const {
  if (call.groupSize <= 1 || call.numOperands <= 1)
    return 0;
  Communicator communicator = describe(call);
  Estimate choice = choose(call);
  auto numOperands = static_cast<double>(call.numOperands);
  if (choice.algorithm == Algorithm::CopyEngine)
    return (numOperands - 1) * communicator.copyEngineLatency * 1e3;
  // A tree has its latency for a batch of operands.
  if (choice.algorithm != Algorithm::Ring &&
      choice.algorithm != Algorithm::PointToPoint)
    return 0;
  // The operands are spread over the channels, and run one after the other in a
  // channel (`scheduleCollTasksToPlan` in src/enqueue.cc): small ones share a
  // channel until it has its least traffic.
  constexpr double leastTraffic = 16 << 10;
  double meanBytes = static_cast<double>(call.getWholeBytes()) / numOperands;
  double inChannel =
      std::max(numOperands / static_cast<double>(
                                 std::max<int64_t>(1, choice.numChannels)),
               std::min(numOperands, leastTraffic / std::max(1.0, meanBytes)));
  // Each but the first adds the steps of its ring.
  auto ring = static_cast<unsigned>(Algorithm::Ring);
  auto protocol = static_cast<unsigned>(Protocol::LL);
  std::optional<TableEntry> entry = getTableEntry(
      communicator, getFunction(call.kind).value_or(Function::AllGather),
      Algorithm::Ring, Protocol::LL);
  double stepsUs =
      entry ? entry->latency - tables::baseLatency[ring][protocol] : 0;
  return std::max(0.0, inChannel - 1) * std::max(0.0, stepsUs) * 1e3;
}

CollectiveTime NcclCollectiveModel::estimate(const CollectiveCall &call) const {
  Estimate choice = choose(call);
  bool isTuned = getFunction(call.kind).has_value() &&
                 choice.algorithm != Algorithm::CopyEngine;
  if (call.groupSize <= 1)
    return {0.0, isTuned};
  double ns = choice.time * 1e3;
  if (call.numOperands > 1) {
    // NCCL's formula, by which it chooses, has the latency of a whole launch
    // for each operand of a ring.
    if (isTuned && choice.algorithm == Algorithm::Ring)
      if (std::optional<TableEntry> entry =
              getTableEntry(describe(call), *getFunction(call.kind),
                            choice.algorithm, choice.protocol))
        ns -= static_cast<double>(call.numOperands - 1) * entry->latency * 1e3;
    ns += getFurtherOperandsNs(call);
  }

  // For several nodes the bytes on the network count: the members of a node
  // share the ring's path to the next node, and messages within the node use
  // other links.
  auto linkBytes = static_cast<double>(getLinkBytes(call));
  if (call.numNodes > 1) {
    double ranksPerNode = static_cast<double>(call.groupSize) /
                          static_cast<double>(call.numNodes);
    auto groupSize = static_cast<double>(call.groupSize);
    if (isTuned)
      linkBytes /= std::max(1.0, ranksPerNode);
    else if (comm::getTraits(call.kind).ring == BRAID_RT_RING_ONE_ROUND)
      linkBytes *= (groupSize - ranksPerNode) / (groupSize - 1);
  }
  // The limit itself does not fit in an int64_t.
  constexpr double limit = 0x1p63;
  return {ns, isTuned, static_cast<int32_t>(choice.numChannels),
          static_cast<uint64_t>(std::min(linkBytes, limit))};
}
