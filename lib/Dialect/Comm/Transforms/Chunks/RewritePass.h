//===- RewritePass.h - Base of passes that rewrite what pays ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITEPASS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITEPASS_H

#include "../Schedule/SchedulingPass.h"
#include "RewriteJudge.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Support/IR/Remarks.h"

namespace braid::comm {

/// The base of a pass on modules that rewrites functions where predictions say
/// that it pays: `Base`, a pass with costs and the option `min-gain`.
template <typename Base> class RewritePass : public Base {
public:
  using Base::Base;

  llvm::LogicalResult initialize(mlir::MLIRContext *context) override {
    mlir::Location loc = getOptionLoc(context);
    if (llvm::failed(Base::initialize(context)))
      return llvm::failure();
    llvm::FailureOr<double> gain = parseRewriteGain(loc, this->minGain);
    if (llvm::failed(gain))
      return llvm::failure();
    leastGain = *gain;
    settings = this->getCostSettings();
    std::optional<llvm::StringRef> limit = getMaxMemory();
    return llvm::success((!limit || succeeded(checkMaxMemory(loc, *limit))) &&
                         succeeded(checkOptions(loc)));
  }

protected:
  /// The value of the option `max-memory`, if the pass has it.
  virtual std::optional<llvm::StringRef> getMaxMemory() const {
    return std::nullopt;
  }

  /// Checks the options of the pass alone. Emits an error at `loc` and fails if
  /// one is invalid.
  virtual llvm::LogicalResult checkOptions(mlir::Location /*loc*/) {
    return llvm::success();
  }

  /// Calls `rewrite` for all functions with bodies, callees first. A program
  /// that it leaves as it was is verified no more. Fails after an error.
  llvm::LogicalResult rewriteFunctions(
      llvm::function_ref<llvm::LogicalResult(mlir::func::FuncOp)> rewrite) {
    mlir::ModuleOp module = this->getOperation();
    mlir::OperationFingerPrint before(module);
    if (llvm::failed(judgeFunctions(rewrite)))
      return llvm::failure();
    if (mlir::OperationFingerPrint(module) == before)
      this->markAllAnalysesPreserved();
    known->endPass(module);
    return llvm::success();
  }

  /// The same for a pass that changes the program outside of `rewrite`, too:
  /// nothing is known of the result.
  llvm::LogicalResult judgeFunctions(
      llvm::function_ref<llvm::LogicalResult(mlir::func::FuncOp)> rewrite) {
    mlir::ModuleOp module = this->getOperation();
    if (std::optional<llvm::StringRef> text = getMaxMemory()) {
      llvm::FailureOr<std::optional<int64_t>> limit =
          resolveMaxMemory(module, *text);
      if (llvm::failed(limit))
        return llvm::failure();
      memoryLimit = *limit;
    }
    known = &this->template getAnalysis<KnownPredictions>();
    this->template markAnalysesPreserved<KnownPredictions>();
    RankUniformity ofModule(module);
    uniformity = &ofModule;
    numModuleOps = 0;
    module.walk([&](mlir::func::FuncOp function) {
      for (const SchedulableBlock &block : findSchedulableBlocks(function))
        numModuleOps += block.numOps;
    });
    for (mlir::func::FuncOp function :
         getHostFunctionsCalleesFirst(module, this->getAnalysisManager()))
      if (!function.isExternal() && llvm::failed(rewrite(function)))
        return llvm::failure();
    return llvm::success();
  }

  /// True if all ranks that run `block` reach it in the same program. A rank on
  /// another path would match parts with a whole, or miss what is erased.
  bool areReachedTogether(mlir::Block &block) {
    return uniformity->areReachedTogether(block);
  }

  /// What predicts rewrites of `block` within the limit on memory.
  RewriteJudge getJudge(mlir::Block *block, bool plansResources) {
    RewriteJudge judge(this->getOperation(), block, *uniformity, settings,
                       plansResources, *known);
    judge.setMaxMemory(memoryLimit);
    return judge;
  }

  /// The ops for which a block of `numOps` counts where the predictions of a
  /// block are limited: the blocks of a module of many share those of a few.
  size_t getTrialOps(size_t numOps) const {
    constexpr size_t fewBlocks = 8;
    return std::max(numOps, numModuleOps / fewBlocks);
  }

  /// The fraction by which a rewrite has to shorten a block.
  double leastGain = 0;
  /// The most bytes that may live at once; none without a limit.
  std::optional<int64_t> memoryLimit;
  /// That of the module, while functions are rewritten.
  RankUniformity *uniformity = nullptr;

private:
  CostSettings settings;
  /// The ops of all blocks that the pass may judge.
  size_t numModuleOps = 0;
  KnownPredictions *known = nullptr;
};

/// The same of a pass that replaces ops, with a check of the result.
template <typename Base>
using StructuralRewritePass = RewritePass<StructuralPass<PassWithCosts<Base>>>;

/// Collectives of a block that a pass may rewrite into parts.
struct PartsCandidates {
  llvm::SmallVector<RewriteChoice> fixed;
  /// Those for which predictions choose.
  llvm::SmallVector<CollectiveOpInterface> free;

  /// Adds `start`, which gets `given` parts unless that is 0.
  void add(CollectiveOpInterface start, int64_t given) {
    if (given != 0)
      fixed.emplace_back(start, given);
    else
      free.push_back(start);
  }
};

/// The base of a pass that rewrites collectives into parts, one by one.
template <typename Base> class PartsPass : public StructuralRewritePass<Base> {
public:
  using PartsPass::RewritePass::RewritePass;

protected:
  /// The numbers of parts that predictions try, in this order.
  virtual llvm::SmallVector<int64_t> getParts() const = 0;
  /// Whether predictions plan resources.
  virtual bool plansParts() const = 0;
  /// The name of the remark that counts the rewritten collectives.
  virtual llvm::StringRef getCountName() const = 0;
  /// Prepares for the collectives of `function`. Fails after an error.
  virtual llvm::LogicalResult begin(mlir::func::FuncOp /*function*/) {
    return llvm::success();
  }
  /// Finds the collectives of `block` to rewrite. Fails after an error.
  virtual llvm::LogicalResult find(mlir::Block &block,
                                   PartsCandidates &candidates) = 0;
  /// Rewrites `start` into `numParts` parts. False if what was rewritten before
  /// has left nothing of it.
  virtual llvm::FailureOr<bool> rewrite(mlir::RewriterBase &rewriter,
                                        CollectiveOpInterface start,
                                        int64_t numParts) = 0;

  llvm::LogicalResult transform() override {
    return this->rewriteFunctions(
        [&](mlir::func::FuncOp function) { return rewriteIn(function); });
  }

private:
  llvm::LogicalResult rewriteIn(mlir::func::FuncOp function) {
    if (llvm::failed(begin(function)))
      return llvm::failure();
    auto rewriteAll =
        [&](llvm::ArrayRef<RewriteChoice> choices,
            const mlir::IRMapping *mapping) -> llvm::FailureOr<int64_t> {
      int64_t numRewritten = 0;
      for (const RewriteChoice &choice : choices) {
        CollectiveOpInterface start = getStart(choice, mapping);
        mlir::IRRewriter rewriter(start);
        llvm::FailureOr<bool> done = rewrite(rewriter, start, choice.second);
        if (llvm::failed(done))
          return llvm::failure();
        numRewritten += *done;
      }
      return numRewritten;
    };
    llvm::SmallVector<RewriteChoice> chosen;
    for (const SchedulableBlock &block : findSchedulableBlocks(function)) {
      PartsCandidates found;
      if (llvm::failed(find(*block.block, found)))
        return llvm::failure();
      ChoiceOptions options{getParts(), this->leastGain,
                            getMostTrials(this->getTrialOps(block.numOps))};
      RewriteJudge judge = this->getJudge(block, plansParts());
      llvm::FailureOr<llvm::SmallVector<RewriteChoice>> ofBlock =
          chooseRewrites(found.free, found.fixed, options, judge, rewriteAll);
      if (llvm::failed(ofBlock))
        return llvm::failure();
      chosen.append(*ofBlock);
    }
    llvm::FailureOr<int64_t> count = rewriteAll(chosen, /*mapping=*/nullptr);
    if (llvm::failed(count))
      return function.emitError("cannot rewrite the chosen collectives");
    emitCountRemark(function, this->getArgument(), getCountName(), *count);
    return llvm::success();
  }
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITEPASS_H
