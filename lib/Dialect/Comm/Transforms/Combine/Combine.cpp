//===- Combine.cpp - The comm-combine pass --------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Memory/TransparentOps.h"
#include "Dialect/Comm/Transforms/Chunks/RewriteJudge.h"
#include "Dialect/Comm/Transforms/Chunks/RewritePass.h"
#include "Schedule/Planning/LaunchGroups.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Cost/IR/OpCostModel.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/ScheduleIR/GraphBuilder.h"
#include "braid/Support/IR/Remarks.h"
#include "braid/Support/Units.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"

#include <limits>

namespace braid::comm {
#define GEN_PASS_DEF_COMMCOMBINEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The attribute of the number of operands of each role.
static constexpr llvm::StringLiteral kSegmentSizes = "operandSegmentSizes";

/// True if all that uses `token` is in `block`: waits, and ops that hand the
/// token to a loop or to its next iteration.
static bool isUsedIn(Block *block, Value token) {
  return llvm::all_of(token.getUsers(), [&](Operation *user) {
    return user->getBlock() == block &&
           (isa<WaitOp>(user) || isa<LoopLikeOpInterface>(user) ||
            isa<LoopLikeOpInterface>(user->getParentOp()));
  });
}

/// True if `source` is a tensor without values. It may have the buffer of one
/// of the results, which is the source of no other result of a launch then.
static bool isWithoutValues(Value source) {
  Operation *op = source.getDefiningOp();
  while (op && !isa<tensor::EmptyOp>(op)) {
    Value viewed = getViewSource(op);
    op = viewed ? viewed.getDefiningOp() : nullptr;
  }
  return op != nullptr;
}

/// True if `start` may be a launch of any number of operands: one of the
/// dialect's own, with no operand that all of the launch would share.
static bool canHaveMoreOperands(CollectiveOpInterface start) {
  auto async = cast<AsyncStartOpInterface>(start.getOperation());
  // A variant of the call, such as an exchange of parts of given sizes, is of
  // one operand.
  return isa<CommDialect>(start->getDialect()) &&
         llvm::none_of(async.getSources(), isWithoutValues) &&
         start->hasAttr(kSegmentSizes) && start.getCallSuffix().empty() &&
         !async.getSourceOperands().empty() &&
         async.getTokens().size() == async.getSourceOperands().size() &&
         start->getNumOperands() == async.getSourceOperands().size() +
                                        async.getDestinationOperands().size();
}

/// What starts have to agree in.
static Attribute getLaunchKey(CollectiveOpInterface start) {
  auto async = cast<AsyncStartOpInterface>(start.getOperation());
  NamedAttrList attributes(start->getAttrDictionary());
  attributes.erase(kSegmentSizes);
  attributes.erase(CommDialect::kLabelAttrName);
  attributes.erase(CommDialect::kReportNumberAttrName);
  Builder builder(start.getContext());
  if (attributes.get(CommDialect::kCostAttrName))
    attributes.set(CommDialect::kCostAttrName, builder.getUnitAttr());
  attributes.set("op", builder.getStringAttr(start->getName().getStringRef()));
  attributes.set("buffers", builder.getBoolAttr(async.isBufferForm()));
  attributes.set("destinations",
                 builder.getBoolAttr(!async.getDestinationOperands().empty()));
  // NCCL sums elements of one type in one way.
  if (start.getReductionKind())
    attributes.set("elements", TypeAttr::get(getElementTypeOrSelf(
                                   async.getSources().front().getType())));
  return attributes.getDictionary(start.getContext());
}

/// True if all that `start` reduces has one type of elements.
static bool hasOneElementType(CollectiveOpInterface start) {
  auto async = cast<AsyncStartOpInterface>(start.getOperation());
  return !start.getReductionKind() ||
         llvm::all_equal(llvm::map_range(async.getSources(), [](Value source) {
           return getElementTypeOrSelf(source.getType());
         }));
}

/// The starts of `block` that may share a launch with others. Those with one
/// key agree in all but their operands, results, labels and costs. The
/// keys with at least two starts are numbered from 0, those with the most
/// starts first. `kinds` are the kinds of collectives that may be combined.
static SmallVector<LaunchItem>
findCombinableStarts(const BlockGraph &block, OpCostModel &model,
                     ArrayRef<CollectiveKind> kinds) {
  llvm::MapVector<Attribute, SmallVector<LaunchItem>> found;
  for (unsigned node : block.graph.starts()) {
    auto start = dyn_cast<CollectiveOpInterface>(block.ops[node]);
    if (!start || start.isPointToPoint() || hasSettings(start) ||
        !llvm::is_contained(kinds, start.getCollectiveKind()) ||
        !canHaveMoreOperands(start) || !hasOneElementType(start) ||
        !llvm::all_of(
            cast<AsyncStartOpInterface>(start.getOperation()).getTokens(),
            [&](Value token) { return isUsedIn(block.block, token); }))
      continue;
    uint64_t bytes = model.describe(start).getWholeBytes();
    found[getLaunchKey(start)].push_back(
        {node, 0,
         static_cast<int64_t>(
             std::min<uint64_t>(bytes, std::numeric_limits<int64_t>::max()))});
  }
  auto keys = found.takeVector();
  llvm::erase_if(keys, [](const auto &key) { return key.second.size() < 2; });
  llvm::sort(keys, [](const auto &a, const auto &b) {
    if (a.second.size() != b.second.size())
      return a.second.size() > b.second.size();
    return a.second.front().node < b.second.front().node;
  });
  SmallVector<LaunchItem> items;
  for (auto [number, key] : llvm::enumerate(keys))
    for (LaunchItem &item : key.second) {
      item.key = number;
      items.push_back(item);
    }
  llvm::sort(items, [](const LaunchItem &a, const LaunchItem &b) {
    return a.node < b.node;
  });
  return items;
}
/// `block` for the copies of its ops in `mapping`.
static BlockGraph mapGraph(const BlockGraph &block, const IRMapping &mapping) {
  BlockGraph mapped = block;
  mapped.block = mapping.lookup(block.block);
  for (Operation *&op : mapped.ops)
    op = mapping.lookup(op);
  for (Operation *&op : mapped.transparent)
    op = mapping.lookup(op);
  return mapped;
}

/// Replaces `starts`, which stand in this order, by one start.
static void combine(RewriterBase &rewriter,
                    ArrayRef<AsyncStartOpInterface> starts) {
  AsyncStartOpInterface first = starts.front();
  SmallVector<Location> locations;
  SmallVector<Value> sources, destinations;
  SmallVector<Type> tokens;
  int64_t costNs = 0;
  for (AsyncStartOpInterface start : starts) {
    locations.push_back(start->getLoc());
    llvm::append_range(sources, start.getSources());
    llvm::append_range(destinations, start.getDestinations());
    llvm::append_range(tokens, start->getResultTypes());
    if (auto cost =
            start->getAttrOfType<IntegerAttr>(CommDialect::kCostAttrName))
      costNs = addNs(costNs, cost.getInt());
  }
  NamedAttrList attributes(first->getAttrDictionary());
  // The segments of sources and of destinations are the only ones that have
  // operands, in this order.
  SmallVector<int32_t> sizes(
      cast<DenseI32ArrayAttr>(first->getAttr(kSegmentSizes)).asArrayRef());
  SmallVector<size_t> totals = {destinations.size(), sources.size()};
  for (int32_t &size : sizes)
    if (size != 0)
      size = static_cast<int32_t>(totals.pop_back_val());
  attributes.set(kSegmentSizes, rewriter.getDenseI32ArrayAttr(sizes));
  if (first->hasAttr(CommDialect::kCostAttrName))
    attributes.set(CommDialect::kCostAttrName,
                   rewriter.getI64IntegerAttr(costNs));
  if (StringRef label = getLabel(first); !label.empty())
    attributes.set(
        CommDialect::kLabelAttrName,
        rewriter.getStringAttr(label + "+" + Twine(starts.size() - 1)));

  rewriter.setInsertionPoint(starts.back());
  OperationState state(rewriter.getFusedLoc(locations), first->getName());
  state.addOperands(sources);
  state.addOperands(destinations);
  state.addTypes(tokens);
  state.addAttributes(attributes);
  Operation *launch = rewriter.create(state);
  recordDivision(launch, "in a launch of " + Twine(sources.size()));
  size_t number = 0;
  for (AsyncStartOpInterface start : starts) {
    size_t count = start->getNumResults();
    rewriter.replaceOp(start, launch->getResults().slice(number, count));
    number += count;
  }
}
/// Replaces the starts of each group of `groups`, which stand in the order of
/// `groups`, by one start at the place of the last one. The values of a token
/// do not change.
static void combineStarts(RewriterBase &rewriter, const BlockGraph &block,
                          const LaunchGroups &groups) {
  for (ArrayRef<unsigned> group : groups.groups)
    combine(rewriter, llvm::map_to_vector(group, [&](unsigned node) {
              return cast<AsyncStartOpInterface>(block.ops[node]);
            }));
}

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
