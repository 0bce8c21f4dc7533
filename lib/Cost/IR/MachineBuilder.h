//===- MachineBuilder.h - The machine of a simulation -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_IR_MACHINEBUILDER_H
#define BRAID_LIB_COST_IR_MACHINEBUILDER_H

#include "braid/Cost/IR/OpCostModel.h"
#include "braid/Schedule/Model/Machine.h"

namespace braid {

/// The simulated machine for the hardware of `model`, with a lane for each of
/// `firstStarts`, the first start of each lane by its number. On GPUs, compute
/// shares multiprocessors and memory with collectives, and launches take time.
/// Communicators share the links of a rank within the node, or its network port
/// if their members are on several nodes. Other hardware is a textbook machine
/// without shared resources.
MachineModel buildMachine(OpCostModel &model,
                          llvm::ArrayRef<mlir::Operation *> firstStarts);

} // namespace braid

#endif // BRAID_LIB_COST_IR_MACHINEBUILDER_H
