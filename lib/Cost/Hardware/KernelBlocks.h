//===- KernelBlocks.h - Thread blocks of kernels ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_HARDWARE_KERNELBLOCKS_H
#define BRAID_LIB_COST_HARDWARE_KERNELBLOCKS_H

#include "braid/Cost/Hardware/Hardware.h"
#include "braid/Schedule/Model/Machine.h"

namespace braid {

/// Says in `demand` that its tiles are those of a persistent kernel for at most
/// `target` multiprocessors; 0 for all.
void setPersistentBlocks(ResourceDemand &demand, int64_t target);

/// The thread blocks of a collective's cluster on `hardware`, with at most
/// `maxCtas` blocks, 0 for no limit; 0 if they come one by one.
int32_t getClusterSize(const Hardware &hardware, int64_t maxCtas);

} // namespace braid

#endif // BRAID_LIB_COST_HARDWARE_KERNELBLOCKS_H
