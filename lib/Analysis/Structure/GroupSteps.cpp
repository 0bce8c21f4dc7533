//===- GroupSteps.cpp - Steps in place of one collective ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupSteps.h"

#include "Analysis/Verification/CollectiveSequence.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

bool braid::isStepOf(const GroupStep &step, const StartSummary &whole,
                     const StartSummary &found) {
  return found.kind == step.kind && found.lane == whole.lane &&
         (!found.reduction || found.reduction == whole.reduction) &&
         found.splitDim.value_or(0) == 0 && whole.splitDim.value_or(0) == 0;
}

FailureOr<unsigned> braid::compareSteps(
    const StepsOfCollective &steps, size_t &next, RankUniformity &uniformity,
    llvm::function_ref<LogicalResult(const CommunicationEvent *, const Twine &)>
        report) {
  const FunctionCommunication &after = steps.after;
  ArrayRef<GroupStep> expected = getGroupSteps(*steps.whole.kind);
  FlatSymbolRefAttr row, column;
  auto isInItsGroup = [&](const GroupStep &step, const StartSummary &start) {
    FlatSymbolRefAttr &group = step.isInRow ? row : column;
    if (!group)
      group = start.group;
    return group == start.group;
  };
  const CommunicationEvent *last = &steps.first;
  isInItsGroup(expected.front(), after.starts[last->number]);
  for (const GroupStep &step : llvm::drop_begin(expected)) {
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
    if (!isStepOf(step, steps.whole, start) ||
        !llvm::equal(op.getSources(), values) || !isInItsGroup(step, start))
      return report(&found, "is not the next step of a collective before");
    if (!uniformity.areReachedTogether(*found.op->getBlock()))
      return report(&found, "is new where ranks may take different paths");
    last = &found;
    ++next;
  }
  if (!isGridOf(last->op, steps.whole.group, row, column))
    return report(last, "is a step in a group that is no part of a grid of the "
                        "whole group");
  if (!llvm::equal(steps.whole.values, after.starts[last->number].values,
                   [](Type a, Type b) {
                     return haveSameData(a, b, /*onlyCount=*/false);
                   }))
    return report(last, "does not give what a collective before gave");
  return last->firstGiven;
}
