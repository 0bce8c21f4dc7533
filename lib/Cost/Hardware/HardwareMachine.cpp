//===- HardwareMachine.cpp - Machine model of hardware --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/Hardware/HardwareMachine.h"

using namespace braid;

MachineModel braid::getMachineModel(const Hardware &hardware) {
  MachineModel machine;
  if (!hardware.hasNccl())
    return machine;
  machine.multiprocessors = static_cast<int32_t>(hardware.multiprocessors);
  machine.launchNs = hardware.launchNs;
  static_cast<ContentionFigures &>(machine) = hardware.contention;
  // Converts bytes per second to bytes per ns.
  constexpr double nsPerSecond = 1e9;
  // If ops queue for multiprocessors, the factors of interference include the
  // contention for memory.
  if (!machine.isQueued())
    machine.memoryBandwidth = hardware.memoryBandwidth / nsPerSecond;
  machine.linkBandwidth = {hardware.intraNodeBandwidth / nsPerSecond,
                           hardware.interNodeBandwidth / nsPerSecond};
  if (hardware.getNodesPerLeaf() > 0)
    machine.linkBandwidth.push_back(machine.linkBandwidth[interNodeLink] /
                                    hardware.network.oversubscription);
  return machine;
}

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
