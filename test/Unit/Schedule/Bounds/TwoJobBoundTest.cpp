//===- TwoJobBoundTest.cpp - Tests of the bound of two jobs ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Bounds/TwoJobBound.h"

#include "TestProblems/ExhaustiveSearch.h"
#include "TestProblems/LayeredGraphs.h"
#include "braid/Schedule/Bounds/LowerBound.h"
#include "gtest/gtest.h"

#include <limits>
#include <random>

using namespace braid;
using namespace braid::test;

static constexpr int64_t unknown = std::numeric_limits<int64_t>::max();

static int64_t getIdle(const SchedulingProblem &problem,
                       int64_t mostIdle = unknown, size_t maxPoints = 100'000) {
  return getTwoJobIdle(buildPrecedenceDag(problem), mostIdle, maxPoints);
}

static int64_t getStreamWork(const SchedulingProblem &problem) {
  return computeLowerBounds(problem).get(LowerBoundKind::Stream);
}

/// Chains of compute and collectives in turn, of the given costs.
static void writeChain(ProblemWriter &writer, llvm::ArrayRef<int64_t> costs,
                       unsigned fillers = 0, int64_t fillerNs = 0) {
  llvm::SmallVector<unsigned, 1> inputs;
  for (size_t i = 0; i != costs.size(); ++i) {
    unsigned value = i % 2 ? writer.collective(0, costs[i], inputs, 1)
                           : writer.compute(costs[i], inputs, 1);
    inputs.assign(1, value);
  }
  for (unsigned i = 0; i != fillers; ++i)
    writer.compute(fillerNs, inputs, 1);
}

TEST(TwoJobBound, ComputeThatIsShorterThanWhatItHides) {
  // Each chain: 50, all-reduce 60, 80, all-reduce 60, 50. Beside the other's 80
  // each all-reduce hides, beside its 50 ten are left over.
  ProblemWriter writer;
  for (int i = 0; i != 2; ++i)
    writeChain(writer, {50, 60, 80, 60, 50});
  SchedulingProblem problem = writer.finish();
  int64_t least = *findLeastMakespanExhaustively(problem, std::nullopt);
  EXPECT_EQ(getStreamWork(problem) + getIdle(problem), least);
  EXPECT_GT(getIdle(problem), 0);
}

TEST(TwoJobBound, OtherWorkFillsWhatChainsLeaveFree) {
  // What follows the first chain fills the gaps of the second.
  for (unsigned fillers : {0, 1, 4}) {
    ProblemWriter writer;
    writeChain(writer, {10, 30, 10}, fillers, 10);
    writeChain(writer, {10, 30, 10, 30, 10});
    SchedulingProblem problem = writer.finish();
    int64_t least = *findLeastMakespanExhaustively(problem, std::nullopt);
    EXPECT_EQ(getStreamWork(problem) + getIdle(problem), least)
        << fillers << " fillers";
  }
}

TEST(TwoJobBound, OneChainAloneSaysNothing) {
  ProblemWriter writer;
  writeChain(writer, {10, 30, 10});
  EXPECT_EQ(getIdle(writer.finish()), 0);
}

TEST(TwoJobBound, StopsAtWhatIsKnown) {
  ProblemWriter writer;
  for (int i = 0; i != 2; ++i)
    writeChain(writer, {10, 60, 10, 60, 10});
  SchedulingProblem problem = writer.finish();
  int64_t idle = getIdle(problem);
  ASSERT_GT(idle, 10);
  EXPECT_EQ(getIdle(problem, idle + 1), idle);
  EXPECT_EQ(getIdle(problem, 10), 10);
  EXPECT_EQ(getIdle(problem, 0), 0);
}

TEST(TwoJobBound, FewerPointsGiveLess) {
  SchedulingProblem problem =
      makeTrainingStep({Parallelism::SequenceParallel, 4, 2, 100, 30, 1});
  int64_t idle = getIdle(problem);
  int64_t before = 0;
  for (size_t maxPoints : {0, 10, 100, 1000}) {
    int64_t partial = getIdle(problem, unknown, maxPoints);
    EXPECT_LE(before, partial);
    EXPECT_LE(partial, idle);
    before = partial;
  }
  EXPECT_GT(idle, 0);
}

TEST(TwoJobBound, NoOrderIsShorter) {
  // Two chains of random jobs on the stream and up to two lanes, and others
  // beside them.
  unsigned numExact = 0, numAbove = 0;
  constexpr unsigned numProblems = 300;
  for (uint64_t seed = 0; seed != numProblems; ++seed) {
    std::mt19937_64 engine(seed);
    ProblemWriter writer;
    unsigned numLanes = 1 + seed % 2;
    for (int chain = 0; chain != 2; ++chain) {
      unsigned value = writer.compute(1 + engine() % 20, {}, 1);
      while (writer.size() < 7u * (chain + 1)) {
        if (engine() % 2)
          value = writer.collective(engine() % numLanes, 1 + engine() % 30,
                                    value, 1);
        else
          value = writer.compute(1 + engine() % 20, value, 1);
        if (engine() % 4 == 0)
          writer.compute(1 + engine() % 20, value, 1);
      }
    }
    SchedulingProblem problem = writer.finish();
    int64_t least = *findLeastMakespanExhaustively(problem, std::nullopt);
    LowerBounds bounds = computeLowerBounds(problem);
    int64_t bound = bounds.get(LowerBoundKind::Stream) + getIdle(problem);
    EXPECT_LE(bound, least) << "seed " << seed;
    numExact += bound == least;
    bounds.ns[size_t(LowerBoundKind::TwoJobs)] = 0;
    numAbove += bound > bounds.best();
  }
  // It is often exact, and often better than all other bounds.
  EXPECT_GE(numExact, numProblems * 8 / 10);
  EXPECT_GE(numAbove, numProblems / 10);
}

TEST(TwoJobBound, ProvesOrdersOfTrainingSteps) {
  // With two micro-batches compute and all-reduces of the forward pass do not
  // fit beside each other, whatever the order: no other bound sees that.
  SchedulingProblem problem =
      makeTrainingStep({Parallelism::TensorParallel, 4, 2, 100, 0, 1});
  LowerBounds bounds = computeLowerBounds(problem);
  EXPECT_EQ(bounds.bestKind(), LowerBoundKind::TwoJobs);
}
