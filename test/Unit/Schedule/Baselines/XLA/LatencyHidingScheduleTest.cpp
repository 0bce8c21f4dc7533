//===- LatencyHidingScheduleTest.cpp - Tests of XLA's scheduler -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scenarios of xla/service/latency_hiding_scheduler_test.cc, by the names
// that they have there, and properties on random problems.
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/XLA/LatencyHidingSchedule.h"

#include "Schedule/Baselines/XLA/LatencyHidingLimits.h"
#include "TestProblems/GraphTestUtils.h"
#include "TestProblems/ProblemTestUtils.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <limits>
#include <random>

using namespace braid;
using namespace braid::test;

namespace {

/// A problem whose nodes have names. Waits, and what else is named in
/// `alsoAwaits`, await the starts that they use.
struct NamedProblem {
  explicit NamedProblem(llvm::StringRef program,
                        llvm::ArrayRef<llvm::StringRef> alsoAwaits = {})
      : named(parseGraph(program)) {
    problem.graph = named.graph;
    const ScheduleGraph &graph = problem.graph;
    for (unsigned node = 0; node != graph.size(); ++node) {
      if (graph[node].kind != NodeKind::Wait &&
          !llvm::is_contained(alsoAwaits, named.names[node]))
        continue;
      for (unsigned start : graph.predecessors(node))
        if (graph[start].kind == NodeKind::Start)
          problem.awaits.emplace_back(node, start);
    }
    // XLA's tests look at the order before it is post-processed.
    options.postProcess = false;
  }

  unsigned find(llvm::StringRef name) const {
    return llvm::find(named.names, name) - named.names.begin();
  }
  void setLane(llvm::StringRef start, int32_t lane) {
    problem.graph.setLane(find(start), lane);
  }
  void addBuffer(int64_t bytes, llvm::ArrayRef<llvm::StringRef> users,
                 bool escapes = false) {
    GraphBuffer buffer;
    buffer.bytes = bytes;
    buffer.escapes = escapes;
    for (llvm::StringRef user : users)
      buffer.users.push_back(find(user));
    problem.buffers.push_back(buffer);
  }
  std::string schedule() {
    result = latencyHidingSchedule(problem, options);
    std::string reason;
    EXPECT_TRUE(isAllowedOrder(problem, result.order, &reason)) << reason;
    return named.print(result.order);
  }
  std::string getReason(llvm::StringRef name) const {
    return result.reasons[find(name)].str();
  }

  NamedGraph named;
  SchedulingProblem problem;
  LatencyHidingOptions options;
  LatencyHidingResult result;
};

} // namespace

//===----------------------------------------------------------------------===//
// XLA's scenarios
//===----------------------------------------------------------------------===//

TEST(LatencyHidingSchedule, AllGatherAsyncSimple) {
  NamedProblem p("a1:500, w1(a1), mm1:100, add(w1,mm1)");
  EXPECT_EQ(p.schedule(), "a1,mm1,w1,add");
  EXPECT_EQ(p.getReason("w1"), "ScheduleDone");
  EXPECT_EQ(p.getReason("mm1"), "LessStall");
  EXPECT_EQ(p.getReason("a1"), "only choice");
}

TEST(LatencyHidingSchedule, AllGatherAsyncBalance) {
  NamedProblem p("a1:100, w1(a1), a2:100, w2(a2), mm1:100, mm2:100, "
                 "add(w1,w2,mm1,mm2)");
  EXPECT_EQ(p.schedule(), "a1,mm1,w1,a2,mm2,w2,add");
  EXPECT_EQ(p.getReason("a2"), "FreeBackedupResource");
}

TEST(LatencyHidingSchedule, AllGatherAsyncOverlapped) {
  // The first operation has to end before the second begins, although the
  // program has both in flight.
  NamedProblem p("a1:100, a2:100, mm1:50, w1(a1), w2(a2), add(w1,w2,mm1)");
  EXPECT_EQ(p.schedule(), "a1,w1,a2,mm1,w2,add");
  EXPECT_EQ(p.result.numForced, 0u);
}

TEST(LatencyHidingSchedule, AllGatherAsyncOverlapped2) {
  // The second needs what the first gives, and compute of both.
  NamedProblem p("a1:100, w1(a1), mm1:100, a2(w1), w2(a2), mm2:100, "
                 "add(w2,mm1,mm2)");
  EXPECT_EQ(p.schedule(), "a1,mm1,w1,a2,mm2,w2,add");
}

TEST(LatencyHidingSchedule, BackToBackCollectivePermutes) {
  NamedProblem p("a1:10, w1(a1), a2:10(w1), w2(a2), mm1:10, mm2:10(w2,mm1)");
  // All compute that is free hides the second; nothing is left for the first.
  EXPECT_EQ(p.schedule(), "a1,w1,a2,mm1,w2,mm2");
}

TEST(LatencyHidingSchedule, BalanceChainedCollectivePermutes) {
  NamedProblem p("a1:10, w1(a1), a2:10(w1), w2(a2), mm1:10, mm2:10(mm1), "
                 "add(w2,mm2)");
  EXPECT_EQ(p.schedule(), "a1,mm1,w1,a2,mm2,w2,add");
}

TEST(LatencyHidingSchedule, ParallelCollectivePermutesUpToTheLimit) {
  const char *program = "a1:100, a2:100, a3:100, w1(a1), w2(a2), w3(a3), "
                        "mm1:100, mm2:100, add(w1,w2,w3,mm1,mm2)";
  NamedProblem p(program);
  for (auto [name, lane] : {std::pair("a1", 0), {"a2", 1}, {"a3", 2}})
    p.setLane(name, lane);
  EXPECT_EQ(p.schedule(), "a1,w1,a2,mm1,w2,a3,mm2,w3,add");
  p.options.overlapLimit = 2;
  EXPECT_EQ(p.schedule(), "a1,a2,mm1,w1,a3,mm2,w2,w3,add");
  p.options.overlapLimit = 0;
  EXPECT_EQ(p.schedule(), "a1,a2,a3,mm1,mm2,w1,w2,w3,add");
}

TEST(LatencyHidingSchedule, ReleaseOneThatStallsLessFirst) {
  NamedProblem p("a1:500, a2:100, w1(a1), w2(a2), add(w1,w2)");
  p.setLane("a2", 1);
  p.options.overlapLimit = 2;
  EXPECT_EQ(p.schedule(), "a1,a2,w2,w1,add");
  EXPECT_EQ(p.getReason("a2"), "LessStall");
  NamedProblem q("a1:100, a2:500, w1(a1), w2(a2), add(w1,w2)");
  q.setLane("a2", 1);
  q.options.overlapLimit = 2;
  EXPECT_EQ(q.schedule(), "a2,a1,w1,w2,add");
}

TEST(LatencyHidingSchedule, CollectiveDomainsPreventDeviceOverlap) {
  // Two lanes that share ranks are not in flight together, whatever the limit.
  NamedProblem p("a1:100, a2:100, w1(a1), w2(a2), mm1:100, mm2:100, "
                 "add(w1,w2,mm1,mm2)");
  p.setLane("a2", 1);
  p.options.overlapLimit = 2;
  EXPECT_EQ(p.schedule(), "a1,a2,mm1,mm2,w1,w2,add");
  p.options.exclusiveLanes = {{0, 1}};
  EXPECT_EQ(p.schedule(), "a1,mm1,w1,a2,mm2,w2,add");
  EXPECT_EQ(p.getReason("a2"), "FreeBackedupResource");
}

TEST(LatencyHidingSchedule, WhileOverlapLimit) {
  // A loop that waits inside takes the place of its operation; another is not
  // in flight beside it.
  const char *program =
      "a1:100, loop:50(a1), a2:100, w2(a2), mm1:100, add(loop,w2,mm1)";
  NamedProblem p(program, {"loop"});
  p.setLane("a2", 1);
  EXPECT_EQ(p.schedule(), "a1,loop,a2,mm1,w2,add");
  p.options.overlapLimit = 2;
  EXPECT_EQ(p.schedule(), "a1,a2,mm1,loop,w2,add");
}

TEST(LatencyHidingSchedule, RerunWithSmallerMemoryLimit) {
  // Compute `b` of 86 bytes between start and wait brings the peak to 136. It
  // is only when 50 bytes are more than half of the limit that the start is
  // taken first.
  NamedProblem p("b:1, s:1(b), a1:5000, w1(a1), out(w1,s)");
  p.addBuffer(86, {"b", "s"});
  p.addBuffer(2, {"s", "out"}, /*escapes=*/true);
  p.addBuffer(16, {"a1", "w1", "out"}, /*escapes=*/true);
  p.addBuffer(32, {"a1", "w1"});
  p.problem.maxMemory = 110;
  EXPECT_EQ(p.schedule(), "a1,b,s,w1,out");
  EXPECT_EQ(p.result.peakBytes, 136);
  p.options.reruns = 1;
  EXPECT_EQ(p.schedule(), "b,s,a1,w1,out");
  EXPECT_EQ(p.result.peakBytes, 88);
  EXPECT_EQ(p.result.numReruns, 1u);
  EXPECT_EQ(p.getReason("a1"), "MemoryPeakOverLimit");
  EXPECT_EQ(p.result.peakBytes,
            simulateOrder(p.problem, p.result.order).peakBytes);
}

TEST(LatencyHidingSchedule, PostProcessAsyncCollectives) {
  NamedProblem p("a1:100, w1(a1), a2:100, w2(a2), mm1:100, mm2:100, "
                 "use(w1,mm1), add(use,w2,mm2)");
  p.options.postProcess = true;
  EXPECT_EQ(p.schedule(), "a1,a2,mm1,mm2,w1,use,w2,add");
}

//===----------------------------------------------------------------------===//
// Ours
//===----------------------------------------------------------------------===//

TEST(LatencyHidingSchedule, SendsAndReceivesHaveALimitOfTheirOwn) {
  SchedulingProblem problem;
  ScheduleNode send;
  send.kind = NodeKind::Start;
  send.pointToPoint = true;
  send.lane = 0;
  send.cost = 10;
  ScheduleNode wait;
  wait.kind = NodeKind::Wait;
  for (unsigned i = 0; i != 6; ++i)
    problem.graph.addNode(send);
  for (unsigned i = 0; i != 6; ++i) {
    problem.graph.addNode(wait);
    problem.graph.addEdge(i, 6 + i);
    problem.awaits.emplace_back(6 + i, i);
  }
  problem.graph.finalize();
  auto countInFlight = [&](const ScheduleOrder &order) {
    int inFlight = 0, most = 0;
    for (unsigned node : order)
      most = std::max(most, inFlight += node < 6 ? 1 : -1);
    return most;
  };
  LatencyHidingOptions options;
  options.postProcess = false;
  EXPECT_EQ(countInFlight(latencyHidingSchedule(problem, options).order), 4);
  options.pointToPointLimit = 0;
  EXPECT_EQ(countInFlight(latencyHidingSchedule(problem, options).order), 6);
}

TEST(LatencyHidingSchedule, TheOrderOfStartsIsKept) {
  // Nothing has to give way: the wait of the last start is taken first.
  NamedProblem p("a1:100, a2:10, w1(a1), w2(a2), mm1:50(w2), add(w1,mm1)");
  p.problem.keepOrderOfStarts = true;
  EXPECT_EQ(p.schedule(), "a1,w1,a2,w2,mm1,add");
  EXPECT_EQ(p.result.numForced, 0u);
  p.problem.keepOrderOfStarts = false;
  EXPECT_EQ(p.schedule(), "a2,w2,a1,mm1,w1,add");
}

TEST(LatencyHidingSchedule, ALimitGivesWayWhereTwoMustBeInFlight) {
  // The second start needs compute that has to come after the first, and its
  // wait has to come before that of the first.
  NamedProblem p("a1:100, mm1:10(a1), a2:100(mm1), w2(a2), w1(a1,w2)");
  EXPECT_EQ(p.schedule(), "a1,mm1,a2,w2,w1");
  EXPECT_EQ(p.result.numForced, 1u);
}

TEST(LatencyHidingSchedule, ACoalescedStartIsInFlightToItsFirstWait) {
  NamedProblem p("a1:100, w1(a1), w2(a1), mm1:50(w1), mm2:50(w2), a2:60, "
                 "w3(a2), add(mm1,mm2,w3)");
  p.problem.maxInFlight = 1;
  EXPECT_EQ(p.schedule(), "a1,w1,a2,mm1,w2,mm2,w3,add");
}

TEST(LatencyHidingSchedule, AnOperationThatNobodyAwaitsStartsEarly) {
  NamedProblem p("mm1:50, mm2:50, a1:80, mm3:50");
  EXPECT_EQ(p.schedule(), "a1,mm1,mm2,mm3");
}

TEST(LatencyHidingSchedule, WithoutAggressiveRulesDepthDoesNotCount) {
  // Communication stands before mm2, so that it is taken first: the one that
  // runs while nothing else can is to be the other.
  const char *program =
      "a1:100, w1(a1), mm2:50(w1), mm1:50, mm3:50, add(mm1,mm2,mm3)";
  NamedProblem p(program);
  EXPECT_EQ(p.schedule(), "a1,mm1,mm3,w1,mm2,add");
  EXPECT_EQ(p.getReason("mm2"), "AsyncDepth");
  p.options.aggressive = false;
  EXPECT_EQ(p.schedule(), "a1,mm1,mm3,w1,mm2,add");
  EXPECT_EQ(p.getReason("mm2"), "UnlockDone");
}

TEST(LatencyHidingSchedule, ProgramsWithoutStarts) {
  NamedProblem p("mm1, mm2(mm1), mm3");
  EXPECT_EQ(p.schedule(), "mm1,mm2,mm3");
  EXPECT_TRUE(latencyHidingSchedule(NamedProblem("").problem).order.empty());
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

/// Random memory for a problem that has none.
static void addBuffers(SchedulingProblem &problem, uint64_t seed) {
  std::mt19937_64 engine(seed);
  for (unsigned node = 0; node != problem.graph.size(); ++node) {
    GraphBuffer buffer;
    buffer.bytes = engine() % 100;
    buffer.escapes = engine() % 8 == 0;
    buffer.users.push_back(node);
    for (unsigned user : problem.graph.successors(node))
      if (engine() % 2)
        buffer.users.push_back(user);
    problem.buffers.push_back(buffer);
  }
}

TEST(LatencyHidingSchedule, RandomProblemsGetAllowedOrders) {
  for (uint64_t seed = 0; seed != 600; ++seed) {
    RandomProblemOptions random;
    random.numNodes = 5 + seed % 60;
    random.numLanes = 1 + seed % 3;
    random.edgeEvery = 3 + seed % 20;
    random.carried = seed % 5 == 0;
    SchedulingProblem problem = makeRandomProblem(seed, random);
    addBuffers(problem, seed);
    problem.keepOrderOfStarts = seed % 2;
    problem.maxInFlight = seed % 4 == 3 ? 1 + seed % 3 : 0;
    if (seed % 3 == 0)
      problem.maxMemory = 50 * random.numNodes;

    LatencyHidingOptions options;
    options.overlapLimit = seed % 4;
    options.pointToPointLimit = seed % 3;
    options.aggressive = seed % 7 != 0;
    options.postProcess = seed % 2;
    options.reruns = seed % 4;
    options.maxCompared = seed % 6 == 0 ? 2 : 64;
    if (random.numLanes > 1 && seed % 8 == 1)
      options.exclusiveLanes = {{0, 1}};
    LatencyHidingResult result = latencyHidingSchedule(problem, options);
    std::string reason;
    if (isAllowedOrder(problem, getProgramOrder(problem.graph))) {
      EXPECT_TRUE(isAllowedOrder(problem, result.order, &reason))
          << "seed " << seed << ": " << reason;
    }
    EXPECT_TRUE(isLegalOrder(problem.graph, result.order));
    EXPECT_EQ(result.peakBytes, simulateOrder(problem, result.order).peakBytes)
        << "seed " << seed;
    EXPECT_EQ(result.order, latencyHidingSchedule(problem, options).order);
  }
}

/// The most collectives in flight together.
static unsigned getMostInFlight(const SchedulingProblem &problem,
                                llvm::ArrayRef<unsigned> order) {
  std::vector<bool> awaited(problem.graph.size(), false);
  unsigned inFlight = 0, most = 0;
  for (unsigned node : order) {
    for (unsigned start : problem.getAwaitedStarts(node)) {
      inFlight -= !awaited[start];
      awaited[start] = true;
    }
    inFlight += problem.graph[node].kind == NodeKind::Start;
    most = std::max(most, inFlight);
  }
  return most;
}

TEST(LatencyHidingSchedule, LimitsHoldUnlessForced) {
  unsigned numUnforced = 0;
  for (uint64_t seed = 0; seed != 300; ++seed) {
    SchedulingProblem problem;
    problem.graph = makeRandomGraph(seed, {});
    const ScheduleGraph &graph = problem.graph;
    for (unsigned node = 0; node != graph.size(); ++node)
      if (graph[node].kind == NodeKind::Wait)
        for (unsigned start : graph.predecessors(node))
          if (graph[start].kind == NodeKind::Start)
            problem.awaits.emplace_back(node, start);
    LatencyHidingOptions options;
    options.overlapLimit = 1 + seed % 3;
    options.postProcess = false;
    LatencyHidingResult result = latencyHidingSchedule(problem, options);
    if (result.numForced != 0)
      continue;
    ++numUnforced;
    unsigned numUnawaited = llvm::count_if(graph.starts(), [&](unsigned start) {
      return llvm::none_of(problem.awaits,
                           [&](auto pair) { return pair.second == start; });
    });
    EXPECT_LE(getMostInFlight(problem, result.order),
              std::max(options.overlapLimit, numUnawaited))
        << "seed " << seed;
  }
  EXPECT_GT(numUnforced, 100u);
}

TEST(BackwardMemory, SumsStopAtTheLargestInteger) {
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  NamedProblem named("a, b(a), c(b), d(c)");
  named.addBuffer(largest, {"a", "c"});
  named.addBuffer(largest, {"b", "d"});
  BackwardMemory memory(named.problem);
  memory.place(3);
  memory.place(2);
  EXPECT_EQ(memory.getLive(), largest);
  memory.place(1);
  memory.place(0);
  EXPECT_EQ(memory.getLive(), 0);
  EXPECT_EQ(memory.getPeak(), largest);
}
