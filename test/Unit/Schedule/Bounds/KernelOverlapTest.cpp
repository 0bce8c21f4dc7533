//===- KernelOverlapTest.cpp - Persistent kernels beside lanes ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Bounds/KernelOverlap.h"

#include "Schedule/Model/PersistentKernel.h"
#include "TestProblems/ProblemCount.h"
#include "gtest/gtest.h"

#include <random>

using namespace braid;
using namespace braid::test;

static ResourceDemand makeKernel(int64_t tiles) {
  ResourceDemand demand;
  demand.tiles = tiles;
  demand.isPersistent = true;
  return demand;
}

TEST(KernelOverlap, OneMoreWaveHasRoomForAll) {
  MachineModel machine;
  machine.multiprocessors = 132;
  // Two full waves: on 108 multiprocessors they are three.
  auto overlaps = getKernelOverlaps(1000, makeKernel(264), machine, 108, 84);
  ASSERT_EQ(overlaps.size(), 2u);
  EXPECT_EQ(overlaps[0].time, 1);
  EXPECT_EQ(overlaps[0].overlap, 0);
  EXPECT_EQ(overlaps[1].time, 1.5);
  EXPECT_EQ(overlaps[1].overlap, 1.5);
}

TEST(KernelOverlap, TheLastWaveLeavesRoom) {
  MachineModel machine;
  machine.multiprocessors = 132;
  // The second wave has 68 tiles.
  auto overlaps = getKernelOverlaps(1000, makeKernel(200), machine, 108, 84);
  ASSERT_EQ(overlaps.size(), 1u);
  EXPECT_EQ(overlaps[0].overlap, 1);
}

TEST(KernelOverlap, OneBlockLosesNothing) {
  MachineModel machine;
  machine.multiprocessors = 10;
  auto overlaps = getKernelOverlaps(1000, makeKernel(1), machine, 0, 0);
  ASSERT_EQ(overlaps.size(), 1u);
  EXPECT_EQ(overlaps[0].time, 1);
  EXPECT_EQ(overlaps[0].overlap, 1);
}

// Blocks that begin late, at any time, are in one of the overlaps, or in a mix
// of two.
TEST(KernelOverlap, NoKernelIsFaster) {
  std::mt19937_64 engine(1);
  auto below = [&](int64_t bound) { return int64_t(engine() % bound); };
  for (unsigned i = 0; i != getNumProblems(2000); ++i) {
    MachineModel machine;
    machine.multiprocessors = 2 + below(20);
    ResourceDemand demand = makeKernel(1 + below(200));
    int64_t blocks = getMostBlocks(demand, machine);
    if (blocks < 2)
      continue;
    int64_t early = 1 + below(blocks - 1), atEnd = below(blocks);
    constexpr int64_t costNs = 10'000;
    auto overlaps = getKernelOverlaps(costNs, demand, machine, early, atEnd);
    PersistentKernel kernel;
    kernel.begin(costNs, demand, machine, early);
    double joinNs = double(below(2 * costNs));
    bool joins = kernel.getPending(joinNs) > 0;
    if (joins)
      kernel.join(blocks, joinNs);
    double endNs = kernel.getEnd(), besideNs = joins ? joinNs : endNs;
    if (joins) {
      // Operations begin again once few enough blocks are left.
      double clock = joinNs;
      while (kernel.getHeld(clock) > atEnd)
        clock = *kernel.getNextLeave(clock);
      besideNs += endNs - clock;
    }
    for (double gain : {0.05, 0.2, 0.5, 0.8, 1.0}) {
      double least = overlaps[0].time;
      for (const KernelOverlap &entry : overlaps)
        least = std::min(least, entry.time - gain * entry.overlap);
      EXPECT_LE(least * costNs, endNs - gain * besideNs + 0.01)
          << "kernel " << i << ", gain " << gain;
    }
  }
}
