//===- ClosureBoundTest.cpp - Tests of the bound of a closure -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Bounds/ClosureBound.h"

#include "Schedule/Search/Construction/ListScheduler.h"
#include "TestProblems/ExhaustiveSearch.h"
#include "TestProblems/LayeredGraphs.h"
#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

static int64_t getBound(const SchedulingProblem &problem, int64_t knownNs = 0) {
  PrecedenceDag before = buildPrecedenceDag(problem),
                after = before.transpose();
  return getClosureBound(before, after, knownNs, 10'000'000);
}

/// `problem`, but operations take 100, or 70 in some problems, too: few
/// sums of them fit into a gap.
static SchedulingProblem makeAlike(const SchedulingProblem &problem,
                                   bool hasTwoCosts) {
  SchedulingProblem alike;
  for (unsigned i = 0, end = problem.graph.size(); i != end; ++i) {
    ScheduleNode node = problem.graph[i];
    if (node.kind == NodeKind::Start)
      node.cost = hasTwoCosts && node.cost % 2 == 0 ? 70 : 100;
    alike.graph.addNode(node);
    for (unsigned predecessor : problem.graph.predecessors(i))
      alike.graph.addEdge(predecessor, i);
  }
  alike.graph.finalize();
  alike.awaits = problem.awaits;
  return alike;
}

static void expectNoOrderIsShorter(const SchedulingProblem &problem) {
  int64_t least = *findLeastMakespanExhaustively(
      problem,
      simulateOrder(problem, getProgramOrder(problem.graph)).makespanNs);
  int64_t known = computeLowerBounds(problem).best();
  EXPECT_LE(getBound(problem), least);
  EXPECT_LE(getBound(problem, known), least);
  EXPECT_GE(getBound(problem, known), known);
}

TEST(ClosureBound, NoOrderIsShorter) {
  for (uint64_t seed = 0; seed != 200; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeSmallProblem(seed, 6 + seed % 8);
    problem.machine.launchNs = seed % 3;
    problem.keepOrderOfStarts = seed % 5 == 0;
    expectNoOrderIsShorter(problem);
  }
}

TEST(ClosureBound, NoOrderIsShorterWhereOperationsAreAlike) {
  for (uint64_t seed = 0; seed != 600; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem =
        makeAlike(makeSmallProblem(seed, 6 + seed % 8), seed % 2 == 0);
    problem.machine.launchNs = seed % 3;
    problem.keepOrderOfStarts = seed % 5 == 0;
    expectNoOrderIsShorter(problem);
  }
}

TEST(ClosureBound, SumsOverManyLanesDoNotOverflow) {
  // One chain over 128 lanes: each alone is short enough, all of them are not.
  ProblemWriter writer;
  unsigned value = writer.compute(1, {}, 1);
  int64_t least = 1;
  for (unsigned lane = 0; lane != 128; ++lane) {
    constexpr int64_t costNs = 1'000'000'000'000'000;
    value = writer.compute(1000, writer.collective(lane, costNs, value, 1), 1);
    least += costNs + 1000;
  }
  SchedulingProblem problem = writer.finish();
  EXPECT_LE(getBound(problem), least);
  EXPECT_EQ(computeLowerBounds(problem).best(), least);
}

TEST(ClosureBound, APhaseThatWaitsForItsLaneBeforeOneThatWaitsForTheStream) {
  // Two chains of compute and collectives, on one lane that takes three times
  // as long, and much compute that needs the end of either. Neither the longest
  // chain nor the work of the stream or the lane with head and tail sees that
  // the stream has next to nothing to do while the chains run.
  ProblemWriter writer;
  for (unsigned chain = 0; chain != 2; ++chain) {
    unsigned value = writer.compute(10, {}, 1);
    for (unsigned i = 0; i != 10; ++i)
      value = writer.compute(10, writer.collective(0, 30, value, 1), 1);
    for (unsigned i = 0; i != 30; ++i)
      writer.compute(10, value, 1);
  }
  SchedulingProblem problem = writer.finish();
  // One chain ends at 410 at the earliest. Until then the lane does 300 of it
  // and at most 100 of the other, whose compute gets a third of that: together
  // at most 110 + 10 + 100 / 3 of the stream's 820. Times and factors that are
  // tried come close.
  EXPECT_GE(getBound(problem), 410 + 820 - 154 - 10);
  LowerBounds bounds = computeLowerBounds(problem);
  EXPECT_LT(bounds.get(LowerBoundKind::StreamHeadTail), 410 + 820 - 200);
  EXPECT_GE(bounds.get(LowerBoundKind::Availability), 410 + 820 - 154 - 10);
}

TEST(ClosureBound, WholeOperationsFillTheGapsOfALeadingChain) {
  // A chain whose gaps of 60 no operation of 100 fits into, much compute behind
  // it, and four operations that bring 50 of compute each.
  ProblemWriter writer;
  unsigned value = writer.collective(0, 100, {}, 1);
  for (unsigned i = 0; i != 2; ++i)
    value = writer.collective(0, 100, writer.compute(60, value, 1), 1);
  writer.compute(1000, writer.compute(60, value, 1), 1);
  for (unsigned i = 0; i != 4; ++i)
    writer.compute(50, writer.collective(0, 100, {}, 1), 1);
  SchedulingProblem problem = writer.finish();
  // Alone the chain ends at 480. Until then the lane brings at most half of its
  // time, and 30 that the chain has more than that: 270 of 1380. With a whole
  // operation in each gap it ends at 560, with 310; empty gaps lose as much.
  EXPECT_EQ(getBound(problem), 1380 + 560 - 310);
  // At 560 the last operation is still running: 280 is what any order can do.
  EXPECT_EQ(searchSchedule(problem).makespanNs, 1380 + 560 - 280);
}
