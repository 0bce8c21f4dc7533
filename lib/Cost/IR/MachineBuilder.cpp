//===- MachineBuilder.cpp - The machine that a program runs on ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineBuilder.h"

using namespace braid;
using namespace mlir;

MachineModel braid::buildMachine(OpCostModel &model,
                                 ArrayRef<Operation *> firstStarts) {
  MachineModel machine;
  const Hardware &hardware = *model.getOptions().hardware;
  if (!hardware.hasNccl())
    return machine;
  machine.multiprocessors = static_cast<int32_t>(hardware.multiprocessors);
  machine.launchNs = hardware.launchNs;
  static_cast<ContentionFigures &>(machine) = hardware.contention;
  // Bytes per second and per ns.
  constexpr double nsPerSecond = 1e9;
  // Where they are queued for, what was measured of ops beside each other has
  // their memory in it.
  if (!machine.isQueued())
    machine.memoryBandwidth = hardware.memoryBandwidth / nsPerSecond;
  enum { IntraNode, InterNode };
  machine.linkBandwidth = {hardware.intraNodeBandwidth / nsPerSecond,
                           hardware.interNodeBandwidth / nsPerSecond};
  for (Operation *start : firstStarts) {
    auto collective = dyn_cast<comm::CollectiveOpInterface>(start);
    if (!collective)
      machine.linkOfLane.push_back(-1);
    else
      machine.linkOfLane.push_back(
          model.describe(collective).numNodes > 1 ? InterNode : IntraNode);
  }
  return machine;
}
