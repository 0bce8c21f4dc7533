//===- RenumberedProblemTest.cpp - Problems in another order --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Model/RenumberedProblem.h"

#include "TestProblems/GraphTestUtils.h"
#include "TestProblems/LayeredGraphs.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

TEST(RenumberedProblem, ProgramOrderIsThatOfTheOrder) {
  for (uint64_t seed = 0; seed != 200; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeSmallProblem(seed, 12 + seed % 20);
    if (seed % 2)
      shareGpu(problem);
    ScheduleOrder order = makeRandomOrder(problem.graph, seed);
    SchedulingProblem renumbered = renumberProblem(problem, order);
    if (llvm::Error error = renumbered.check())
      FAIL() << llvm::toString(std::move(error));
    EXPECT_EQ(renumbered.graph.numEdges(), problem.graph.numEdges());
    Simulation found =
                   simulateOrder(renumbered, getProgramOrder(renumbered.graph)),
               expected = simulateOrder(problem, order);
    EXPECT_EQ(found.makespanNs, expected.makespanNs);
    EXPECT_EQ(found.peakBytes, expected.peakBytes);
  }
}
