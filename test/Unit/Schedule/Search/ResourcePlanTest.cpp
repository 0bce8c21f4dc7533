//===- ResourcePlanTest.cpp - Who runs on what of the machine -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Search/ResourcePlan.h"

#include "TestProblems/SimulatedOps.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>

using namespace braid;
using namespace braid::test;
using testing::ElementsAre;

static MachineModel getMachine() {
  MachineModel machine;
  machine.multiprocessors = 4;
  machine.multiprocessorModel = MultiprocessorModel::Queued;
  return machine;
}

/// A product of so many tiles, each of 100 ns, on so many multiprocessors.
static ResourceOption productOn(int64_t tiles, int64_t multiprocessors) {
  ResourceOption option;
  option.costNs = (tiles + multiprocessors - 1) / multiprocessors * 100;
  option.demand.arithmeticNs = option.costNs;
  option.demand.tiles = tiles;
  option.demand.blocks = int32_t(multiprocessors);
  option.demand.isPersistent = true;
  return option;
}

static ResourceOption kernelOn(int64_t cost, int32_t multiprocessors) {
  ResourceOption option;
  option.costNs = cost;
  option.demand.multiprocessors = multiprocessors;
  return option;
}

static SimulatedOp apply(SimulatedOp op, const ResourceOption &option) {
  op.costNs = option.costNs;
  op.demand = option.demand;
  return op;
}

TEST(ResourcePlan, RoomAndAKernelThatFitsPayTogether) {
  // 100 products of 12 tiles beside a chain of collectives in one lane. Alone,
  // neither a smaller kernel nor a target gains: a start that comes beside a
  // product on all four waits for its end.
  ResourceFamily collectives, products;
  collectives.options = {kernelOn(150, 2), kernelOn(250, 1)};
  products.options = {productOn(12, 4), productOn(12, 3)};
  products.ofClass = 1;
  std::vector<SimulatedOp> ops;
  for (unsigned i = 0; i != 20; ++i) {
    collectives.ops.push_back(ops.size());
    ops.push_back(apply(start(0), collectives.options[0]));
  }
  for (unsigned i = 0; i != 10; ++i) {
    products.ops.push_back(ops.size());
    ops.push_back(apply(compute(0), products.options[0]));
  }
  ResourcePlan plan =
      planResources(ops, getMachine(), {collectives, products}, 1000);
  EXPECT_EQ(plan.beforeNs, simulate(ops, getMachine()).makespanNs);
  EXPECT_LT(plan.afterNs, plan.beforeNs);
  for (unsigned op : collectives.ops)
    ops[op] = apply(ops[op], collectives.options[plan.options[0]]);
  for (unsigned op : products.ops)
    ops[op] = apply(ops[op], products.options[plan.options[1]]);
  EXPECT_EQ(simulate(ops, getMachine()).makespanNs, plan.afterNs);
}

TEST(ResourcePlan, NothingChangesWithoutAGain) {
  ResourceFamily products;
  products.options = {productOn(12, 4), productOn(12, 3), productOn(12, 4)};
  products.ofClass = 1;
  products.ops = {0};
  ResourcePlan plan = planResources({apply(compute(0), products.options[0])},
                                    getMachine(), {products}, 100);
  EXPECT_THAT(plan.options, ElementsAre(0));
  EXPECT_EQ(plan.beforeNs, plan.afterNs);
}

TEST(ResourcePlan, FamiliesMayDiffer) {
  // The first product has nothing beside it; the second has a collective that
  // comes second in its lane.
  ResourceFamily first, second;
  first.options = second.options = {productOn(8, 4), productOn(8, 3)};
  first.ofClass = second.ofClass = 1;
  std::vector<SimulatedOp> ops = {
      apply(compute(0), first.options[0]), apply(start(0), kernelOn(10, 1)),
      apply(start(0), kernelOn(500, 1)), apply(compute(0), second.options[0])};
  first.ops = {0};
  second.ops = {3};
  ResourcePlan plan = planResources(ops, getMachine(), {first, second}, 100);
  EXPECT_THAT(plan.options, ElementsAre(0, 1));
  // 200, and 10 and 500 beside the second product.
  EXPECT_EQ(plan.afterNs, 710);
}

TEST(ResourcePlan, IsTheBestOfAllWhereItTriesAll) {
  std::mt19937 random(1);
  for (unsigned round = 0; round != 50; ++round) {
    ResourceFamily collectives, products;
    collectives.options = {kernelOn(1 + random() % 300, 1 + random() % 3),
                           kernelOn(1 + random() % 300, 1),
                           kernelOn(1 + random() % 300, 2)};
    products.options = {productOn(12, 4), productOn(12, 3), productOn(12, 2)};
    products.ofClass = 1;
    std::vector<SimulatedOp> ops;
    for (unsigned i = 0; i != 12; ++i) {
      ResourceFamily &family = random() % 2 ? collectives : products;
      family.ops.push_back(ops.size());
      ops.push_back(apply(&family == &collectives ? start(0) : compute(0),
                          family.options[0]));
    }
    int64_t leastNs = std::numeric_limits<int64_t>::max();
    for (const ResourceOption &c : collectives.options)
      for (const ResourceOption &p : products.options) {
        for (unsigned op : collectives.ops)
          ops[op] = apply(ops[op], c);
        for (unsigned op : products.ops)
          ops[op] = apply(ops[op], p);
        leastNs = std::min(leastNs, simulate(ops, getMachine()).makespanNs);
      }
    EXPECT_EQ(
        planResources(ops, getMachine(), {collectives, products}, 1000).afterNs,
        leastNs)
        << round;
  }
}

TEST(ResourcePlan, KeepsTheLimitOnPlays) {
  ResourceFamily products;
  products.options = {productOn(8, 4), productOn(8, 3), productOn(8, 2)};
  products.ofClass = 1;
  products.ops = {0};
  EXPECT_EQ(planResources({apply(compute(0), products.options[0])},
                          getMachine(), {products}, 2)
                .numPlayed,
            2u);
}
