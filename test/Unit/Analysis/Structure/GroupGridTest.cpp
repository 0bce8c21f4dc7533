//===- GroupGridTest.cpp - Groups as grids of ranks -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/GroupGrid.h"

#include "gtest/gtest.h"

using namespace braid;

TEST(GroupGrid, RowsAreNeighboursInTheList) {
  std::optional<GroupGrid> grid = getGrid({{0, 2, 4, 6, 8, 10}}, 2);
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->numRows, 3);
  EXPECT_EQ(grid->numColumns, 2);
  EXPECT_EQ(grid->rows, (RankLists{{0, 2}, {4, 6}, {8, 10}}));
  EXPECT_EQ(grid->columns, (RankLists{{0, 4, 8}, {2, 6, 10}}));
  EXPECT_FALSE(getGrid({{0, 1, 2}}, 2));
  EXPECT_FALSE(getGrid({{0, 1}, {2, 3, 4, 5}}, 2));
  EXPECT_FALSE(getGrid({{0, 1}}, 0));
}

TEST(GroupGrid, RowsAreTheMembersOfANode) {
  std::optional<GroupGrid> grid =
      getGridOfNodes({{0, 1, 4, 5}, {2, 3, 6, 7}}, /*ranksPerNode=*/4);
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->rows, (RankLists{{0, 1}, {4, 5}, {2, 3}, {6, 7}}));
  EXPECT_EQ(grid->columns, (RankLists{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

TEST(GroupGrid, OtherPlacesAreNoGrids) {
  // One node, one member on each, nodes in turn, nodes of different sizes, a
  // second list that is placed otherwise, a node that comes back.
  EXPECT_FALSE(getGridOfNodes({{0, 1, 2, 3}}, 4));
  EXPECT_FALSE(getGridOfNodes({{0, 4, 8, 12}}, 4));
  EXPECT_FALSE(getGridOfNodes({{0, 4, 1, 5}}, 4));
  EXPECT_FALSE(getGridOfNodes({{0, 1, 4, 5, 6, 7}}, 4));
  EXPECT_FALSE(getGridOfNodes({{0, 1, 4, 5}, {2, 6, 3, 7}}, 4));
  EXPECT_FALSE(getGridOfNodes({{0, 1, 4, 5, 2, 3}}, 4));
}
