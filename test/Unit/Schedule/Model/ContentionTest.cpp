//===- ContentionTest.cpp - Ops that share the machine --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems/SimulatedOps.h"

#include "Schedule/Model/Contention.h"
#include "llvm/ADT/STLExtras.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

using namespace braid;
using namespace braid::test;
using testing::ElementsAre;

static SimulatedOp matmul(int64_t cost, int64_t tiles) {
  SimulatedOp op = compute(cost);
  op.demand.arithmeticNs = cost;
  op.demand.tiles = tiles;
  return op;
}

static SimulatedOp kernelOn(int64_t cost, int32_t multiprocessors,
                            unsigned lane = 0) {
  SimulatedOp op = start(cost, lane);
  op.demand.multiprocessors = multiprocessors;
  return op;
}

static SimulatedOp withMemory(SimulatedOp op, int64_t bytes) {
  op.demand.memoryBytes = bytes;
  return op;
}

static std::vector<int64_t> ends(const Simulation &simulation) {
  std::vector<int64_t> result;
  for (const SimulatedTimes &times : simulation.times)
    result.push_back(times.endNs);
  return result;
}

static MachineModel withMultiprocessors(int32_t count) {
  MachineModel machine;
  machine.multiprocessors = count;
  return machine;
}

/// Lanes that all use one link of 1 byte per ns.
static MachineModel withOneLink(unsigned lanes) {
  MachineModel machine;
  machine.linkOfLane.assign(lanes, 0);
  machine.linkBandwidth = {1};
  return machine;
}

static SimulatedOp transfer(int64_t cost, unsigned lane) {
  SimulatedOp op = start(cost, lane);
  op.demand.linkBytes = cost;
  return op;
}

//===----------------------------------------------------------------------===//
// Launch gaps
//===----------------------------------------------------------------------===//

TEST(Launch, EachOpWithACostOnTheStreamHasAGap) {
  MachineModel machine;
  machine.launchNs = 3;
  Simulation result = simulate(
      {start(100), compute(10), compute(0), compute(20), await({0})}, machine);
  // Starts, waits and what costs nothing are not launched.
  EXPECT_THAT(ends(result), ElementsAre(100, 13, 13, 36, 100));
  EXPECT_EQ(result.times[1].issuedNs, 0);
  EXPECT_EQ(result.times[1].startNs, 3);
  EXPECT_EQ(result.times[3].startNs, 16);
  EXPECT_EQ(result.launchNs, 6);
  EXPECT_EQ(result.computeNs, 30);
  EXPECT_EQ(result.exposedNs, 64);
  EXPECT_EQ(result.makespanNs, 100);
}

TEST(Launch, TheGapFollowsTheHold) {
  MachineModel machine;
  machine.launchNs = 5;
  SimulatedOp consumer = compute(10);
  consumer.awaits = {0};
  Simulation result = simulate({start(40), consumer}, machine);
  EXPECT_EQ(result.times[1].issuedNs, 0);
  EXPECT_EQ(result.times[1].startNs, 45);
  EXPECT_EQ(result.makespanNs, 55);
  EXPECT_EQ(result.exposedNs, 40);
  EXPECT_EQ(result.lowerBoundNs, 55);
}

TEST(Launch, BoundsCountGaps) {
  MachineModel machine;
  machine.launchNs = 5;
  EXPECT_EQ(simulate({compute(10), compute(20)}, machine).lowerBoundNs, 40);
}

//===----------------------------------------------------------------------===//
// Multiprocessors
//===----------------------------------------------------------------------===//

// A matmul of 132 tiles on 132 multiprocessors needs a second wave beside an
// all-gather that holds 24.
TEST(Contention, AFullWaveBecomesTwoBesideACollective) {
  Simulation result =
      simulate({kernelOn(1000, 24), matmul(100, 132), await({0})},
               withMultiprocessors(132));
  EXPECT_THAT(ends(result), ElementsAre(1000, 200, 1000));
  EXPECT_EQ(result.times[1].lostNs, 100);
  EXPECT_EQ(result.computeNs, 100);
  EXPECT_EQ(result.computeLostNs, 100);
  EXPECT_EQ(result.exposedNs, 800);
  EXPECT_EQ(result.makespanNs, 1000);
}

TEST(Contention, AWaveWithRoomLosesNothing) {
  Simulation result = simulate({kernelOn(1000, 12), matmul(100, 120)},
                               withMultiprocessors(132));
  EXPECT_EQ(result.times[1].endNs, 100);
}

TEST(Contention, ManyWavesLoseLittle) {
  // 10 waves on 132, 13 on 108.
  Simulation result = simulate({kernelOn(10000, 24), matmul(1000, 1320)},
                               withMultiprocessors(132));
  EXPECT_EQ(result.times[1].endNs, 1300);
}

TEST(Contention, ArithmeticWithoutTilesLosesItsShare) {
  Simulation result =
      simulate({kernelOn(1000, 33), matmul(99, 0)}, withMultiprocessors(132));
  EXPECT_EQ(result.times[1].endNs, 132);
}

TEST(Contention, TheSlowdownEndsWithTheCollective) {
  // Half speed until 60, full speed for the 70 ns that are left.
  Simulation result =
      simulate({kernelOn(60, 24), matmul(100, 132)}, withMultiprocessors(132));
  EXPECT_THAT(ends(result), ElementsAre(60, 130));
  EXPECT_EQ(result.times[1].lostNs, 30);
}

TEST(Contention, ComputeThatMemoryBoundsHasRoomForLessArithmetic) {
  SimulatedOp op = matmul(100, 0);
  op.demand.arithmeticNs = 50;
  // Its arithmetic takes 50 * 4 / 3 on three quarters.
  EXPECT_EQ(
      simulate({kernelOn(1000, 1), op}, withMultiprocessors(4)).times[1].endNs,
      100);
  // ... and 200 on a quarter.
  EXPECT_EQ(
      simulate({kernelOn(1000, 3), op}, withMultiprocessors(4)).times[1].endNs,
      200);
}

TEST(Contention, CopyEnginesTakeNoMultiprocessors) {
  Simulation result =
      simulate({kernelOn(1000, 0), matmul(100, 132)}, withMultiprocessors(132));
  EXPECT_EQ(result.times[1].endNs, 100);
}

TEST(Contention, OneMultiprocessorIsAlwaysLeft) {
  Simulation result =
      simulate({kernelOn(1000, 100), kernelOn(1000, 100, 1), matmul(10, 0)},
               withMultiprocessors(4));
  EXPECT_EQ(result.times[2].endNs, 40);
}

TEST(Contention, AQueuedOperationHoldsNothingYet) {
  Simulation result =
      simulate({kernelOn(50, 0), kernelOn(50, 24), matmul(100, 132)},
               withMultiprocessors(132));
  // 50 ns at full speed, 50 at half speed, and the rest.
  EXPECT_EQ(result.times[2].endNs, 125);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Contention, MemoryIsSharedBothWays) {
  MachineModel machine;
  machine.memoryBandwidth = 10;
  // Each alone takes all of it, so both take twice as long side by side.
  Simulation result = simulate(
      {withMemory(start(100), 1000), withMemory(compute(50), 500)}, machine);
  EXPECT_THAT(ends(result), ElementsAre(150, 100));
  EXPECT_EQ(result.times[0].lostNs, 50);
  EXPECT_EQ(result.communicationLostNs, 50);
  EXPECT_EQ(result.computeLostNs, 50);
  EXPECT_EQ(result.makespanNs, 150);

  // 6 + 8 of 10: five sevenths each.
  result = simulate(
      {withMemory(start(100), 600), withMemory(compute(100), 800)}, machine);
  EXPECT_THAT(ends(result), ElementsAre(140, 140));

  // 2 + 8 fit.
  result = simulate(
      {withMemory(start(100), 200), withMemory(compute(100), 800)}, machine);
  EXPECT_THAT(ends(result), ElementsAre(100, 100));
}

TEST(Contention, MoreBytesThanTheMachineCanMoveDoNotSlowAnOpAlone) {
  MachineModel machine;
  machine.memoryBandwidth = 10;
  EXPECT_EQ(simulate({withMemory(compute(10), 1000)}, machine).makespanNs, 10);
}

TEST(Contention, OpsThatUseNoMemoryDoNotFeelIt) {
  MachineModel machine;
  machine.memoryBandwidth = 10;
  Simulation result = simulate({withMemory(start(100), 1000),
                                withMemory(start(100, 1), 1000), compute(50)},
                               machine);
  EXPECT_THAT(ends(result), ElementsAre(200, 200, 50));
}

TEST(Contention, ComputeThatLostMultiprocessorsAsksForLessMemory) {
  MachineModel machine = withMultiprocessors(132);
  machine.memoryBandwidth = 10;
  SimulatedOp op = withMemory(matmul(100, 132), 1000);
  // At half speed it moves 5 bytes per ns, which leaves 5 for the collective.
  Simulation result =
      simulate({withMemory(kernelOn(200, 24), 1000), op}, machine);
  EXPECT_THAT(ends(result), ElementsAre(200, 200));
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

// The cases of XLA's latency hiding scheduler for a shareable resource
// (AddDeleteOccupierForSharedResource).
TEST(Contention, LanesShareALinkInAnyOrder) {
  std::vector<int64_t> lengths = {1, 2, 3};
  do {
    std::vector<SimulatedOp> ops;
    for (auto [lane, length] : llvm::enumerate(lengths))
      ops.push_back(transfer(length, lane));
    Simulation result = simulate(ops, withOneLink(3));
    const int64_t expected[] = {0, 3, 5, 6};
    for (auto [lane, length] : llvm::enumerate(lengths))
      EXPECT_EQ(result.times[lane].endNs, expected[length]);
  } while (std::next_permutation(lengths.begin(), lengths.end()));
}

TEST(Contention, ALinkIsSharedAmongThoseThatRun) {
  // 3 at 0, 3 and 1 at 1.
  Simulation result =
      simulate({transfer(3, 0), compute(1), transfer(3, 1), transfer(1, 2)},
               withOneLink(3));
  EXPECT_EQ(result.times[0].endNs, 6);
  EXPECT_EQ(result.times[2].endNs, 7);
  EXPECT_EQ(result.times[3].endNs, 4);
}

TEST(Contention, AFasterLinkServesSeveral) {
  MachineModel machine = withOneLink(3);
  machine.linkBandwidth = {2};
  Simulation result = simulate({transfer(30, 0), transfer(30, 1)}, machine);
  EXPECT_THAT(ends(result), ElementsAre(30, 30));
  result =
      simulate({transfer(30, 0), transfer(30, 1), transfer(30, 2)}, machine);
  EXPECT_THAT(ends(result), ElementsAre(45, 45, 45));
}

TEST(Contention, LanesWithLinksOfTheirOwnDoNotShare) {
  MachineModel machine = withOneLink(1);
  Simulation result = simulate({transfer(30, 0), transfer(30, 1)}, machine);
  EXPECT_THAT(ends(result), ElementsAre(30, 30));
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

namespace {

/// A random program for a machine with everything shared.
struct RandomProgram {
  MachineModel machine;
  std::vector<SimulatedOp> ops;

  explicit RandomProgram(unsigned seed, bool demands = true) {
    std::mt19937 random(seed);
    auto pick = [&](unsigned bound) { return int64_t(random() % bound); };
    machine.multiprocessors = 16;
    machine.memoryBandwidth = 4 + pick(10);
    machine.launchNs = pick(4);
    machine.linkOfLane = {0, 0, -1, 1};
    machine.linkBandwidth = {double(1 + pick(8)), double(1 + pick(8))};
    std::vector<unsigned> starts;
    for (unsigned i = 0, size = 5 + pick(60); i < size; ++i) {
      SimulatedOp op;
      unsigned role = pick(4);
      if (role == 1) {
        op = start(pick(100), pick(4));
        starts.push_back(i);
        op.demand.multiprocessors = pick(8);
        op.demand.linkBytes = pick(1000);
      } else if (role == 2 && !starts.empty()) {
        op = await({starts[pick(starts.size())]});
        op.costNs = pick(4) == 0 ? pick(10) : 0;
      } else {
        op = compute(pick(100));
        op.demand.arithmeticNs = pick(op.costNs + 1);
        op.demand.tiles = pick(40);
      }
      op.demand.memoryBytes = pick(1500);
      if (!demands)
        op.demand = ResourceDemand();
      ops.push_back(op);
    }
  }
};

} // namespace

TEST(Contention, WithoutDemandsItIsExact) {
  for (unsigned seed = 0; seed != 200; ++seed) {
    RandomProgram program(seed, /*demands=*/false);
    MachineModel exact;
    exact.launchNs = program.machine.launchNs;
    // Something that is shared, but has nobody to share with, so that the fluid
    // simulation runs; costs of any size.
    if (seed % 3 == 2)
      for (SimulatedOp &op : program.ops)
        op.costNs = op.costNs << 55;
    Simulation expected = simulate(program.ops, exact);
    program.machine.linkBandwidth = {1e30, 1e30};
    for (SimulatedOp &op : program.ops)
      op.demand.linkBytes = 1;
    Simulation result = simulate(program.ops, program.machine);
    ASSERT_EQ(result.makespanNs, expected.makespanNs);
    for (auto [mine, theirs] : llvm::zip_equal(result.times, expected.times)) {
      ASSERT_EQ(mine.issuedNs, theirs.issuedNs);
      ASSERT_EQ(mine.startNs, theirs.startNs);
      ASSERT_EQ(mine.endNs, theirs.endNs);
      ASSERT_EQ(mine.exposedNs, theirs.exposedNs);
      ASSERT_EQ(mine.lostNs, 0);
    }
  }
}

TEST(Contention, NothingIsFasterThanAlone) {
  for (unsigned seed = 0; seed != 500; ++seed) {
    RandomProgram program(seed);
    MachineModel alone;
    alone.launchNs = program.machine.launchNs;
    Simulation without = simulate(program.ops, alone);
    Simulation with = simulate(program.ops, program.machine);
    ASSERT_GE(with.makespanNs, without.makespanNs);
    for (auto [mine, theirs] : llvm::zip_equal(with.times, without.times)) {
      ASSERT_GE(mine.startNs, theirs.startNs);
      ASSERT_GE(mine.endNs, theirs.endNs);
    }
    ASSERT_EQ(with.makespanNs, with.computeNs + with.launchNs +
                                   with.computeLostNs + with.exposedNs);
  }
}

// From the begins and ends alone, the rates between them give every op its
// work, and no resource more than it has.
TEST(Contention, WorkIsConserved) {
  std::vector<double> scratch;
  for (unsigned seed = 0; seed != 200; ++seed) {
    RandomProgram program(seed);
    llvm::ArrayRef<SimulatedOp> ops = program.ops;
    const MachineModel &machine = program.machine;
    Simulation result = simulate(ops, machine);
    std::set<int64_t> events;
    std::vector<std::pair<int64_t, int64_t>> runs(ops.size());
    for (auto [i, times] : llvm::enumerate(result.times)) {
      runs[i] = {times.endNs - ops[i].costNs - times.lostNs, times.endNs};
      events.insert(runs[i].first);
      events.insert(runs[i].second);
    }
    std::vector<double> done(ops.size(), 0);
    for (auto it = events.begin(); std::next(it) != events.end(); ++it) {
      int64_t length = *std::next(it) - *it;
      std::vector<RunningOp> running;
      std::vector<unsigned> which;
      for (unsigned i = 0; i != ops.size(); ++i) {
        if (runs[i].first > *it || runs[i].second <= *it)
          continue;
        bool onLane = ops[i].role == StreamRole::Start;
        running.push_back({ops[i].costNs, &ops[i].demand,
                           onLane ? int32_t(ops[i].lane) : -1});
        which.push_back(i);
      }
      shareMachine(running, machine, scratch);
      double memory = 0;
      std::vector<double> links(machine.linkBandwidth.size(), 0);
      for (auto [i, op] : llvm::zip_equal(which, running)) {
        ASSERT_GT(op.rate, 0);
        ASSERT_LE(op.rate, 1);
        done[i] += op.rate * double(length);
        memory += op.rate * getMemoryDemand(op.costNs, *op.demand, machine);
        if (int32_t link = getLink(machine, op.lane); link >= 0)
          links[link] +=
              op.rate * getLinkDemand(op.costNs, *op.demand, machine, link);
      }
      ASSERT_LE(memory, machine.memoryBandwidth * (1 + 1e-9));
      for (auto [used, there] : llvm::zip_equal(links, machine.linkBandwidth))
        ASSERT_LE(used, there * (1 + 1e-9));
    }
    // An op ends with the nanosecond in which its work is done.
    for (unsigned i = 0; i != ops.size(); ++i) {
      ASSERT_GE(done[i], double(ops[i].costNs) - 1e-2);
      ASSERT_LT(done[i], double(ops[i].costNs) + 1);
    }
  }
}

TEST(Contention, LongTimesSaturate) {
  int64_t longest = std::numeric_limits<int64_t>::max();
  MachineModel machine = withMultiprocessors(132);
  machine.memoryBandwidth = 1;
  machine.launchNs = longest;
  Simulation result = simulate({withMemory(kernelOn(longest, 130), longest),
                                withMemory(matmul(longest, longest), longest),
                                await({0}), matmul(longest, 0)},
                               machine);
  EXPECT_EQ(result.makespanNs, longest);
}

TEST(Contention, ManyOpsAreFast) {
  // Every op on the stream and on the lanes changes all rates.
  std::vector<SimulatedOp> ops;
  std::mt19937 random(1);
  RandomProgram program(1);
  for (unsigned i = 0; i != 100000; ++i) {
    SimulatedOp op = random() % 10 ? matmul(1 + random() % 100, random() % 500)
                                   : kernelOn(1 + random() % 500, 4, i % 4);
    op.demand.linkBytes = 100;
    ops.push_back(withMemory(op, 1000));
  }
  EXPECT_GT(simulate(ops, program.machine).computeLostNs, 0);
}

//===----------------------------------------------------------------------===//
// What a simulation says
//===----------------------------------------------------------------------===//

TEST(Simulation, WhatIsHiddenMergesLanes) {
  // Communication from 0 to 100 and from 110 to 130; the stream computes from 0
  // to 60 and from 100 to 120.
  Simulation result =
      simulate({start(100, 0), start(40, 1), compute(60), await({0}),
                compute(10), start(20, 0), compute(10), await({5})});
  EXPECT_EQ(result.communicationUnionNs, 120);
  EXPECT_EQ(result.hiddenNs, 70);
}

TEST(Simulation, LaunchGapsHideNothing) {
  MachineModel machine;
  machine.launchNs = 10;
  Simulation result = simulate({start(40), compute(20), await({0})}, machine);
  EXPECT_EQ(result.hiddenNs, 20);
}

TEST(Simulation, TheMemoryCurveReachesThePeak) {
  SimulatedOp a = compute(10), b = start(30), c = compute(5), d = await({1});
  a.allocatedBytes = 100;
  b.allocatedBytes = 50;
  c.transientBytes = 7;
  c.freedBytes = 100;
  d.freedBytes = 50;
  Simulation result = simulate({a, b, c, d}, 1000);
  EXPECT_EQ(result.peakBytes, 1157);
  EXPECT_EQ(result.peakOp, 2u);
  EXPECT_THAT(result.memory,
              ElementsAre(MemoryPoint{0, 1100, 0}, MemoryPoint{10, 1150, 1},
                          MemoryPoint{10, 1157, 2}, MemoryPoint{15, 1050, 2},
                          MemoryPoint{40, 1000, 3}));
  EXPECT_EQ(simulate({compute(1)}, 1000).peakOp, std::nullopt);
}
