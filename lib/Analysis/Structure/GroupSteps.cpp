//===- GroupSteps.cpp - Steps in place of one collective ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionComparison.h"

#include "Analysis/Verification/CollectiveSequence.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

bool braid::haveSameTypes(ArrayRef<Type> before, ArrayRef<Type> after) {
  return llvm::equal(before, after, [](Type a, Type b) {
    return haveSameData(a, b, /*onlyCount=*/false);
  });
}

bool braid::isSameStart(const StartSummary &before, const StartSummary &after) {
  return before.name == after.name && before.reduction == after.reduction &&
         before.splitDim == after.splitDim &&
         before.arguments == after.arguments &&
         haveSameTypes(before.sources, after.sources) &&
         haveSameTypes(before.values, after.values);
}

/// True if `found` may be `step` of `whole`, but for its group. Dimension `dim`
/// is divided.
static bool isStepOf(const GroupStep &step, const StartSummary &whole,
                     const StartSummary &found, int64_t dim) {
  return found.kind == step.kind && found.lane[0] == whole.lane[0] &&
         (!found.reduction || found.reduction == whole.reduction) &&
         found.splitDim.value_or(dim) == dim;
}

ArrayRef<GroupStep> braid::getStepsFrom(const StartSummary &whole,
                                        const StartSummary &found,
                                        const CommunicationRules &rules) {
  static constexpr GroupStep splitAllReduce[] = {
      {comm::CollectiveKind::reduce_scatter, true},
      {comm::CollectiveKind::all_gather, true}};
  ArrayRef<GroupStep> steps;
  if (whole.group == found.group) {
    if (rules.maySplitAllReduces &&
        whole.kind == comm::CollectiveKind::all_reduce)
      steps = splitAllReduce;
  } else if (rules.maySplitGroups && whole.kind) {
    steps = getGroupSteps(*whole.kind);
  }
  // A grid has the parts of its rows and columns along dimension 0.
  if (steps.empty() || found.lane != whole.lane ||
      whole.splitDim.value_or(0) != 0 ||
      !isStepOf(steps.front(), whole, found,
                whole.splitDim.value_or(found.splitDim.value_or(0))) ||
      !haveSameTypes(whole.sources, found.sources))
    return {};
  return steps;
}

/// The members of each communicator of `group`, as seen from `from`.
static int64_t countRowMembers(Operation *from, FlatSymbolRefAttr group) {
  comm::GroupOp op = comm::lookupGroup(from, group);
  return static_cast<int64_t>(op.getRankLists().front().size());
}

FailureOr<unsigned> braid::compareSteps(
    const StepsOfCollective &steps, size_t &next, RankUniformity &uniformity,
    llvm::function_ref<LogicalResult(const CommunicationEvent *, const Twine &)>
        report) {
  const FunctionCommunication &after = steps.after;
  FlatSymbolRefAttr row, column;
  auto isInItsGroup = [&](const GroupStep &step, const StartSummary &start) {
    FlatSymbolRefAttr &group = step.isInRow ? row : column;
    if (!group)
      group = start.group;
    return group == start.group;
  };
  // The roots of the steps that have one.
  SmallVector<std::pair<const GroupStep *, Attribute>, 2> roots;
  auto addRoot = [&](const GroupStep &step, const StartSummary &start) {
    if (step.kind == comm::CollectiveKind::scatter ||
        step.kind == comm::CollectiveKind::broadcast)
      roots.emplace_back(&step, start.arguments.front());
  };
  const CommunicationEvent *last = &steps.first;
  const StartSummary &first = after.starts[last->number];
  addRoot(steps.steps.front(), first);
  isInItsGroup(steps.steps.front(), first);
  for (const GroupStep &step : llvm::drop_begin(steps.steps)) {
    SmallVector<Value> values;
    for (unsigned index = 0; index != last->numGiven; ++index, ++next) {
      if (next == after.events.size() ||
          after.events[next].kind != CommunicationEvent::Kind::wait ||
          after.getAwaited(after.events[next]) != last->firstGiven + index)
        return report(nullptr, "");
      values.push_back(cast<comm::WaitOp>(after.events[next].op).getValue());
    }
    if (next == after.events.size() ||
        after.events[next].kind != CommunicationEvent::Kind::start)
      return report(nullptr, "");
    const CommunicationEvent &found = after.events[next];
    const StartSummary &start = after.starts[found.number];
    auto op = cast<comm::AsyncStartOpInterface>(found.op);
    if (!isStepOf(step, steps.whole, start, first.splitDim.value_or(0)) ||
        !llvm::equal(op.getSources(), values) || !isInItsGroup(step, start))
      return report(&found, "is not the next step of a collective before");
    if (!uniformity.areReachedTogether(*found.op->getBlock()))
      return report(&found, "is new where ranks may take different paths");
    addRoot(step, start);
    last = &found;
    ++next;
  }
  if (row != steps.whole.group &&
      !isGridOf(last->op, steps.whole.group, row, column))
    return report(last, "is a step in a group that is no part of a grid of the "
                        "whole group");
  for (auto [step, root] : roots) {
    auto whole = steps.whole.arguments.empty()
                     ? IntegerAttr()
                     : dyn_cast_or_null<IntegerAttr>(steps.whole.arguments[0]);
    auto found = dyn_cast_or_null<IntegerAttr>(root);
    if (!whole || !found ||
        found.getInt() !=
            getStepRoot(*step, whole.getInt(), countRowMembers(last->op, row)))
      return report(
          last,
          "is a step with another root than a collective before asks for");
  }
  if (!haveSameTypes(steps.whole.values, after.starts[last->number].values))
    return report(last, "does not give what a collective before gave");
  return last->firstGiven;
}
