//===- SplitHierarchy.cpp - The comm-split-hierarchy pass -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Chunks/RewritePass.h"
#include "GroupSteps.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMSPLITHIERARCHYPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
struct CommSplitHierarchyPass
    : StructuralRewritePass<
          comm::impl::CommSplitHierarchyPassBase<CommSplitHierarchyPass>> {
  using RewritePass::RewritePass;

  CommunicationRules getRules() const override {
    CommunicationRules rules;
    rules.maySplitGroups = true;
    return rules;
  }
  LogicalResult transform() override;

private:
  LogicalResult splitIn(func::FuncOp function, RankUniformity &uniformity,
                        GridGroups &groups);
  FailureOr<SmallVector<RewriteChoice>> choose(func::FuncOp function,
                                               const SchedulableBlock &block,
                                               const CostOptions &costs,
                                               RankUniformity &uniformity,
                                               RewriteParts rewrite);
};
} // namespace

static std::optional<SteppedCollective> match(CollectiveOpInterface start,
                                              const CostOptions &costs) {
  return matchStepped(start, costs.hardware->ranksPerNode, costs.ranks);
}

FailureOr<SmallVector<RewriteChoice>> CommSplitHierarchyPass::choose(
    func::FuncOp function, const SchedulableBlock &block,
    const CostOptions &costs, RankUniformity &uniformity,
    RewriteParts rewrite) {
  SmallVector<RewriteChoice> chosen;
  // A rank on another path through the program would match steps with a whole.
  if (!uniformity.areReachedTogether(*block.block))
    return chosen;
  SmallVector<CollectiveOpInterface> free;
  for (auto start : block.block->getOps<CollectiveOpInterface>()) {
    bool mayChange =
        numerics == Numerics::Reassociate || !dependsOnOrderOfTerms(start);
    if (!mayChange || !match(start, costs))
      continue;
    if (all)
      chosen.emplace_back(start, 1);
    else
      free.push_back(start);
  }
  return chooseParts(function, block, uniformity, /*plansResources=*/false, {1},
                     free, chosen, rewrite);
}

LogicalResult CommSplitHierarchyPass::splitIn(func::FuncOp function,
                                              RankUniformity &uniformity,
                                              GridGroups &groups) {
  FailureOr<CostOptions> costs =
      resolvePassCosts(getOperation(), function, getCostSettings());
  if (failed(costs))
    return failure();
  auto split = [&](ArrayRef<RewriteChoice> choices, const IRMapping *mapping) {
    int64_t numSplit = 0;
    for (const RewriteChoice &choice : choices) {
      CollectiveOpInterface start = getStart(choice, mapping);
      if (std::optional<SteppedCollective> found = match(start, *costs)) {
        IRRewriter rewriter(start->getContext());
        replaceBySteps(rewriter, *found, groups);
        ++numSplit;
      }
    }
    return numSplit;
  };
  return rewriteChosen(
      function, "split-collectives",
      [&](const SchedulableBlock &block) {
        return choose(function, block, *costs, uniformity, split);
      },
      split);
}

LogicalResult CommSplitHierarchyPass::transform() {
  GridGroups groups;
  if (failed(
          rewriteFunctions([&](func::FuncOp function, RankUniformity &known) {
            return splitIn(function, known, groups);
          })))
    return failure();
  groups.eraseUnused(getOperation());
  return success();
}
