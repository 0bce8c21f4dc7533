//===- ComputeDemands.cpp - Resource demands of compute -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Hardware/KernelBlocks.h"
#include "Cost/Hardware/MatrixTiles.h"
#include "Roofline.h"
#include "braid/Cost/IR/OpCostModel.h"
#include "braid/Support/Units.h"

#include <algorithm>
#include <limits>

using namespace braid;
using namespace mlir;
using comm::MatrixProduct;
using comm::Work;

/// The tiles of the longest product of `work`, if this product takes most of
/// `arithmeticNs`, the time of all arithmetic of `work`. 0 otherwise, or if
/// `hardware` has no multiprocessors.
static int64_t countTiles(const Work &work, double arithmeticNs,
                          const Hardware &hardware, int64_t target) {
  if (hardware.multiprocessors <= 0)
    return 0;
  uint64_t numTiles = 0;
  double longestNs = 0.0;
  for (const MatrixProduct &product : work.products) {
    ElementClass element = classifyElementType(product.elementType);
    TileGrid grid = chooseTiles(product.rows, product.columns, product.batch,
                                element, hardware.multiprocessors, target);
    double ns = grid.stretch * static_cast<double>(product.operations) /
                hardware.getPeak(element) * 1e9;
    if (ns <= longestNs)
      continue;
    longestNs = ns;
    numTiles = grid.numTiles;
  }
  if (longestNs < arithmeticNs / 2)
    return 0;
  constexpr auto most = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min<uint64_t>(numTiles, most));
}

ResourceDemand OpCostModel::getComputeDemand(Operation *op) {
  ResourceDemand demand;
  // The ops of a body have demands when the body is simulated.
  std::optional<Cost> cost = getOpCost(op);
  if (!cost || cost->ns <= 0 || cost->source == CostSource::Wait)
    return demand;
  auto costOp = dyn_cast<comm::CostOpInterface>(op);
  Work work = costOp ? costOp.getWork(options.sizes)
                     : getDefaultWork(op, options.sizes);
  demand.memoryBytes = static_cast<int64_t>(
      std::min<uint64_t>(work.getBytes(), std::numeric_limits<int64_t>::max()));

  const Hardware &hardware = *options.hardware;
  int64_t target = getMultiprocessors(op);
  double arithmeticNs = estimateArithmeticNs(work, hardware, target);
  double memoryNs = estimateMemoryNs(work, hardware);
  if (arithmeticNs > 0.0) {
    // A given or measured cost is the time of the same work at another speed.
    double scale =
        static_cast<double>(cost->ns) / std::max(arithmeticNs, memoryNs);
    demand.arithmeticNs = std::min(cost->ns, roundToNs(arithmeticNs * scale));
    demand.tiles = countTiles(work, arithmeticNs, hardware, target);
    setPersistentBlocks(demand, target);
  } else if (static_cast<double>(cost->ns) > 2 * memoryNs) {
    // The operations are unknown, but the bytes do not explain the time, so the
    // op must compute.
    demand.arithmeticNs = cost->ns;
  }
  return demand;
}
