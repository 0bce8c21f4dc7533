//===- AlgorithmsTest.cpp - Orders of the scheduling algorithms -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems/GraphTestUtils.h"
#include "TestProblems/StandardPrograms.h"

#include "braid/Schedule/Baselines/Inductor/RaiseCollectives.h"
#include "braid/Schedule/Baselines/Inductor/ReorderComputeForOverlap.h"

#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using namespace braid::test;

namespace {

using Algorithm = ScheduleOrder (*)(const ScheduleGraph &);

std::string run(Algorithm algorithm, llvm::StringRef program) {
  NamedGraph graph = parseGraph(program);
  ScheduleOrder order = algorithm(graph.graph);
  std::string reason;
  EXPECT_TRUE(isLegalOrder(graph.graph, order, &reason)) << reason;
  EXPECT_TRUE(keepsOrderOfStarts(graph.graph, order));
  return graph.print(order);
}

std::string inProgramOrder(llvm::StringRef program) {
  NamedGraph graph = parseGraph(program);
  return graph.print(getProgramOrder(graph.graph));
}

TEST(SinkWaits, StandardPrograms) {
  EXPECT_EQ(run(sinkWaits, programA), "ar,relu,mm,w,add");
  EXPECT_EQ(run(sinkWaits, programA2), "relu,mm,ar,w,add");
  EXPECT_EQ(run(sinkWaits, programNS), "ar,mm1,w,mm2");
  EXPECT_EQ(run(sinkWaits, programNR), inProgramOrder(programNR));
  EXPECT_EQ(run(sinkWaits, programNSR), "mm1,relu1,mm2,ar,relu2,mm3,w,mm4");
  EXPECT_EQ(run(sinkWaits, programR), "ar1,g,c,d,w1,f,ar2,w2,s,e");
  EXPECT_EQ(run(sinkWaits, programI3), "a1,m1,a2,m2,a3,m3,m4,w1,w2,w3,o");
}

TEST(SinkWaits, UnusedWaitsGoToTheEndInProgramOrder) {
  EXPECT_EQ(run(sinkWaits, "a1, w1(a1), a2, w2(a2), x, y(x)"),
            "a1,a2,x,y,w1,w2");
}

TEST(SinkWaits, OpaqueNodesHoldWaits) {
  EXPECT_EQ(run(sinkWaits, "a1, w1(a1), x, op, y, z(w1)"), "a1,x,w1,op,y,z");
}

TEST(SinkWaits, SeveralWaitsOfOneStartMoveAlone) {
  EXPECT_EQ(run(sinkWaits, "a1, w1(a1), w2(a1), x, y(w2), z(w1)"),
            "a1,x,w2,y,w1,z");
}

TEST(SinkWaits, WaitThatFollowsAWaitComesWithIt) {
  // w2 has to follow w1, but is needed first.
  EXPECT_EQ(run(sinkWaits, "a1, w1(a1), a2, w2(a2,w1), w3(a1,w2), x, y(w3), z"),
            "a1,a2,x,w1,w2,w3,y,z");
}

TEST(SinkWaits, AStartThatUsesAWaitPullsIt) {
  EXPECT_EQ(run(sinkWaits, "a1, w1(a1), x, a2(w1), y, w2(a2)"),
            "a1,x,w1,a2,y,w2");
}

TEST(RaiseCollectives, StandardPrograms) {
  EXPECT_EQ(run(raiseCollectives, programA), "ar,w,relu,mm,add");
  EXPECT_EQ(run(raiseCollectives, programA2), "ar,relu,mm,w,add");
  EXPECT_EQ(run(raiseCollectives, programNS), "ar,w,mm1,mm2");
  EXPECT_EQ(run(raiseCollectives, programNR), "mm1,ar,relu,mm2,w,mm3");
  EXPECT_EQ(run(raiseCollectives, programNSR),
            "mm1,ar,relu1,mm2,w,relu2,mm3,mm4");
  EXPECT_EQ(run(raiseCollectives, programR), "ar1,w1,g,c,d,f,ar2,w2,s,e");
}

// PyTorch's assertion fires here: all three depend on arguments alone.
TEST(RaiseCollectives, SeveralStartsWithoutProducersKeepTheirOrder) {
  EXPECT_EQ(run(raiseCollectives, programI3),
            "a1,a2,a3,w1,m1,w2,m2,w3,m3,m4,o");
}

// With an in-place collective there is one more edge, relu -> ar.
TEST(RaiseCollectives, ReadersOfABufferInPlaceStayBefore) {
  EXPECT_EQ(run(raiseCollectives,
                "mm1, relu(mm1), mm2(relu), ar(mm1,relu), w(ar), mm3(w,mm2)"),
            "mm1,relu,ar,mm2,w,mm3");
}

TEST(RaiseCollectives, AStartHeldBackHoldsBackThoseAfterIt) {
  EXPECT_EQ(run(raiseCollectives, "x, y(x), a1(y), a2, w1(a1), w2(a2)"),
            "x,y,a1,a2,w1,w2");
}

TEST(RaiseCollectives, OpaqueNodesStop) {
  EXPECT_EQ(run(raiseCollectives, "x, op, y, a1, w1(a1)"), "x,op,a1,y,w1");
}

TEST(RaiseCollectivesWithProducers, StandardPrograms) {
  Algorithm raise = raiseCollectivesWithProducers;
  EXPECT_EQ(run(raise, programA), "ar,w,relu,mm,add");
  EXPECT_EQ(run(raise, programA2), "ar,relu,mm,w,add");
  EXPECT_EQ(run(raise, programNS), "ar,w,mm1,mm2");
  EXPECT_EQ(run(raise, programNR), "mm1,ar,relu,mm2,w,mm3");
  EXPECT_EQ(run(raise, programNSR), "mm1,ar,relu1,mm2,w,relu2,mm3,mm4");
  EXPECT_EQ(run(raise, programR), "ar1,w1,c,d,f,ar2,g,w2,s,e");
  EXPECT_EQ(run(raise, programI3), "a1,a2,a3,w1,m1,w2,m2,w3,m3,m4,o");
}

TEST(RaiseCollectivesWithProducers, ACopyRisesWithItsCollective) {
  EXPECT_EQ(run(raiseCollectivesWithProducers,
                "mm1, relu1(mm1), mm2(relu1), cl(mm1), ar(cl), w(ar), "
                "relu2(mm2), mm3(relu2), mm4(w,mm3)"),
            "mm1,cl,ar,relu1,mm2,w,relu2,mm3,mm4");
}

TEST(ReorderComputeForOverlap, StandardPrograms) {
  EXPECT_EQ(run(reorderComputeForOverlap, programR),
            "ar1,c,d,g,w1,f,ar2,w2,s,e");
  EXPECT_EQ(run(reorderComputeForOverlap, programA), inProgramOrder(programA));
  EXPECT_EQ(run(reorderComputeForOverlap, programA2), "ar,relu,mm,w,add");
  EXPECT_EQ(run(reorderComputeForOverlap, programNR), "mm1,ar,relu,mm2,w,mm3");
  EXPECT_EQ(run(reorderComputeForOverlap, programNSR),
            "mm1,ar,relu1,mm2,w,relu2,mm3,mm4");
}

// m3 (10 - 8 <= 4 / 2) and m4 (10 - 8 <= 30 / 2) are skipped in both rounds,
// and nothing else is a candidate: w1 to w3 follow a3 in program order.
TEST(ReorderComputeForOverlap, WaitsAreNoFiller) {
  EXPECT_EQ(run(reorderComputeForOverlap, programI3),
            "a1,m1,m2,a2,a3,w1,w2,w3,m3,m4,o");
}

TEST(ReorderComputeForOverlap, FillerStaysBehindOpaqueNodes) {
  auto withBetween = [](const std::string &between) {
    return run(reorderComputeForOverlap,
               "a1:10, w1(a1), " + between +
                   ":4, a2:10, w2(a2), x:3, y:5, a3:10, w3(a3)");
  };
  EXPECT_EQ(withBetween("op"), "a1,w1,op,a2,x,y,a3,w2,w3");
  EXPECT_EQ(withBetween("c"), "a1,c,x,y,a2,a3,w1,w2,w3");
}

// Each line is one decision of step 2 around `gap <= cost / 2`.
TEST(ReorderComputeForOverlap, HalfRule) {
  auto fill = [](const char *filler) {
    return run(reorderComputeForOverlap,
               std::string("a1:10, w1(a1), a2:10, w2(a2), ") + filler);
  };
  EXPECT_EQ(fill("x:19"), "a1,x,a2,w1,w2");
  EXPECT_EQ(fill("x:20"), "a1,a2,w1,w2,x");
}

TEST(ReorderComputeForOverlap, SmallerNodeAfterASkippedOneIsTaken) {
  EXPECT_EQ(run(reorderComputeForOverlap,
                "a1:10, w1(a1), a2(w1), w2(a2), x:40, y:3, z(w2)"),
            "a1,y,w1,a2,w2,x,z");
}

TEST(ReorderComputeForOverlap, NodesForTheEarliestStartComeFirst) {
  // Both x and y are ready; y feeds the next start but one.
  EXPECT_EQ(run(reorderComputeForOverlap,
                "a1:4, w1(a1), x:6, y:6, a2:4(w1), w2(a2), a3:4(w2,y), w3(a3)"),
            "a1,y,w1,a2,x,w2,a3,w3");
}

TEST(ReorderComputeForOverlap, NodesThatBecomeReadyWaitForTheNextRound) {
  EXPECT_EQ(run(reorderComputeForOverlap,
                "a1:10, w1(a1), a2:10(w1), w2(a2), a3:10(w2), w3(a3), x:1, "
                "y:1(x), z:1(y)"),
            "a1,x,w1,a2,y,w2,a3,w3,z");
}

TEST(ReorderComputeForOverlap, LeftOversCountForTheNextIfBothAreInFlight) {
  // x and y hide a1; a2 starts while a1 is in flight, so that they count for a2
  // too and z is not needed. Where a2 awaits a1, z fills the second gap.
  EXPECT_EQ(run(reorderComputeForOverlap,
                "a1:10, a2:10, a3:10, w1(a1), w2(a2), w3(a3), x:5, y:5, z:5"),
            "a1,x,y,a2,a3,w1,w2,w3,z");
  EXPECT_EQ(
      run(reorderComputeForOverlap,
          "a1:10, w1(a1), a2:10(w1), w2(a2), a3:10(w2), w3(a3), x:5, y:5, z:5"),
      "a1,x,y,w1,a2,z,w2,a3,w3");
}

// Orders of a port of PyTorch 2.4's `reorder_compute_for_overlap`.
TEST(ReorderComputeForOverlapWaitsAsFiller, StandardPrograms) {
  for (const char *program :
       {programA, programA2, programNS, programNR, programNSR, programR})
    EXPECT_EQ(run(reorderComputeForOverlapWaitsAsFiller, program),
              run(reorderComputeForOverlap, program));
  EXPECT_EQ(run(reorderComputeForOverlapWaitsAsFiller, programI3),
            "a1,m1,m2,a2,w1,a3,w2,w3,m3,m4,o");
}

// In round 1 (a1 in flight, a2 next) nothing is ready but w1, which depends on
// a1. In round 2 (a2 in flight, a3 next) w1 is ready and does not depend on a2:
// its cost of 0 passes the half rule (100 - 0 > 0 / 2). w2 depends on a2. Both
// w2 and w3 follow a3 with the rest.
TEST(ReorderComputeForOverlapWaitsAsFiller, AReadyWaitIsTaken) {
  const char *program = "a1, w1(a1), a2, w2(a2), a3, w3(a3)";
  EXPECT_EQ(run(reorderComputeForOverlapWaitsAsFiller, program),
            "a1,a2,w1,a3,w2,w3");
  EXPECT_EQ(run(reorderComputeForOverlap, program), "a1,a2,a3,w1,w2,w3");
}

TEST(ReorderComputeForOverlapWaitsAsFiller, NoWaitIsTakenWhereNothingIsToHide) {
  EXPECT_EQ(run(reorderComputeForOverlapWaitsAsFiller,
                "a1, w1(a1), a2:0, w2(a2), a3, w3(a3)"),
            "a1,a2,a3,w1,w2,w3");
}

// x is ready once w1 is taken, in the round of a3, and a candidate in the next.
TEST(ReorderComputeForOverlapWaitsAsFiller, WhatNeedsATakenWaitFillsLater) {
  const char *program =
      "a1:10, w1(a1), a2:10, w2(a2), a3:10, w3(a3), x:9(w1), a4:10, w4(a4)";
  EXPECT_EQ(run(reorderComputeForOverlapWaitsAsFiller, program),
            "a1,a2,w1,a3,w2,x,a4,w3,w4");
  EXPECT_EQ(run(reorderComputeForOverlap, program),
            "a1,a2,a3,a4,w1,w2,w3,x,w4");
}

TEST(ReorderComputeForOverlapWaitsAsFiller, OpaqueNodesAreNoFiller) {
  EXPECT_EQ(run(reorderComputeForOverlapWaitsAsFiller,
                "a1:10, w1(a1), a2:10, w2(a2), op:4"),
            "a1,a2,w1,w2,op");
}

TEST(ReorderComputeForOverlap, HugeCostsDoNotOverflow) {
  std::string huge = std::to_string(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(run(reorderComputeForOverlap,
                "a1:" + huge + ", w1(a1), x:" + huge + ", y:" + huge + ", a2:" +
                    huge + "(w1,x,y), w2(a2), z:" + huge + ", a3(w2)"),
            "a1,x,y,w1,a2,z,w2,a3");
}

TEST(Algorithms, ProgramsWithoutStartsDoNotChange) {
  for (Algorithm algorithm :
       {sinkWaits, raiseCollectives, raiseCollectivesWithProducers,
        reorderComputeForOverlap, reorderComputeForOverlapWaitsAsFiller}) {
    EXPECT_EQ(run(algorithm, "x, y(x), op, z"), "x,y,op,z");
    EXPECT_EQ(run(algorithm, ""), "");
  }
}

} // namespace
