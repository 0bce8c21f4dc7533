//===- GraphTestUtils.h - Graphs for tests of lib/Schedule ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_TESTPROBLEMS_GRAPHTESTUTILS_H
#define BRAID_TEST_UNIT_TESTPROBLEMS_GRAPHTESTUTILS_H

#include "braid/Schedule/Model/ScheduleGraph.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace braid::test {

/// A graph whose nodes have names.
struct NamedGraph {
  ScheduleGraph graph;
  std::vector<std::string> names;

  /// The names of `order`, separated by commas.
  std::string print(llvm::ArrayRef<unsigned> order) const;
};

/// Parses a program in the notation of the tables that the tests quote:
/// `mm1, ar(mm1), w(ar), add(w,mm1)`; `x(y)` uses y. The first letters of a
/// name give its kind: `ar` and `a` followed by a digit are starts that take
/// 100 ns, `b` followed by a digit is one of another lane, `w` followed by a
/// digit or nothing is a wait, `op` is opaque, `mm` takes 5 ns and everything
/// else 1 ns. `name:7` sets another cost.
NamedGraph parseGraph(llvm::StringRef program);

/// What a random graph is made of.
struct RandomGraphOptions {
  unsigned numNodes = 100;
  /// One node in so many is a start; its waits follow.
  unsigned startEvery = 8;
  /// At most so many waits for one start: coalesced collectives.
  unsigned maxWaits = 3;
  /// One node in so many is opaque: ordered against everything. 0 for none.
  unsigned opaqueEvery = 50;
  unsigned maxOperands = 3;
  int64_t maxComputeCost = 40;
  int64_t maxStartCost = 100;
};

/// Options that differ from seed to seed in all but the number of nodes.
RandomGraphOptions varyOptions(uint64_t seed, unsigned numNodes);

/// A graph that depends on `seed` and `options` alone.
ScheduleGraph makeRandomGraph(uint64_t seed, const RandomGraphOptions &options);

/// The graph of the program that has `graph`'s nodes in another order.
ScheduleGraph permute(const ScheduleGraph &graph,
                      llvm::ArrayRef<unsigned> order);

/// Some order of the graph that depends on `seed` alone.
ScheduleOrder makeRandomOrder(const ScheduleGraph &graph, uint64_t seed);

/// The rule of `reorderComputeForOverlap` word by word: sets, transitive
/// closures and repeated scans.
ScheduleOrder reorderNaively(const ScheduleGraph &graph);
/// The same for `reorderComputeForOverlapWaitsAsFiller`.
ScheduleOrder reorderNaivelyWaitsAsFiller(const ScheduleGraph &graph);
/// The same for `sinkWaits` and `raiseCollectives`.
ScheduleOrder sinkNaively(const ScheduleGraph &graph);
ScheduleOrder raiseNaively(const ScheduleGraph &graph);

} // namespace braid::test

#endif // BRAID_TEST_UNIT_TESTPROBLEMS_GRAPHTESTUTILS_H
