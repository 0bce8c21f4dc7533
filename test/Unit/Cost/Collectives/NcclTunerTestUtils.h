//===- NcclTunerTestUtils.h - Communicators and choices ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_COST_COLLECTIVES_NCCLTUNERTESTUTILS_H
#define BRAID_TEST_UNIT_COST_COLLECTIVES_NCCLTUNERTESTUTILS_H

#include "Cost/Collectives/NcclTuner.h"

namespace braid::nccl {

constexpr uint64_t kib = 1 << 10;
constexpr uint64_t mib = 1 << 20;
constexpr uint64_t gib = 1 << 30;

inline Communicator on(llvm::StringRef hardware, int64_t numRanks,
                       int64_t numNodes = 1) {
  return describeCommunicator(*lookupHardware(hardware), numRanks, numNodes);
}

inline Communicator onH100(int64_t numRanks, int64_t numNodes = 1) {
  return on("h100x8", numRanks, numNodes);
}

inline Estimate choose(const Communicator &communicator, Function function,
                       uint64_t bytes) {
  return chooseAlgorithm(communicator, {function, bytes});
}

} // namespace braid::nccl

#endif // BRAID_TEST_UNIT_COST_COLLECTIVES_NCCLTUNERTESTUTILS_H
