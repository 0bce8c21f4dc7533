//===- SearchScheduleTest.cpp - Search for the best order -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems/ExhaustiveSearch.h"
#include "TestProblems/GraphTestUtils.h"
#include "TestProblems/LayeredGraphs.h"
#include "TestProblems/ProblemCount.h"
#include "TestProblems/ProblemTestUtils.h"
#include "TestProblems/SearchTestUtils.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "Schedule/Simulation/ScheduleEvaluator.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/Schedule/Simulation/LoopSimulator.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using namespace braid::test;

namespace {

void expectSameAsSimulator(const SchedulingProblem &problem, uint64_t seed) {
  ScheduleEvaluator evaluator(problem);
  for (uint64_t i = 0; i != 5; ++i) {
    ScheduleOrder order = makeRandomOrder(problem.graph, seed * 5 + i);
    Simulation simulation = simulateOrder(problem, order);
    ScheduleEvaluator::Value value = evaluator.evaluate(order);
    ASSERT_EQ(value.makespanNs, simulation.makespanNs) << "seed " << seed;
    ASSERT_EQ(value.peakBytes, simulation.peakBytes) << "seed " << seed;
  }
}

/// The result is what it says it is, and no worse than any of `candidates`.
void expectSound(const SchedulingProblem &problem, const SearchResult &result,
                 llvm::ArrayRef<ScheduleCandidate> candidates) {
  std::string reason;
  ASSERT_TRUE(isAllowedOrder(problem, result.order, &reason)) << reason;
  Simulation simulation = simulateOrder(problem, result.order);
  ASSERT_EQ(simulation.makespanNs, result.makespanNs);
  ASSERT_EQ(simulation.peakBytes, result.peakBytes);
  ASSERT_LE(result.lowerBoundNs, result.makespanNs);
  int64_t limit =
      problem.maxMemory.value_or(std::numeric_limits<int64_t>::max());
  ASSERT_EQ(result.excess.has_value(), result.peakBytes > limit);
  if (result.excess)
    return;
  for (const ScheduleCandidate &candidate : candidates) {
    ASSERT_TRUE(isLegalOrder(problem.graph, candidate.order, &reason))
        << candidate.name << ": " << reason;
    Simulation other = simulateOrder(problem, candidate.order);
    if (isAllowedOrder(problem, candidate.order) && other.peakBytes <= limit) {
      ASSERT_LE(result.makespanNs, other.makespanNs) << candidate.name;
    }
  }
}

void expectSound(const SchedulingProblem &problem, const SearchResult &result) {
  expectSound(problem, result, getScheduleCandidates(problem));
}

SchedulingProblem makeProblem(uint64_t seed, unsigned maxNodes) {
  SchedulingProblem problem = makeSmallProblem(seed, maxNodes);
  problem.keepOrderOfStarts = seed % 5 == 1;
  problem.maxInFlight = seed % 4 == 3 ? 1 + seed % 3 : 0;
  problem.machine.launchNs = seed % 6 == 0 ? 3 : 0;
  problem.liveBytes = seed % 7;
  if (seed % 3 == 0)
    problem.transientBytes = {{0, int64_t(seed % 30)}, {3, 7}};
  return problem;
}

} // namespace

TEST(ScheduleEvaluator, SameAsTheSimulator) {
  for (uint64_t seed = 0; seed != 150; ++seed)
    expectSameAsSimulator(makeProblem(seed, 5 + seed), seed);
}

TEST(ScheduleEvaluator, AsksTheSimulatorWhereTimesAreNotExact) {
  // Sums that overflow, and ops that slow each other down.
  for (uint64_t seed = 0; seed != 20; ++seed) {
    SchedulingProblem problem = makeProblem(seed, 20);
    ScheduleGraph graph;
    for (unsigned node = 0; node != problem.graph.size(); ++node) {
      ScheduleNode copy = problem.graph[node];
      if (node % 3 == 0)
        copy.cost = std::numeric_limits<int64_t>::max() / 2;
      graph.addNode(copy);
    }
    for (unsigned node = 0; node != graph.size(); ++node)
      for (unsigned successor : problem.graph.successors(node))
        graph.addEdge(node, successor);
    graph.finalize();
    problem.graph = std::move(graph);
    expectSameAsSimulator(problem, seed);
  }
}

/// The body of a loop that awaits its last start in the next iteration.
SchedulingProblem makeLoopBody(uint64_t seed, unsigned maxNodes) {
  SchedulingProblem problem = makeProblem(seed, maxNodes);
  // The first compute awaits what the last start has begun before.
  for (unsigned node = 0; node != problem.graph.size(); ++node)
    if (problem.graph[node].kind == NodeKind::Compute) {
      problem.carriedAwaits.push_back({node, problem.graph.starts().back()});
      break;
    }
  return problem;
}

TEST(ScheduleEvaluator, SameAsTheSimulatorWithContention) {
  for (uint64_t seed = 0; seed != 60; ++seed) {
    SchedulingProblem problem =
        makeContended(makeProblem(seed, 5 + seed), seed);
    if (!problem.graph.starts().empty())
      ASSERT_NO_FATAL_FAILURE(expectSameAsSimulator(problem, seed));
  }
}

TEST(ScheduleEvaluator, SameAsTheSimulatorOfLoops) {
  for (uint64_t seed = 0; seed != 30; ++seed) {
    SchedulingProblem problem = makeProblem(seed, 20);
    if (problem.graph.starts().empty())
      continue;
    problem = makeLoopBody(seed, 20);
    ScheduleEvaluator evaluator(problem);
    ScheduleOrder order = makeRandomOrder(problem.graph, seed);
    LoopSimulation loop = simulateLoopOrder(problem, order);
    EXPECT_EQ(evaluator.evaluate(order).makespanNs, loop.periodNs);
    EXPECT_EQ(evaluator.evaluate(order).peakBytes, loop.iteration.peakBytes);
  }
}

TEST(SearchSchedule, AsGoodAsAllOrdersWithContention) {
  constexpr unsigned numProblems = getNumProblems(40);
  unsigned proven = 0, different = 0;
  for (uint64_t seed = 0; seed != numProblems; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeContended(makeProblem(seed, 8), seed);
    SearchResult result = searchWithParts(problem);
    ASSERT_NO_FATAL_FAILURE(expectSound(problem, result));
    // Every order, one by one.
    int64_t least = std::numeric_limits<int64_t>::max();
    ScheduleOrder order = getProgramOrder(problem.graph);
    do {
      if (isAllowedOrder(problem, order))
        least = std::min(least, simulateOrder(problem, order).makespanNs);
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(result.makespanNs, least);
    proven += result.optimal;
    problem.machine = {};
    different += searchWithParts(problem).makespanNs != least;
  }
  EXPECT_EQ(proven, numProblems);
  EXPECT_GT(different, numProblems / 4);
}

TEST(SearchSchedule, WithoutPassesNoLongerThanTheProgram) {
  SearchParts options;
  options.usePasses = false;
  for (uint64_t seed = 0; seed != 60; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem =
        seed % 2 ? makeProblem(seed, 10 + seed)
                 : makeContended(makeProblem(seed, 10 + seed), seed);
    if (seed % 3 == 0)
      problem.maxMemory =
          simulateOrder(problem, getProgramOrder(problem.graph)).peakBytes;
    std::vector<ScheduleCandidate> candidates = getScheduleCandidates(problem);
    ASSERT_TRUE(isProgramOrder(candidates.front().order));
    options.maxSteps = seed % 4 < 2 ? 1 : 20'000;
    SearchResult result = searchWithParts(problem, options);
    ASSERT_NO_FATAL_FAILURE(expectSound(problem, result, candidates.front()));
    // Nothing has come from a pass.
    for (const ScheduleCandidate &pass : llvm::drop_begin(candidates))
      EXPECT_NE(result.method, pass.name);
  }
}

TEST(SearchSchedule, SoundWithAndWithoutMultipliers) {
  SearchParts options;
  options.maxSteps = 20'000;
  for (uint64_t seed = 0; seed != 30; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem =
        makeContended(makeProblem(seed, 10 + 5 * seed), seed);
    if (seed % 3 == 0)
      problem.maxMemory =
          simulateOrder(problem, getProgramOrder(problem.graph)).peakBytes;
    auto [without, with] =
        compareParts(problem, options, &SearchParts::useMultipliers);
    ASSERT_NO_FATAL_FAILURE(expectSound(problem, without));
    ASSERT_NO_FATAL_FAILURE(expectSound(problem, with));
  }
}

TEST(SearchSchedule, MultipliersMakeStepsShorter) {
  SchedulingProblem step =
      makeTrainingStep({Parallelism::SequenceParallel, 4, 2, 150, 0, 1});
  shareGpu(step);
  SearchParts options;
  options.maxSteps = 2'000'000;
  auto multipliers = compareParts(step, options, &SearchParts::useMultipliers);
  ASSERT_NO_FATAL_FAILURE(expectSound(step, multipliers.with));
  EXPECT_EQ(multipliers.with.method, "local search");
  EXPECT_LT(multipliers.with.makespanNs,
            multipliers.without.makespanNs * 98 / 100);
}

TEST(SearchSchedule, NoLoopIsLongerThanWhatPassesGive) {
  unsigned better = 0;
  for (uint64_t seed = 0; seed != 20; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 16);
    if (problem.graph.starts().empty())
      continue;
    problem = makeLoopBody(seed, 16);
    SearchParts options;
    options.maxSteps = 500'000;
    SearchResult result = searchWithParts(problem, options);
    std::string reason;
    ASSERT_TRUE(isAllowedOrder(problem, result.order, &reason)) << reason;
    ASSERT_EQ(result.makespanNs,
              simulateLoopOrder(problem, result.order).periodNs);
    ASSERT_LE(result.lowerBoundNs, result.makespanNs);
    int64_t bestPass = std::numeric_limits<int64_t>::max();
    for (const ScheduleCandidate &candidate : getScheduleCandidates(problem))
      if (isAllowedOrder(problem, candidate.order))
        bestPass = std::min(
            bestPass, simulateLoopOrder(problem, candidate.order).periodNs);
    EXPECT_LE(result.makespanNs, bestPass);
    better += result.makespanNs < bestPass;
  }
  EXPECT_GT(better, 0u);
}

TEST(SearchSchedule, ExactWhereProgramAndListsKeepNoLimitInFlight) {
  // The program has too many operations in flight, though it takes no longer
  // than its bound, and lists run into dead ends. There are orders that keep
  // the limits.
  const std::pair<unsigned, unsigned> edges[] = {
      {0, 1}, {0, 2}, {2, 4}, {1, 5},  {2, 5},  {3, 5},  {0, 6}, {3, 6},
      {1, 7}, {6, 8}, {3, 9}, {1, 10}, {7, 10}, {2, 11}, {4, 11}};
  SchedulingProblem problem;
  for (unsigned node = 0; node != 12; ++node) {
    ScheduleNode added;
    added.kind = NodeKind::Wait;
    if (llvm::is_contained({0, 1, 3, 4, 6, 7}, node)) {
      added.kind = NodeKind::Start;
      added.lane = 0;
      added.cost = 10;
    }
    problem.graph.addNode(added);
  }
  for (auto [from, to] : edges) {
    problem.graph.addEdge(from, to);
    if (problem.graph[from].kind == NodeKind::Start &&
        problem.graph[to].kind == NodeKind::Wait)
      problem.awaits.emplace_back(to, from);
  }
  problem.graph.finalize();
  llvm::sort(problem.awaits);
  for (auto [most, keepsOrder] :
       {std::pair(1u, false), std::pair(2u, false), std::pair(2u, true)}) {
    SCOPED_TRACE(most);
    problem.maxInFlight = most;
    problem.keepOrderOfStarts = keepsOrder;
    SearchResult result = searchWithParts(problem);
    EXPECT_TRUE(isAllowedOrder(problem, result.order));
  }
}

TEST(SearchSchedule, NothingToOrder) {
  SchedulingProblem problem;
  problem.graph.finalize();
  SearchResult result = searchWithParts(problem);
  EXPECT_TRUE(result.order.empty());
  EXPECT_EQ(result.makespanNs, 0);
  EXPECT_TRUE(result.optimal);
  EXPECT_FALSE(result.excess);
}

TEST(SearchSchedule, SoundAndDeterministicOnSmallProblems) {
  for (uint64_t seed = 0; seed != getNumProblems(150); ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 4 + seed % 50);
    SearchResult result = searchWithParts(problem);
    ASSERT_NO_FATAL_FAILURE(expectSound(problem, result));
    SearchResult again = searchWithParts(problem);
    ASSERT_EQ(result.order, again.order);
    ASSERT_EQ(result.statistics.steps, again.statistics.steps);
  }
}

TEST(SearchSchedule, AsGoodAsAllOrdersOfSmallProblems) {
  for (uint64_t seed = 0; seed != getNumProblems(70); ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 12);
    std::optional<int64_t> least = findLeastMakespanExhaustively(problem);
    ASSERT_TRUE(least.has_value());
    SearchResult result = searchWithParts(problem);
    ASSERT_NO_FATAL_FAILURE(expectSound(problem, result));
    EXPECT_TRUE(result.optimal);
    EXPECT_EQ(result.makespanNs, *least);
    EXPECT_LE(result.lowerBoundNs, *least);
  }
}

TEST(SearchSchedule, SaysOptimalOnlyIfItIs) {
  // With few steps and parts of the search alone.
  for (uint64_t seed = 0; seed != getNumProblems(70); ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 11);
    std::optional<int64_t> least = findLeastMakespanExhaustively(problem);
    ASSERT_TRUE(least.has_value());
    for (unsigned part = 0; part != 4; ++part) {
      SearchParts options;
      options.useListRules = part == 1;
      options.useExact = part == 2;
      options.useWindows = part == 3;
      options.useMoves = part == 3;
      options.maxSteps = part == 2 ? 100 : 1000;
      SearchResult result = searchWithParts(problem, options);
      ASSERT_NO_FATAL_FAILURE(expectSound(problem, result));
      EXPECT_GE(result.makespanNs, *least);
      EXPECT_LE(result.lowerBoundNs, *least);
      if (result.optimal) {
        EXPECT_EQ(result.makespanNs, *least);
      }
    }
  }
}

TEST(SearchSchedule, KeepsTheMemoryLimitIfAnyOrderDoes) {
  for (uint64_t seed = 0; seed != getNumProblems(70); ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem = makeProblem(seed, 12);
    std::optional<int64_t> leastPeak = findLeastPeakExhaustively(problem);
    ASSERT_TRUE(leastPeak.has_value());
    for (int64_t limit : {*leastPeak, *leastPeak * 21 / 20}) {
      problem.maxMemory = limit;
      SearchResult result = searchWithParts(problem);
      ASSERT_NO_FATAL_FAILURE(expectSound(problem, result));
      ASSERT_FALSE(result.excess.has_value());
      EXPECT_LE(result.peakBytes, limit);
      EXPECT_TRUE(result.optimal);
      EXPECT_EQ(result.makespanNs, findLeastMakespanExhaustively(problem));
    }
    problem.maxMemory = *leastPeak - 1;
    SearchResult result = searchWithParts(problem);
    ASSERT_TRUE(result.excess.has_value());
    EXPECT_EQ(result.excess->bytes, 1);
    EXPECT_EQ(result.excess->leastPeakBytes, *leastPeak);
    EXPECT_TRUE(result.excess->proven);
    EXPECT_LT(result.excess->node, problem.graph.size());
  }
}

TEST(SearchSchedule, KeepsTheMemoryOfTheProgramOnLargerProblems) {
  unsigned tighter = 0;
  for (uint64_t seed = 0; seed != 8; ++seed) {
    SCOPED_TRACE(seed);
    SchedulingProblem problem =
        seed % 2 ? makeLongProgram(400, seed)
                 : makeTrainingStep(
                       {Parallelism::FullySharded, 8, 1, 100, 20, seed});
    int64_t peak =
        simulateOrder(problem, getProgramOrder(problem.graph)).peakBytes;
    SearchParts options;
    options.maxSteps = 300'000;
    problem.maxMemory = peak;
    SearchResult result = searchWithParts(problem, options);
    ASSERT_NO_FATAL_FAILURE(expectSound(problem, result));
    EXPECT_FALSE(result.excess.has_value());
    // The program itself does not fit any more.
    problem.maxMemory = peak - 1;
    result = searchWithParts(problem, options);
    ASSERT_NO_FATAL_FAILURE(expectSound(problem, result));
    if (!result.excess) {
      ++tighter;
      continue;
    }
    EXPECT_EQ(result.excess->bytes, result.peakBytes - *problem.maxMemory);
    EXPECT_FALSE(result.excess->buffers.empty());
    if (result.excess->proven) {
      EXPECT_GT(result.excess->leastPeakBytes, *problem.maxMemory);
    }
  }
  EXPECT_GE(tighter, 4u);
}

TEST(SearchSchedule, NoOrderFitsLessThanOneNodeNeeds) {
  SchedulingProblem problem = makeLongProgram(300, 1);
  problem.transientBytes = {{7, 1'000'000}};
  problem.maxMemory = 1'000'000;
  SearchResult result = searchWithParts(problem);
  ASSERT_TRUE(result.excess.has_value());
  EXPECT_TRUE(result.excess->proven);
  EXPECT_EQ(result.excess->node, 7u);
  EXPECT_GT(result.excess->leastPeakBytes, 1'000'000);
}

TEST(SearchSchedule, MicroBatchesThatAreWrittenOneAfterTheOtherInterleave) {
  SchedulingProblem problem =
      makeTrainingStep({Parallelism::TensorParallel, 8, 2, 60, 0, 1});
  SearchParts options;
  options.maxSteps = 500'000;
  SearchResult result = searchWithParts(problem, options);
  ASSERT_NO_FATAL_FAILURE(expectSound(problem, result));
  Simulation program = simulateOrder(problem, getProgramOrder(problem.graph));
  EXPECT_GT(program.makespanNs, result.lowerBoundNs * 13 / 10);
  EXPECT_LE(result.makespanNs, result.lowerBoundNs * 103 / 100);
}

TEST(SearchSchedule, WaitsAreAsLateAsTheyMayBe) {
  // The compute outlasts the collective, so the wait costs nothing anywhere.
  ProblemWriter writer;
  unsigned start = writer.start(0, 10, {}, 1);
  unsigned wait = writer.wait(start);
  unsigned longer = writer.compute(50, {}, 1);
  unsigned last = writer.compute(5, {wait, longer}, 1);
  SearchResult result = searchWithParts(writer.finish());
  EXPECT_EQ(result.order, (ScheduleOrder{start, longer, wait, last}));
  EXPECT_EQ(result.makespanNs, 55);
  EXPECT_TRUE(result.optimal);
}

TEST(SearchSchedule, AmongEqualsTheProgramWins) {
  ProblemWriter writer;
  unsigned a = writer.compute(5, {}, 1);
  unsigned b = writer.compute(7, {}, 1);
  writer.compute(1, {b, a}, 1);
  SearchResult result = searchWithParts(writer.finish());
  EXPECT_TRUE(isProgramOrder(result.order));
  EXPECT_EQ(result.method, "program order");
}

TEST(SearchSchedule, KeepsTheOrderOfAPassUnlessItGainsEnough) {
  unsigned numChecked = 0;
  for (uint64_t seed = 0; seed != 400 && numChecked != 10; ++seed) {
    SchedulingProblem problem = makeProblem(seed, 12);
    SearchResult best = searchWithParts(problem);
    int64_t passNs = std::numeric_limits<int64_t>::max();
    for (const ScheduleCandidate &candidate : getScheduleCandidates(problem))
      if (isAllowedOrder(problem, candidate.order))
        passNs = std::min(passNs,
                          simulateLoopOrder(problem, candidate.order).periodNs);
    if (best.excess || passNs <= best.makespanNs ||
        passNs == std::numeric_limits<int64_t>::max())
      continue;
    ++numChecked;
    double gain = double(passNs - best.makespanNs) / double(passNs);
    SearchParts options;
    options.minGain = gain * 0.99;
    EXPECT_EQ(searchWithParts(problem, options).makespanNs, best.makespanNs)
        << seed;
    options.minGain = gain * 1.01;
    SearchResult kept = searchWithParts(problem, options);
    ASSERT_NO_FATAL_FAILURE(expectSound(problem, kept, {}));
    EXPECT_TRUE(llvm::is_contained(getScheduleCandidateNames(), kept.method))
        << seed;
    EXPECT_EQ(kept.lowerBoundNs, best.lowerBoundNs) << seed;
  }
  EXPECT_EQ(numChecked, 10u);
}

TEST(SearchSchedule, EndsWhereNoOrderGainsEnough) {
  unsigned numChecked = 0;
  for (uint64_t seed = 0; seed != 100 && numChecked != 3; ++seed) {
    SchedulingProblem problem = makeProblem(seed, 100);
    SearchParts options;
    SearchResult best = searchWithParts(problem, options);
    if (best.statistics.windowsTried + best.statistics.movesTried == 0)
      continue;
    ++numChecked;
    options.minGain = 1;
    SearchResult kept = searchWithParts(problem, options);
    EXPECT_EQ(kept.statistics.windowsTried + kept.statistics.movesTried, 0u);
    EXPECT_LT(kept.statistics.steps, best.statistics.steps / 10);
    EXPECT_TRUE(llvm::is_contained(getScheduleCandidateNames(), kept.method));
  }
  EXPECT_EQ(numChecked, 3u);
}
