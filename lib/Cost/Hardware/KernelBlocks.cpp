//===- KernelBlocks.cpp - Thread blocks of kernels ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBlocks.h"

using namespace braid;

void braid::setPersistentBlocks(ResourceDemand &demand, int64_t target) {
  // The kernels of cuBLASLt for Hopper are: each of their blocks takes tile
  // after tile.
  demand.isPersistent = demand.tiles > 0;
  if (target > 0)
    demand.blocks = static_cast<int32_t>(target);
}

int32_t braid::getClusterSize(const Hardware &hardware, int64_t maxCtas) {
  if (hardware.generation < GpuGeneration::Hopper)
    return 0;
  // Without a limit NCCL launches clusters of 4 on Hopper and later
  // (`ncclConfig_t::cgaClusterSize`). With a limit the runtime asks for pairs
  // of few blocks, and for single blocks otherwise (`clusterSizeOf` in
  // LaneOptions.cpp).
  constexpr int32_t unlimited = 4, mostInPairs = 4;
  if (maxCtas == 0)
    return unlimited;
  return maxCtas <= mostInPairs && maxCtas % 2 == 0 ? 2 : 0;
}
