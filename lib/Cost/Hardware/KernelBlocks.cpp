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
  // Without a limit NCCL launches clusters of 4 on Hopper and later
  // (`ncclConfig_t::cgaClusterSize`); the runtime turns that off with a limit.
  constexpr int32_t clusterSize = 4;
  return maxCtas == 0 && hardware.generation >= GpuGeneration::Hopper
             ? clusterSize
             : 0;
}
