//===- RewriteJudge.h - What a rewrite of a block is worth ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITEJUDGE_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITEJUDGE_H

#include "../Plan/BlockPlan.h"

#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

namespace braid::comm {

/// What a block takes.
struct BlockPrediction {
  /// The makespan of the best order and plan that were found.
  int64_t makespanNs = 0;
  /// The work of the compute stream, each op as it takes the least time: no
  /// rewrite of collectives makes the block shorter.
  int64_t computeNs = 0;
};

/// Predicts what a block takes after a rewrite, once its order and its
/// resources are planned: it rewrites a copy of the function, and plans that.
class RewriteJudge {
public:
  using Rewrite =
      llvm::function_ref<llvm::LogicalResult(const mlir::IRMapping &)>;

  /// For `block` of `function`, with the costs of `settings`, in a pass on
  /// `module`.
  RewriteJudge(mlir::ModuleOp module, mlir::func::FuncOp function,
               mlir::Block *block, RankUniformity &uniformity,
               const CostSettings &settings, bool plansResources);

  /// What short searches find for the block after `rewrite`, which gets the
  /// copies of the block's ops. The largest makespan if the rewrite fails.
  /// Emits an error and fails if the costs are invalid.
  llvm::FailureOr<BlockPrediction> predict(Rewrite rewrite);

private:
  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  mlir::Block *block;
  RankUniformity &uniformity;
  const CostSettings &settings;
  bool plansResources;
};

/// What a pass makes of a collective: the sizes of its parts, relative to each
/// other. One part leaves the collective as it is.
using RewriteWay = llvm::SmallVector<int64_t, 4>;

/// A collective and the way that a pass rewrites it.
using RewriteChoice = std::pair<CollectiveOpInterface, RewriteWay>;

/// Which of collectives that are alike other work can hide least.
enum class HardestToHide {
  /// Nothing comes before the first: a gather that work waits for.
  First,
  /// Nothing comes behind the last: a collective of what work has computed.
  Last
};

/// Collectives of one block that differ in nothing that costs depend on, in the
/// program's order.
struct AlikeCollectives {
  llvm::SmallVector<CollectiveOpInterface> starts;
  /// The ways of more than one part, in the order in which they are tried. One
  /// with unequal parts is for one collective alone.
  llvm::SmallVector<RewriteWay> ways;
  HardestToHide hardestToHide = HardestToHide::Last;
};

/// Collectives of a block that a pass may rewrite, by kind; kinds with more
/// bytes come first.
class CollectiveKinds {
public:
  /// Adds `start`, of a kind with the name `key`, which moves `bits`. The first
  /// of a kind says what holds for all.
  void add(CollectiveOpInterface start, llvm::StringRef key, double bits,
           llvm::ArrayRef<RewriteWay> ways, HardestToHide hardestToHide);
  llvm::SmallVector<AlikeCollectives> take();

private:
  struct Kind {
    AlikeCollectives alike;
    double bits = 0;
  };
  llvm::SmallVector<Kind> kinds;
  llvm::StringMap<size_t> places;
};

/// What a search for choices may do.
struct ChoiceOptions {
  /// By how many percent a choice has to shorten the block.
  double minGainPercent = 0;
  /// The most predictions.
  size_t maxTrials = 0;
};

/// Chooses a way for each collective of `kinds`: for each kind first the same
/// for all of them, or for the one that is hardest to hide, then for one
/// collective after the other, from that one on. A choice stays if the
/// makespan that `predict` gives for it is shorter by the least gain. Ends
/// where the work of the compute stream leaves no such gain. `fixed` are
/// choices that are part of each prediction and of the result.
llvm::FailureOr<llvm::SmallVector<RewriteChoice>> chooseRewrites(
    llvm::ArrayRef<AlikeCollectives> kinds, llvm::ArrayRef<RewriteChoice> fixed,
    const ChoiceOptions &options,
    llvm::function_ref<
        llvm::FailureOr<BlockPrediction>(llvm::ArrayRef<RewriteChoice>)>
        predict);

/// Fails, with an error at `loc`, if the option `min-gain` is no share in
/// percent.
llvm::LogicalResult verifyMinGain(mlir::Location loc, double minGainPercent);

/// The most predictions for a block of `numOps`: the fewer, the longer each
/// takes.
size_t getMostTrials(size_t numOps);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITEJUDGE_H
