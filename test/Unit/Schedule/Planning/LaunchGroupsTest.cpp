//===- LaunchGroupsTest.cpp - Tests of what shares a launch ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Planning/LaunchGroups.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>

using namespace braid;
using testing::ElementsAre;

namespace {

class LaunchGroupsTest : public testing::Test {
protected:
  unsigned add(std::initializer_list<unsigned> predecessors = {}) {
    unsigned node = graph.addNode({});
    for (unsigned before : predecessors)
      graph.addEdge(before, node);
    return node;
  }
  unsigned addStart(int64_t bytes,
                    std::initializer_list<unsigned> predecessors = {},
                    unsigned key = 0) {
    ScheduleNode info;
    info.kind = NodeKind::Start;
    info.lane = 0;
    unsigned node = graph.addNode(info);
    for (unsigned before : predecessors)
      graph.addEdge(before, node);
    items.push_back({node, key, bytes});
    return node;
  }
  LaunchGroups find(LaunchLimits limits) {
    graph.finalize();
    LaunchGroups found = findLaunchGroups(graph, items, limits);
    EXPECT_TRUE(isLegalOrder(graph, found.order));
    return found;
  }

  ScheduleGraph graph;
  std::vector<LaunchItem> items;
};

LaunchLimits atBytes(int64_t bytes, unsigned numKeys = 1) {
  LaunchLimits limits;
  limits.bytes.assign(numKeys, {bytes});
  return limits;
}

TEST_F(LaunchGroupsTest, UsersFollowTheLastStart) {
  unsigned first = addStart(1);
  unsigned user = add({first});
  unsigned other = add();
  unsigned second = addStart(1, {other});
  LaunchGroups found = find(atBytes(10));
  EXPECT_THAT(found.groups, ElementsAre(ElementsAre(first, second)));
  EXPECT_THAT(found.order, ElementsAre(other, first, second, user));
}

TEST_F(LaunchGroupsTest, LaunchesAreFullAtTheirBytes) {
  for (int64_t bytes : {4, 8, 4, 4, 8, 4})
    addStart(bytes);
  LaunchLimits limits;
  limits.bytes = {{4, 12}};
  EXPECT_THAT(find(limits).groups,
              ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
}

TEST_F(LaunchGroupsTest, CountAndSpanEndLaunches) {
  for (unsigned i = 0; i != 5; ++i)
    addStart(1);
  LaunchLimits limits = atBytes(100);
  limits.count = 2;
  graph.finalize();
  EXPECT_THAT(findLaunchGroups(graph, items, limits).groups,
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  limits.count = 0;
  limits.span = 2;
  EXPECT_THAT(findLaunchGroups(graph, items, limits).groups,
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4)));
}

TEST_F(LaunchGroupsTest, KeysDoNotMix) {
  addStart(1, {}, 0);
  addStart(1, {}, 1);
  addStart(1, {}, 0);
  addStart(1, {}, 1);
  LaunchLimits limits = atBytes(100, 2);
  graph.finalize();
  EXPECT_THAT(findLaunchGroups(graph, items, limits).groups,
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  limits.bytes[0].clear();
  EXPECT_THAT(findLaunchGroups(graph, items, limits).groups,
              ElementsAre(ElementsAre(1, 3)));
}

TEST_F(LaunchGroupsTest, DependentStartGoesToALaterLaunch) {
  unsigned first = addStart(1);
  unsigned user = add({first});
  unsigned dependent = addStart(1, {user});
  unsigned second = addStart(1);
  unsigned third = addStart(1, {user});
  EXPECT_THAT(
      find(atBytes(100)).groups,
      ElementsAre(ElementsAre(first, second), ElementsAre(dependent, third)));
}

TEST_F(LaunchGroupsTest, LaunchesDoNotWaitForEachOther) {
  // Either pair alone may share a launch, but not both.
  unsigned a = addStart(1, {}, 0);
  unsigned b = addStart(1, {}, 1);
  addStart(1, {a}, 1);
  addStart(1, {b}, 0);
  EXPECT_THAT(find(atBytes(100, 2)).groups, ElementsAre(ElementsAre(0, 3)));
}

TEST_F(LaunchGroupsTest, ChainsTakeLinearTime) {
  unsigned last = addStart(1);
  for (unsigned i = 0; i != 20'000; ++i)
    last = addStart(1, {last});
  EXPECT_TRUE(find(atBytes(int64_t{1} << 40)).groups.empty());
}

TEST_F(LaunchGroupsTest, RandomGraphsStayLegal) {
  for (unsigned seed = 0; seed != 300; ++seed) {
    std::mt19937 random(seed);
    graph = ScheduleGraph();
    items.clear();
    unsigned numNodes = 4 + random() % 40;
    for (unsigned node = 0; node != numNodes; ++node) {
      if (random() % 2)
        addStart(1 + random() % 8, {}, random() % 3);
      else
        add();
      for (unsigned i = random() % 3; i != 0 && node != 0; --i)
        graph.addEdge(random() % node, node);
    }
    LaunchGroups found = find(atBytes(1 + random() % 32, 3));
    std::vector<unsigned> place(numNodes);
    for (unsigned i = 0; i != numNodes; ++i)
      place[found.order[i]] = i;
    std::vector<bool> isTaken(numNodes);
    for (const auto &group : found.groups) {
      ASSERT_GE(group.size(), 2u);
      for (unsigned i = 0; i != group.size(); ++i) {
        EXPECT_FALSE(isTaken[group[i]]);
        isTaken[group[i]] = true;
        EXPECT_EQ(place[group[i]], place[group[0]] + i) << "seed " << seed;
      }
      // Nothing outside of a launch leads from one of its starts to another.
      std::vector<bool> follows(numNodes);
      for (unsigned node = group[0]; node != numNodes; ++node) {
        bool isMember = llvm::is_contained(group, node);
        for (unsigned before : graph.predecessors(node))
          if (follows[before] || llvm::is_contained(group, before))
            follows[node] = true;
        EXPECT_FALSE(isMember && follows[node]) << "seed " << seed;
      }
    }
  }
}

} // namespace
