//===- GroupGrid.h - Groups as grids of ranks -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_STRUCTURE_GROUPGRID_H
#define BRAID_ANALYSIS_STRUCTURE_GROUPGRID_H

#include "braid/Dialect/Comm/IR/Comm.h"

#include <vector>

namespace braid {

/// Lists of ranks, as a group has them.
using RankLists = std::vector<std::vector<int64_t>>;

/// The lists of a group as rows and columns: each list is a grid of `numRows`
/// rows of `numColumns` neighbours.
struct GroupGrid {
  int64_t numRows = 0;
  int64_t numColumns = 0;
  /// The lists of the group whose communicators are the rows, and of that whose
  /// communicators are the columns.
  RankLists rows, columns;
};

/// The lists of `group`; those of the ranks 0 to `numRanks` - 1 for `all`, none
/// if that is not known.
std::optional<RankLists> getRankLists(comm::GroupOp group,
                                      std::optional<int64_t> numRanks);

/// The grid of `lists` with rows of `numColumns`; none if a list has another
/// length than the first one, or no whole number of rows.
std::optional<GroupGrid> getGrid(const RankLists &lists, int64_t numColumns);

/// One of the collectives that together do what one in the whole group does.
struct GroupStep {
  comm::CollectiveKind kind;
  /// True: in the communicators of the rows; false: of the columns.
  bool isInRow;
};

/// The steps of a collective of `kind` in a group that is a grid, each on the
/// value of the one before; empty if it has none. Parts are along dimension 0.
/// An all-gather gives the parts of each column side by side, and a
/// reduce-scatter takes them so.
llvm::ArrayRef<GroupStep> getGroupSteps(comm::CollectiveKind kind);

/// The root of `step`, if the whole has the root `root` in a grid with rows of
/// `numColumns`.
int64_t getStepRoot(const GroupStep &step, int64_t root, int64_t numColumns);

/// True if the communicators of `row` and `column` are those of a grid of
/// `whole`, groups as seen from `from`.
bool isGridOf(mlir::Operation *from, mlir::FlatSymbolRefAttr whole,
              mlir::FlatSymbolRefAttr row, mlir::FlatSymbolRefAttr column);

/// The grid of `lists` whose rows are the members of a node of `ranksPerNode`
/// ranks; none if there is no such grid of at least two rows and columns.
std::optional<GroupGrid> getGridOfNodes(const RankLists &lists,
                                        int64_t ranksPerNode);

} // namespace braid

#endif // BRAID_ANALYSIS_STRUCTURE_GROUPGRID_H
