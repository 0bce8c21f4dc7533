//===- Combine.cpp - The comm-combine pass --------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CombinedStarts.h"
#include "Dialect/Comm/Transforms/Chunks/RewritePass.h"

#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"
#include "braid/Support/Units.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMCOMBINEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// What becomes of a block.
struct CombinedBlock {
  func::FuncOp function;
  BlockGraph graph;
  LaunchGroups groups;
};

struct CommCombinePass
    : RewritePass<
          PassWithCosts<comm::impl::CommCombinePassBase<CommCombinePass>>> {
  using RewritePass::RewritePass;

  LogicalResult checkOptions(Location loc) override;
  std::optional<StringRef> getMaxMemory() const override { return maxMemory; }
  void runOnOperation() override;

private:
  LogicalResult chooseIn(func::FuncOp function,
                         std::vector<CombinedBlock> &chosen);
  FailureOr<LaunchGroups> choose(const SchedulableBlock &block,
                                 const BlockGraph &graph,
                                 const CostOptions &costs);

  /// The values of the options.
  SmallVector<int64_t, 2> launchBytes;
  SmallVector<CollectiveKind> combinedKinds;
};
} // namespace

/// The kinds of collectives of which a launch may have several operands.
static SmallVector<CollectiveKind> getCoalescableKinds() {
  return {CollectiveKind::all_reduce,     CollectiveKind::reduce,
          CollectiveKind::broadcast,      CollectiveKind::all_gather,
          CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
          CollectiveKind::gather,         CollectiveKind::scatter,
          CollectiveKind::permute};
}

LogicalResult CommCombinePass::checkOptions(Location loc) {
  launchBytes.clear();
  for (const std::string &text : bytes) {
    std::optional<int64_t> size = parseBytes(text);
    if (!size)
      return emitError(loc)
             << "invalid size '" << text
             << "' in option 'bytes', expected a number of at least 0, with "
                "unit B, KB, MB, GB, TB, KiB, MiB, GiB, TiB or none, such as "
                "25MiB";
    launchBytes.push_back(*size);
  }
  combinedKinds.clear();
  SmallVector<CollectiveKind> known = getCoalescableKinds();
  for (const std::string &name : kinds) {
    std::optional<CollectiveKind> kind = symbolizeCollectiveKind(name);
    if (!kind || !llvm::is_contained(known, *kind)) {
      InFlightDiagnostic diagnostic =
          emitError(loc) << "invalid kind '" << name
                         << "' in option 'kinds', expected one of ";
      llvm::interleaveComma(known, diagnostic, [&](CollectiveKind other) {
        diagnostic << stringifyCollectiveKind(other);
      });
      return diagnostic;
    }
    combinedKinds.push_back(*kind);
  }
  if (combinedKinds.empty())
    combinedKinds = std::move(known);
  return success();
}

FailureOr<LaunchGroups> CommCombinePass::choose(const SchedulableBlock &block,
                                                const BlockGraph &graph,
                                                const CostOptions &costs) {
  OpCostModel model(costs);
  SmallVector<LaunchItem> items =
      findCombinableStarts(graph, model, combinedKinds);
  if (items.empty())
    return LaunchGroups();
  LaunchLimits limits;
  limits.count = count;
  limits.span = span;
  unsigned numKeys = 0;
  for (const LaunchItem &item : items)
    numKeys = std::max(numKeys, item.key + 1);
  limits.bytes.resize(numKeys);
  if (!launchBytes.empty()) {
    llvm::fill(limits.bytes, launchBytes);
    return findLaunchGroups(graph.graph, items, limits);
  }
  RewriteJudge judge = getJudge(block, planResources);
  LaunchChoiceOptions options;
  options.minGain = leastGain;
  options.maxTrials = getMostLaunchTrials(getTrialOps(block.numOps));
  auto tryLaunches = [&](const LaunchGroups &groups, bool isFinal) {
    auto combineCopy = [&](const IRMapping &mapping) {
      BlockGraph copy = mapGraph(graph, mapping);
      applyOrder(copy, groups.order);
      IRRewriter rewriter(&getContext());
      combineStarts(rewriter, copy, groups);
      return success();
    };
    JudgeEffort effort = isFinal ? JudgeEffort::Final : JudgeEffort::Trial;
    return groups.groups.empty() ? judge.predictPresent(effort)
                                 : judge.predict(combineCopy, effort);
  };
  return chooseLaunches(graph.graph, items, limits, options, tryLaunches);
}

LogicalResult CommCombinePass::chooseIn(func::FuncOp function,
                                        std::vector<CombinedBlock> &chosen) {
  CallEffects calls = getCallEffects(getOperation());
  FailureOr<CostOptions> costs = resolveCosts(function);
  if (failed(costs))
    return failure();
  for (const SchedulableBlock &block : findSchedulableBlocks(function)) {
    if (!areReachedTogether(*block.block))
      continue;
    FailureOr<BlockGraph> graph = buildBlockGraph(
        *block.block, [](Operation *) { return 0; }, calls, *uniformity,
        block.numOps);
    if (failed(graph))
      return failure();
    FailureOr<LaunchGroups> groups = choose(block, *graph, *costs);
    if (failed(groups))
      return failure();
    if (!groups->groups.empty())
      chosen.push_back({function, std::move(*graph), std::move(*groups)});
  }
  return success();
}

void CommCombinePass::runOnOperation() {
  ModuleOp module = getOperation();
  std::vector<CombinedBlock> chosen;
  SmallVector<func::FuncOp> functions;
  if (failed(judgeFunctions([&](func::FuncOp function) {
        functions.push_back(function);
        return chooseIn(function, chosen);
      })))
    return signalPassFailure();
  if (chosen.empty())
    markAllAnalysesPreserved();

  // First the starts of each launch come side by side, then they are combined.
  // Each step has a check of its own.
  ScheduleChanges changes;
  for (const CombinedBlock &block : chosen)
    changes.applyOrder(block.graph, block.groups.order);
  if (failed(verifyChanges(module, changes, getArgument())))
    return signalPassFailure();
  CommunicationRules rules;
  rules.mayCombine = true;
  KnownCommunication known(module);
  if (failed(runValidated(module, rules, getArgument(), known, [&]() {
        IRRewriter rewriter(&getContext());
        for (const CombinedBlock &block : chosen)
          combineStarts(rewriter, block.graph, block.groups);
        return success();
      })))
    return signalPassFailure();

  for (func::FuncOp function : functions) {
    size_t numLaunches = 0, numStarts = 0;
    for (const CombinedBlock &block : chosen)
      if (block.function == function)
        for (const auto &group : block.groups.groups) {
          ++numLaunches;
          numStarts += group.size();
        }
    emitCountRemark(function, getArgument(), "combined-starts",
                    static_cast<int64_t>(numStarts));
    emitCountRemark(function, getArgument(), "launches",
                    static_cast<int64_t>(numLaunches));
  }
}
