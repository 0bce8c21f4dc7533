//===- ResourceOptions.h - Ways to run ops, for tests of plans --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_TESTPROBLEMS_RESOURCEOPTIONS_H
#define BRAID_TEST_UNIT_TESTPROBLEMS_RESOURCEOPTIONS_H

#include "Schedule/Planning/ResourcePlan.h"

namespace braid::test {

/// A machine of four multiprocessors that are queued for.
inline MachineModel makePlannedMachine() {
  MachineModel machine;
  machine.multiprocessors = 4;
  machine.multiprocessorModel = MultiprocessorModel::Queued;
  machine.copyMultiprocessors = 2;
  return machine;
}

/// A matmul of so many tiles, each of 100 ns, on so many multiprocessors.
inline ResourceOption matmulOn(int64_t tiles, int64_t multiprocessors) {
  ResourceOption option;
  option.costNs = (tiles + multiprocessors - 1) / multiprocessors * 100;
  option.demand.arithmeticNs = option.costNs;
  option.demand.tiles = tiles;
  option.demand.blocks = int32_t(multiprocessors);
  option.demand.isPersistent = true;
  return option;
}

/// A collective by a kernel on so many multiprocessors; by copy engines on
/// none.
inline ResourceOption kernelOn(int64_t cost, int32_t multiprocessors) {
  ResourceOption option;
  option.costNs = cost;
  option.demand.multiprocessors = multiprocessors;
  return option;
}

} // namespace braid::test

#endif // BRAID_TEST_UNIT_TESTPROBLEMS_RESOURCEOPTIONS_H
