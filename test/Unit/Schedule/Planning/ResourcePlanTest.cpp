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

/// A problem on the machine whose nodes have no edges: starts for the families
/// of class 0 and compute for those of class 1, as `classes` say in order.
/// Fills in the families' nodes.
static SchedulingProblem
makeProblem(std::vector<std::pair<ResourceFamily *, unsigned>> blocks) {
  SchedulingProblem problem;
  problem.machine = makePlannedMachine();
  for (auto [family, count] : blocks)
    for (unsigned i = 0; i != count; ++i) {
      ScheduleNode node;
      if (family->ofClass == 0) {
        node.kind = NodeKind::Start;
        node.lane = 0;
      }
      node.cost = family->options.front().costNs;
      family->ops.push_back(problem.graph.addNode(node));
      problem.demands.push_back(family->options.front().demand);
    }
  problem.graph.finalize();
  return problem;
}

static int64_t playWith(SchedulingProblem problem,
                        llvm::ArrayRef<ResourceFamily> families,
                        llvm::ArrayRef<unsigned> order,
                        llvm::ArrayRef<unsigned> choice) {
  applyChoice(problem, families, choice);
  return simulateOrder(problem, order).makespanNs;
}

TEST(ResourcePlan, RoomAndAKernelThatFitsPayTogether) {
  // 10 products of 12 tiles beside a chain of collectives in one lane. Alone,
  // neither a smaller kernel nor a target gains: a start that comes beside a
  // product on all four waits for its end.
  ResourceFamily collectives, products;
  collectives.options = {kernelOn(150, 2), kernelOn(250, 1)};
  products.options = {productOn(12, 4), productOn(12, 3)};
  products.ofClass = 1;
  SchedulingProblem problem =
      makeProblem({{&collectives, 20}, {&products, 10}});
  std::vector<ResourceFamily> families = {collectives, products};
  ScheduleOrder order = getProgramOrder(problem.graph);
  ResourcePlan plan = planResources(problem, families, 1000);
  EXPECT_EQ(plan.order, order);
  EXPECT_EQ(plan.beforeNs, playWith(problem, families, order, {0, 0}));
  EXPECT_LT(plan.afterNs, plan.beforeNs);
  EXPECT_EQ(plan.afterNs, playWith(problem, families, order, plan.options));
}

/// Plans with `faster` for collectives, first beside products on all four
/// multiprocessors and then beside products on `few`.
static void expectPlannedOnlyWithRoom(const ResourceOption &faster,
                                      int64_t few) {
  ResourceFamily collectives, products;
  collectives.options = {kernelOn(150, 2), faster};
  products.options = {productOn(12, 4)};
  products.ofClass = 1;
  SchedulingProblem problem = makeProblem({{&collectives, 30}, {&products, 2}});
  ResourcePlan plan = planResources(problem, {collectives, products}, 1000);
  EXPECT_THAT(plan.options, ElementsAre(0, 0));
  products.options = {productOn(12, few)};
  plan = planResources(problem, {collectives, products}, 1000);
  EXPECT_THAT(plan.options, ElementsAre(1, 0));
}

TEST(ResourcePlan, AKernelWithoutRoomIsNotPlanned) {
  // The model calls the smaller kernel faster, but products hold all four.
  expectPlannedOnlyWithRoom(kernelOn(100, 1), /*few=*/3);
}

TEST(ResourcePlan, CopyEnginesWithoutRoomAreNotPlanned) {
  ResourceOption copy = kernelOn(100, 0);
  copy.demand.linkBytes = 1;
  // They need some for the kernels around the copies.
  expectPlannedOnlyWithRoom(copy, /*few=*/2);
}

TEST(ResourcePlan, NothingChangesWithoutAGain) {
  ResourceFamily products;
  products.options = {productOn(12, 4), productOn(12, 3), productOn(12, 4)};
  products.ofClass = 1;
  SchedulingProblem problem = makeProblem({{&products, 1}});
  ResourcePlan plan = planResources(problem, {products}, 100);
  EXPECT_THAT(plan.options, ElementsAre(0));
  EXPECT_EQ(plan.beforeNs, plan.afterNs);
}

TEST(ResourcePlan, FamiliesMayDiffer) {
  // The first product has nothing beside it; the second has a collective that
  // comes second in its lane.
  ResourceFamily first, second, small, large;
  first.options = second.options = {productOn(8, 4), productOn(8, 3)};
  first.ofClass = second.ofClass = 1;
  small.options = {kernelOn(10, 1)};
  large.options = {kernelOn(500, 1)};
  SchedulingProblem problem =
      makeProblem({{&first, 1}, {&small, 1}, {&large, 1}, {&second, 1}});
  ResourcePlan plan = planResources(problem, {first, second}, 100);
  EXPECT_THAT(plan.options, ElementsAre(0, 1));
  // 200, and 10 and 500 beside the second product.
  EXPECT_EQ(plan.afterNs, 710);
}

/// True if option `c` of the collectives, unless it is how they are, has room
/// beside option `p` of the products.
static bool leavesRoom(llvm::ArrayRef<ResourceFamily> families, unsigned c,
                       unsigned p) {
  return c == 0 || families[0].options[c].demand.multiprocessors +
                           families[1].options[p].demand.blocks <=
                       makePlannedMachine().multiprocessors;
}

/// Families and a problem that depend on `seed` alone.
static SchedulingProblem
makeRandomFamilies(uint64_t seed, std::vector<ResourceFamily> &families) {
  std::mt19937_64 random(seed);
  ResourceFamily collectives, products;
  collectives.options = {kernelOn(1 + random() % 300, 1 + random() % 3),
                         kernelOn(1 + random() % 300, 1),
                         kernelOn(1 + random() % 300, 2)};
  products.options = {productOn(12, 4), productOn(12, 3), productOn(12, 2)};
  products.ofClass = 1;
  std::vector<std::pair<ResourceFamily *, unsigned>> blocks;
  for (unsigned i = 0; i != 7; ++i)
    blocks.emplace_back(random() % 2 ? &collectives : &products, 1);
  SchedulingProblem problem = makeProblem(blocks);
  families = {collectives, products};
  return problem;
}

TEST(ResourcePlan, IsTheBestOfAllWhereItTriesAll) {
  for (unsigned seed = 0; seed != 50; ++seed) {
    std::vector<ResourceFamily> families;
    SchedulingProblem problem = makeRandomFamilies(seed, families);
    ScheduleOrder order = getProgramOrder(problem.graph);
    int64_t leastNs = std::numeric_limits<int64_t>::max();
    for (unsigned c = 0; c != 3; ++c)
      for (unsigned p = 0; p != 3; ++p)
        if (leavesRoom(families, c, p))
          leastNs =
              std::min(leastNs, playWith(problem, families, order, {c, p}));
    EXPECT_EQ(planResources(problem, families, 1000).afterNs, leastNs) << seed;
  }
}

TEST(ResourcePlan, KeepsTheLimitOnSimulations) {
  ResourceFamily products;
  products.options = {productOn(8, 4), productOn(8, 3), productOn(8, 2)};
  products.ofClass = 1;
  SchedulingProblem problem = makeProblem({{&products, 1}});
  EXPECT_EQ(planResources(problem, {products}, 2).numSimulated, 2u);
}

TEST(ResourcePlan, OrderAndPlanTogetherAreTheBestOfAll) {
  unsigned numGains = 0;
  SearchOptions search;
  search.effort = SearchEffort::Low;
  for (unsigned seed = 0; seed != getNumProblems(30); ++seed) {
    std::vector<ResourceFamily> families;
    SchedulingProblem problem = makeRandomFamilies(seed, families);
    int64_t leastNs = std::numeric_limits<int64_t>::max();
    for (unsigned c = 0; c != 3; ++c)
      for (unsigned p = 0; p != 3; ++p)
        if (leavesRoom(families, c, p))
          forEachOrder(problem, [&](llvm::ArrayRef<unsigned> order) {
            leastNs =
                std::min(leastNs, playWith(problem, families, order, {c, p}));
          });
    ResourcePlan plan = planOrderAndResources(problem, families, search, 1000);
    EXPECT_EQ(plan.afterNs, leastNs) << seed;
    EXPECT_EQ(plan.afterNs,
              playWith(problem, families, plan.order, plan.options));
    EXPECT_LE(boundAllPlans(problem, families), leastNs);
    int64_t unplannedNs = searchSchedule(problem).makespanNs;
    int64_t plannedLaterNs = planResources(problem, families, 1000).afterNs;
    EXPECT_LE(plan.afterNs, std::min(unplannedNs, plannedLaterNs));
    numGains += plan.afterNs < std::min(unplannedNs, plannedLaterNs);
  }
  EXPECT_GT(numGains, 0u);
}

TEST(ResourcePlan, AlternativesAreOtherPlansFromTheBestOn) {
  SearchOptions search;
  search.effort = SearchEffort::Low;
  for (unsigned seed = 0; seed != getNumProblems(30); ++seed) {
    std::vector<ResourceFamily> families;
    SchedulingProblem problem = makeRandomFamilies(seed, families);
    ResourcePlan best = planOrderAndResources(problem, families, search, 1000);
    std::set<ResourceChoice> known = {best.options};
    int64_t lastNs = best.afterNs;
    unsigned number = 1;
    for (;; ++number) {
      ResourcePlan plan =
          planOrderAndResources(problem, families, search, 1000, number);
      if (plan.options == best.options)
        break;
      EXPECT_TRUE(known.insert(plan.options).second) << seed;
      EXPECT_TRUE(leavesRoom(families, plan.options[0], plan.options[1]));
      EXPECT_EQ(plan.afterNs,
                playWith(problem, families, plan.order, plan.options));
      EXPECT_GE(plan.afterNs, lastNs);
      lastNs = plan.afterNs;
    }
    // Without a plan is one of them.
    EXPECT_TRUE(known.count(ResourceChoice(families.size(), 0)));
    EXPECT_GT(number, 2u);
    // Beyond the last one it is the best one again.
    ResourcePlan beyond =
        planOrderAndResources(problem, families, search, 1000, 1000);
    EXPECT_EQ(beyond.options, best.options);
    EXPECT_EQ(beyond.order, best.order);
  }
}
