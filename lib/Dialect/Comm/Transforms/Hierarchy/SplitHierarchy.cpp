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
    : PartsPass<
          comm::impl::CommSplitHierarchyPassBase<CommSplitHierarchyPass>> {
  using PartsPass::PartsPass;

  CommunicationRules getRules() const override {
    CommunicationRules rules;
    rules.maySplitGroups = true;
    return rules;
  }
  SmallVector<int64_t> getParts() const override { return {1}; }
  bool plansParts() const override { return false; }
  StringRef getCountName() const override { return "split-collectives"; }
  LogicalResult begin(func::FuncOp function) override {
    return costs = resolveCosts(function);
  }
  LogicalResult find(Block &block, PartsCandidates &candidates) override;
  FailureOr<bool> rewrite(RewriterBase &rewriter, CollectiveOpInterface start,
                          int64_t /*numParts*/) override {
    std::optional<SteppedCollective> found = match(start);
    if (found)
      replaceBySteps(rewriter, *found, groups);
    return found.has_value();
  }
  LogicalResult transform() override {
    groups = {};
    if (failed(PartsPass::transform()))
      return failure();
    groups.eraseUnused(getOperation());
    return success();
  }

private:
  std::optional<SteppedCollective> match(CollectiveOpInterface start) const {
    return matchStepped(start, costs->hardware->ranksPerNode, costs->ranks);
  }

  FailureOr<CostOptions> costs;
  GridGroups groups;
};
} // namespace

LogicalResult CommSplitHierarchyPass::find(Block &block,
                                           PartsCandidates &candidates) {
  if (!areReachedTogether(block))
    return success();
  for (auto start : block.getOps<CollectiveOpInterface>())
    if ((numerics == Numerics::Reassociate || !dependsOnOrderOfTerms(start)) &&
        match(start))
      candidates.add(start, all ? 1 : 0);
  return success();
}
