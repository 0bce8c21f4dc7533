//===- ProblemContractsTest.cpp - What problems and orders keep -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems/GraphTestUtils.h"
#include "TestProblems/LayeredGraphs.h"
#include "TestProblems/ProblemTestUtils.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

/// A start, a compute op beside the operation, the wait, and a second start.
static SchedulingProblem makeProblem() {
  SchedulingProblem problem;
  problem.graph.addNode({NodeKind::Start, false, /*lane=*/0, /*cost=*/10});
  problem.graph.addNode({NodeKind::Compute, false, -1, /*cost=*/20});
  problem.graph.addNode({NodeKind::Wait});
  problem.graph.addNode({NodeKind::Start, false, /*lane=*/0, /*cost=*/10});
  problem.graph.addEdge(0, 2);
  problem.graph.finalize();
  problem.awaits = {{2, 0}};
  problem.buffers = {{/*bytes=*/64, /*escapes=*/false, {0, 2}},
                     {/*bytes=*/32, /*escapes=*/false, {1}}};
  return problem;
}

/// What `check` says of the problem that `change` has made of a right one.
static std::string
getBroken(llvm::function_ref<void(SchedulingProblem &)> change) {
  SchedulingProblem problem = makeProblem();
  change(problem);
  return llvm::toString(problem.check());
}

TEST(ProblemContracts, ProblemsOfTheGeneratorsKeepTheInputContract) {
  EXPECT_EQ(llvm::toString(makeProblem().check()), "");
  EXPECT_EQ(llvm::toString(SchedulingProblem().check()), "");
  for (uint64_t seed = 0; seed != 40; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_EQ(llvm::toString(makeSmallProblem(seed, 12 + seed % 20).check()),
              "");
    RandomProblemOptions options;
    options.contention = seed % 2;
    options.bodies = seed % 3 == 0;
    options.carried = seed % 5 == 0;
    EXPECT_EQ(llvm::toString(makeRandomProblem(seed, options).check()), "");
  }
}

TEST(ProblemContracts, CheckNamesTheProperty) {
  EXPECT_EQ(getBroken([](auto &p) { p.graph.setCost(1, -5); }),
            "costs: node 1 takes -5 ns, expected at least 0");
  EXPECT_EQ(getBroken([](auto &p) { p.graph.setCost(2, 5); }),
            "costs: node 2 takes 5 ns, expected 0 of a wait");
  EXPECT_EQ(getBroken([](auto &p) { p.graph.setLane(1, 0); }),
            "lanes: node 1, which is compute, has lane 0, expected lanes of "
            "starts alone");
  EXPECT_EQ(getBroken([](auto &p) { p.demands.resize(3); }),
            "demands: found 3, expected none or 4, one for each node");
  EXPECT_EQ(getBroken([](auto &p) { p.leastNs = {{1, 5}, {1, 5}}; }),
            "least times: found node 1 after 1, expected ascending nodes "
            "below 4");
  EXPECT_EQ(getBroken([](auto &p) { p.leastNs = {{1, -1}}; }),
            "least times: node 1 has -1 ns, expected at least 0");
  EXPECT_EQ(getBroken([](auto &p) { p.transientBytes = {{4, 5}}; }),
            "transient bytes: found node 4 after -1, expected ascending nodes "
            "below 4");
  EXPECT_EQ(getBroken([](auto &p) { p.awaits = {{2, 1}}; }),
            "awaits: node 2 awaits node 1, expected a start, and a node that "
            "is none");
  EXPECT_EQ(getBroken([](auto &p) { p.awaits = {{1, 0}}; }),
            "awaits: node 1 awaits node 0 without an edge to it");
  EXPECT_EQ(getBroken([](auto &p) { p.awaits = {{2, 0}, {2, 0}}; }),
            "awaits: node 2 awaits node 0 out of order, expected ascending "
            "pairs");
  EXPECT_EQ(getBroken([](auto &p) { p.carriedAwaits = {{0, 1}}; }),
            "carried awaits: node 0 awaits node 1 of the iteration before, "
            "expected a start, and nodes below 4");
  EXPECT_EQ(getBroken([](auto &p) { p.buffers[1].users.clear(); }),
            "buffers: buffer 1 has no user, expected one");
  EXPECT_EQ(getBroken([](auto &p) { p.buffers[0].users = {2, 0}; }),
            "buffers: buffer 0 has user 0 after 2, expected ascending nodes "
            "below 4");
  EXPECT_EQ(getBroken([](auto &p) { p.buffers[0].bytes = -1; }),
            "buffers: buffer 0 has -1 bytes, expected at least 0");
  EXPECT_EQ(getBroken([](auto &p) { p.liveBytes = -1; }),
            "live bytes: found -1, expected at least 0");
  EXPECT_EQ(getBroken([](auto &p) { p.maxMemory = -1; }),
            "memory limit: found -1 bytes, expected at least 0");
}

TEST(ProblemContracts, VerifyNamesTheProperty) {
  SchedulingProblem problem = makeProblem();
  auto verify = [&](ScheduleOrder order) {
    return llvm::toString(problem.verify(order));
  };
  EXPECT_EQ(verify({0, 1, 2, 3}), "");
  EXPECT_EQ(verify({3, 0, 1, 2}), "");
  EXPECT_TRUE(llvm::StringRef(verify({2, 0, 1, 3})).starts_with("edges: "));
  EXPECT_TRUE(llvm::StringRef(verify({0, 1, 2})).starts_with("edges: "));
  problem.keepOrderOfStarts = true;
  EXPECT_EQ(verify({3, 0, 1, 2}), "order of starts: the starts do not keep "
                                  "the order of the program");
  problem.keepOrderOfStarts = false;
  problem.maxInFlight = 1;
  EXPECT_EQ(verify({0, 3, 1, 2}), "operations in flight: node 3 is operation "
                                  "2 in flight on lane 0, which may have 1");
  problem.maxInFlight = 0;
  problem.maxMemory = 64;
  EXPECT_EQ(verify({0, 1, 2, 3}),
            "memory limit: 96 bytes live at node 1, expected at most 64");
  EXPECT_EQ(verify({1, 0, 2, 3}), "");
  EXPECT_EQ(llvm::toString(problem.verify(ScheduleOrder{0, 1, 2, 3},
                                          /*keepsMaxMemory=*/false)),
            "");
}

TEST(ProblemContracts, SearchesKeepTheResultContract) {
  for (uint64_t seed = 0; seed != 30; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeSmallProblem(seed, 12 + seed % 8);
    problem.maxMemory =
        simulateOrder(problem, getProgramOrder(problem.graph)).peakBytes;
    problem.keepOrderOfStarts = seed % 2;
    SearchResult result = searchSchedule(problem);
    ASSERT_FALSE(result.excess);
    EXPECT_EQ(llvm::toString(problem.verify(result.order)), "");
  }
}
