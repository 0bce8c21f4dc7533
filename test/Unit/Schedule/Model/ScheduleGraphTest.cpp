//===- ScheduleGraphTest.cpp - The graph and its checks -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems/GraphTestUtils.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

namespace {

std::vector<unsigned> toVector(llvm::ArrayRef<unsigned> list) {
  return {list.begin(), list.end()};
}

TEST(ScheduleGraph, EdgesAreSortedAndDistinct) {
  ScheduleGraph graph;
  for (int i = 0; i < 4; ++i)
    graph.addNode({});
  graph.addEdge(1, 3);
  graph.addEdge(0, 3);
  graph.addEdge(1, 3);
  graph.addEdge(0, 1);
  graph.addEdge(2, 2);
  graph.finalize();
  EXPECT_EQ(graph.numEdges(), 3u);
  EXPECT_EQ(toVector(graph.predecessors(3)), (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(toVector(graph.successors(0)), (std::vector<unsigned>{1, 3}));
  EXPECT_EQ(toVector(graph.successors(1)), (std::vector<unsigned>{3}));
  EXPECT_TRUE(graph.predecessors(2).empty());
  EXPECT_TRUE(graph.hasEdge(0, 3));
  EXPECT_FALSE(graph.hasEdge(0, 2));
}

TEST(ScheduleGraph, EmptyGraph) {
  ScheduleGraph graph;
  graph.finalize();
  EXPECT_EQ(graph.size(), 0u);
  EXPECT_TRUE(isLegalOrder(graph, {}));
  EXPECT_TRUE(getProgramOrder(graph).empty());
}

TEST(ScheduleGraph, IllegalOrdersAreToldWithTheReason) {
  NamedGraph graph = parseGraph("x, y(x), z");
  std::string reason;
  EXPECT_TRUE(isLegalOrder(graph.graph, {2, 0, 1}, &reason));
  EXPECT_FALSE(isLegalOrder(graph.graph, {0, 1}, &reason));
  EXPECT_EQ(reason, "the order has 2 nodes, the graph 3");
  EXPECT_FALSE(isLegalOrder(graph.graph, {0, 1, 3}, &reason));
  EXPECT_EQ(reason, "there is no node 3");
  EXPECT_FALSE(isLegalOrder(graph.graph, {0, 0, 1}, &reason));
  EXPECT_EQ(reason, "node 0 stands twice in the order");
  EXPECT_FALSE(isLegalOrder(graph.graph, {1, 0, 2}, &reason));
  EXPECT_EQ(reason, "node 1 stands before node 0, which it has to follow");
}

TEST(ScheduleGraph, OrderOfStarts) {
  NamedGraph graph = parseGraph("a1, x, a2");
  EXPECT_TRUE(keepsOrderOfStarts(graph.graph, {1, 0, 2}));
  EXPECT_FALSE(keepsOrderOfStarts(graph.graph, {2, 1, 0}));
}

} // namespace
