//===- LowerBoundTest.cpp - What no order can go below --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Bounds/LowerBound.h"

#include "TestProblems/ProblemCount.h"
#include "TestProblems/ProblemTestUtils.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "gtest/gtest.h"

#include <limits>
#include <random>

using namespace braid;
using namespace braid::test;

namespace {

/// A problem that is written op by op; every op follows those that it names.
struct Writer {
  SchedulingProblem problem;
  std::vector<std::pair<unsigned, unsigned>> edges;

  unsigned add(NodeKind kind, int64_t cost, int32_t lane,
               llvm::ArrayRef<unsigned> after) {
    ScheduleNode node;
    node.kind = kind;
    node.cost = cost;
    node.lane = lane;
    unsigned index = problem.graph.addNode(node);
    for (unsigned other : after)
      edges.emplace_back(other, index);
    problem.demands.emplace_back();
    return index;
  }
  unsigned compute(int64_t cost, llvm::ArrayRef<unsigned> after = {}) {
    return add(NodeKind::Compute, cost, -1, after);
  }
  unsigned start(int64_t cost, llvm::ArrayRef<unsigned> after = {},
                 int32_t lane = 0) {
    return add(NodeKind::Start, cost, lane, after);
  }
  unsigned wait(unsigned start) {
    unsigned index = add(NodeKind::Wait, 0, -1, {start});
    problem.awaits.emplace_back(index, start);
    return index;
  }
  LowerBounds getBounds() {
    for (auto [from, to] : edges)
      problem.graph.addEdge(from, to);
    problem.graph.finalize();
    return computeLowerBounds(problem);
  }
};

} // namespace

TEST(LowerBound, NothingTakesNoTime) {
  LowerBounds bounds = Writer().getBounds();
  EXPECT_EQ(bounds.best(), 0);
  EXPECT_EQ(bounds.bestKind(), LowerBoundKind::CriticalPath);
  EXPECT_EQ(bounds.lane, -1);
}

TEST(LowerBound, CriticalPath) {
  Writer writer;
  unsigned product = writer.compute(20);
  writer.compute(40);
  writer.compute(7, {writer.wait(writer.start(100, {product}))});
  LowerBounds bounds = writer.getBounds();
  EXPECT_EQ(bounds.get(LowerBoundKind::CriticalPath), 127);
  EXPECT_EQ(bounds.get(LowerBoundKind::Stream), 67);
  EXPECT_EQ(bounds.get(LowerBoundKind::Lane), 100);
  EXPECT_EQ(bounds.best(), 127);
  EXPECT_EQ(bounds.bestKind(), LowerBoundKind::CriticalPath);
}

TEST(LowerBound, AStartLetsGoOfTheStreamAtOnce) {
  Writer writer;
  unsigned start = writer.start(100);
  // It follows the start, not its operation.
  writer.compute(30, {start});
  EXPECT_EQ(writer.getBounds().best(), 100);
}

TEST(LowerBound, SumsOfResources) {
  Writer writer;
  writer.problem.machine.launchNs = 2;
  for (int i = 0; i != 3; ++i)
    writer.compute(10);
  for (int i = 0; i != 4; ++i)
    writer.start(8, {}, 1);
  writer.start(9, {}, 0);
  LowerBounds bounds = writer.getBounds();
  EXPECT_EQ(bounds.get(LowerBoundKind::Stream), 36);
  EXPECT_EQ(bounds.get(LowerBoundKind::Lane), 32);
  EXPECT_EQ(bounds.lane, 1);
  EXPECT_EQ(bounds.bestKind(), LowerBoundKind::Stream);
}

TEST(LowerBound, SumsOfWhatIsShared) {
  Writer writer;
  MachineModel &machine = writer.problem.machine;
  machine.linkOfLane = {0, 0};
  machine.linkBandwidth = {2};
  machine.memoryBandwidth = 10;
  for (int lane = 0; lane != 2; ++lane) {
    unsigned start = writer.start(1000, {}, lane);
    // 1.5 of 2 bytes per ns: three quarters of the link.
    writer.problem.demands[start].linkBytes = 1500;
    writer.problem.demands[start].memoryBytes = 2000;
  }
  unsigned compute = writer.compute(900);
  writer.problem.demands[compute].memoryBytes = 9000;
  LowerBounds bounds = writer.getBounds();
  // One less, for what is rounded.
  EXPECT_EQ(bounds.get(LowerBoundKind::Link), 1499);
  EXPECT_EQ(bounds.link, 0);
  EXPECT_EQ(bounds.get(LowerBoundKind::Memory), 1299);
}

// An all-gather before each of two layers and a reduce-scatter after each: the
// first and the last have nothing beside them.
TEST(LowerBound, HeadsAndTailsOfTheStream) {
  Writer writer;
  std::vector<unsigned> layers;
  for (int i = 0; i != 2; ++i) {
    unsigned gathered = writer.wait(writer.start(30));
    unsigned layer = writer.compute(100, {gathered});
    writer.start(20, {layer});
  }
  LowerBounds bounds = writer.getBounds();
  EXPECT_EQ(bounds.get(LowerBoundKind::CriticalPath), 150);
  EXPECT_EQ(bounds.get(LowerBoundKind::Stream), 200);
  EXPECT_EQ(bounds.get(LowerBoundKind::StreamHeadTail), 250);
  EXPECT_EQ(bounds.best(), 250);
}

// Two halves that are joined in one op: before it the lane is the bottleneck,
// after it the stream.
TEST(LowerBound, PathsCountTheWorkBeforeAndAfterThem) {
  Writer writer;
  llvm::SmallVector<unsigned> parts;
  for (int i = 0; i != 4; ++i)
    parts.push_back(writer.compute(1, {writer.wait(writer.start(50))}));
  unsigned middle = writer.compute(10, parts);
  for (int i = 0; i != 4; ++i)
    writer.compute(50, {middle});
  LowerBounds bounds = writer.getBounds();
  EXPECT_EQ(bounds.get(LowerBoundKind::CriticalPath), 50 + 1 + 10 + 50);
  // The lane, the last part, the middle, and the rest.
  EXPECT_EQ(bounds.get(LowerBoundKind::Path), 200 + 1 + 10 + 200);
}

// Two chains of collectives with an op behind each: with one lane for both,
// their heads cannot all be right at the same time.
TEST(LowerBound, ALaneBringsWorkForOneChainOrTheOther) {
  // All work comes behind the last of a chain: one of them can be early.
  Writer late;
  for (int chain = 0; chain != 2; ++chain) {
    llvm::SmallVector<unsigned> last;
    for (int i = 0; i != 4; ++i)
      last = {late.wait(late.start(50, last))};
    for (int i = 0; i != 4; ++i)
      late.compute(75, last);
  }
  LowerBounds bounds = late.getBounds();
  // Each chain has its head of 200 ns.
  EXPECT_EQ(bounds.get(LowerBoundKind::StreamHeadTail), 800);
  EXPECT_EQ(bounds.get(LowerBoundKind::Availability), 800);

  // One of the heads of 50 ns is one of 100 ns.
  Writer both;
  for (int chain = 0; chain != 2; ++chain)
    both.compute(45, {both.wait(both.start(50))});
  bounds = both.getBounds();
  EXPECT_EQ(bounds.get(LowerBoundKind::StreamHeadTail), 140);
  EXPECT_EQ(bounds.get(LowerBoundKind::Availability), 145);
  EXPECT_EQ(bounds.bestKind(), LowerBoundKind::LaneHeadTail);
}

TEST(LowerBound, TheOrderOfStartsMakesAChain) {
  Writer writer;
  unsigned compute = writer.compute(100);
  // Written first: has to be started first.
  writer.start(10, {compute});
  writer.wait(writer.start(50));
  SchedulingProblem free = writer.problem;
  EXPECT_EQ(writer.getBounds().best(), 110);
  Writer kept = {std::move(free), writer.edges};
  kept.problem.keepOrderOfStarts = true;
  EXPECT_EQ(kept.getBounds().best(), 160);
}

TEST(LowerBound, ContentionStretchesWhatHides) {
  Writer writer;
  writer.problem.machine.multiprocessors = 132;
  // Two full waves that double beside a collective, one that has room.
  for (int64_t tiles : {132, 132, 100}) {
    unsigned compute = writer.compute(100);
    writer.problem.demands[compute].arithmeticNs = 100;
    writer.problem.demands[compute].tiles = tiles;
  }
  unsigned start = writer.start(150);
  writer.problem.demands[start].multiprocessors = 24;
  LowerBounds bounds = writer.getBounds();
  EXPECT_EQ(bounds.get(LowerBoundKind::StreamHeadTail), 300);
  // 100 ns hide for nothing; the other 50 cost half of what they would exposed.
  EXPECT_EQ(bounds.get(LowerBoundKind::Contention), 325);
  EXPECT_EQ(bounds.bestKind(), LowerBoundKind::Contention);
}

TEST(LowerBound, OperationsThatTakeLittleDoNotMakeOthersCheap) {
  Writer writer;
  writer.problem.machine.multiprocessors = 100;
  unsigned compute = writer.compute(1000);
  writer.problem.demands[compute].arithmeticNs = 1000;
  unsigned start = writer.start(800);
  writer.problem.demands[start].multiprocessors = 50;
  writer.start(10);
  // 800 ns at half speed.
  EXPECT_EQ(writer.getBounds().get(LowerBoundKind::Contention), 1400);
}

// One lane alone would cost 200 ns. Both together stop nearly all compute.
TEST(LowerBound, SeveralLanesDoNotHideBesideTheSameCompute) {
  Writer writer;
  writer.problem.machine.multiprocessors = 100;
  unsigned compute = writer.compute(1000);
  writer.problem.demands[compute].arithmeticNs = 1000;
  for (int lane = 0; lane != 2; ++lane) {
    unsigned start = writer.start(400, {}, lane);
    writer.problem.demands[start].multiprocessors = 50;
  }
  int64_t bound = writer.getBounds().get(LowerBoundKind::Contention);
  EXPECT_GE(bound, 1380);
  // Exposed at the same time.
  EXPECT_LE(bound, 1400);
}

// What an iteration has started and the next awaits may outlast it, but not the
// next.
TEST(LowerBound, LoopBodies) {
  Writer writer;
  unsigned wait = writer.add(NodeKind::Wait, 0, -1, {});
  unsigned compute = writer.compute(30, {wait});
  unsigned start = writer.start(100);
  writer.problem.carriedAwaits.push_back({wait, start});
  Writer cyclic = writer;
  LowerBounds bounds = writer.getBounds();
  EXPECT_EQ(bounds.get(LowerBoundKind::CriticalPath), 30);
  EXPECT_EQ(bounds.get(LowerBoundKind::Lane), 100);
  EXPECT_EQ(bounds.get(LowerBoundKind::Cycle), 65);

  // Each iteration starts what it has computed from what it awaits.
  cyclic.edges.emplace_back(compute, start);
  EXPECT_EQ(cyclic.getBounds().get(LowerBoundKind::Cycle), 130);
}

TEST(LowerBound, LongTimesSaturate) {
  int64_t longest = std::numeric_limits<int64_t>::max();
  Writer writer;
  writer.problem.machine.launchNs = longest;
  writer.problem.machine.multiprocessors = 132;
  writer.problem.machine.memoryBandwidth = 1;
  unsigned product = writer.compute(longest);
  unsigned wait = writer.wait(writer.start(longest, {product}));
  writer.compute(longest, {wait, product});
  for (ResourceDemand &demand : writer.problem.demands)
    demand = {longest, longest, 132, longest, longest};
  LowerBounds bounds = writer.getBounds();
  EXPECT_GE(bounds.best(), longest / 2);
  EXPECT_GE(bounds.get(LowerBoundKind::Memory), longest / 2);
}

//===----------------------------------------------------------------------===//
// Against every order
//===----------------------------------------------------------------------===//

/// Checks that no bound of `count` problems is above the best of all orders,
/// and returns how many of a hundred reach it.
static unsigned checkAllOrders(RandomProblemOptions options, unsigned count,
                               bool keepOrder) {
  unsigned numExact = 0;
  const unsigned numProblems = getNumProblems(count);
  for (uint64_t seed = 0; seed != numProblems; ++seed) {
    SchedulingProblem problem = makeRandomProblem(seed, options);
    problem.keepOrderOfStarts = keepOrder;
    int64_t best = std::numeric_limits<int64_t>::max();
    forEachOrder(problem, [&](llvm::ArrayRef<unsigned> order) {
      best = std::min(best, simulateOrder(problem, order).makespanNs);
    });
    LowerBounds bounds = computeLowerBounds(problem);
    for (size_t kind = 0; kind != numLowerBoundKinds; ++kind)
      EXPECT_LE(bounds.ns[kind], best)
          << "seed " << seed << ", "
          << stringifyLowerBoundKind(LowerBoundKind(kind)).str();
    numExact += bounds.best() == best;
  }
  return 100 * numExact / numProblems;
}

TEST(LowerBoundProperties, NoOrderIsFaster) {
  RandomProblemOptions options;
  options.numNodes = 7;
  for (unsigned edgeEvery : {3, 5}) {
    options.edgeEvery = edgeEvery;
    // It is exact on nearly all of them.
    EXPECT_GE(checkAllOrders(options, 100, false), 95u);
    EXPECT_GE(checkAllOrders(options, 100, true), 95u);
  }
}

TEST(LowerBoundProperties, NoOrderIsFasterWithLaunchGaps) {
  RandomProblemOptions options;
  options.numNodes = 7;
  options.launches = true;
  EXPECT_GE(checkAllOrders(options, 100, false), 90u);
}

TEST(LowerBoundProperties, NoOrderIsFasterWithContention) {
  RandomProblemOptions options;
  options.numNodes = 7;
  options.contention = true;
  for (unsigned edgeEvery : {3, 5, 8}) {
    options.edgeEvery = edgeEvery;
    options.launches = edgeEvery == 5;
    checkAllOrders(options, 100, false);
    checkAllOrders(options, 50, true);
  }
}

TEST(LowerBoundProperties, NoOrderIsFasterWhereOpsQueueForMultiprocessors) {
  RandomProblemOptions options;
  options.numNodes = 7;
  options.contention = options.queued = true;
  for (unsigned edgeEvery : {3, 5, 8}) {
    options.edgeEvery = edgeEvery;
    options.launches = edgeEvery == 5;
    options.bodies = edgeEvery == 8;
    checkAllOrders(options, 100, false);
    checkAllOrders(options, 50, true);
  }
}

TEST(LowerBoundProperties, NoOrderIsFasterWithBodies) {
  RandomProblemOptions options;
  options.numNodes = 7;
  options.bodies = true;
  options.contention = true;
  options.launches = true;
  checkAllOrders(options, 100, false);
}

TEST(LowerBoundProperties, FindsTheSameAgain) {
  constexpr int64_t never = std::numeric_limits<int64_t>::max();
  for (uint64_t seed = 0; seed != getNumProblems(24); ++seed) {
    RandomProblemOptions options;
    options.numNodes = 10 + seed % 30;
    options.contention = seed % 2 == 0;
    options.launches = seed % 3 == 0;
    options.bodies = seed % 5 == 0;
    options.carried = seed % 7 == 0;
    SchedulingProblem problem = makeRandomProblem(seed, options);
    ScheduleOrder order = getProgramOrder(problem.graph);
    int64_t knownNs = simulateOrder(problem, order).makespanNs;

    LowerBoundFinder finder(problem);
    for (int64_t known : {never, knownNs, knownNs / 2, never})
      for (LowerBoundEffort effort :
           {LowerBoundEffort::Quick, LowerBoundEffort::Full}) {
        LowerBounds again = finder.find(known, effort);
        LowerBounds once = computeLowerBounds(problem, known, effort);
        EXPECT_EQ(again.ns, once.ns) << "seed " << seed;
        EXPECT_EQ(again.lane, once.lane) << "seed " << seed;
        EXPECT_EQ(again.link, once.link) << "seed " << seed;
      }
  }
}

// On graphs of this size the bounds refine only a few vertices.
TEST(LowerBoundProperties, LargeGraphsAreFast) {
  std::mt19937_64 random(1);
  Writer writer;
  writer.problem.machine.multiprocessors = 132;
  writer.problem.machine.memoryBandwidth = 4000;
  std::vector<unsigned> tails(8);
  for (unsigned &tail : tails)
    tail = writer.compute(100);
  while (writer.problem.demands.size() < getNumProblems(100000)) {
    unsigned &tail = tails[random() % tails.size()];
    unsigned other = tails[random() % tails.size()];
    if (random() % 20 == 0)
      tail = writer.wait(writer.start(random() % 30000, {tail}, random() % 2));
    else
      tail = writer.compute(random() % 3000, {tail, other});
    writer.problem.demands.back() = {100, 132, 8, 100000, 0};
  }
  LowerBounds bounds = writer.getBounds();
  EXPECT_GE(bounds.best(), bounds.get(LowerBoundKind::Stream));
}
