//===- ResourcePlanTest.cpp - Choice of thread-block limits ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Planning/ResourcePlan.h"

#include "TestProblems/ProblemCount.h"
#include "TestProblems/ProblemTestUtils.h"
#include "TestProblems/ResourceOptions.h"

#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>
#include <set>

using namespace braid;
using namespace braid::test;
using testing::ElementsAre;

/// A problem on the machine whose nodes have no edges: starts for the classes
/// of kind 0 and compute for those of kind 1, as `blocks` say in order.
/// Fills in the classes' nodes.
static SchedulingProblem
makeProblem(std::vector<std::pair<OpClass *, unsigned>> blocks) {
  SchedulingProblem problem;
  problem.machine = makePlannedMachine();
  for (auto [opClass, count] : blocks)
    for (unsigned i = 0; i != count; ++i) {
      ScheduleNode node;
      if (opClass->kind == 0) {
        node.kind = NodeKind::Start;
        node.lane = 0;
      }
      node.cost = opClass->options.front().costNs;
      opClass->ops.push_back(problem.graph.addNode(node));
      problem.demands.push_back(opClass->options.front().demand);
    }
  problem.graph.finalize();
  return problem;
}

static int64_t simulateWith(SchedulingProblem problem,
                            llvm::ArrayRef<OpClass> opClasses,
                            llvm::ArrayRef<unsigned> order,
                            llvm::ArrayRef<unsigned> choice) {
  applyChoice(problem, opClasses, choice);
  return simulateOrder(problem, order).makespanNs;
}

TEST(ResourcePlan, RoomAndAKernelThatFitsPayTogether) {
  // 10 matmuls of 12 tiles beside a chain of collectives in one lane. Alone,
  // neither a smaller kernel nor a target gains: a start that comes beside a
  // matmul on all four waits for its end.
  OpClass collectives, matmuls;
  collectives.options = {kernelOn(150, 2), kernelOn(250, 1)};
  matmuls.options = {matmulOn(12, 4), matmulOn(12, 3)};
  matmuls.kind = 1;
  SchedulingProblem problem = makeProblem({{&collectives, 20}, {&matmuls, 10}});
  std::vector<OpClass> opClasses = {collectives, matmuls};
  ScheduleOrder order = getProgramOrder(problem.graph);
  ResourcePlan plan = planResources(problem, opClasses, 1000);
  EXPECT_EQ(plan.order, order);
  EXPECT_EQ(plan.beforeNs, simulateWith(problem, opClasses, order, {0, 0}));
  EXPECT_LT(plan.afterNs, plan.beforeNs);
  EXPECT_EQ(plan.afterNs,
            simulateWith(problem, opClasses, order, plan.options));
}

/// Plans with `faster` for collectives, first beside matmuls on all four
/// multiprocessors and then beside matmuls on `few`.
static void expectPlannedOnlyWithRoom(const ResourceOption &faster,
                                      int64_t few) {
  OpClass collectives, matmuls;
  collectives.options = {kernelOn(150, 2), faster};
  matmuls.options = {matmulOn(12, 4)};
  matmuls.kind = 1;
  SchedulingProblem problem = makeProblem({{&collectives, 30}, {&matmuls, 2}});
  ResourcePlan plan = planResources(problem, {collectives, matmuls}, 1000);
  EXPECT_THAT(plan.options, ElementsAre(0, 0));
  matmuls.options = {matmulOn(12, few)};
  plan = planResources(problem, {collectives, matmuls}, 1000);
  EXPECT_THAT(plan.options, ElementsAre(1, 0));
}

TEST(ResourcePlan, AKernelWithoutRoomIsNotPlanned) {
  // The model calls the smaller kernel faster, but matmuls hold all four.
  expectPlannedOnlyWithRoom(kernelOn(100, 1), /*few=*/3);
}

TEST(ResourcePlan, CopyEnginesWithoutRoomAreNotPlanned) {
  ResourceOption copy = kernelOn(100, 0);
  copy.demand.linkBytes = 1;
  // They need some for the kernels around the copies.
  expectPlannedOnlyWithRoom(copy, /*few=*/2);
}

TEST(ResourcePlan, NothingChangesWithoutAGain) {
  OpClass matmuls;
  matmuls.options = {matmulOn(12, 4), matmulOn(12, 3), matmulOn(12, 4)};
  matmuls.kind = 1;
  SchedulingProblem problem = makeProblem({{&matmuls, 1}});
  ResourcePlan plan = planResources(problem, {matmuls}, 100);
  EXPECT_THAT(plan.options, ElementsAre(0));
  EXPECT_EQ(plan.beforeNs, plan.afterNs);
}

TEST(ResourcePlan, ClassesMayDiffer) {
  // The first matmul has nothing beside it; the second has a collective that
  // comes second in its lane.
  OpClass first, second, small, large;
  first.options = second.options = {matmulOn(8, 4), matmulOn(8, 3)};
  first.kind = second.kind = 1;
  small.options = {kernelOn(10, 1)};
  large.options = {kernelOn(500, 1)};
  SchedulingProblem problem =
      makeProblem({{&first, 1}, {&small, 1}, {&large, 1}, {&second, 1}});
  ResourcePlan plan = planResources(problem, {first, second}, 100);
  EXPECT_THAT(plan.options, ElementsAre(0, 1));
  // 200, and 10 and 500 beside the second matmul.
  EXPECT_EQ(plan.afterNs, 710);
}

/// True if option `c` of the collectives, unless it is how they are, has room
/// beside option `p` of the matmuls.
static bool leavesHeadroom(llvm::ArrayRef<OpClass> opClasses, unsigned c,
                           unsigned p) {
  return c == 0 || opClasses[0].options[c].demand.multiprocessors +
                           opClasses[1].options[p].demand.blocks <=
                       makePlannedMachine().multiprocessors;
}

/// Classes and a problem that depend on `seed` alone.
static SchedulingProblem makeRandomClasses(uint64_t seed,
                                           std::vector<OpClass> &opClasses) {
  std::mt19937_64 random(seed);
  OpClass collectives, matmuls;
  collectives.options = {kernelOn(1 + random() % 300, 1 + random() % 3),
                         kernelOn(1 + random() % 300, 1),
                         kernelOn(1 + random() % 300, 2)};
  matmuls.options = {matmulOn(12, 4), matmulOn(12, 3), matmulOn(12, 2)};
  matmuls.kind = 1;
  std::vector<std::pair<OpClass *, unsigned>> blocks;
  for (unsigned i = 0; i != 7; ++i)
    blocks.emplace_back(random() % 2 ? &collectives : &matmuls, 1);
  SchedulingProblem problem = makeProblem(blocks);
  opClasses = {collectives, matmuls};
  return problem;
}

TEST(ResourcePlan, IsTheBestOfAllWhereItTriesAll) {
  for (unsigned seed = 0; seed != 50; ++seed) {
    std::vector<OpClass> opClasses;
    SchedulingProblem problem = makeRandomClasses(seed, opClasses);
    ScheduleOrder order = getProgramOrder(problem.graph);
    int64_t leastNs = std::numeric_limits<int64_t>::max();
    for (unsigned c = 0; c != 3; ++c)
      for (unsigned p = 0; p != 3; ++p)
        if (leavesHeadroom(opClasses, c, p))
          leastNs = std::min(leastNs,
                             simulateWith(problem, opClasses, order, {c, p}));
    EXPECT_EQ(planResources(problem, opClasses, 1000).afterNs, leastNs) << seed;
  }
}

TEST(ResourcePlan, KeepsTheLimitOnSimulations) {
  OpClass matmuls;
  matmuls.options = {matmulOn(8, 4), matmulOn(8, 3), matmulOn(8, 2)};
  matmuls.kind = 1;
  SchedulingProblem problem = makeProblem({{&matmuls, 1}});
  EXPECT_EQ(planResources(problem, {matmuls}, 2).numSimulated, 2u);
}

static ResourcePlan searchBestPlan(const SchedulingProblem &problem,
                                   llvm::ArrayRef<OpClass> opClasses,
                                   const SearchOptions &search) {
  return searchPlans(problem, opClasses, search, 1000,
                     /*findsAlternatives=*/false)
      .compared.front();
}

TEST(ResourcePlan, OrderAndPlanTogetherAreTheBestOfAll) {
  unsigned numGains = 0;
  SearchOptions search;
  search.effort = SearchEffort::Low;
  for (unsigned seed = 0; seed != getNumProblems(15); ++seed) {
    std::vector<OpClass> opClasses;
    SchedulingProblem problem = makeRandomClasses(seed, opClasses);
    int64_t leastNs = std::numeric_limits<int64_t>::max();
    for (unsigned c = 0; c != 3; ++c)
      for (unsigned p = 0; p != 3; ++p)
        if (leavesHeadroom(opClasses, c, p))
          forEachOrder(problem, [&](llvm::ArrayRef<unsigned> order) {
            leastNs = std::min(leastNs,
                               simulateWith(problem, opClasses, order, {c, p}));
          });
    ResourcePlan plan = searchBestPlan(problem, opClasses, search);
    EXPECT_EQ(plan.afterNs, leastNs) << seed;
    EXPECT_EQ(plan.afterNs,
              simulateWith(problem, opClasses, plan.order, plan.options));
    EXPECT_LE(boundAllPlans(problem, opClasses), leastNs);
    int64_t unplannedNs = searchSchedule(problem).makespanNs;
    int64_t plannedLaterNs = planResources(problem, opClasses, 1000).afterNs;
    EXPECT_LE(plan.afterNs, std::min(unplannedNs, plannedLaterNs));
    numGains += plan.afterNs < std::min(unplannedNs, plannedLaterNs);
  }
  EXPECT_GT(numGains, 0u);
}

TEST(ResourcePlan, AlternativesAreOtherPlansFromTheBestOn) {
  SearchOptions search;
  search.effort = SearchEffort::Low;
  for (unsigned seed = 0; seed != getNumProblems(30); ++seed) {
    std::vector<OpClass> opClasses;
    SchedulingProblem problem = makeRandomClasses(seed, opClasses);
    ResourcePlan best = searchBestPlan(problem, opClasses, search);
    std::set<ResourceChoice> known = {best.options};
    int64_t lastNs = best.afterNs;
    SearchedPlans plans = searchPlans(problem, opClasses, search, 1000,
                                      /*findsAlternatives=*/true);
    EXPECT_EQ(plans.compared.front().order, best.order);
    for (const ResourcePlan &plan : plans.alternatives) {
      EXPECT_TRUE(known.insert(plan.options).second) << seed;
      EXPECT_TRUE(leavesHeadroom(opClasses, plan.options[0], plan.options[1]));
      EXPECT_EQ(plan.afterNs,
                simulateWith(problem, opClasses, plan.order, plan.options));
      EXPECT_GE(plan.afterNs, lastNs);
      lastNs = plan.afterNs;
    }
    // Without a plan is one of them.
    EXPECT_TRUE(known.count(ResourceChoice(opClasses.size(), 0)));
    EXPECT_GT(plans.alternatives.size(), 1u);
  }
}
