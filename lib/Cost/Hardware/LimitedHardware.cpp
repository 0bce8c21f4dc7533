//===- LimitedHardware.cpp - Kernels on some multiprocessors --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LimitedHardware.h"

#include "braid/Support/Units.h"

#include <cmath>

using namespace braid;

Hardware braid::limitMultiprocessors(const Hardware &hardware, int64_t target) {
  Hardware limited = hardware;
  if (target <= 0 || target >= hardware.multiprocessors)
    return limited;
  // cuBLASLt tuned for a target takes tiles whose waves suit it, so the waves
  // stay. Under load the power limit binds, and fewer multiprocessors run at
  // higher clocks: on an H200, ten products on each of 108, 116, 120, 124 and
  // 128 of 132 took (132 / target)^0.65 times as long as on all, half of them
  // within 2.2 percent, all within 8.3 (braid-calibrate).
  constexpr double exponent = 0.65;
  double share = static_cast<double>(target) /
                 static_cast<double>(hardware.multiprocessors);
  for (double &peak : limited.peakOpsPerSecond)
    peak *= std::pow(share, exponent);
  return limited;
}

void braid::setPersistentBlocks(ResourceDemand &demand, int64_t target) {
  // The kernels of cuBLASLt for Hopper are: each of their blocks takes tile
  // after tile.
  demand.isPersistent = demand.tiles > 0;
  if (target <= 0)
    return;
  demand.blocks = static_cast<int32_t>(target);
  // Tuned for a target it takes tiles whose waves suit that, and on fewer
  // multiprocessors it loses their share, not a wave.
  constexpr int64_t tilesPerTile = 4;
  demand.tiles = multiplyNs(demand.tiles, tilesPerTile);
}

int32_t braid::getClusterSize(const Hardware &hardware, int64_t maxCtas) {
  // Without a limit NCCL launches clusters of 4 on Hopper and later
  // (`ncclConfig_t::cgaClusterSize`); the runtime turns that off with a limit.
  constexpr int32_t clusterSize = 4;
  return maxCtas == 0 && hardware.generation >= GpuGeneration::Hopper
             ? clusterSize
             : 0;
}
