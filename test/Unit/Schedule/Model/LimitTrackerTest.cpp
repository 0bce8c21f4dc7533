//===- LimitTrackerTest.cpp - Memory and operations in flight -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Model/LimitTracker.h"

#include "TestProblems/GraphTestUtils.h"
#include "TestProblems/LayeredGraphs.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

static SchedulingProblem makeProblem(uint64_t seed) {
  SchedulingProblem problem = makeSmallProblem(seed, 12 + seed % 20);
  // No limit that nothing can exceed, which the flat problem drops.
  problem.maxMemory =
      simulateOrder(problem, getProgramOrder(problem.graph)).peakBytes;
  problem.maxInFlight = 1 + seed % 2;
  return problem;
}

TEST(LimitTracker, NeededBytesAreThoseOfTheSimulator) {
  for (uint64_t seed = 0; seed != 70; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed);
    FlatProblem flat(problem);
    LimitTracker tracker(flat);
    ScheduleOrder order = makeRandomOrder(problem.graph, seed);
    int64_t peakBytes = flat.liveBytes;
    for (unsigned node : order) {
      int64_t bytes = tracker.getNeededBytes(node);
      int64_t after = tracker.getLiveBytes() + tracker.getAddedBytes(node);
      EXPECT_EQ(tracker.place(node).neededBytes, bytes);
      EXPECT_EQ(tracker.getLiveBytes(), after);
      peakBytes = std::max(peakBytes, bytes);
    }
    EXPECT_EQ(peakBytes, simulateOrder(problem, order).peakBytes);
  }
}

/// True if no start of `order` finds `maxInFlight` operations of its lane that
/// nothing before it awaits.
static bool hasRoomForStarts(const SchedulingProblem &problem,
                             llvm::ArrayRef<unsigned> order) {
  for (size_t place = 0; place != order.size(); ++place) {
    auto isInFlight = [&](unsigned start) {
      return problem.graph[start].kind == NodeKind::Start &&
             problem.graph[start].lane == problem.graph[order[place]].lane &&
             llvm::none_of(order.take_front(place), [&](unsigned node) {
               return llvm::is_contained(problem.awaits,
                                         std::pair(node, start));
             });
    };
    if (problem.graph[order[place]].kind == NodeKind::Start &&
        llvm::count_if(order.take_front(place), isInFlight) >=
            problem.maxInFlight)
      return false;
  }
  return true;
}

TEST(LimitTracker, StartsHaveRoomWhereTheOrderIsAllowed) {
  unsigned allowed = 0;
  for (uint64_t seed = 0; seed != 140; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed);
    FlatProblem flat(problem);
    LimitTracker tracker(flat);
    ScheduleOrder order = makeRandomOrder(problem.graph, seed);
    bool hasRoom = true;
    for (unsigned node : order) {
      hasRoom &= tracker.mayStart(node);
      tracker.place(node);
    }
    EXPECT_EQ(hasRoom, hasRoomForStarts(problem, order));
    EXPECT_EQ(hasRoom, isAllowedOrder(problem, order));
    allowed += hasRoom;
  }
  EXPECT_GT(allowed, 20u);
  EXPECT_LT(allowed, 120u);
}

TEST(LimitTracker, EntersAPlaceInTheMiddleOfAnOrder) {
  for (uint64_t seed = 0; seed != 70; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed);
    FlatProblem flat(problem);
    LimitTracker fromBegin(flat), entered(flat);
    ScheduleOrder order = makeRandomOrder(problem.graph, seed);
    std::vector<bool> isPlaced(flat.size(), false);
    size_t middle = order.size() / 2;
    for (unsigned node : llvm::ArrayRef(order).take_front(middle)) {
      fromBegin.place(node);
      isPlaced[node] = true;
    }
    llvm::ArrayRef<unsigned> rest = llvm::ArrayRef(order).drop_front(middle);
    entered.enter(rest, fromBegin.getLiveBytes(),
                  [&](unsigned node) { return isPlaced[node]; });
    entered.setInFlight(fromBegin.getInFlight());
    for (unsigned node : rest) {
      EXPECT_EQ(entered.fits(node), fromBegin.fits(node));
      LimitTracker::Effect effect = fromBegin.place(node);
      LimitTracker::Effect same = entered.place(node);
      EXPECT_EQ(same.neededBytes, effect.neededBytes);
      EXPECT_EQ(same.endsSomething, effect.endsSomething);
    }
  }
}
