//===- ResourceDemands.cpp - Resource demands of an op --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Hardware/KernelBlocks.h"
#include "MessageBatch.h"
#include "braid/Cost/IR/OpCostModel.h"

#include <limits>

using namespace braid;
using namespace mlir;

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

ResourceDemand OpCostModel::getDemand(Operation *op) {
  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op))
    return getCollectiveDemand(collective);
  return getComputeDemand(op);
}
