//===- InductorCollectiveModel.cpp - Inductor's NCCL formula --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InductorCollectiveModel.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace braid;
using namespace braid::inductor;
using comm::CollectiveKind;

GpuType inductor::getGpuType(const Hardware &hardware) {
  switch (hardware.generation) {
  case GpuGeneration::Volta:
    return Volta;
  case GpuGeneration::Hopper:
    return Hopper;
  case GpuGeneration::None:
  case GpuGeneration::Ampere:
  case GpuGeneration::Blackwell:
    return Ampere;
  }
  llvm_unreachable("unknown generation");
}

namespace {
/// The steps and bytes of a collective on a ring of n ranks.
struct RingShape {
  /// The number of sequential messages.
  double steps;
  /// The number of these messages between nodes.
  double interNodeSteps;
  /// The bytes on one link divided by the bytes of the operation.
  double busFactor;
  /// The fraction of the channels' bandwidth that the LL protocol uses.
  double protocolFraction;
};
} // namespace

static RingShape getRingShape(CollectiveKind kind, int64_t groupSize,
                              int64_t numNodes) {
  auto n = static_cast<double>(groupSize);
  auto nodes = static_cast<double>(numNodes);
  double fraction = numNodes > 1 ? 1.0 / 4.0 : 1.0 / 3.0;
  switch (comm::getTraits(kind).ring) {
  case BRAID_RT_RING_TWO_ROUNDS:
    return {2 * (n - 1), numNodes > 1 ? 2 * nodes : 0, 2 * (n - 1) / n,
            1.0 / 4.0};
  case BRAID_RT_RING_BARRIER:
    return {2 * (n - 1), numNodes > 1 ? 2 * nodes : 0, 0.0, fraction};
  case BRAID_RT_RING_ONE_ROUND:
    return {n - 1, nodes - 1, (n - 1) / n, fraction};
  case BRAID_RT_RING_PIPELINE:
    return {n - 1, nodes - 1, 1.0, fraction};
  case BRAID_RT_RING_ONE_STEP:
    return {1, numNodes > 1 ? 1.0 : 0.0, 1.0, fraction};
  }
  llvm_unreachable("unknown ring");
}

/// The nanoseconds of `bytes` in a group of more than one rank.
static double estimateRing(CollectiveKind kind, int64_t groupSize, double bytes,
                           GpuType gpuType) {
  auto numNodes = static_cast<int64_t>(
      llvm::divideCeil(static_cast<uint64_t>(groupSize), gpusPerNode));
  RingShape ring = getRingShape(kind, groupSize, numNodes);

  // Bandwidth. For several nodes upstream uses the first row of the caps.
  double bandwidth = numNodes == 1 ? intraNodeBandwidth : interNodeBandwidth;
  double llMax = llMaxBandwidth[numNodes == 1 ? gpuType : Volta]
                               [std::min<int64_t>(numNodes, 3) - 1];
  double busBandwidth =
      std::min(llMax, numChannels * bandwidth * ring.protocolFraction);
  constexpr double bytesPerGb = 1024.0 * 1024.0 * 1024.0;
  double transportNs =
      bytes / bytesPerGb * ring.busFactor / (busBandwidth / 1e9);

  // Latency.
  double netOverhead = numNodes > 1 ? 1.0 : 0.0;
  double intraLatency =
      std::max(hardwareLatency[NvLink][Ring][LL], netOverhead);
  double interLatency = hardwareLatency[Net][Ring][LL];
  double latencyUs = baseLatency[Ring][LL] +
                     (ring.steps - ring.interNodeSteps) * intraLatency +
                     ring.interNodeSteps * interLatency;
  return transportNs + latencyUs * 1e3;
}

std::optional<double>
InductorCollectiveModel::estimateAsInductor(const CollectiveCall &call) const {
  switch (call.kind) {
  case CollectiveKind::all_reduce:
  case CollectiveKind::all_gather:
  case CollectiveKind::reduce_scatter:
    if (call.groupSize <= 1)
      return 0.0;
    return estimateRing(call.kind, call.groupSize,
                        static_cast<double>(call.outputBytes), gpuType);
  default:
    return std::nullopt;
  }
}

CollectiveTime
InductorCollectiveModel::estimate(const CollectiveCall &call) const {
  if (std::optional<double> ns = estimateAsInductor(call))
    return {*ns, /*exact=*/true, /*channels=*/0, getLinkBytes(call)};
  if (call.groupSize <= 1)
    return {0.0, /*exact=*/false};
  return {estimateRing(call.kind, call.groupSize,
                       static_cast<double>(call.getWholeBytes()), gpuType),
          /*exact=*/false, /*channels=*/0, getLinkBytes(call)};
}
