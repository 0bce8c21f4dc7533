//===- RefinedPlanTest.cpp - Plans op by op -------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Planning/RefinedPlan.h"

#include "TestProblems/ResourceOptions.h"

#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>

using namespace braid;
using namespace braid::test;
using testing::ElementsAre;

namespace {

/// Builds problems on a machine of four multiprocessors that are queued for.
class RefinedPlanTest : public testing::Test {
protected:
  RefinedPlanTest() {
    problem.machine = makePlannedMachine();
    collectives.options = {kernelOn(100, 2), kernelOn(100, 1), kernelOn(60, 4)};
    matmuls.options = {matmulOn(12, 4), matmulOn(12, 3)};
    matmuls.kind = 1;
    others.options = {kernelOn(50, 1), kernelOn(50, 2)};
  }

  unsigned addStart() { return addStart(collectives); }
  unsigned addStart(OpClass &opClass) {
    ScheduleNode node;
    node.kind = NodeKind::Start;
    node.lane = 0;
    node.cost = opClass.options.front().costNs;
    return add(node, opClass);
  }

  unsigned addMatmul() {
    ScheduleNode node;
    node.cost = matmuls.options.front().costNs;
    return add(node, matmuls);
  }

  unsigned addWait(unsigned start) {
    ScheduleNode node;
    node.kind = NodeKind::Wait;
    unsigned wait = problem.graph.addNode(node);
    problem.graph.addEdge(start, wait);
    problem.awaits.emplace_back(wait, start);
    problem.demands.emplace_back();
    return wait;
  }

  unsigned add(const ScheduleNode &node, OpClass &opClass) {
    opClass.ops.push_back(problem.graph.addNode(node));
    problem.demands.push_back(opClass.options.front().demand);
    return opClass.ops.back();
  }

  /// The plan of the program's order with one option for each class.
  ResourcePlan planWith(ResourceChoice options) {
    problem.graph.finalize();
    ResourcePlan plan;
    plan.order = getProgramOrder(problem.graph);
    return withOptions(std::move(plan), std::move(options));
  }

  ResourcePlan withOptions(ResourcePlan plan, ResourceChoice options) {
    plan.options = std::move(options);
    SchedulingProblem planned = problem;
    applyChoice(planned, opClasses(), plan.options);
    plan.afterNs = simulateOrder(planned, plan.order).makespanNs;
    return plan;
  }

  RefinedPlan refine(const ResourcePlan &plan, unsigned maxSimulations = 1000,
                     RefinedOps ops = RefinedOps::All) {
    return refinePlan(problem, opClasses(), plan, ConcurrentOps(problem),
                      maxSimulations, ops);
  }

  std::vector<OpClass> opClasses() const {
    if (others.ops.empty())
      return {collectives, matmuls};
    return {collectives, matmuls, others};
  }

  SchedulingProblem problem;
  /// The others share the lane of the collectives, where a test has any.
  OpClass collectives, matmuls, others;
};

} // namespace

TEST_F(RefinedPlanTest, OpsAloneTakeTheWholeMachine) {
  // A collective alone, a matmul beside another collective, and a matmul
  // that awaits all.
  unsigned wait = addWait(addStart());
  unsigned start = addStart();
  unsigned beside = addMatmul();
  unsigned last = addWait(start);
  unsigned alone = addMatmul();
  problem.graph.addEdge(wait, start);
  problem.graph.addEdge(wait, beside);
  problem.graph.addEdge(last, alone);
  ResourcePlan plan = planWith({1, 1});
  EXPECT_EQ(plan.afterNs, 100 + 400 + 400);
  RefinedPlan refined = refine(plan);
  EXPECT_THAT(refined.options,
              ElementsAre(ElementsAre(2, 1), ElementsAre(1, 0)));
  EXPECT_EQ(refined.afterNs, 60 + 400 + 300);
}

TEST_F(RefinedPlanTest, OpsWithConcurrentOpsStayInOtherPlans) {
  // The first two matmuls would gain from the whole machine.
  unsigned start = addStart();
  addMatmul();
  addMatmul();
  unsigned wait = addWait(start);
  problem.graph.addEdge(wait, addMatmul());
  ResourcePlan plan = planWith({0, 1});
  RefinedPlan refined = refine(plan, 1000, RefinedOps::Alone);
  EXPECT_THAT(refined.options,
              ElementsAre(ElementsAre(0), ElementsAre(1, 1, 0)));
  EXPECT_EQ(refined.afterNs, plan.afterNs - 100);
}

TEST_F(RefinedPlanTest, MatmulsLeaveRoomForWhatMayRunBesideThem) {
  // Another order has the first matmul beside the operation; the last one
  // awaits it.
  unsigned first = addMatmul();
  unsigned start = addStart();
  unsigned wait = addWait(start);
  unsigned last = addMatmul();
  problem.graph.addEdge(wait, last);
  ResourcePlan plan = planWith({1, 1});
  ConcurrentOps concurrent(problem);
  EXPECT_TRUE(concurrent.hasAny(first));
  EXPECT_FALSE(concurrent.hasAny(last));
  EXPECT_FALSE(concurrent.leavesHeadroom(opClasses(), {1, 0}));
  EXPECT_TRUE(concurrent.leavesHeadroom(opClasses(), {0, 0}));
  EXPECT_TRUE(concurrent.leavesHeadroom(opClasses(), {1, 1}));
  RefinedPlan refined = refine(plan);
  EXPECT_THAT(refined.options, ElementsAre(ElementsAre(1), ElementsAre(1, 0)));
}

TEST_F(RefinedPlanTest, OfALoopAllMayRunBesideAll) {
  unsigned start = addStart();
  unsigned wait = addWait(start);
  unsigned matmul = addMatmul();
  problem.graph.addEdge(wait, matmul);
  planWith({1, 0});
  EXPECT_TRUE(ConcurrentOps(problem).leavesHeadroom(opClasses(), {1, 0}));
  problem.carriedAwaits.push_back({wait, start});
  EXPECT_TRUE(ConcurrentOps(problem).hasAny(matmul));
  EXPECT_FALSE(ConcurrentOps(problem).leavesHeadroom(opClasses(), {1, 0}));
}

TEST_F(RefinedPlanTest, StartsOfOtherLanesFollowTheWait) {
  // The first operation may take the whole machine. The second one would not
  // queue behind it then.
  unsigned first = addStart(), second = addStart();
  unsigned wait = addWait(first);
  unsigned matmul = addMatmul();
  problem.graph.addEdge(wait, matmul);
  unsigned last = addWait(second);
  ResourcePlan plan = planWith({1, 1});
  RefinedPlan refined = refine(plan);
  EXPECT_THAT(refined.options, ElementsAre(ElementsAre(2, 1), ElementsAre(1)));
  EXPECT_THAT(refined.order, ElementsAre(first, wait, second, matmul, last));
  EXPECT_EQ(refined.afterNs, 60 + 400);
}

TEST_F(RefinedPlanTest, ClassesThatRunInOtherWaysFollowTheWait) {
  unsigned first = addStart(others), second = addStart();
  unsigned wait = addWait(first);
  unsigned matmul = addMatmul();
  problem.graph.addEdge(wait, matmul);
  unsigned last = addWait(second);
  // On two multiprocessors and on one.
  ResourcePlan plan = planWith({1, 1, 1});
  EXPECT_THAT(plan.order, ElementsAre(first, second, wait, matmul, last));
  RefinedPlan refined = refine(plan, 1);
  EXPECT_THAT(refined.order, ElementsAre(first, wait, second, matmul, last));
  EXPECT_EQ(refined.afterNs, plan.afterNs);
  // Both on one multiprocessor: one lane.
  EXPECT_EQ(refine(withOptions(plan, {1, 1, 0}), 1).order, plan.order);
  EXPECT_EQ(refine(plan, 0).order, plan.order);
}

TEST_F(RefinedPlanTest, StartsWithoutAPlaceBehindTheWaitKeepTheirLane) {
  unsigned first = addStart(), second = addStart();
  addMatmul();
  // Nothing may come between these two.
  unsigned wait = addWait(first);
  problem.graph.addEdge(second, wait);
  addWait(second);
  ResourcePlan plan = planWith({1, 1});
  RefinedPlan refined = refine(plan);
  EXPECT_EQ(refined.order, plan.order);
  EXPECT_THAT(refined.options.front(), ElementsAre(1, 1));
}

TEST_F(RefinedPlanTest, KeepsTheLimitOnSimulations) {
  addMatmul();
  ResourcePlan plan = planWith({0, 1});
  RefinedPlan refined = refine(plan, 0);
  EXPECT_EQ(refined.numSimulated, 0u);
  EXPECT_EQ(refined.afterNs, plan.afterNs);
  EXPECT_THAT(refined.options, ElementsAre(ElementsAre(), ElementsAre(1)));
}

TEST_F(RefinedPlanTest, IsNeverLongerAndWhatTheSimulatorSays) {
  for (unsigned seed = 0; seed != 100; ++seed) {
    problem.graph = ScheduleGraph();
    problem.awaits.clear();
    problem.demands.clear();
    collectives.ops.clear();
    matmuls.ops.clear();
    std::mt19937_64 random(seed);
    std::vector<unsigned> inFlight;
    for (unsigned i = 0; i != 12; ++i) {
      if (random() % 3 == 0)
        inFlight.push_back(addStart());
      else if (random() % 3 == 0 && !inFlight.empty())
        addWait(inFlight.back()), inFlight.pop_back();
      else
        addMatmul();
    }
    ResourcePlan plan =
        planWith({unsigned(random() % 3), unsigned(random() % 2)});
    for (RefinedOps ops : {RefinedOps::Alone, RefinedOps::All}) {
      RefinedPlan refined = refine(plan, 1000, ops);
      EXPECT_LE(refined.afterNs, plan.afterNs);
      SchedulingProblem planned = problem;
      std::vector<OpClass> all = opClasses();
      for (auto [opClass, options] : llvm::zip_equal(all, refined.options))
        for (auto [node, option] : llvm::zip_equal(opClass.ops, options))
          applyOption(planned, node, opClass.options[option]);
      EXPECT_EQ(refined.afterNs,
                simulateOrder(planned, refined.order).makespanNs)
          << seed;
    }
  }
}
