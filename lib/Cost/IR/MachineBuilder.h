//===- MachineBuilder.h - The machine that a program runs on ----*- C++ -*-===//
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

/// The hardware of `model` as the simulator sees it, with a lane for each of
/// `firstStarts`, the first start of each lane by its number. On GPUs, compute
/// shares multiprocessors and memory with collectives, launches take time, and
/// communicators share the links of a rank: those within the node, or its port
/// to the network if their members are spread over several nodes. Other
/// hardware is a textbook machine, where nothing is shared.
MachineModel buildMachine(OpCostModel &model,
                          llvm::ArrayRef<mlir::Operation *> firstStarts);

} // namespace braid

#endif // BRAID_LIB_COST_IR_MACHINEBUILDER_H
