//===- GroupGrid.cpp - Groups as grids of ranks ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/GroupGrid.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace braid;

std::optional<RankLists> braid::getRankLists(comm::GroupOp group,
                                             std::optional<int64_t> numRanks) {
  RankLists lists;
  for (llvm::ArrayRef<int64_t> ranks : group.getRankLists())
    lists.push_back(ranks.vec());
  if (!group.isAll())
    return lists;
  if (!numRanks)
    return std::nullopt;
  std::vector<int64_t> &all = lists.emplace_back(*numRanks);
  std::iota(all.begin(), all.end(), 0);
  return lists;
}

std::optional<GroupGrid> braid::getGrid(const RankLists &lists,
                                        int64_t numColumns) {
  auto size = static_cast<int64_t>(lists.front().size());
  if (numColumns < 1 || size % numColumns != 0)
    return std::nullopt;
  GroupGrid grid{size / numColumns, numColumns, {}, {}};
  for (const std::vector<int64_t> &ranks : lists) {
    if (static_cast<int64_t>(ranks.size()) != size)
      return std::nullopt;
    for (auto row = ranks.begin(); row != ranks.end(); row += numColumns)
      grid.rows.emplace_back(row, row + numColumns);
    for (int64_t column = 0; column != numColumns; ++column) {
      std::vector<int64_t> &added = grid.columns.emplace_back();
      for (int64_t rank = column; rank < size; rank += numColumns)
        added.push_back(ranks[rank]);
    }
  }
  return grid;
}

llvm::ArrayRef<GroupStep> braid::getGroupSteps(comm::CollectiveKind kind) {
  using comm::CollectiveKind;
  static constexpr GroupStep allReduce[] = {
      {CollectiveKind::reduce_scatter, true},
      {CollectiveKind::all_reduce, false},
      {CollectiveKind::all_gather, true}};
  // Columns first: links between nodes then carry the smaller operands.
  static constexpr GroupStep allGather[] = {{CollectiveKind::all_gather, false},
                                            {CollectiveKind::all_gather, true}};
  static constexpr GroupStep reduceScatter[] = {
      {CollectiveKind::reduce_scatter, true},
      {CollectiveKind::reduce_scatter, false}};
  // The root scatters to its row; nothing reads the scatters of other rows.
  static constexpr GroupStep broadcast[] = {{CollectiveKind::scatter, true},
                                            {CollectiveKind::broadcast, false},
                                            {CollectiveKind::all_gather, true}};
  switch (kind) {
  case CollectiveKind::all_reduce:
    return allReduce;
  case CollectiveKind::all_gather:
    return allGather;
  case CollectiveKind::reduce_scatter:
    return reduceScatter;
  case CollectiveKind::broadcast:
    return broadcast;
  default:
    return {};
  }
}

int64_t braid::getStepRoot(const GroupStep &step, int64_t root,
                           int64_t numColumns) {
  return step.isInRow ? root % numColumns : root / numColumns;
}

bool braid::isGridOf(mlir::Operation *from, mlir::FlatSymbolRefAttr whole,
                     mlir::FlatSymbolRefAttr row,
                     mlir::FlatSymbolRefAttr column) {
  comm::GroupOp wholeOp = comm::lookupGroup(from, whole);
  comm::GroupOp rowOp = comm::lookupGroup(from, row);
  comm::GroupOp columnOp = comm::lookupGroup(from, column);
  if (!wholeOp || !rowOp || !columnOp || rowOp.isAll() || columnOp.isAll())
    return false;
  RankLists rows = *getRankLists(rowOp, std::nullopt);
  int64_t numRanks = 0;
  for (const std::vector<int64_t> &ranks : rows)
    numRanks += static_cast<int64_t>(ranks.size());
  std::optional<GroupGrid> grid =
      getGrid(*getRankLists(wholeOp, numRanks),
              static_cast<int64_t>(rows.front().size()));
  return grid && grid->rows == rows &&
         grid->columns == *getRankLists(columnOp, std::nullopt);
}

std::optional<GroupGrid> braid::getGridOfNodes(const RankLists &lists,
                                               int64_t ranksPerNode) {
  auto getNode = [&](int64_t rank) { return rank / ranksPerNode; };
  const std::vector<int64_t> &first = lists.front();
  auto numColumns =
      std::distance(first.begin(), llvm::find_if(first, [&](int64_t rank) {
                      return getNode(rank) != getNode(first.front());
                    }));
  std::optional<GroupGrid> grid = getGrid(lists, numColumns);
  if (!grid || grid->numRows < 2 || grid->numColumns < 2)
    return std::nullopt;
  for (const std::vector<int64_t> &row : grid->rows)
    if (!llvm::all_of(row, [&](int64_t rank) {
          return getNode(rank) == getNode(row.front());
        }))
      return std::nullopt;
  // A step along a column must always lead to another node.
  for (const std::vector<int64_t> &column : grid->columns) {
    llvm::SmallDenseSet<int64_t> nodes;
    for (int64_t rank : column)
      if (!nodes.insert(getNode(rank)).second)
        return std::nullopt;
  }
  return grid;
}
