//===- ComputeDemands.cpp - Resource demands of compute -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Hardware/KernelBlocks.h"
#include "Roofline.h"
#include "braid/Cost/IR/OpCostModel.h"
#include "braid/Support/Units.h"

#include <algorithm>
#include <limits>

using namespace braid;
using namespace mlir;
using comm::Work;

ResourceDemand OpCostModel::getComputeDemand(Operation *op) {
  ResourceDemand demand;
  // The ops of a body have demands when the body is simulated.
  std::optional<Cost> cost = getOpCost(op);
  if (!cost || cost->ns <= 0 || cost->source == CostSource::Wait)
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
