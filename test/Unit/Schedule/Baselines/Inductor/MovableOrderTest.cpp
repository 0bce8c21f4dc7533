//===- MovableOrderTest.cpp - Memory of an order, swap by swap ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems/MemoryProblems.h"

#include "braid/Schedule/Baselines/Inductor/MovableOrder.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "gtest/gtest.h"

#include <limits>
#include <random>

using namespace braid;
using namespace braid::test;

namespace {

constexpr int64_t noLimit = std::numeric_limits<int64_t>::max();
using MoveResult = MovableOrder::MoveResult;

TEST(MovableOrder, FirstAndLastUsersChangeHands) {
  // Both read one buffer: whoever comes first allocates it, whoever comes last
  // frees it.
  NamedProblem named =
      parseProblem("x, y, z", "100 x y, 10 x, 1 y, 1000! z, 5! y");
  MovableOrder order(named.problem, getProgramOrder(named.problem.graph));
  EXPECT_EQ(order.getBytesBefore(0), 0);
  EXPECT_EQ(order.getBytesBefore(1), 100);
  EXPECT_EQ(order.getBytesBefore(2), 5);
  EXPECT_EQ(order.getPeakBytes(), 1005);

  order.beginGroup(1);
  int64_t peak = 0;
  // x would come second, beside what y leaves: 100 + 10 + 5.
  EXPECT_EQ(order.moveLeft(114, &peak), MoveResult::TooManyBytes);
  EXPECT_EQ(peak, 115);
  EXPECT_EQ(order.moveLeft(115, &peak), MoveResult::Moved);
  order.endGroup();
  EXPECT_EQ(named.print(order.getOrder()), "y,x,z");
  EXPECT_EQ(order.getBytesBefore(1), 0);
  EXPECT_EQ(order.getBytesBefore(0), 105);
  EXPECT_EQ(order.getBytesBefore(2), 5);
}

TEST(MovableOrder, GroupsMoveAsOne) {
  NamedProblem named =
      parseProblem("x, a, b(a), y, z", "1 x b, 10 a b, 100 a, 1000 y b, 7 z a");
  MovableOrder order(named.problem, getProgramOrder(named.problem.graph));
  order.beginGroup(named.get("b"));
  EXPECT_TRUE(order.groupNeeds(named.get("a")));
  EXPECT_FALSE(order.groupNeeds(named.get("x")));
  order.extendLeft();
  EXPECT_EQ(order.getHead(), named.get("a"));
  EXPECT_EQ(order.getTail(), named.get("b"));
  EXPECT_EQ(order.moveRight(noLimit), MoveResult::Moved);
  EXPECT_EQ(order.moveRight(noLimit), MoveResult::Moved);
  EXPECT_EQ(order.moveLeft(noLimit), MoveResult::Moved);
  order.endGroup();
  EXPECT_EQ(named.print(order.getOrder()), "x,y,a,b,z");
  EXPECT_EQ(order.getBytesBefore(named.get("a")), 1001);
  EXPECT_EQ(order.getBytesBefore(named.get("b")), 1018);
  EXPECT_EQ(order.getBytesBefore(named.get("z")), 7);
}

TEST(MovableOrder, KeepsOperationsInFlight) {
  NamedProblem named = parseProblem("a1, w1(a1), a2, w2(a2)");
  for (unsigned limit : {1u, 2u}) {
    named.problem.maxInFlight = limit;
    MovableOrder order(named.problem, getProgramOrder(named.problem.graph));
    MoveResult expected =
        limit == 1 ? MoveResult::TooManyInFlight : MoveResult::Moved;
    order.beginGroup(named.get("a2"));
    EXPECT_EQ(order.moveLeft(noLimit), expected);
    order.endGroup();
    MovableOrder other(named.problem, getProgramOrder(named.problem.graph));
    other.beginGroup(named.get("w1"));
    EXPECT_EQ(other.moveRight(noLimit), expected);
    other.endGroup();
  }
}

TEST(MovableOrder, HugeBuffersDoNotOverflow) {
  std::string huge = std::to_string(noLimit);
  NamedProblem named =
      parseProblem("x, y, z", huge + " x y, " + huge + " y z, " + huge + "! x");
  MovableOrder order(named.problem, getProgramOrder(named.problem.graph));
  order.beginGroup(1);
  EXPECT_EQ(order.moveLeft(noLimit), MoveResult::Moved);
  order.endGroup();
  EXPECT_GT(order.getPeakBytes(), 0);
}

/// Compares `order` with what the simulator says of it.
void expectSameMemory(const SchedulingProblem &problem,
                      const MovableOrder &order) {
  ScheduleOrder nodes = order.getOrder();
  std::string reason;
  ASSERT_TRUE(isLegalOrder(problem.graph, nodes, &reason)) << reason;
  ASSERT_EQ(order.getPeakBytes(), simulateOrder(problem, nodes).peakBytes);
  int64_t live = problem.liveBytes;
  for (auto [node, op] :
       llvm::zip_equal(nodes, getSimulatedOps(problem, nodes))) {
    ASSERT_EQ(order.getBytesBefore(node), live);
    live += op.allocatedBytes - op.freedBytes;
  }
}

TEST(MovableOrder, RandomMovesKeepWhatTheSimulatorSays) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomGraphOptions options;
    options.numNodes = 4 + seed;
    options.opaqueEvery = seed % 2 ? 30 : 0;
    options.maxOperands = 1 + seed % 3;
    SchedulingProblem problem = makeMemoryProblem(seed, options);
    MovableOrder order(problem, getProgramOrder(problem.graph));
    expectSameMemory(problem, order);
    int64_t peak = order.getPeakBytes();

    std::mt19937_64 engine(seed);
    for (unsigned group = 0; group != 30; ++group) {
      order.beginGroup(engine() % problem.graph.size());
      // Some rounds may use a tenth more memory, others have no limit.
      int64_t limit = seed % 3 ? peak + peak / 10 : noLimit;
      for (unsigned step = 0; step != 12; ++step) {
        bool left = engine() % 2;
        unsigned candidate = left ? order.getPrevious(order.getHead())
                                  : order.getNext(order.getTail());
        if (candidate == MovableOrder::none)
          continue;
        if (left ? order.groupNeeds(candidate) : order.needsGroup(candidate))
          left ? order.extendLeft() : order.extendRight();
        else if (left)
          order.moveLeft(limit);
        else
          order.moveRight(limit);
      }
      order.endGroup();
      expectSameMemory(problem, order);
      if (HasFatalFailure())
        FAIL() << "seed " << seed << ", group " << group;
      if (limit != noLimit)
        ASSERT_LE(order.getPeakBytes(), limit) << "seed " << seed;
    }
  }
}

} // namespace
