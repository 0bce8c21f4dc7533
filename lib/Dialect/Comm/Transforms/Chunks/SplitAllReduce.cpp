//===- SplitAllReduce.cpp - The comm-split-all-reduce pass ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkedMatmul.h"
#include "RewritePass.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMSPLITALLREDUCEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The parts of an all-reduce: a reduce-scatter and an all-gather.
static constexpr int64_t numParts = 2;

namespace {
/// An all-reduce that can be split, and the members of its group.
struct SplittableAllReduce {
  AllReduceOp start;
  WaitOp wait;
  int64_t numMembers;
};

struct CommSplitAllReducePass
    : PartsPass<
          comm::impl::CommSplitAllReducePassBase<CommSplitAllReducePass>> {
  using PartsPass::PartsPass;

  CommunicationRules getRules() const override {
    CommunicationRules rules;
    rules.maySplitAllReduces = true;
    return rules;
  }
  SmallVector<int64_t> getParts() const override { return {numParts}; }
  bool plansParts() const override { return true; }
  StringRef getCountName() const override { return "split-all-reduces"; }
  LogicalResult begin(func::FuncOp function) override {
    return costs = resolveCosts(function);
  }
  LogicalResult find(Block &block, PartsCandidates &candidates) override;
  FailureOr<bool> rewrite(RewriterBase &rewriter, CollectiveOpInterface start,
                          int64_t numParts) override;

private:
  FailureOr<CostOptions> costs;
};
} // namespace

/// The members of each list of the group of `start`; none if lists differ, or
/// if the number of ranks is unknown.
static std::optional<int64_t> getNumMembers(AllReduceOp start,
                                            const CostOptions &costs) {
  GroupOp group = lookupGroup(start, start.getGroupAttr());
  if (!group)
    return std::nullopt;
  return group.isAll() ? costs.ranks : group.getStaticSize();
}

/// `start` as an all-reduce that can be split. Nothing if it is not on one
/// tensor whose rows the members of the group share evenly, or if the group is
/// on several nodes.
static std::optional<SplittableAllReduce>
matchSplittable(AllReduceOp start, const CostOptions &costs) {
  SmallVector<WaitOp, 1> waits = findRewritableWaits(start);
  if (waits.size() != 1 || OpCostModel(costs).describe(start).numNodes > 1)
    return std::nullopt;
  auto type = cast<RankedTensorType>(start.getInputs()[0].getType());
  std::optional<int64_t> numMembers = getNumMembers(start, costs);
  if (type.getRank() == 0 || !numMembers || *numMembers < 2 ||
      type.getDimSize(0) == 0 || type.getDimSize(0) % *numMembers != 0)
    return std::nullopt;
  return SplittableAllReduce{start, waits[0], *numMembers};
}

static void split(RewriterBase &rewriter, const SplittableAllReduce &found) {
  AllReduceOp start = found.start;
  WaitOp wait = found.wait;
  OpBuilder::InsertionGuard guard(rewriter);
  auto type = cast<RankedTensorType>(wait.getValue().getType());
  RankedTensorType partType =
      withSize(type, 0, type.getDimSize(0) / found.numMembers);
  Location loc = start.getLoc();
  IntegerAttr rows = rewriter.getI64IntegerAttr(0);

  rewriter.setInsertionPoint(start);
  auto scatter = ReduceScatterOp::create(
      rewriter, loc, Type(TokenType::get(partType)), start.getReductionAttr(),
      Value(), start.getInputs(), ValueRange(), start.getGroupAttr(), rows);
  labelPart(scatter, start, "scatter");
  recordDivision(scatter, "of an all_reduce");
  rewriter.setInsertionPoint(wait);
  auto part = WaitOp::create(rewriter, loc, partType, scatter.getTokens()[0],
                             ValueRange(), ValueRange());
  auto gather = AllGatherOp::create(rewriter, loc, Type(TokenType::get(type)),
                                    part.getValue(), ValueRange(),
                                    start.getGroupAttr(), rows);
  labelPart(gather, start, "gather");
  gather->setAttr(CommDialect::kTransportAttrName,
                  rewriter.getStringAttr("copy"));
  rewriter.modifyOpInPlace(
      wait, [&]() { wait->setOperand(0, gather.getTokens()[0]); });
  rewriter.eraseOp(start);
}

FailureOr<bool> CommSplitAllReducePass::rewrite(RewriterBase &rewriter,
                                                CollectiveOpInterface start,
                                                int64_t /*numParts*/) {
  std::optional<SplittableAllReduce> found =
      matchSplittable(cast<AllReduceOp>(start.getOperation()), *costs);
  if (found)
    split(rewriter, *found);
  return found.has_value();
}

LogicalResult CommSplitAllReducePass::find(Block &block,
                                           PartsCandidates &candidates) {
  if (!areReachedTogether(block))
    return success();
  bool hasCopyEngines = costs->hardware->nccl.copyEngineBandwidth > 0;
  for (auto start : block.getOps<AllReduceOp>()) {
    if (!matchSplittable(start, *costs))
      continue;
    if (all && !hasCopyEngines)
      return start->emitOpError()
             << "cannot gather by copy engines: machine '"
             << costs->hardware->name
             << "' has none for collectives, expected 'all=false' or a machine "
                "with 'copy_engine_bandwidth_bytes_per_second'";
    candidates.add(cast<CollectiveOpInterface>(start.getOperation()),
                   all ? numParts : 0);
  }
  if (!hasCopyEngines || !canPlanResources(*costs))
    candidates.free.clear();
  return success();
}
