//===- GroupSteps.h - Collectives in steps over a grid ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_GROUPSTEPS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_GROUPSTEPS_H

#include "braid/Analysis/Structure/GroupGrid.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace braid::comm {

/// The groups of rows and columns that a pass needs: groups of the program that
/// have the lists, or new ones.
class GridGroups {
public:
  /// The group with `lists` in the symbol table around `from`; a new one has
  /// the name of `whole` and `suffix`.
  mlir::FlatSymbolRefAttr get(mlir::Operation *from, GroupOp whole,
                              const RankLists &lists, llvm::StringRef suffix);

  /// Erases the new groups that nothing names.
  void eraseUnused(mlir::ModuleOp module);

private:
  llvm::MapVector<std::pair<mlir::Operation *, mlir::Attribute>, GroupOp>
      groups;
  llvm::SmallVector<GroupOp> created;
};

/// A collective that can become steps over the grid of its group.
struct SteppedCollective {
  CollectiveOpInterface start;
  /// The wait of each token.
  llvm::SmallVector<WaitOp, 1> waits;
  GroupGrid grid;
};

/// `start` as a collective in steps within and between the nodes of
/// `ranksPerNode` ranks; nothing if it is none. `numRanks` are the members of a
/// group `all`, if they are known.
std::optional<SteppedCollective> matchStepped(CollectiveOpInterface start,
                                              int64_t ranksPerNode,
                                              std::optional<int64_t> numRanks);

/// Replaces the collective by its steps: the first one where it starts, the
/// others where it is awaited first.
void replaceBySteps(mlir::RewriterBase &rewriter,
                    const SteppedCollective &collective, GridGroups &groups);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_GROUPSTEPS_H
