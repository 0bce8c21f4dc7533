//===- TimedOrderTest.cpp - An order with its times from both ends --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Search/Improvement/TimedOrder.h"

#include "TestProblems/LayeredGraphs.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

/// Everything that `timed` says of its order is what a new one says.
static void expectSameAsNew(const FlatProblem &flat, const TimedOrder &timed) {
  TimedOrder fresh(flat);
  fresh.assign(timed.getOrder());
  ASSERT_EQ(timed.getMakespanNs(), fresh.getMakespanNs());
  for (unsigned where = 0; where != flat.size(); ++where) {
    ASSERT_EQ(timed.getStreamNs(where), fresh.getStreamNs(where)) << where;
    ASSERT_EQ(timed.getStreamTailNs(where), fresh.getStreamTailNs(where))
        << where;
    unsigned node = timed.getOrder()[where];
    ASSERT_EQ(timed.getPlace(node), where);
    if (!flat.isStart(node))
      continue;
    ASSERT_EQ(timed.getEndNs(node), fresh.getEndNs(node)) << node;
    ASSERT_EQ(timed.getEndTailNs(node), fresh.getEndTailNs(node)) << node;
    ASSERT_EQ(timed.getPreviousOnLane(node), fresh.getPreviousOnLane(node));
  }
}

/// The least limit that the program's order keeps.
static unsigned getMostInFlight(SchedulingProblem problem) {
  ScheduleOrder program = getProgramOrder(problem.graph);
  problem.maxInFlight = 1;
  while (!isAllowedOrder(problem, program))
    ++problem.maxInFlight;
  return problem.maxInFlight;
}

TEST(TimedOrder, ChangesStepByStepAreAsGoodAsNew) {
  for (uint64_t seed = 0; seed != 60; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = seed < 50 ? makeSmallProblem(seed, 5 + 2 * seed)
                                          : makeLongProgram(300, seed);
    int64_t limit =
        simulateOrder(problem, getProgramOrder(problem.graph)).peakBytes;
    if (seed % 2)
      problem.maxMemory = limit;
    if (seed % 3 == 0)
      problem.maxInFlight = getMostInFlight(problem);
    FlatProblem flat(problem);
    TimedOrder timed(flat);
    timed.assign(getProgramOrder(problem.graph));
    std::mt19937_64 engine(seed);
    for (unsigned i = 0; i != 60; ++i) {
      // Some stretch, sorted anew within its edges: a node goes to the end.
      unsigned begin = engine() % flat.size();
      unsigned length = 1 + engine() % std::min(flat.size() - begin, 20u);
      auto nodes = timed.getOrder().slice(begin, length);
      std::vector<unsigned> changed(nodes.begin() + 1, nodes.end());
      changed.push_back(nodes.front());
      ScheduleOrder whole = timed.getOrder().vec();
      std::copy(changed.begin(), changed.end(), whole.begin() + begin);
      if (!isLegalOrder(problem.graph, whole))
        continue;
      Simulation simulation = simulateOrder(problem, whole);
      ASSERT_EQ(timed.keepsLimits(begin, changed),
                isAllowedOrder(problem, whole) &&
                    (!problem.maxMemory ||
                     simulation.peakBytes <= *problem.maxMemory));
      // What the change decides, and what it does not reach.
      int64_t before = timed.evaluate(begin, nodes);
      ASSERT_LE(before, timed.getMakespanNs());
      int64_t after = timed.evaluate(begin, changed);
      ASSERT_LE(after, simulation.makespanNs);
      if (after > timed.getMakespanNs()) {
        ASSERT_EQ(after, simulation.makespanNs);
      }
      ASSERT_LE(simulation.makespanNs, std::max(after, timed.getMakespanNs()));
      if (!timed.keepsLimits(begin, changed))
        continue;
      timed.replace(begin, changed);
      ASSERT_EQ(timed.getMakespanNs(), simulation.makespanNs);
      ASSERT_NO_FATAL_FAILURE(expectSameAsNew(flat, timed));
    }
  }
}
