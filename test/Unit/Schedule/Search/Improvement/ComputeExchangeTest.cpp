//===- ComputeExchangeTest.cpp - Which compute runs beside operations -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Search/Improvement/ComputeExchange.h"

#include "TestProblems/GraphTestUtils.h"
#include "TestProblems/LayeredGraphs.h"
#include "TestProblems/ProblemTestUtils.h"
#include "TestProblems/SearchTestUtils.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

namespace {

/// Compute of one or two waves of thread blocks, and operations that leave half
/// of the 100 multiprocessors: what is one wave alone becomes two if it has
/// more than 50 thread blocks.
class SharedMachine {
public:
  unsigned compute(int64_t costNs, int64_t tiles,
                   llvm::ArrayRef<unsigned> inputs = {}) {
    ResourceDemand demand;
    demand.arithmeticNs = costNs;
    demand.tiles = tiles;
    demands.push_back(demand);
    return writer.compute(costNs, inputs, 1);
  }
  unsigned start(int64_t costNs, llvm::ArrayRef<unsigned> inputs = {}) {
    ResourceDemand demand;
    demand.multiprocessors = 50;
    demands.push_back(demand);
    return writer.start(0, costNs, inputs, 1);
  }
  /// On a lane of its own; holds nothing.
  unsigned startCopy(int64_t costNs, llvm::ArrayRef<unsigned> inputs) {
    demands.emplace_back();
    return writer.start(1, costNs, inputs, 1);
  }
  unsigned wait(unsigned start) {
    demands.emplace_back();
    return writer.wait(start);
  }
  SchedulingProblem finish() {
    SchedulingProblem problem = writer.finish();
    problem.demands = demands;
    problem.machine.multiprocessors = 100;
    return problem;
  }

private:
  ProblemWriter writer;
  std::vector<ResourceDemand> demands;
};

constexpr int64_t suffers = 100, suffersNot = 50;

} // namespace

/// The program's order with its compute exchanged.
static ScheduleOrder exchangeProgram(const SchedulingProblem &problem) {
  FlatProblem flat(problem);
  ComputeExchange exchange(flat);
  EXPECT_TRUE(exchange.isUseful());
  return exchange.exchange(getProgramOrder(problem.graph));
}

static bool isUseful(const SchedulingProblem &problem) {
  FlatProblem flat(problem);
  return ComputeExchange(flat).isUseful();
}

TEST(ComputeExchange, WhatSuffersLeastRunsBesideTheOperation) {
  SharedMachine machine;
  unsigned start = machine.start(100);
  unsigned two = machine.compute(100, suffers);
  unsigned one = machine.compute(100, suffersNot);
  unsigned wait = machine.wait(start);
  SchedulingProblem problem = machine.finish();
  ScheduleOrder expected = {start, one, two, wait};
  EXPECT_EQ(exchangeProgram(problem), expected);
  EXPECT_EQ(simulateOrder(problem, getProgramOrder(problem.graph)).makespanNs,
            250);
  EXPECT_EQ(simulateOrder(problem, expected).makespanNs, 200);
}

TEST(ComputeExchange, WhatSuffersMostRunsBeforeTheOperation) {
  SharedMachine machine;
  unsigned one = machine.compute(100, suffersNot);
  unsigned start = machine.start(100);
  unsigned two = machine.compute(100, suffers);
  unsigned wait = machine.wait(start);
  EXPECT_EQ(exchangeProgram(machine.finish()),
            (ScheduleOrder{two, start, one, wait}));
}

TEST(ComputeExchange, MemoryMakesItSufferToo) {
  // The operation asks for half of the memory that there is.
  SharedMachine machine;
  unsigned start = machine.start(100);
  unsigned much = machine.compute(100, 0);
  unsigned little = machine.compute(100, 0);
  unsigned wait = machine.wait(start);
  SchedulingProblem problem = machine.finish();
  problem.machine.multiprocessors = 0;
  problem.machine.memoryBandwidth = 10;
  problem.demands[start].memoryBytes = 500;
  problem.demands[much].memoryBytes = 900;
  problem.demands[little].memoryBytes = 300;
  EXPECT_EQ(exchangeProgram(problem),
            (ScheduleOrder{start, little, much, wait}));
}

TEST(ComputeExchange, PiecesTakeTheTimeOfWhatWasThere) {
  // Two small pieces take the place of a large one, and the other way round.
  SharedMachine machine;
  unsigned start = machine.start(100);
  unsigned two = machine.compute(100, suffers);
  unsigned wait = machine.wait(start);
  unsigned first = machine.compute(50, suffersNot);
  unsigned second = machine.compute(50, suffersNot);
  EXPECT_EQ(exchangeProgram(machine.finish()),
            (ScheduleOrder{start, first, second, wait, two}));
}

TEST(ComputeExchange, ComputeThatIsNotReadyStaysAway) {
  // Behind compute that suffers, and behind a wait.
  SharedMachine machine;
  unsigned start = machine.start(300);
  unsigned first = machine.compute(100, suffers);
  unsigned second = machine.compute(100, suffersNot, first);
  unsigned other = machine.compute(100, suffers);
  unsigned wait = machine.wait(start);
  unsigned behind = machine.compute(100, suffersNot, wait);
  EXPECT_EQ(exchangeProgram(machine.finish()),
            (ScheduleOrder{start, first, second, other, wait, behind}));
}

TEST(ComputeExchange, ComputeThatAStartFollowsStays) {
  SharedMachine machine;
  unsigned start = machine.start(500);
  // It suffers, but a start follows over another one.
  unsigned feeds = machine.compute(100, suffers);
  unsigned between = machine.compute(50, suffers, feeds);
  unsigned two = machine.compute(100, suffers);
  unsigned one = machine.compute(100, suffersNot);
  unsigned wait = machine.wait(start);
  unsigned next = machine.start(100, between);
  unsigned last = machine.compute(100, suffersNot, wait);
  unsigned nextWait = machine.wait(next);
  EXPECT_EQ(exchangeProgram(machine.finish()),
            (ScheduleOrder{start, feeds, between, one, two, wait, next, last,
                           nextWait}));
}

TEST(ComputeExchange, BesideAnOperationThatOutlastsALaterOne) {
  SharedMachine machine;
  unsigned start = machine.start(700);
  unsigned feedsCopy = machine.compute(100, suffersNot);
  unsigned copy = machine.startCopy(50, feedsCopy);
  unsigned feedsNext = machine.compute(100, suffersNot);
  unsigned two = machine.compute(100, suffers);
  unsigned one = machine.compute(100, suffersNot);
  unsigned wait = machine.wait(start);
  unsigned copyWait = machine.wait(copy);
  unsigned next = machine.start(100, feedsNext);
  unsigned nextWait = machine.wait(next);
  EXPECT_EQ(exchangeProgram(machine.finish()),
            (ScheduleOrder{start, feedsCopy, copy, feedsNext, one, two, wait,
                           copyWait, next, nextWait}));
}

TEST(ComputeExchange, OfNoUseWhereNothingCanBeBetter) {
  auto makeProblem = [](int64_t firstTiles, int64_t secondTiles,
                        int64_t otherNs) {
    SharedMachine machine;
    unsigned feeds = machine.compute(otherNs, suffers);
    unsigned start = machine.start(100, feeds);
    machine.compute(100, firstTiles);
    machine.compute(100, secondTiles);
    machine.wait(start);
    return machine.finish();
  };
  EXPECT_TRUE(isUseful(makeProblem(suffers, suffersNot, 100)));
  EXPECT_FALSE(isUseful(makeProblem(suffers, suffers, 100)));
  EXPECT_FALSE(isUseful(makeProblem(suffersNot, suffersNot, 100)));
  // A hundredth of the work is too little.
  EXPECT_FALSE(isUseful(makeProblem(suffers, suffersNot, 19'800)));
  EXPECT_TRUE(isUseful(makeProblem(suffers, suffersNot, 19'700)));
}

TEST(ComputeExchange, OfNoUseWithoutOperationsOrComputeThatMayMove) {
  SharedMachine noStart;
  noStart.compute(100, suffers);
  noStart.compute(100, suffersNot);
  EXPECT_FALSE(isUseful(noStart.finish()));

  SharedMachine startWithoutWork;
  startWithoutWork.start(0);
  startWithoutWork.compute(100, suffers);
  startWithoutWork.compute(100, suffersNot);
  EXPECT_FALSE(isUseful(startWithoutWork.finish()));

  SharedMachine noneMoves;
  unsigned two = noneMoves.compute(100, suffers);
  unsigned one = noneMoves.compute(100, suffersNot);
  noneMoves.wait(noneMoves.start(100, {two, one}));
  EXPECT_FALSE(isUseful(noneMoves.finish()));
}

/// By node: compute that awaits nothing and that nothing but such compute
/// follows, however far behind.
static std::vector<bool> findMovable(const SchedulingProblem &problem) {
  const ScheduleGraph &graph = problem.graph;
  std::vector<bool> movable(graph.size());
  for (unsigned node = 0; node != graph.size(); ++node)
    movable[node] = graph[node].kind == NodeKind::Compute &&
                    problem.getAwaitedStarts(node).empty();
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned node = 0; node != graph.size(); ++node)
      for (unsigned before : graph.predecessors(node))
        if (!movable[node] && movable[before]) {
          movable[before] = false;
          changed = true;
        }
  }
  return movable;
}

namespace {

/// An order without what may move, and how much of that stands before each of
/// the others.
struct FixedPart {
  FixedPart(const FlatProblem &flat, const std::vector<bool> &movable,
            llvm::ArrayRef<unsigned> order) {
    int64_t sumNs = 0;
    for (unsigned node : order) {
      if (movable[node]) {
        sumNs += flat.cost[node];
        continue;
      }
      nodes.push_back(node);
      movableBeforeNs.push_back(sumNs);
    }
  }
  ScheduleOrder nodes;
  std::vector<int64_t> movableBeforeNs;
};

} // namespace

TEST(ComputeExchange, OrdersStayLegalAndAsLongAsBefore) {
  unsigned exchanged = 0;
  for (uint64_t seed = 0; seed != 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomProblemOptions options;
    options.numNodes = 10 + seed % 60;
    options.edgeEvery = 10 + seed % 60;
    options.contention = true;
    options.bodies = seed % 4 == 0;
    SchedulingProblem problem = makeRandomProblem(seed, options);
    problem.machine.launchNs = 2;
    problem.keepOrderOfStarts = seed % 5 == 0;
    problem.maxInFlight = seed % 3 == 0 ? 2 + seed % 4 : 0;
    ScheduleOrder order = seed % 2 ? makeRandomOrder(problem.graph, seed)
                                   : getProgramOrder(problem.graph);
    FlatProblem flat(problem);
    ComputeExchange exchange(flat), other(flat);
    if (!isAllowedOrder(problem, order) || !exchange.isUseful())
      continue;
    ScheduleOrder result = exchange.exchange(order);
    exchanged += result != order;
    // With every node once.
    std::string reason;
    ASSERT_TRUE(isAllowedOrder(problem, result, &reason)) << reason;

    std::vector<bool> movable = findMovable(problem);
    int64_t longestNs = 0;
    for (unsigned node = 0; node != flat.size(); ++node)
      if (movable[node])
        longestNs = std::max(longestNs, flat.cost[node]);
    FixedPart before(flat, movable, order), after(flat, movable, result);
    ASSERT_EQ(before.nodes, after.nodes);
    for (auto [beforeNs, afterNs] :
         llvm::zip_equal(before.movableBeforeNs, after.movableBeforeNs))
      ASSERT_LE(std::abs(beforeNs - afterNs), longestNs / 2 + 1);

    // Nothing is left of an order before.
    uint64_t steps = exchange.getSteps();
    EXPECT_GE(steps, flat.size());
    exchange.exchange(result);
    EXPECT_EQ(exchange.getSteps(), 2 * steps);
    ASSERT_EQ(exchange.exchange(order), result);
    ASSERT_EQ(other.exchange(order), result);
  }
  EXPECT_GT(exchanged, 50u);
}

TEST(ComputeExchange, MakesOrdersThatKnowNoContentionShorter) {
  for (unsigned communicationPercent : {100, 150})
    for (unsigned variationPercent : {0, 30}) {
      SchedulingProblem step =
          makeTrainingStep({Parallelism::SequenceParallel, 4, 2,
                            communicationPercent, variationPercent, 1});
      ScheduleOrder order =
          searchSchedule(step, makeConstructiveOptions(/*maxSteps=*/1'000'000))
              .order;
      shareGpu(step);
      FlatProblem flat(step);
      ComputeExchange exchange(flat);
      ASSERT_TRUE(exchange.isUseful());
      EXPECT_LT(simulateOrder(step, exchange.exchange(order)).makespanNs,
                simulateOrder(step, order).makespanNs);
    }
}
