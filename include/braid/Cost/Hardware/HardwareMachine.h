//===- HardwareMachine.h - Hardware as the simulator sees it ----*- C++ -*-===//
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

/// The links of a rank, for `MachineModel::linkOfLane`: those within the node,
/// and its port to the network.
constexpr int32_t intraNodeLink = 0;
constexpr int32_t interNodeLink = 1;

/// `hardware` as the simulator sees it, without lanes. On GPUs, compute shares
/// multiprocessors and memory with collectives, launches take time, and there
/// are the two links above. Other hardware is a textbook machine, where nothing
/// is shared.
MachineModel getMachineModel(const Hardware &hardware);

} // namespace braid

#endif // BRAID_COST_HARDWARE_HARDWAREMACHINE_H
