//===- SimulatedOrder.h - Simulates an order of a problem -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SIMULATION_SIMULATEDORDER_H
#define BRAID_SCHEDULE_SIMULATION_SIMULATEDORDER_H

#include "braid/Schedule/Model/SchedulingProblem.h"
#include "braid/Schedule/Simulation/Simulator.h"

#include <vector>

namespace braid {

/// `order`, a legal order of the problem's graph, as the simulator runs it. A
/// body of a loop is simulated once, with nothing in flight at its beginning.
std::vector<SimulatedOp> getSimulatedOps(const SchedulingProblem &problem,
                                         llvm::ArrayRef<unsigned> order);

/// Simulates `order`, a legal order of the problem's graph.
Simulation simulateOrder(const SchedulingProblem &problem,
                         llvm::ArrayRef<unsigned> order);

/// What the simulator runs for each node, numbered like the nodes; all but the
/// memory, which depends on the order.
std::vector<SimulatedOp> getOpsByNode(const SchedulingProblem &problem);

} // namespace braid

#endif // BRAID_SCHEDULE_SIMULATION_SIMULATEDORDER_H
