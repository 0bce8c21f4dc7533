//===- ExposureReasonsTest.cpp - Why communication is exposed -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Simulation/ExposureReasons.h"

#include "TestProblems/GraphTestUtils.h"
#include "TestProblems/LayeredGraphs.h"
#include "TestProblems/ProblemCount.h"
#include "TestProblems/ProblemTestUtils.h"
#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Simulation/LoopSimulator.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <map>

using namespace braid;
using namespace braid::test;
using testing::ElementsAre;

/// A problem in the notation of `parseGraph`, where every wait awaits the
/// starts that it uses.
static SchedulingProblem makeProblem(llvm::StringRef program,
                                     std::vector<std::string> &names) {
  NamedGraph parsed = parseGraph(program);
  names = parsed.names;
  SchedulingProblem problem;
  problem.graph = parsed.graph;
  for (unsigned node = 0; node != problem.graph.size(); ++node)
    if (problem.graph[node].kind == NodeKind::Wait)
      for (unsigned other : problem.graph.predecessors(node))
        if (problem.graph[other].kind == NodeKind::Start)
          problem.awaits.emplace_back(node, other);
  return problem;
}

/// "start: sentence" of each reason in the order of the program.
static std::vector<std::string> explain(const SchedulingProblem &problem,
                                        const std::vector<std::string> &names) {
  std::vector<std::string> result;
  ScheduleOrder order = getProgramOrder(problem.graph);
  for (const ExposureReason &reason : getExposureReasons(problem, order))
    result.push_back(names[reason.start] + ": " +
                     describeExposureReason(
                         reason, [&](unsigned node) { return names[node]; }));
  return result;
}

static std::vector<std::string> explain(llvm::StringRef program) {
  std::vector<std::string> names;
  SchedulingProblem problem = makeProblem(program, names);
  return explain(problem, names);
}

TEST(ExposureReasons, HiddenCommunicationNeedsNone) {
  EXPECT_THAT(explain("a1:10, mm:10, w1(a1)"), ElementsAre());
}

TEST(ExposureReasons, NoIndependentCompute) {
  EXPECT_THAT(explain("mm1:10, a1:10(mm1), w1(a1), mm2:10(w1)"),
              ElementsAre("a1: no independent compute is left"));
}

// All independent compute runs beside it already.
TEST(ExposureReasons, NoIndependentComputeIsLeft) {
  EXPECT_THAT(explain("a1:30, mm1:10, w1(a1), mm2:10(w1)"),
              ElementsAre("a1: no independent compute is left"));
}

TEST(ExposureReasons, NotMovedFromBehindTheWait) {
  EXPECT_THAT(explain("a1:30, w1(a1), mm1:10(w1), mm2:20"),
              ElementsAre("a1: mm2 could run beside it, which gains 20 ns"));
}

TEST(ExposureReasons, NotMovedFromBeforeTheStart) {
  EXPECT_THAT(explain("mm1:20, mm2:5, a1:30(mm2), w1(a1), mm3:10(w1)"),
              ElementsAre("a1: mm1 could run beside it, which gains 20 ns"));
}

// What it depends on moves along.
TEST(ExposureReasons, NotMovedWithItsOperands) {
  EXPECT_THAT(explain("a1:30, w1(a1), op1:0(w1), x:0, mm2:20(x)"),
              ElementsAre("a1: what could hide it cannot pass op1"));
  EXPECT_THAT(explain("a1:30, w1(a1), mm1:10(w1), x:0, y:0(x), mm2:20(y)"),
              ElementsAre("a1: mm2 could run beside it, which gains 20 ns"));
}

// mm1 is independent, but hides a1.
TEST(ExposureReasons, DependencyChain) {
  EXPECT_THAT(explain("a1:100, mm1:100, w1(a1), mm2:10, a2:20(mm2), w2(a2)"),
              ElementsAre("a2: it could only start when mm2 had ended"));
}

TEST(ExposureReasons, ADependencyChainThroughAWaitNamesTheCollective) {
  EXPECT_THAT(explain("a1:100, mm1:90, w1(a1), a2:20(w1), w2(a2), mm3:5(w2)"),
              ElementsAre("a1: no independent compute is left",
                          "a2: it could only start when a1 had ended"));
}

TEST(ExposureReasons, LaneBusy) {
  EXPECT_THAT(explain("a1:100, a2:10, mm1:60, w2(a2), mm2:50(w2), w1(a1)"),
              ElementsAre("a2: its lane was busy with a1"));
}

TEST(ExposureReasons, LaneBusyForTheLongestTime) {
  EXPECT_THAT(explain("a1:9223372036854775807, a2:9223372036854775807, w2(a2), "
                      "w1(a1)"),
              ElementsAre("a2: its lane was busy with a1"));
}

TEST(ExposureReasons, OpaqueOpsStandInBetween) {
  EXPECT_THAT(explain("a1:30, w1(a1), op1:1, mm1:20"),
              ElementsAre("a1: what could hide it cannot pass op1"));
  EXPECT_THAT(explain("mm1:20, op1:1, a1:30, w1(a1)"),
              ElementsAre("a1: what could hide it cannot pass op1"));
}

TEST(ExposureReasons, TheOrderOfStartsStandsInBetween) {
  std::vector<std::string> names;
  SchedulingProblem problem = makeProblem(
      "mm1:50, a1:10(mm1), mm2:10, a2:60(mm2), w2(a2), w1(a1)", names);
  EXPECT_THAT(explain(problem, names),
              ElementsAre("a2: mm1 could run beside it, which gains 40 ns"));
  problem.keepOrderOfStarts = true;
  EXPECT_THAT(explain(problem, names),
              ElementsAre("a2: what could hide it cannot pass a1"));
}

TEST(ExposureReasons, MemoryLimit) {
  std::vector<std::string> names;
  // mm2 makes something large that mm3 uses, after w1 has freed something.
  SchedulingProblem problem =
      makeProblem("a1:30, w1(a1), mm1:10(w1), mm2:20, mm3:1(mm1,mm2)", names);
  problem.buffers.push_back({100, false, {0, 1, 2}});
  problem.buffers.push_back({60, false, {3, 4}});
  problem.maxMemory = 130;
  EXPECT_EQ(simulateOrder(problem, getProgramOrder(problem.graph)).peakBytes,
            100);
  EXPECT_THAT(
      explain(problem, names),
      ElementsAre("a1: mm2 could run beside it and gain 20 ns, but exceeds the "
                  "memory limit by 30 bytes"));
  problem.maxMemory = 160;
  EXPECT_THAT(explain(problem, names),
              ElementsAre("a1: mm2 could run beside it, which gains 20 ns"));
}

TEST(ExposureReasons, InFlightLimit) {
  std::vector<std::string> names;
  // mm2 needs what another operation brings.
  SchedulingProblem problem =
      makeProblem("a1:30, w1(a1), mm1:10(w1), a2:5, x1:10(a2), mm2:40(x1), "
                  "w2(a2), mm3:1(w2)",
                  names);
  EXPECT_THAT(explain(problem, names),
              ElementsAre("a1: x1 could run beside it, which gains 10 ns"));
  problem.maxInFlight = 1;
  EXPECT_THAT(explain(problem, names),
              ElementsAre("a1: x1 could run beside it and gain 10 ns, but too "
                          "many operations would be in flight"));
}

TEST(ExposureReasons, LoopBodies) {
  std::vector<std::string> names;
  // The start is the last op, though nothing keeps it there.
  SchedulingProblem problem = makeProblem("w1, mm1:130(w1), a1:100", names);
  problem.carriedAwaits.push_back({0, 2});
  EXPECT_THAT(explain(problem, names),
              ElementsAre("a1: mm1 could run beside it, which gains 100 ns"));
}

// Whatever is said to be a gain is one: on random problems every reason is
// checked against the simulator.
TEST(ExposureReasons, EveryExposedStartHasAReason) {
  RandomProblemOptions options;
  options.numNodes = 40;
  options.edgeEvery = 12;
  std::map<ExposureKind, unsigned> numKinds;
  for (uint64_t seed = 0; seed != getNumProblems(80); ++seed) {
    options.contention = seed % 2;
    SchedulingProblem problem = makeRandomProblem(seed, options);
    problem.keepOrderOfStarts = seed % 3 == 0;
    ScheduleOrder order = getProgramOrder(problem.graph);
    Simulation simulation = simulateOrder(problem, order);
    std::vector<ExposureReason> reasons = getExposureReasons(problem, order);
    int64_t exposedNs = 0;
    bool canGain = false;
    for (const ExposureReason &reason : reasons) {
      exposedNs += reason.exposedNs;
      ++numKinds[reason.kind];
      EXPECT_EQ(reason.node.has_value(),
                reason.kind != ExposureKind::NoIndependentCompute);
      canGain |= reason.kind == ExposureKind::NotMoved;
      EXPECT_EQ(reason.gainNs > 0,
                reason.kind <= ExposureKind::InFlightLimit ||
                    (reason.kind == ExposureKind::OrderConstraint &&
                     reason.gainNs > 0));
    }
    EXPECT_EQ(exposedNs, simulation.exposedNs);
    // What is optimal cannot gain.
    if (computeLowerBounds(problem).best() == simulation.makespanNs)
      EXPECT_FALSE(canGain);
  }
  for (ExposureKind kind :
       {ExposureKind::NotMoved, ExposureKind::OrderConstraint,
        ExposureKind::LaneBusy, ExposureKind::DependencyChain,
        ExposureKind::NoIndependentCompute})
    EXPECT_GT(numKinds[kind], 0u) << stringifyExposureKind(kind).str();
}

TEST(ExposureReasons, LongProgramsAreFast) {
  SchedulingProblem problem = makeLongProgram(50000, 1);
  EXPECT_FALSE(
      getExposureReasons(problem, getProgramOrder(problem.graph)).empty());
}

TEST(LiveBuffers, TheLargestFirst) {
  std::vector<std::string> names;
  SchedulingProblem problem =
      makeProblem("mm1, mm2, mm3(mm1), mm4(mm2)", names);
  problem.buffers.push_back({10, false, {0, 2}});
  problem.buffers.push_back({30, false, {1, 3}});
  problem.buffers.push_back({20, true, {0}});
  EXPECT_THAT(getLiveBuffers(problem, {0, 1, 2, 3}, 0), ElementsAre(2, 0));
  EXPECT_THAT(getLiveBuffers(problem, {0, 1, 2, 3}, 2), ElementsAre(1, 2, 0));
  EXPECT_THAT(getLiveBuffers(problem, {0, 1, 2, 3}, 3), ElementsAre(1, 2));
  EXPECT_THAT(getLiveBuffers(problem, {0, 2, 1, 3}, 1), ElementsAre(2, 0));
}
