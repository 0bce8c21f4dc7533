//===- AlgorithmPropertiesTest.cpp - Properties on random graphs ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Graphs of up to 2,000 nodes with opaque nodes and coalesced collectives.
//
//===----------------------------------------------------------------------===//

#include "TestProblems/GraphTestUtils.h"

#include "braid/Schedule/Baselines/Inductor/RaiseCollectives.h"
#include "braid/Schedule/Baselines/Inductor/ReorderComputeForOverlap.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

namespace {

using Algorithm = ScheduleOrder (*)(const ScheduleGraph &);

struct Case {
  const char *name;
  Algorithm algorithm;
  /// The rule word by word, if there is one.
  Algorithm reference = nullptr;
};

constexpr Case sink = {"sinkWaits", sinkWaits, sinkNaively};
constexpr Case raise = {"raiseCollectives", raiseCollectives, raiseNaively};
constexpr Case raiseProducers = {"raiseCollectivesWithProducers",
                                 raiseCollectivesWithProducers};
constexpr Case reorder = {"reorderComputeForOverlap", reorderComputeForOverlap,
                          reorderNaively};
constexpr Case reorderWaits = {"reorderComputeForOverlapWaitsAsFiller",
                               reorderComputeForOverlapWaitsAsFiller,
                               reorderNaivelyWaitsAsFiller};

class EveryAlgorithm : public testing::TestWithParam<Case> {};
class IdempotentAlgorithm : public testing::TestWithParam<Case> {};
class AlgorithmWithReference : public testing::TestWithParam<Case> {};

std::string getName(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Property, EveryAlgorithm,
                         testing::Values(sink, raise, raiseProducers, reorder,
                                         reorderWaits),
                         getName);
INSTANTIATE_TEST_SUITE_P(Property, IdempotentAlgorithm,
                         testing::Values(sink, raise, raiseProducers), getName);
INSTANTIATE_TEST_SUITE_P(Property, AlgorithmWithReference,
                         testing::Values(sink, raise, reorder, reorderWaits),
                         getName);

TEST_P(EveryAlgorithm, LegalCompleteDeterministic) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    unsigned numNodes = seed < 50 ? 1 + seed * 12 : 2000;
    ScheduleGraph graph = makeRandomGraph(seed, varyOptions(seed, numNodes));
    ScheduleOrder order = GetParam().algorithm(graph);
    std::string reason;
    ASSERT_TRUE(isLegalOrder(graph, order, &reason))
        << "seed " << seed << ": " << reason;
    ASSERT_TRUE(keepsOrderOfStarts(graph, order)) << "seed " << seed;
    ASSERT_EQ(order, GetParam().algorithm(
                         makeRandomGraph(seed, varyOptions(seed, numNodes))));
  }
}

TEST_P(IdempotentAlgorithm, ChangesItsOwnResultInNoWay) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    ScheduleGraph graph =
        makeRandomGraph(seed, varyOptions(seed, seed < 50 ? 300 : 2000));
    ScheduleGraph once = permute(graph, GetParam().algorithm(graph));
    ASSERT_TRUE(isProgramOrder(GetParam().algorithm(once))) << "seed " << seed;
  }
}

TEST_P(AlgorithmWithReference, SameAsTheRuleWordByWord) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    ScheduleGraph graph = makeRandomGraph(
        seed, varyOptions(seed, seed < 280 ? 2 + seed % 70 : 250));
    ASSERT_EQ(GetParam().algorithm(graph), GetParam().reference(graph))
        << "seed " << seed;
  }
}

TEST(SinkWaitsProperties, EveryWaitStandsBeforeSomethingThatNeedsIt) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    ScheduleGraph graph = makeRandomGraph(seed, varyOptions(seed, 400));
    ScheduleOrder order = sinkWaits(graph);
    // Between a wait and the first node that follows it in the graph stand
    // other waits alone.
    for (size_t i = 0; i != order.size(); ++i) {
      if (graph[order[i]].kind != NodeKind::Wait)
        continue;
      size_t next = i + 1;
      while (next != order.size() && graph[order[next]].kind == NodeKind::Wait)
        ++next;
      if (next == order.size())
        continue;
      // Some wait of the run is needed by the node; the others are needed by
      // waits of the run.
      bool needed = graph.hasEdge(order[i], order[next]);
      for (size_t j = i + 1; j < next && !needed; ++j)
        needed = graph.hasEdge(order[i], order[j]);
      ASSERT_TRUE(needed) << "seed " << seed << ", wait " << order[i];
    }
  }
}

TEST(RaiseCollectivesProperties, NoStartCanRiseFurther) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    ScheduleGraph graph = makeRandomGraph(seed, varyOptions(seed, 400));
    ScheduleOrder order = raiseCollectives(graph);
    for (size_t i = 1; i < order.size(); ++i) {
      if (graph[order[i]].kind != NodeKind::Start)
        continue;
      bool stopped = graph[order[i - 1]].kind == NodeKind::Start ||
                     graph.hasEdge(order[i - 1], order[i]);
      ASSERT_TRUE(stopped) << "seed " << seed << ", start " << order[i];
    }
  }
}

} // namespace
