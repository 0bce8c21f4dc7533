//===- CollectiveCost.cpp - Time of collectives ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/Collectives/CollectiveCost.h"

#include "braid-rt/Link.h"
#include "llvm/Support/ErrorHandling.h"

#include <limits>

using namespace braid;
using comm::CollectiveKind;

CollectiveCostModel::~CollectiveCostModel() = default;

/// The runtime's number of `kind`: its headers know nothing of the dialect.
static int32_t getRuntimeKind(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::all_reduce:
    return BRAID_RT_ALL_REDUCE;
  case CollectiveKind::reduce:
    return BRAID_RT_REDUCE;
  case CollectiveKind::broadcast:
    return BRAID_RT_BROADCAST;
  case CollectiveKind::all_gather:
    return BRAID_RT_ALL_GATHER;
  case CollectiveKind::reduce_scatter:
    return BRAID_RT_REDUCE_SCATTER;
  case CollectiveKind::all_to_all:
    return BRAID_RT_ALL_TO_ALL;
  case CollectiveKind::gather:
    return BRAID_RT_GATHER;
  case CollectiveKind::scatter:
    return BRAID_RT_SCATTER;
  case CollectiveKind::send:
    return BRAID_RT_SEND;
  case CollectiveKind::recv:
    return BRAID_RT_RECV;
  case CollectiveKind::permute:
    return BRAID_RT_PERMUTE;
  case CollectiveKind::barrier:
    return BRAID_RT_BARRIER;
  }
  llvm_unreachable("unknown kind of collective");
}

uint64_t braid::getLinkBytes(const CollectiveCall &call) {
  double bytes = braid_rt_link_bytes(getRuntimeKind(call.kind), call.groupSize,
                                     static_cast<double>(call.getWholeBytes()));
  constexpr auto limit = std::numeric_limits<uint64_t>::max();
  return bytes < static_cast<double>(limit) ? static_cast<uint64_t>(bytes)
                                            : limit;
}

LinkCollectiveModel::LinkCollectiveModel(double latencyNs, double bandwidth)
    : latencyNs(latencyNs), bandwidth(bandwidth) {}

CollectiveTime LinkCollectiveModel::estimate(const CollectiveCall &call) const {
  return {braid_rt_link_time_ns(getRuntimeKind(call.kind), call.groupSize,
                                static_cast<double>(call.getWholeBytes()),
                                latencyNs, bandwidth),
          /*exact=*/true, /*channels=*/0, getLinkBytes(call)};
}
