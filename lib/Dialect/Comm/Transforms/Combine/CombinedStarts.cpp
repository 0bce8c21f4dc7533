//===- CombinedStarts.cpp - Several starts as one launch ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CombinedStarts.h"
#include "Analysis/Memory/TransparentOps.h"
#include "Dialect/Comm/Transforms/Chunks/RewriteJudge.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Support/Units.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"

#include <limits>

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

SmallVector<LaunchItem>
braid::comm::findCombinableStarts(const BlockGraph &block, OpCostModel &model,
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

BlockGraph braid::comm::mapGraph(const BlockGraph &block,
                                 const IRMapping &mapping) {
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

void braid::comm::combineStarts(RewriterBase &rewriter, const BlockGraph &block,
                                const LaunchGroups &groups) {
  for (ArrayRef<unsigned> group : groups.groups)
    combine(rewriter, llvm::map_to_vector(group, [&](unsigned node) {
              return cast<AsyncStartOpInterface>(block.ops[node]);
            }));
}
