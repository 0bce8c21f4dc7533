//===- ContentionSimulator.h - Ops that share the machine -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_CONTENTIONSIMULATOR_H
#define BRAID_LIB_SCHEDULE_CONTENTIONSIMULATOR_H

#include "braid/Schedule/Simulator.h"

namespace braid {

/// Says when each of `ops` is issued, begins and ends if they run at the rates
/// that `shareMachine` gives them. `times` has one element for each op; exposed
/// times are left alone. Takes O(ops * (lanes in use + links)).
void playWithContention(llvm::ArrayRef<SimulatedOp> ops,
                        const MachineModel &machine,
                        llvm::MutableArrayRef<SimulatedTimes> times);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_CONTENTIONSIMULATOR_H
