//===- SimulatorTest.cpp - The textbook machine ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems/SimulatedOps.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <limits>
#include <random>

using namespace braid;
using namespace braid::test;

TEST(Simulator, NothingTakesNoTime) {
  Simulation result = simulate({});
  EXPECT_EQ(result.makespanNs, 0);
  EXPECT_EQ(result.lowerBoundNs, 0);
  EXPECT_EQ(result.peakBytes, 0);
}

TEST(Simulator, AnImmediateWaitExposesTheWholeCollective) {
  Simulation result = simulate({start(100), await({0}), compute(5)});
  EXPECT_EQ(result.makespanNs, 105);
  EXPECT_EQ(result.computeNs, 5);
  EXPECT_EQ(result.communicationNs, 100);
  EXPECT_EQ(result.exposedNs, 100);
  EXPECT_EQ(result.times[0].exposedNs, 100);
  EXPECT_EQ(result.times[1].startNs, 0);
  EXPECT_EQ(result.times[1].endNs, 100);
  // The two do not depend on one another.
  EXPECT_EQ(result.lowerBoundNs, 100);
}

TEST(Simulator, ComputeHidesTheCollective) {
  Simulation result = simulate({start(100), compute(30), await({0})});
  EXPECT_EQ(result.makespanNs, 100);
  EXPECT_EQ(result.exposedNs, 70);
  EXPECT_EQ(result.times[1].startNs, 0);
  EXPECT_EQ(result.times[1].endNs, 30);

  // Compute that outlasts the collective is not free.
  result = simulate({start(100), compute(130), await({0})});
  EXPECT_EQ(result.makespanNs, 130);
  EXPECT_EQ(result.exposedNs, 0);
}

TEST(Simulator, ALaneRunsOneOperationAfterTheOther) {
  Simulation result = simulate({start(100), start(50), await({0}), await({1})});
  EXPECT_EQ(result.times[1].issuedNs, 0);
  EXPECT_EQ(result.times[1].startNs, 100);
  EXPECT_EQ(result.times[1].endNs, 150);
  EXPECT_EQ(result.times[0].exposedNs, 100);
  EXPECT_EQ(result.times[1].exposedNs, 50);
  EXPECT_EQ(result.makespanNs, 150);
  // The work of the lane bounds every order.
  EXPECT_EQ(result.lowerBoundNs, 150);
}

TEST(Simulator, LanesRunBesideOneAnother) {
  Simulation result =
      simulate({start(100, 0), start(50, 1), await({0}), await({1})});
  EXPECT_EQ(result.times[1].startNs, 0);
  EXPECT_EQ(result.makespanNs, 100);
  EXPECT_EQ(result.communicationNs, 150);
  EXPECT_EQ(result.times[1].exposedNs, 0);
  EXPECT_EQ(result.lowerBoundNs, 100);
}

TEST(Simulator, ALaneStartsNoEarlierThanTheStream) {
  Simulation result = simulate({start(10), compute(30), start(10), await({2})});
  EXPECT_EQ(result.times[2].startNs, 30);
  EXPECT_EQ(result.makespanNs, 40);
}

TEST(Simulator, ACoalescedLaunchIsExposedOnce) {
  Simulation result =
      simulate({start(100), await({0}), compute(10), await({0})});
  EXPECT_EQ(result.times[0].exposedNs, 100);
  EXPECT_EQ(result.exposedNs, 100);
  EXPECT_EQ(result.makespanNs, 110);
}

TEST(Simulator, AWaitForSeveralHoldsForTheLastAndSharesTheStall) {
  Simulation result =
      simulate({start(100, 0), start(60, 1), compute(20), await({0, 1})});
  EXPECT_EQ(result.times[1].exposedNs, 40);
  EXPECT_EQ(result.times[0].exposedNs, 40);
  EXPECT_EQ(result.exposedNs, 80);
  EXPECT_EQ(result.makespanNs, 100);
}

TEST(Simulator, AWaitForAnOperationFromElsewhereDoesNotHold) {
  Simulation result = simulate({compute(5), await({}), compute(5)});
  EXPECT_EQ(result.makespanNs, 10);
  EXPECT_EQ(result.exposedNs, 0);
}

TEST(Simulator, WhatIsStillInFlightIsExposedAtTheEnd) {
  Simulation result = simulate({start(100), compute(30)});
  EXPECT_EQ(result.makespanNs, 100);
  EXPECT_EQ(result.times[0].exposedNs, 70);
  EXPECT_EQ(result.exposedNs, 70);
}

TEST(Simulator, LowerBoundIsTheLongestChain) {
  // mm -> ar -> wait -> mm: nothing can hide, and 40 ns of other work can.
  Simulation result = simulate({compute(20), start(100, 0, {0}), await({1}),
                                compute(20, {2}), compute(40)});
  EXPECT_EQ(result.makespanNs, 180);
  EXPECT_EQ(result.lowerBoundNs, 140);
  // The work of the stream.
  result = simulate({compute(20), compute(30)});
  EXPECT_EQ(result.lowerBoundNs, 50);
  // A start lets go of the stream at once: what follows it does not wait.
  result = simulate({start(100), compute(30, {0})});
  EXPECT_EQ(result.lowerBoundNs, 100);
}

TEST(Simulator, BodiesCountWithTheirOwnBound) {
  SimulatedOp loop = compute(100);
  loop.leastNs = 60;
  Simulation result = simulate({loop, compute(10)});
  EXPECT_EQ(result.makespanNs, 110);
  EXPECT_EQ(result.lowerBoundNs, 70);
}

TEST(Simulator, MakespanIsComputeAndExposed) {
  Simulation result =
      simulate({start(100), start(70, 1), compute(20), await({1}), compute(9),
                start(5), await({0}), compute(3), start(11, 1)});
  EXPECT_EQ(result.makespanNs, result.computeNs + result.exposedNs);
}

TEST(Simulator, PeakCountsWhatLivesAtOnce) {
  SimulatedOp a = compute(1), b = compute(1), c = compute(1);
  a.allocatedBytes = 100;
  b.allocatedBytes = 50;
  b.freedBytes = 100; // frees after it has allocated
  b.transientBytes = 7;
  c.allocatedBytes = 20;
  EXPECT_EQ(simulate({a, b, c}).peakBytes, 157);
  EXPECT_EQ(simulate({a, b, c}, 1000).peakBytes, 1157);
}

TEST(Simulator, LongTimesSaturate) {
  int64_t longest = std::numeric_limits<int64_t>::max();
  Simulation result = simulate(
      {compute(longest), start(longest), await({1}), compute(longest)});
  EXPECT_EQ(result.makespanNs, longest);
  EXPECT_EQ(result.computeNs, longest);
}

TEST(Simulator, LargeBuffersSaturate) {
  SimulatedOp allocation = compute(1), release = compute(1), small = compute(1);
  allocation.allocatedBytes = std::numeric_limits<int64_t>::max();
  release.freedBytes = allocation.allocatedBytes;
  small.allocatedBytes = 10;
  Simulation result =
      simulate({allocation, allocation, release, release, small});
  EXPECT_EQ(result.peakBytes, allocation.allocatedBytes);
  EXPECT_EQ(result.memory.back().bytes, 10);
}

/// `ops` in the order `order`, references renumbered.
static std::vector<SimulatedOp> reorder(const std::vector<SimulatedOp> &ops,
                                        const std::vector<unsigned> &order) {
  std::vector<unsigned> positions(ops.size());
  for (auto [position, op] : llvm::enumerate(order))
    positions[op] = position;
  std::vector<SimulatedOp> result;
  for (unsigned op : order) {
    result.push_back(ops[op]);
    for (unsigned &start : result.back().awaits)
      start = positions[start];
    for (unsigned &predecessor : result.back().predecessors)
      predecessor = positions[predecessor];
  }
  return result;
}

/// True if every op comes after what it names.
static bool isLegal(const std::vector<SimulatedOp> &ops) {
  for (auto [index, op] : llvm::enumerate(ops)) {
    auto comesBefore = [index = index](unsigned other) {
      return other < index;
    };
    if (!llvm::all_of(op.awaits, comesBefore) ||
        !llvm::all_of(op.predecessors, comesBefore))
      return false;
  }
  return true;
}

// Of random programs of up to seven ops every legal order is simulated.
TEST(Simulator, NoOrderGoesBelowTheLowerBound) {
  std::mt19937 random(1);
  auto pick = [&](unsigned bound) { return random() % bound; };
  size_t numOrders = 0;
  for (int program = 0; program < 60; ++program) {
    std::vector<SimulatedOp> ops;
    std::vector<unsigned> starts;
    for (unsigned i = 0, size = 3 + pick(5); i < size; ++i) {
      SimulatedOp op;
      unsigned role = pick(3);
      if (role == 1) {
        op = start(pick(100), pick(2));
        starts.push_back(i);
      } else if (role == 2 && !starts.empty()) {
        op = await({starts[pick(starts.size())]});
      } else {
        op = compute(pick(100));
      }
      for (unsigned j = 0; j < i; ++j)
        if (pick(4) == 0)
          op.predecessors.push_back(j);
      ops.push_back(op);
    }
    int64_t lowerBound = simulate(ops).lowerBoundNs;
    std::vector<unsigned> order(ops.size());
    for (unsigned i = 0; i < order.size(); ++i)
      order[i] = i;
    do {
      std::vector<SimulatedOp> reordered = reorder(ops, order);
      if (!isLegal(reordered))
        continue;
      ++numOrders;
      Simulation result = simulate(reordered);
      ASSERT_GE(result.makespanNs, lowerBound);
      ASSERT_EQ(result.lowerBoundNs, lowerBound);
      ASSERT_EQ(result.makespanNs, result.computeNs + result.exposedNs);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(numOrders, 1000u);
}
