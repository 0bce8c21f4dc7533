//===- PriorityRulesTest.cpp - What list schedules go by ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Search/Construction/PriorityRules.h"

#include "TestProblems/LayeredGraphs.h"
#include "TestProblems/SearchTestUtils.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

namespace {

/// Two chains, written one after the other; between two collectives of the
/// first there is a little compute.
struct TwoChains {
  explicit TwoChains(int64_t betweenNs) {
    ProblemWriter writer;
    first = writer.start(0, 10, {}, 1);
    between = writer.compute(betweenNs, writer.wait(first), 1);
    second = writer.start(0, 10, between, 1);
    writer.compute(30, writer.wait(second), 1);
    other = writer.start(0, 10, {}, 1);
    writer.compute(1, writer.wait(other), 1);
    problem = writer.finish();
  }
  unsigned first, between, second, other;
  SchedulingProblem problem;
};

/// The lane's order in the list schedule that goes by `rule`.
std::vector<unsigned> getLaneOrder(const FlatProblem &flat,
                                   const PriorityRule &rule) {
  ListScheduler scheduler(flat);
  ScheduleOrder order;
  EXPECT_TRUE(scheduler.schedule(rule, order));
  EXPECT_TRUE(isAllowedOrder(flat.problem, order));
  llvm::erase_if(order, [&](unsigned node) { return !flat.isStart(node); });
  return order;
}

} // namespace

TEST(ListScheduler, LanesWaitForMoreUrgentStarts) {
  TwoChains chains(/*betweenNs=*/2);
  FlatProblem flat(chains.problem);
  std::vector<int64_t> tails = getTails(flat);
  PriorityRule rule{tails};
  // The lane is free as soon as the first collective has ended.
  std::vector<unsigned> greedy = {chains.first, chains.other, chains.second};
  std::vector<unsigned> patient = {chains.first, chains.second, chains.other};
  EXPECT_EQ(getLaneOrder(flat, rule), greedy);
  rule.maxInsertedLaneIdleNs = 1;
  EXPECT_EQ(getLaneOrder(flat, rule), greedy);
  rule.maxInsertedLaneIdleNs = 2;
  EXPECT_EQ(getLaneOrder(flat, rule), patient);
  // What is to come is no more urgent.
  std::vector<int64_t> reversed(tails.size());
  for (unsigned node = 0; node != flat.size(); ++node)
    reversed[node] = int64_t(node) - (node < chains.other ? 100 : 0);
  rule.priorities = reversed;
  EXPECT_EQ(getLaneOrder(flat, rule).front(), chains.other);
}

TEST(ListScheduler, TheNearestStartIsTheOneWithTheLeastWorkBefore) {
  ProblemWriter writer;
  unsigned root = writer.compute(5, {}, 1);
  unsigned far = writer.compute(7, root, 1);
  unsigned farStart = writer.start(0, 1, far, 1);
  unsigned nearStart = writer.start(1, 1, root, 1);
  writer.wait(farStart);
  unsigned wait = writer.wait(nearStart);
  SchedulingProblem problem = writer.finish();
  FlatProblem flat(problem);
  std::vector<int64_t> nearest = getNearestStarts(flat);
  std::vector<unsigned> ahead = getStartsAhead(flat, nearest);
  EXPECT_EQ(nearest[root], -5);
  EXPECT_EQ(ahead[root], nearStart);
  EXPECT_EQ(nearest[far], -7);
  EXPECT_EQ(ahead[far], farStart);
  EXPECT_EQ(ahead[farStart], farStart);
  EXPECT_EQ(ahead[wait], flat.size());
}

TEST(PriorityRules, MixturesOfTailAndProgramOrder) {
  SchedulingProblem problem =
      makeTrainingStep({Parallelism::TensorParallel, 4, 2, 100, 0, 1});
  FlatProblem flat(problem);
  ListScheduler scheduler(flat);
  std::vector<int64_t> tails = getTails(flat);
  PriorityRules rules(flat, scheduler, tails);
  RuleParameters parameters;
  EXPECT_EQ(rules.getRule(parameters).priorities, llvm::ArrayRef(tails));
  // All of the program's order, and all of that of two halves.
  parameters.programPercent = 100;
  llvm::ArrayRef<int64_t> priorities = rules.getRule(parameters).priorities;
  for (unsigned node = 1; node != flat.size(); ++node)
    EXPECT_GT(priorities[node - 1], priorities[node]);
  parameters.programParts = 2;
  priorities = rules.getRule(parameters).priorities;
  unsigned half = (flat.size() + 1) / 2;
  for (unsigned node = 1; node != flat.size(); ++node)
    EXPECT_EQ(priorities[node - 1] > priorities[node], node == half) << node;
}

TEST(PriorityRules, ChangesDependOnTheSeedAloneAndGiveLegalOrders) {
  for (uint64_t seed = 0; seed != 20; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem =
        seed == 0 ? SchedulingProblem() : makeLongProgram(20 * seed, seed);
    if (seed == 0)
      problem.graph.finalize();
    FlatProblem flat(problem);
    ListScheduler scheduler(flat);
    std::vector<int64_t> tails = getTails(flat);
    PriorityRules rules(flat, scheduler, tails);
    std::mt19937_64 engine(seed), again(seed);
    RuleParameters parameters, same;
    ScheduleOrder order, sameOrder;
    for (unsigned i = 0; i != 30; ++i) {
      parameters = rules.change(parameters, engine);
      same = rules.change(same, again);
      ASSERT_LE(parameters.programPercent, 100u);
      ASSERT_TRUE(scheduler.schedule(rules.getRule(parameters), order));
      ASSERT_TRUE(isAllowedOrder(problem, order));
      ASSERT_TRUE(scheduler.schedule(rules.getRule(same), sameOrder));
      ASSERT_EQ(order, sameOrder);
    }
  }
}

TEST(PriorityRules, TuningFindsWhatTheTableDoesNotHave) {
  // Four micro-batches; reduce-scatter and all-gather with little between them.
  SchedulingProblem problem =
      makeTrainingStep({Parallelism::SequenceParallel, 8, 4, 150, 30, 1});
  auto [table, tuned] =
      compareParts(problem, makeConstructiveOptions(/*maxSteps=*/8'000'000),
                   &SearchParts::useTunedLists);
  EXPECT_EQ(tuned.method, "tuned list");
  EXPECT_LT(tuned.makespanNs, table.makespanNs);
}
