//===- OwnPartFirst.cpp - The comm-own-part-first pass --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GatheredRows.h"
#include "RewritePass.h"

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

/// The rows that `start` gathers, if they can be computed by member, behind
/// `matmuls` matmuls.
static std::optional<GatheredRows> findRows(CollectiveOpInterface start,
                                            int64_t matmuls) {
  std::optional<GatheredRows> rows = findGatheredRows(start, matmuls);
  if (rows && rows->numMembers > mostMembers)
    return std::nullopt;
  return rows;
}

namespace {
/// The parts of a gather are the matmuls behind it that wait for its end.
struct CommOwnPartFirstPass
    : PartsPass<comm::impl::CommOwnPartFirstPassBase<CommOwnPartFirstPass>> {
  using PartsPass::PartsPass;

  std::optional<StringRef> getMaxMemory() const override { return maxMemory; }
  LogicalResult checkOptions(Location loc) override {
    if (matmuls < 0)
      return emitError(loc) << "invalid value " << int64_t(matmuls)
                            << " of option 'matmuls', expected 0 or more";
    return success();
  }
  SmallVector<int64_t> getParts() const override { return {2, 1}; }
  bool plansParts() const override { return planResources; }
  StringRef getCountName() const override { return "own-parts-first"; }

  LogicalResult find(Block &block, PartsCandidates &candidates) override {
    for (auto start : block.getOps<CollectiveOpInterface>())
      if (findRows(start, 1))
        candidates.add(start, matmuls);
    return success();
  }
  FailureOr<bool> rewrite(RewriterBase &rewriter, CollectiveOpInterface start,
                          int64_t numParts) override {
    std::optional<GatheredRows> rows = findRows(start, numParts);
    if (rows)
      computeByMember(rewriter, *rows);
    return rows.has_value();
  }
};
} // namespace
