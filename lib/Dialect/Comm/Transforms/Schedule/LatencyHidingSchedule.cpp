//===- LatencyHidingSchedule.cpp - Schedules as XLA does ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/XLA/LatencyHidingSchedule.h"

#include "SchedulingPass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMLATENCYHIDINGSCHEDULEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

/// True if some communicator of `a` and one of `b` may have two ranks or more
/// in common.
static bool mayShareRanks(comm::GroupOp a, comm::GroupOp b) {
  if (!a || !b || (a.isAll() && b.isAll()))
    return true;
  if (b.isAll())
    std::swap(a, b);
  auto hasTwo = [](ArrayRef<int64_t> ranks) { return ranks.size() > 1; };
  if (a.isAll())
    return llvm::any_of(b.getRankLists(), hasTwo);
  llvm::DenseMap<int64_t, unsigned> listOf;
  for (auto [index, ranks] : llvm::enumerate(b.getRankLists()))
    for (int64_t rank : ranks)
      listOf[rank] = index;
  for (ArrayRef<int64_t> ranks : a.getRankLists()) {
    llvm::DenseMap<unsigned, unsigned> numCommon;
    for (int64_t rank : ranks)
      if (auto it = listOf.find(rank); it != listOf.end())
        if (++numCommon[it->second] == 2)
          return true;
  }
  return false;
}

/// The pairs of lanes with collectives whose groups may share ranks.
static std::vector<std::pair<int32_t, int32_t>>
getExclusiveLanes(const BlockProblem &problem) {
  const ScheduleGraph &graph = problem.problem.graph;
  llvm::MapVector<int32_t, comm::GroupOp> groupOfLane;
  for (unsigned start : graph.starts()) {
    Operation *op = problem.block.ops[start];
    auto collective = dyn_cast<comm::CollectiveOpInterface>(op);
    if (collective && !graph[start].pointToPoint &&
        !groupOfLane.contains(graph[start].lane))
      groupOfLane[graph[start].lane] =
          comm::lookupGroup(op, collective.getGroupAttr());
  }
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (auto *a = groupOfLane.begin(); a != groupOfLane.end(); ++a)
    for (auto *b = std::next(a); b != groupOfLane.end(); ++b)
      if (mayShareRanks(a->second, b->second))
        pairs.emplace_back(a->first, b->first);
  return pairs;
}

namespace {
struct CommLatencyHidingSchedulePass
    : comm::ModuleOrFunctionPass<comm::impl::CommLatencyHidingSchedulePassBase<
          CommLatencyHidingSchedulePass>> {
  using ModuleOrFunctionPass::ModuleOrFunctionPass;

  LogicalResult initialize(MLIRContext *context) override {
    if (failed(ModuleOrFunctionPass::initialize(context)))
      return failure();
    return comm::parseMemoryOption(comm::getOptionLoc(context), memoryLimit,
                                   "memory-limit");
  }

  void runOnOperation() override {
    Operation *root = getOperation();
    FailureOr<std::optional<int64_t>> limit =
        comm::parseMemoryOption(root->getLoc(), memoryLimit, "memory-limit");
    if (failed(limit))
      return signalPassFailure();
    auto schedule = [&](BlockProblem &problem,
                        CostModel &) -> FailureOr<ScheduleOrder> {
      problem.problem.keepOrderOfStarts |= keepOrder;
      problem.problem.maxMemory = *limit;
      return scheduleBlock(problem);
    };
    auto isAny = [](NodeKind) { return true; };
    ScheduleChanges changes;
    FailureOr<unsigned> moved =
        comm::scheduleProblems(root, getAnalysisManager(), getCostSettings(),
                               changes, schedule, isAny);
    if (failed(moved) ||
        failed(comm::verifyChanges(getOperation(), changes, getArgument())))
      return signalPassFailure();
  }

private:
  ScheduleOrder scheduleBlock(const BlockProblem &problem);
};
} // namespace

ScheduleOrder
CommLatencyHidingSchedulePass::scheduleBlock(const BlockProblem &problem) {
  LatencyHidingOptions options;
  options.overlapLimit = overlapLimit;
  options.pointToPointLimit = pointToPointLimit;
  if (overlapLimit != 1)
    options.exclusiveLanes = getExclusiveLanes(problem);
  options.aggressive = aggressive;
  options.reruns = reruns;
  options.postProcess = postProcess;
  LatencyHidingResult result = latencyHidingSchedule(problem.problem, options);
  for (unsigned node : result.order)
    emitPassedRemark(
        problem.block.ops[node], getArgument(), "placed-op", [&](auto &remark) {
          remark << remark::metric("Rule", StringRef(result.reasons[node]));
        });
  return std::move(result.order);
}
