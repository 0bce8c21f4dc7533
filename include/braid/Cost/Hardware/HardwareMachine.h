//===- HardwareMachine.h - Machine model of hardware ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_COST_HARDWARE_HARDWAREMACHINE_H
#define BRAID_COST_HARDWARE_HARDWAREMACHINE_H

#include "braid/Cost/Hardware/Hardware.h"
#include "braid/Schedule/Model/Machine.h"

namespace braid {

/// The links of a rank, as indices for `MachineModel::linkOfLane`: the links
/// within the node, the port to the network, and its share of the way from the
/// leaf switch to the spine, if the spine is a bottleneck.
constexpr int32_t intraNodeLink = 0;
constexpr int32_t interNodeLink = 1;
constexpr int32_t spineLink = 2;

/// The machine model of `hardware` without lanes. On GPUs, compute shares
/// multiprocessors and memory with collectives, launches take time, and a rank
/// has the links above. On other hardware nothing is shared.
MachineModel getMachineModel(const Hardware &hardware);

/// Says in `demand` that its tiles are those of a persistent kernel for at most
/// `target` multiprocessors; 0 for all.
void setPersistentBlocks(ResourceDemand &demand, int64_t target);

/// The thread blocks of a collective's cluster on `hardware`, with at most
/// `maxCtas` blocks, 0 for no limit; 0 if they come one by one.
int32_t getClusterSize(const Hardware &hardware, int64_t maxCtas);

} // namespace braid

#endif // BRAID_COST_HARDWARE_HARDWAREMACHINE_H
