//===- ResourceDemands.cpp - What ops take of the machine -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Profile/Calibration.h"
#include "MessageBatch.h"
#include "Roofline.h"
#include "braid/Cost/Collectives/CollectiveCost.h"
#include "braid/Cost/Hardware/HardwareMachine.h"
#include "braid/Cost/IR/OpCostModel.h"
#include "braid/Support/Units.h"

#include <algorithm>
#include <limits>

using namespace braid;
using namespace mlir;
using comm::Work;

ResourceDemand OpCostModel::getComputeDemand(Operation *op,
                                             std::optional<Cost> cost) {
  ResourceDemand demand;
  if (!cost)
    cost = getOpCost(op);
  // The ops of a body have demands when the body is simulated.
  if (!cost || cost->isOfBody() || cost->ns <= 0 ||
      cost->source == CostSource::Wait)
    return demand;
  std::optional<Work> known = comm::getKnownWork(op, options.sizes);
  Work work = known ? *known : getDefaultWork(op, options.sizes);
  demand.memoryBytes = static_cast<int64_t>(
      std::min<uint64_t>(work.getBytes(), std::numeric_limits<int64_t>::max()));

  const Hardware &hardware = *options.hardware;
  int64_t target = getMultiprocessors(op);
  Arithmetic arithmetic = estimateArithmetic(work, hardware, target);
  double arithmeticNs = arithmetic.ns;
  double memoryNs = estimateMemoryNs(work, hardware);
  if (arithmeticNs > 0.0) {
    // A given or measured cost is the time of the same work at another speed.
    double scale =
        static_cast<double>(cost->ns) / std::max(arithmeticNs, memoryNs);
    demand.arithmeticNs = std::min(cost->ns, roundToNs(arithmeticNs * scale));
    demand.tiles = arithmetic.tiles;
    setPersistentBlocks(demand, target);
  } else if (static_cast<double>(cost->ns) > 2 * memoryNs) {
    // The operations are unknown, but the bytes do not explain the time, so the
    // op must compute.
    demand.arithmeticNs = cost->ns;
  }
  return demand;
}

static int64_t clampBytes(double bytes) {
  constexpr auto limit = std::numeric_limits<int64_t>::max();
  return bytes < static_cast<double>(limit) ? static_cast<int64_t>(bytes)
                                            : limit;
}

ResourceDemand
OpCostModel::getCollectiveDemand(comm::CollectiveOpInterface op) {
  // The last message of a launch stands for all of them.
  if (op.isPointToPoint() && getLastOfBatch(op) != op)
    return ResourceDemand();
  CollectiveTime time = estimateCollective(op);
  ResourceDemand demand;
  demand.multiprocessors = time.channels;
  CollectiveCall call = describe(op);
  demand.memoryBytes = clampBytes(getMemoryBytes(call));
  demand.linkBytes = getSharedLinkBytes(call, time.linkBytes);
  demand.isOneWay = isOneWay(op.getCollectiveKind());
  // Copy engines have no blocks.
  if (demand.multiprocessors > 0)
    demand.clusterSize = getClusterSize(
        *options.hardware, comm::getLaneSettings(op, symbolTables).ctas);
  return demand;
}

ResourceDemand OpCostModel::getDemand(Operation *op,
                                      std::optional<Cost> known) {
  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op))
    return getCollectiveDemand(collective);
  return getComputeDemand(op, known);
}

/// The bytes per ns at which the fastest measured collective sends, 0 without
/// any. That two of them send more at a time is not known.
static double getMeasuredLinkRate(const Calibration &calibration) {
  double most = 0;
  for (const CollectiveCurve &curve : calibration.collectives) {
    std::optional<comm::CollectiveKind> kind =
        comm::symbolizeCollectiveKind(curve.kind);
    if (!kind)
      continue;
    for (auto [bytes, ns] : curve.points) {
      auto whole = static_cast<uint64_t>(bytes);
      CollectiveCall call{*kind, curve.ranks, whole, whole};
      if (ns > 0)
        most = std::max(most, static_cast<double>(getLinkBytes(call)) / ns);
    }
  }
  return most;
}

MachineModel OpCostModel::getMachine(ArrayRef<Operation *> firstStarts) {
  MachineModel machine = getMachineModel(*options.hardware);
  if (machine.linkBandwidth.empty())
    return machine;
  if (options.calibration)
    if (double rate = getMeasuredLinkRate(*options.calibration))
      machine.linkBandwidth[intraNodeLink] =
          std::min(machine.linkBandwidth[intraNodeLink], rate);
  for (Operation *start : firstStarts) {
    auto collective = dyn_cast<comm::CollectiveOpInterface>(start);
    machine.linkOfLane.push_back(
        collective ? getSharedLink(describe(collective)) : -1);
  }
  return machine;
}
