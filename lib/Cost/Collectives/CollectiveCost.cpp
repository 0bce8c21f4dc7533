//===- CollectiveCost.cpp - Time of collectives ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InductorCollectiveModel.h"
#include "NcclCollectiveModel.h"

#include "braid/Cost/Collectives/CollectiveCost.h"

#include "braid-rt/Link.h"
#include "braid/Cost/Hardware/HardwareMachine.h"

#include <limits>

using namespace braid;

CollectiveCostModel::~CollectiveCostModel() = default;

uint64_t braid::getLinkBytes(const CollectiveCall &call) {
  double bytes =
      braid_rt_link_bytes(static_cast<int32_t>(call.kind), call.groupSize,
                          static_cast<double>(call.getWholeBytes()));
  constexpr auto limit = std::numeric_limits<uint64_t>::max();
  return bytes < static_cast<double>(limit) ? static_cast<uint64_t>(bytes)
                                            : limit;
}

/// True if the spine is a bottleneck of `call`.
static bool isOnSpine(const CollectiveCall &call) {
  return call.numNodes > 1 && call.network.rate < 1;
}

int32_t braid::getSharedLink(const CollectiveCall &call) {
  if (call.numNodes <= 1)
    return intraNodeLink;
  return isOnSpine(call) ? spineLink : interNodeLink;
}

int64_t braid::getSharedLinkBytes(const CollectiveCall &call,
                                  uint64_t linkBytes) {
  double bytes = static_cast<double>(linkBytes) *
                 (isOnSpine(call) ? call.network.crossing : 1);
  constexpr auto limit = std::numeric_limits<int64_t>::max();
  return bytes < static_cast<double>(limit) ? static_cast<int64_t>(bytes)
                                            : limit;
}

double braid::getMemoryBytes(const CollectiveCall &call) {
  // A kernel of NCCL reads and writes several bytes of device memory for each
  // byte that it sends. A step of a ring reads the received and its own data,
  // and writes the result. A measurement on an A100 suggests 2 to 3 bytes: a
  // collective slows a matmul from 1.18 to 2.08 ms
  // (github.com/NVIDIA/nccl/issues/1428).
  constexpr double memoryBytesPerLinkByte = 2.5;
  return memoryBytesPerLinkByte * static_cast<double>(getLinkBytes(call));
}

LinkCollectiveModel::LinkCollectiveModel(double latencyNs, double bandwidth)
    : latencyNs(latencyNs), bandwidth(bandwidth) {}

CollectiveTime LinkCollectiveModel::estimate(const CollectiveCall &call) const {
  return {braid_rt_link_time_ns(static_cast<int32_t>(call.kind), call.groupSize,
                                static_cast<double>(call.getWholeBytes()),
                                latencyNs, bandwidth * call.network.rate),
          /*exact=*/true, /*channels=*/0, getLinkBytes(call)};
}

std::unique_ptr<CollectiveCostModel>
braid::createCollectiveModel(CollectiveModelKind kind, const Hardware &hardware,
                             double linkLatencyNs, double linkBandwidth) {
  switch (kind) {
  case CollectiveModelKind::Nccl:
    return std::make_unique<NcclCollectiveModel>(hardware);
  case CollectiveModelKind::Inductor:
    return std::make_unique<InductorCollectiveModel>(
        inductor::getGpuType(hardware));
  case CollectiveModelKind::Link:
    return std::make_unique<LinkCollectiveModel>(linkLatencyNs, linkBandwidth);
  }
  llvm_unreachable("unknown model of collectives");
}
