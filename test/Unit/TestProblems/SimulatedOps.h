//===- SimulatedOps.h - Ops for tests of the simulator ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_TESTPROBLEMS_SIMULATEDOPS_H
#define BRAID_TEST_UNIT_TESTPROBLEMS_SIMULATEDOPS_H

#include "braid/Schedule/Simulation/Simulator.h"

namespace braid::test {

/// Work of the compute stream that needs `after`, by their positions.
inline SimulatedOp compute(int64_t cost,
                           llvm::SmallVector<unsigned, 4> after = {}) {
  SimulatedOp op;
  op.costNs = cost;
  op.predecessors = std::move(after);
  return op;
}

/// An operation that runs on `lane`.
inline SimulatedOp start(int64_t cost, unsigned lane = 0,
                         llvm::SmallVector<unsigned, 4> after = {}) {
  SimulatedOp op = compute(cost, std::move(after));
  op.role = StreamRole::Start;
  op.lane = lane;
  return op;
}

/// A wait for what `starts` have started.
inline SimulatedOp await(llvm::SmallVector<unsigned, 1> starts) {
  SimulatedOp op;
  op.role = StreamRole::Wait;
  op.awaits = std::move(starts);
  return op;
}

} // namespace braid::test

#endif // BRAID_TEST_UNIT_TESTPROBLEMS_SIMULATEDOPS_H
