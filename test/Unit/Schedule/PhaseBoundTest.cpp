//===- PhaseBoundTest.cpp - What cannot be done early, or late ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PhaseBound.h"

#include "CriticalPathScheduler.h"
#include "ExhaustiveSearch.h"
#include "LayeredGraphs.h"
#include "braid/Schedule/LowerBound.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

static int64_t getBound(const SchedulingProblem &problem, int64_t knownNs = 0) {
  PrecedenceDag before = buildPrecedenceDag(problem),
                after = before.transpose();
  return getPhaseBound(before, after, knownNs, 10'000'000);
}

TEST(PhaseBound, NoOrderIsShorter) {
  for (uint64_t seed = 0; seed != 200; ++seed) {
    SchedulingProblem problem = makeSmallProblem(
        static_cast<SmallShape>(seed % numSmallShapes), seed, 6 + seed % 8);
    problem.machine.launchNs = seed % 3;
    problem.keepOrderOfStarts = seed % 5 == 0;
    int64_t least = *findLeastMakespanExhaustively(
        problem,
        simulateOrder(problem, getProgramOrder(problem.graph)).makespanNs);
    int64_t known = computeLowerBounds(problem).best();
    EXPECT_LE(getBound(problem), least) << "seed " << seed;
    EXPECT_LE(getBound(problem, known), least) << "seed " << seed;
    EXPECT_GE(getBound(problem, known), known) << "seed " << seed;
  }
}

TEST(PhaseBound, APhaseThatWaitsForItsLaneBeforeOneThatWaitsForTheStream) {
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
