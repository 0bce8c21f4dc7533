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
#include "Schedule/Planning/LaunchChoice.h"

#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

#include <limits>
#include <map>

namespace braid::comm {

/// Longer than any block.
constexpr int64_t anyTimeNs = std::numeric_limits<int64_t>::max();

/// How long the searches of a prediction are: as short as many trials need, or
/// as those that find the final plan and order.
enum class JudgeEffort : uint8_t { Trial, Final };

/// What was predicted of blocks as they are, as an analysis of modules: passes
/// that rewrite nothing leave it to those behind them.
class KnownPredictions {
public:
  explicit KnownPredictions(mlir::Operation * /*root*/) {}

  /// The block, how it is judged, and the costs.
  using Key =
      std::tuple<mlir::Block *, JudgeEffort, bool, std::optional<int64_t>,
                 std::string, int, std::string, std::string, int64_t, int64_t,
                 int64_t, std::string, std::string>;
  /// What is known of `module` as it is now.
  std::map<Key, BlockPrediction> &getOf(mlir::ModuleOp module);

  /// Says what is predicted of a block after the rewrite that a pass has chosen
  /// for it.
  void expect(Key key, const BlockPrediction &prediction);
  /// Adds what is expected, once the pass has rewritten `module`.
  void endPass(mlir::ModuleOp module);

private:
  std::optional<mlir::OperationFingerPrint> fingerPrint;
  std::vector<std::pair<Key, BlockPrediction>> expected;
  std::map<Key, BlockPrediction> predictions;
};

/// Predicts what a block takes after a rewrite, once its order and its
/// resources are planned: it rewrites a copy of the function, and plans that.
class RewriteJudge {
public:
  using Rewrite =
      llvm::function_ref<llvm::LogicalResult(const mlir::IRMapping &)>;

  /// For `block`, with the costs of `settings`, in a pass on `module`. Adds to
  /// `known` what it predicts of blocks as they are.
  RewriteJudge(mlir::ModuleOp module, mlir::Block *block,
               RankUniformity &uniformity, const CostSettings &settings,
               bool plansResources, KnownPredictions &known);

  /// The most bytes that may live at once; none without a limit.
  void setMaxMemory(std::optional<int64_t> bytes) { maxMemory = bytes; }

  /// What searches find for the block after `rewrite`, which gets the copies
  /// of the block's ops. The largest makespan if the rewrite fails, or
  /// if no order keeps the limit on memory. Without searches, the work of the
  /// compute stream for a makespan, if that is `wantedNs` or more. Emits an
  /// error and fails if the costs are invalid.
  llvm::FailureOr<BlockPrediction>
  predict(Rewrite rewrite, JudgeEffort effort = JudgeEffort::Trial,
          int64_t wantedNs = anyTimeNs);

  /// True if the block becomes shorter by the fraction `minGain`, or more,
  /// after `rewrite`, for which trials found `trialNs`, by final searches,
  /// which may find for the block as it is what trials do not. Of a long block
  /// trials decide alone where the rewrite gains far more than final searches
  /// do. A negative fraction is what the block may become longer. Fails where
  /// `predict` fails.
  llvm::FailureOr<bool> finallyPays(Rewrite rewrite, int64_t trialNs,
                                    double minGain);

  /// What searches find for the block as it is. Fails where `predict` fails.
  llvm::FailureOr<BlockPrediction>
  predictPresent(JudgeEffort effort = JudgeEffort::Trial);

  /// Says that the pass rewrites the block, for which a trial found `trial`:
  /// passes behind it need not predict that again.
  void expect(const BlockPrediction &trial);

private:
  KnownPredictions::Key getKey(JudgeEffort effort) const;

  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  mlir::Block *block;
  RankUniformity &uniformity;
  const CostSettings &settings;
  bool plansResources;
  KnownPredictions &known;
  std::optional<int64_t> maxMemory;
};

/// A collective and the number of parts of one size that a pass makes of it.
using RewriteChoice = std::pair<CollectiveOpInterface, int64_t>;

/// Rewrites what the choices say, or the copies in the mapping where there is
/// one. Gives how many collectives it has rewritten.
using RewriteParts = llvm::function_ref<llvm::FailureOr<int64_t>(
    llvm::ArrayRef<RewriteChoice>, const mlir::IRMapping *)>;

/// The collective of `choice`, or its copy in `mapping` where there is one.
CollectiveOpInterface getStart(const RewriteChoice &choice,
                               const mlir::IRMapping *mapping);

/// True if `start` has settings of its own: how it runs, or its place in the
/// total order.
bool hasSettings(mlir::Operation *start);

/// The wait of each token of `start`, if a pass may rewrite all of them: the
/// start is on tensors of static shapes and has no cost, no scale and no
/// settings of its own, and all are in one block. Empty otherwise.
llvm::SmallVector<WaitOp, 1> findRewritableWaits(CollectiveOpInterface start);

/// Gives `part` the label of `start` and `suffix`.
void labelPart(mlir::Operation *part, mlir::Operation *start,
               llvm::StringRef suffix);

/// What a search for choices may do.
struct ChoiceOptions {
  /// The numbers of parts, in the order in which they are tried.
  llvm::SmallVector<int64_t> parts;
  /// The fraction by which a choice has to shorten the block.
  double minGain = 0;
  /// The most predictions.
  size_t maxTrials = 0;
};

/// Chooses the parts of `starts`, collectives of one block in the program's
/// order: for each kind of collective (op, group and type; those that move most
/// come first) the same number for the one that other work can hide least, or
/// for all of the kind. A choice stays if the makespan that `judge` predicts
/// for the block after `rewrite` is shorter by the least gain. Ends where the
/// work of the compute stream leaves no such gain. `fixed` are choices that are
/// part of each prediction and of the result. Fails where a prediction fails.
llvm::FailureOr<llvm::SmallVector<RewriteChoice>>
chooseRewrites(llvm::ArrayRef<CollectiveOpInterface> starts,
               llvm::ArrayRef<RewriteChoice> fixed,
               const ChoiceOptions &options, RewriteJudge &judge,
               RewriteParts rewrite);

/// The fraction that `text`, the value of the option `min-gain` of a pass that
/// rewrites, asks for. Emits an error at `loc` and fails if `text` is neither
/// `auto` nor a fraction.
llvm::FailureOr<double> parseRewriteGain(mlir::Location loc,
                                         llvm::StringRef text);

/// The most predictions for a block of `numOps`: the fewer, the longer each
/// takes.
size_t getMostTrials(size_t numOps);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITEJUDGE_H
