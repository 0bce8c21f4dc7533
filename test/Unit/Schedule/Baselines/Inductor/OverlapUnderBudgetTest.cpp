//===- OverlapUnderBudgetTest.cpp - Passes that move node by node ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems/MemoryProblems.h"

#include "braid/Schedule/Baselines/Inductor/SimpleOverlap.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

namespace {

using Kind = LimitingFactor::Kind;

std::string simple(llvm::StringRef program, llvm::StringRef buffers = "") {
  NamedProblem named = parseProblem(program, buffers);
  return named.print(
      simpleOverlap(named.problem, getProgramOrder(named.problem.graph)));
}

//===----------------------------------------------------------------------===//
// simpleOverlap
//===----------------------------------------------------------------------===//

TEST(SimpleOverlap, StartsRiseAndWaitsSink) {
  EXPECT_EQ(simple("x, y(x), ar(x), w(ar), z, o(w,z)"), "x,ar,y,z,w,o");
}

TEST(SimpleOverlap, StartsAndWaitsKeepTheirOrder) {
  EXPECT_EQ(simple("x, a1(x), a2, w1(a1), w2(a2), y(w2), z(w1)"),
            "x,a1,a2,w1,w2,y,z");
  EXPECT_EQ(simple("x, a1, w1(a1), y, a2, w2(a2), z"), "a1,a2,x,y,z,w1,w2");
}

TEST(SimpleOverlap, OpaqueNodesStop) {
  EXPECT_EQ(simple("x, op, ar, w(ar), op1, y"), "x,op,ar,w,op1,y");
}

TEST(SimpleOverlap, StopsWhereMemoryWouldRise) {
  // ar allocates 50 bytes that live until w; x needs 100 for itself.
  EXPECT_EQ(simple("x, ar, w(ar)", "100 x, 50 ar w"), "x,ar,w");
  EXPECT_EQ(simple("x, ar, w(ar)", "100 x, 50 ar w, 110! w"), "ar,x,w");
}

TEST(SimpleOverlap, SameAsTheRuleWordByWord) {
  for (uint64_t seed = 0; seed < 80; ++seed) {
    RandomGraphOptions options;
    options.numNodes = 4 + seed;
    options.startEvery = 3 + seed % 8;
    options.opaqueEvery = seed % 2 ? 40 : 0;
    options.maxOperands = seed % 4;
    SchedulingProblem problem = makeMemoryProblem(seed, options);
    ScheduleOrder program = getProgramOrder(problem.graph);
    ScheduleOrder order = simpleOverlap(problem, program);
    ASSERT_EQ(order, simpleOverlapNaively(problem)) << "seed " << seed;
    std::string reason;
    ASSERT_TRUE(isAllowedOrder(problem, order, &reason)) << reason;
    ASSERT_LE(simulateOrder(problem, order).peakBytes,
              simulateOrder(problem, program).peakBytes);
  }
}

//===----------------------------------------------------------------------===//
// reorderPreservingPeakMemory
//===----------------------------------------------------------------------===//

/// A run of one of the two iterative algorithms.
struct Outcome {
  NamedProblem named;
  IterativeResult result;
  std::string order;

  const MoveStatistics &get(llvm::StringRef name) const {
    for (const MoveStatistics &statistics : result.statistics)
      if (statistics.node == named.get(name))
        return statistics;
    ADD_FAILURE() << "no statistics of " << name.str();
    return result.statistics.front();
  }
  std::string print() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    printStatistics(
        result, "Collective node",
        [&](unsigned node) { return named.names[node]; }, os);
    return text;
  }
};

Outcome runOn(NamedProblem named, const IterativeOptions &options,
              decltype(reorderPreservingPeakMemory) algorithm) {
  Outcome run = {std::move(named), {}, ""};
  run.result = algorithm(run.named.problem,
                         getProgramOrder(run.named.problem.graph), options);
  std::string reason;
  EXPECT_TRUE(isAllowedOrder(run.named.problem, run.result.order, &reason))
      << reason;
  run.order = run.named.print(run.result.order);
  return run;
}

Outcome reorder(llvm::StringRef program, llvm::StringRef buffers = "",
                const IterativeOptions &options = {}) {
  return runOn(parseProblem(program, buffers), options,
               reorderPreservingPeakMemory);
}

Outcome sink(llvm::StringRef program, llvm::StringRef buffers = "",
             const IterativeOptions &options = {}) {
  return runOn(parseProblem(program, buffers), options, sinkWaitsIterative);
}

/// With estimates, and costs as they are.
IterativeOptions estimated() {
  IterativeOptions options;
  options.useRuntimeEstimations = true;
  options.commRuntimeMult = 1;
  options.reorderCollectives = true;
  return options;
}

TEST(ReorderPreservingPeakMemory, RisesToTheBeginning) {
  Outcome run = reorder("x, y, ar, w(ar), z(w)");
  EXPECT_EQ(run.order, "ar,x,y,w,z");
  EXPECT_EQ(run.get("ar").limit.kind, Kind::None);
  EXPECT_EQ(run.get("ar").moves, 2u);
  // Twice 100 ns, with nothing beside it at first.
  EXPECT_EQ(run.get("ar").getInitialExposedNs(), 200);
  EXPECT_EQ(run.get("ar").getFinalExposedNs(), 198);
}

// PyTorch's test of one collective that stands first.
TEST(ReorderPreservingPeakMemory, NothingToDo) {
  Outcome run = reorder("ar:0, w(ar)");
  EXPECT_EQ(run.order, "ar,w");
  ASSERT_EQ(run.result.statistics.size(), 1u);
  EXPECT_EQ(run.get("ar").getInitialExposedNs(), 0);
  EXPECT_EQ(run.get("ar").moves, 0u);
  EXPECT_EQ(run.get("ar").limit.kind, Kind::None);
}

// PyTorch's test_reorder_respects_wait_dep.
TEST(ReorderPreservingPeakMemory, RespectsWhatAWaitGives) {
  for (bool estimates : {false, true}) {
    IterativeOptions options;
    options.useRuntimeEstimations = estimates;
    Outcome run = reorder("a1, w1(a1), a2(w1), w2(a2)", "", options);
    EXPECT_EQ(run.order, "a1,w1,a2,w2");
    ASSERT_EQ(run.result.statistics.size(), 2u);
    EXPECT_EQ(run.get("a1").moves, 0u);
    EXPECT_EQ(run.get("a2").moves, 0u);
    EXPECT_EQ(run.get("a2").grouped.size(), 1u);
  }
}

TEST(ReorderPreservingPeakMemory, DragsProducersAlong) {
  Outcome run = reorder("x, c, y, d(c), ar(d), w(ar)");
  EXPECT_EQ(run.order, "c,d,ar,x,y,w");
  EXPECT_EQ(run.get("ar").moves, 2u);
  EXPECT_EQ(run.get("ar").grouped.size(), 2u);
}

TEST(ReorderPreservingPeakMemory, DragsMatmulsAlongWithEstimatesAlone) {
  for (bool estimates : {false, true}) {
    NamedProblem named = parseProblem("x, mm, ar(mm), w(ar)");
    IterativeOptions options;
    options.useRuntimeEstimations = estimates;
    options.isMatmul.assign(4, false);
    options.isMatmul[named.get("mm")] = true;
    Outcome run = runOn(std::move(named), options, reorderPreservingPeakMemory);
    EXPECT_EQ(run.order, estimates ? "mm,ar,x,w" : "x,mm,ar,w");
    EXPECT_EQ(run.get("ar").limit.kind,
              estimates ? Kind::None : Kind::MatmulDependency);
  }
}

TEST(ReorderPreservingPeakMemory, DragsStartsAlongOnRequest) {
  // a1 is hidden by y, so that it stays; a2, which follows it, would rise.
  const char *program = "x:50, a1:10, y:20, a2:100(a1), w1(a1), w2(a2)";
  IterativeOptions options = estimated();
  Outcome run = reorder(program, "", options);
  EXPECT_EQ(run.order, "x,a1,a2,y,w1,w2");
  EXPECT_EQ(run.get("a1").limit.kind, Kind::Unexposed);
  EXPECT_EQ(run.get("a2").limit.kind, Kind::DataDependency);
  options.groupWithCollectives = true;
  run = reorder(program, "", options);
  EXPECT_EQ(run.order, "a1,a2,x,y,w1,w2");
  EXPECT_EQ(run.get("a2").grouped.size(), 1u);
}

TEST(ReorderPreservingPeakMemory, StartsPassEachOtherOnRequest) {
  Outcome run = reorder("x, a1(x), a2, w2(a2), w1(a1)");
  EXPECT_EQ(run.order, "x,a1,a2,w2,w1");
  EXPECT_EQ(run.get("a2").limit.kind, Kind::CollectiveOrdering);
  IterativeOptions options;
  options.reorderCollectives = true;
  EXPECT_EQ(reorder("x, a1(x), a2, w2(a2), w1(a1)", "", options).order,
            "a2,x,a1,w2,w1");
  NamedProblem kept = parseProblem("x, a1(x), a2, w2(a2), w1(a1)");
  kept.problem.keepOrderOfStarts = true;
  EXPECT_EQ(runOn(std::move(kept), options, reorderPreservingPeakMemory).order,
            "x,a1,a2,w2,w1");
}

TEST(ReorderPreservingPeakMemory, StopsAtTheBudget) {
  // The program peaks at x: 100. With ar before it, 125 live there.
  const char *program = "y, x, ar, w(ar)", *buffers = "100 x, 25 ar w";
  IterativeOptions options;
  Outcome run = reorder(program, buffers, options);
  EXPECT_EQ(run.order, "y,x,ar,w");
  EXPECT_EQ(run.get("ar").limit.kind, Kind::PeakMemory);
  EXPECT_EQ(run.get("ar").limit.newValue, 125);
  EXPECT_EQ(run.get("ar").limit.oldValue, 100);
  EXPECT_NE(run.print().find("peak memory new: 125 vs base: 100"),
            std::string::npos);
  options.peakMemoryBudget = 0.25;
  run = reorder(program, buffers, options);
  EXPECT_EQ(run.order, "ar,y,x,w");
  EXPECT_EQ(run.result.initialPeakBytes, 100);
  EXPECT_EQ(run.result.finalPeakBytes, 125);
  NamedProblem limited = parseProblem(program, buffers);
  limited.problem.maxMemory = 124;
  EXPECT_EQ(
      runOn(std::move(limited), options, reorderPreservingPeakMemory).order,
      "y,x,ar,w");
}

TEST(ReorderPreservingPeakMemory, StopsOnceHidden) {
  // Behind 90 ns nothing of 60 ns is left, and half as much again is there.
  Outcome run = reorder("x:30, y:30, z:31, ar:60, w(ar)", "", estimated());
  EXPECT_EQ(run.order, "ar,x,y,z,w");
  run = reorder("x:30, y:30, z:31, v:30, ar:60, w(ar)", "", estimated());
  EXPECT_EQ(run.order, "x,ar,y,z,v,w");
  EXPECT_EQ(run.get("ar").limit.kind, Kind::Unexposed);
  EXPECT_EQ(run.get("ar").getFinalExposedNs(), -31);
}

// a2 drags w1 along: each op that both pass hides a2 and no longer a1.
TEST(ReorderPreservingPeakMemory, WeighsWhatADraggedWaitExposes) {
  Outcome run =
      reorder("a1:100, x:50, w1(a1), a2:100(w1), w2(a2)", "", estimated());
  // 50 ns of a1 exposed for 50 ns of a2 hidden: no loss.
  EXPECT_EQ(run.order, "a1,w1,a2,x,w2");
  run = reorder("a1:100, x:50, w1(a1), a2:20(w1), w2(a2)", "", estimated());
  EXPECT_EQ(run.order, "a1,x,w1,a2,w2");
  EXPECT_EQ(run.get("a2").limit.kind, Kind::ExposedGroup);
  EXPECT_EQ(run.get("a2").limit.oldValue, 70);
  EXPECT_EQ(run.get("a2").limit.newValue, 100);
  EXPECT_NE(run.print().find("x would expose w1: 100 ns, before 70 ns"),
            std::string::npos);
  // a1 is more than hidden: nothing is lost.
  run = reorder("a1:100, y:100, x:50, w1(a1), a2:20(w1), w2(a2)", "",
                estimated());
  EXPECT_EQ(run.order, "a1,y,w1,a2,x,w2");
}

// d would no longer hide a1.
TEST(ReorderPreservingPeakMemory, DraggedComputeStaysBehindStartsItHides) {
  Outcome run =
      reorder("a1:100, d:50, a2:80(d), w2(a2), w1(a1)", "", estimated());
  EXPECT_EQ(run.order, "a1,d,a2,w2,w1");
  EXPECT_EQ(run.get("a2").limit.kind, Kind::ExposedCandidate);
  EXPECT_NE(run.print().find("a1 would be exposed: 100 ns, before 50 ns"),
            std::string::npos);
}

// A lane runs one operation after the other: the wait for the later one ends
// the earlier one, too. Another lane (b1) has nothing to do with it.
TEST(ReorderPreservingPeakMemory, WaitsForLaterOperationsOfTheLaneEndThis) {
  Outcome run = reorder("a1, x:5, a2, y:7, w2(a2), z:9, w1(a1)");
  EXPECT_EQ(run.get("a1").initialCompNs, 12);
  EXPECT_EQ(run.get("a1").stop, run.named.get("w2"));
  run = reorder("a1, x:5, b1, y:7, w2(b1), z:9, w1(a1)");
  EXPECT_EQ(run.get("a1").initialCompNs, 21);
  // a2 comes to stand before a1, whose wait has been passed, and ends there.
  IterativeOptions options;
  options.reorderCollectives = true;
  run = reorder("a1, x:5, w1(a1), y:7, a2, z:9, w2(a2)", "", options);
  EXPECT_EQ(run.order, "a2,a1,x,w1,y,z,w2");
  EXPECT_EQ(run.get("a2").initialCompNs, 9);
  EXPECT_EQ(run.get("a2").finalCompNs, 5);
}

//===----------------------------------------------------------------------===//
// sinkWaitsIterative
//===----------------------------------------------------------------------===//

TEST(SinkWaitsIterative, SinksToTheEnd) {
  Outcome run = sink("ar, w(ar), x, y");
  EXPECT_EQ(run.order, "ar,x,y,w");
  EXPECT_EQ(run.get("w").limit.kind, Kind::None);
  EXPECT_EQ(run.get("w").moves, 2u);
  EXPECT_EQ(run.get("w").getFinalExposedNs(), 198);
}

TEST(SinkWaitsIterative, DragsUsersAlong) {
  Outcome run = sink("ar, w(ar), u(w), x, v(u), y");
  EXPECT_EQ(run.order, "ar,x,y,w,u,v");
  EXPECT_EQ(run.get("w").grouped.size(), 2u);
}

TEST(SinkWaitsIterative, NeitherMatmulsNorWaitsAreDragged) {
  NamedProblem named = parseProblem("ar, w(ar), mm(w), x");
  IterativeOptions options;
  options.isMatmul = {false, false, true, false};
  Outcome run = runOn(std::move(named), options, sinkWaitsIterative);
  EXPECT_EQ(run.order, "ar,w,mm,x");
  EXPECT_EQ(run.get("w").limit.kind, Kind::MatmulDependency);
  run = sink("a1, a2, w1(a1), w2(a2,w1), x");
  EXPECT_EQ(run.order, "a1,a2,x,w1,w2");
  EXPECT_EQ(run.get("w1").limit.kind, Kind::DataDependency);
}

TEST(SinkWaitsIterative, PassesStartsOnRequest) {
  const char *program = "a1, w1(a1), x, a2, w2(a2)";
  Outcome run = sink(program);
  EXPECT_EQ(run.order, "a1,x,w1,a2,w2");
  EXPECT_EQ(run.get("w1").limit.kind, Kind::CollectiveOrdering);
  IterativeOptions options;
  options.swapWithCollectives = true;
  EXPECT_EQ(sink(program, "", options).order, "a1,x,a2,w2,w1");
}

TEST(SinkWaitsIterative, StopsAtTheBudget) {
  const char *program = "ar, w(ar), x, y", *buffers = "30 ar w, 100 x, 6 y";
  Outcome run = sink(program, buffers);
  EXPECT_EQ(run.order, "ar,w,x,y");
  EXPECT_EQ(run.get("w").limit.kind, Kind::PeakMemory);
  EXPECT_EQ(run.get("w").limit.newValue, 130);
  IterativeOptions options;
  options.peakMemoryBudget = 0.3;
  EXPECT_EQ(sink(program, buffers, options).order, "ar,x,y,w");
}

TEST(SinkWaitsIterative, StopsOnceHidden) {
  Outcome run = sink("ar:60, w(ar), x:30, y:30, z:31, v:30", "", estimated());
  EXPECT_EQ(run.order, "ar,x,y,z,w,v");
  EXPECT_EQ(run.get("w").limit.kind, Kind::Unexposed);
}

// PyTorch discarded what the wait gains, and took what the dragged collective
// loses for a gain (pull request #184558).
TEST(SinkWaitsIterative, WeighsWhatADraggedStartExposes) {
  IterativeOptions options = estimated();
  options.groupWithCollectives = true;
  // a2 is dragged. It loses 30 ns, and a1 wins as much.
  Outcome run = sink("a1:100, w1(a1), a2:100(w1), x:30, w2(a2)", "", options);
  EXPECT_EQ(run.order, "a1,x,w1,a2,w2");
  // a1 is hidden already: only the loss is left.
  run = sink("a1:100, y:100, w1(a1), a2:100(w1), x:30, w2(a2)", "", options);
  EXPECT_EQ(run.order, "a1,y,w1,a2,x,w2");
  EXPECT_EQ(run.get("w1").limit.kind, Kind::ExposedGroup);
  // a2 keeps enough compute: nothing is lost.
  run =
      sink("a1:100, y:100, w1(a1), a2:20(w1), x:30, z:30, w2(a2)", "", options);
  EXPECT_EQ(run.order, "a1,y,x,w1,a2,z,w2");
}

// u would no longer hide a2.
TEST(SinkWaitsIterative, DraggedComputeStaysBeforeWaitsItServes) {
  Outcome run =
      sink("a2:100, a1:100, w1(a1), u:40(w1), w2(a2), x", "", estimated());
  // On one lane a1 ends after a2, so that w1 ends a2 as well.
  EXPECT_EQ(run.get("w1").limit.kind, Kind::None);
  run = sink("b1:100, a1:100, w1(a1), u:40(w1), w2(b1), x", "", estimated());
  EXPECT_EQ(run.get("w1").limit.kind, Kind::ExposedCandidate);
  EXPECT_EQ(run.order, "b1,a1,x,w1,u,w2");
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

TEST(IterativeStatistics, Table) {
  Outcome run = reorder("x:3000, c:500, ar:4000(c), y:1000, w(ar)");
  EXPECT_EQ(run.print(),
            "improved overlap by 3000 ns after 1 reorders\n"
            "peak_memory_before: 0, peak_memory_after: 0\n"
            "Collective node | comm_time(us) | comp_time(us) | "
            "initial exposed(us) | final exposed(us) | improvement(us) | "
            "limiting factor | moves | grouped | grouped_info | overlap_info\n"
            "ar              | 8.000         | 4.000         | "
            "7.000               | 4.000             | 3.000           | "
            "None            | 1     | 1       | c            | x+y->w\n");
}

//===----------------------------------------------------------------------===//
// Random graphs
//===----------------------------------------------------------------------===//

class IterativeOnRandomGraphs : public testing::TestWithParam<int> {
protected:
  IterativeOptions getOptions(uint64_t seed) const {
    IterativeOptions options;
    options.useRuntimeEstimations = GetParam() & 1;
    options.reorderCollectives = options.swapWithCollectives = GetParam() & 2;
    options.groupWithCollectives = GetParam() & 4;
    options.peakMemoryBudget = seed % 3 * 0.1;
    options.extraOverlap = seed % 2 * 0.5;
    options.commRuntimeMult = seed % 5 ? 1.3 : 2.0;
    return options;
  }
  SchedulingProblem getProblem(uint64_t seed) const {
    RandomGraphOptions options;
    options.numNodes = 4 + seed % 60;
    options.startEvery = 3 + seed % 8;
    options.maxWaits = 1 + seed % 3;
    options.opaqueEvery = seed % 2 ? 40 : 0;
    options.maxOperands = seed % 4;
    SchedulingProblem problem = makeMemoryProblem(seed, options);
    problem.keepOrderOfStarts = seed % 7 == 0;
    return problem;
  }

  void compare(decltype(reorderPreservingPeakMemory) algorithm,
               IterativeResult (*naive)(const SchedulingProblem &,
                                        const IterativeOptions &));
};
INSTANTIATE_TEST_SUITE_P(Property, IterativeOnRandomGraphs,
                         testing::Range(0, 8));

void IterativeOnRandomGraphs::compare(
    decltype(reorderPreservingPeakMemory) algorithm,
    IterativeResult (*naive)(const SchedulingProblem &,
                             const IterativeOptions &)) {
  for (uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    IterativeOptions options = getOptions(seed);
    SchedulingProblem problem = getProblem(seed);
    ScheduleOrder program = getProgramOrder(problem.graph);
    IterativeResult result = algorithm(problem, program, options);
    IterativeResult expected = naive(problem, options);
    ASSERT_EQ(result.statistics.size(), expected.statistics.size());
    for (auto [actual, wanted] :
         llvm::zip_equal(result.statistics, expected.statistics)) {
      ASSERT_EQ(actual.node, wanted.node);
      ASSERT_EQ(actual.limit.kind, wanted.limit.kind) << actual.node;
      ASSERT_EQ(actual.moves, wanted.moves) << actual.node;
      ASSERT_EQ(actual.grouped, wanted.grouped) << actual.node;
      ASSERT_EQ(actual.initialCompNs, wanted.initialCompNs) << actual.node;
      ASSERT_EQ(actual.finalCompNs, wanted.finalCompNs) << actual.node;
    }
    ASSERT_EQ(result.order, expected.order);

    std::string reason;
    ASSERT_TRUE(isAllowedOrder(problem, result.order, &reason)) << reason;
    int64_t before = simulateOrder(problem, program).peakBytes;
    int64_t after = simulateOrder(problem, result.order).peakBytes;
    ASSERT_EQ(result.initialPeakBytes, before);
    ASSERT_EQ(result.finalPeakBytes, after);
    ASSERT_LE(after, before * (1 + options.peakMemoryBudget));
  }
}

TEST_P(IterativeOnRandomGraphs, ReorderIsTheRuleWordByWord) {
  compare(reorderPreservingPeakMemory, reorderIterativelyNaively);
}

TEST_P(IterativeOnRandomGraphs, SinkIsTheRuleWordByWord) {
  compare(sinkWaitsIterative, sinkIterativelyNaively);
}

TEST(IterativeLimits, InFlightLimitsHold) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomGraphOptions options;
    options.numNodes = 80;
    options.opaqueEvery = 0;
    SchedulingProblem problem = makeMemoryProblem(seed, options);
    ScheduleOrder program = getProgramOrder(problem.graph);
    problem.maxInFlight = 1;
    while (!isAllowedOrder(problem, program))
      ++problem.maxInFlight;
    IterativeOptions free;
    free.peakMemoryBudget = 10;
    free.reorderCollectives = free.swapWithCollectives = true;
    for (const ScheduleOrder &order :
         {simpleOverlap(problem, program),
          reorderPreservingPeakMemory(problem, program, free).order,
          sinkWaitsIterative(problem, program, free).order}) {
      std::string reason;
      ASSERT_TRUE(isAllowedOrder(problem, order, &reason)) << reason;
    }
  }
}

// 400 starts that could each pass 4,000 nodes: 1,600,000 steps, of which 100
// for each node are made.
TEST(IterativeLimits, StepsAreLimited) {
  SchedulingProblem problem;
  for (unsigned i = 0; i != 4000; ++i)
    problem.graph.addNode({});
  ScheduleNode start;
  start.kind = NodeKind::Start;
  start.lane = 0;
  for (unsigned i = 0; i != 400; ++i)
    problem.graph.addNode(start);
  problem.graph.finalize();
  ScheduleOrder program = getProgramOrder(problem.graph);
  IterativeOptions options;
  IterativeResult result =
      reorderPreservingPeakMemory(problem, program, options);
  uint64_t moves = 0;
  for (const MoveStatistics &statistics : result.statistics)
    moves += statistics.moves;
  EXPECT_EQ(moves, 100u * 4400);
  EXPECT_EQ(result.statistics.front().limit.kind, Kind::None);
  EXPECT_EQ(result.statistics.back().limit.kind, Kind::StepLimit);
  EXPECT_TRUE(isAllowedOrder(problem, result.order));
  EXPECT_TRUE(isAllowedOrder(problem, simpleOverlap(problem, program)));
}

} // namespace
