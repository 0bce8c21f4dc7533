//===- OwnPartFirst.cpp - The comm-own-part-first pass --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GatheredRows.h"
#include "RewritePass.h"

#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMOWNPARTFIRSTPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The most members of a group whose rows have ops of their own.
static constexpr int64_t mostMembers = 16;

namespace {
struct CommOwnPartFirstPass
    : StructuralRewritePass<
          comm::impl::CommOwnPartFirstPassBase<CommOwnPartFirstPass>> {
  using RewritePass::RewritePass;

  std::optional<StringRef> getMaxMemory() const override { return maxMemory; }
  LogicalResult checkOptions(Location loc) override {
    if (matmuls < 0)
      return emitError(loc) << "invalid value " << int64_t(matmuls)
                            << " of option 'matmuls', expected 0 or more";
    return success();
  }

  LogicalResult transform() override;

private:
  FailureOr<SmallVector<RewriteChoice>> choose(func::FuncOp function,
                                               const SchedulableBlock &block,
                                               RankUniformity &uniformity);
};
} // namespace

/// Computes the rows that the gathers of `choices`, or their copies in
/// `mapping`, join by member. A choice says behind how many matmuls. Returns
/// how many are rewritten: two gathers may have readers in common.
static FailureOr<int64_t> rewriteByMember(ArrayRef<RewriteChoice> choices,
                                          const IRMapping *mapping) {
  int64_t numRewritten = 0;
  for (const RewriteChoice &choice : choices) {
    CollectiveOpInterface start = getStart(choice, mapping);
    std::optional<GatheredRows> rows = findGatheredRows(start, choice.second);
    if (!rows || rows->numMembers > mostMembers)
      continue;
    IRRewriter rewriter(start);
    computeByMember(rewriter, *rows);
    ++numRewritten;
  }
  return numRewritten;
}

FailureOr<SmallVector<RewriteChoice>>
CommOwnPartFirstPass::choose(func::FuncOp function,
                             const SchedulableBlock &block,
                             RankUniformity &uniformity) {
  SmallVector<RewriteChoice> chosen;
  SmallVector<CollectiveOpInterface> gathers;
  for (auto start : block.block->getOps<CollectiveOpInterface>()) {
    std::optional<GatheredRows> rows = findGatheredRows(start, 1);
    if (rows && rows->numMembers <= mostMembers)
      gathers.push_back(start);
  }
  if (matmuls != 0) {
    for (CollectiveOpInterface start : gathers)
      chosen.emplace_back(start, matmuls);
    return chosen;
  }
  return chooseParts(function, block, uniformity, planResources, {2, 1},
                     gathers, chosen, rewriteByMember);
}

LogicalResult CommOwnPartFirstPass::transform() {
  return rewriteFunctions([&](func::FuncOp function, RankUniformity &known) {
    return rewriteChosen(
        function, "own-parts-first",
        [&](const SchedulableBlock &block) {
          return choose(function, block, known);
        },
        rewriteByMember);
  });
}
