//===- MergeEqual.cpp - Collectives that give the same --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Memory/TransparentOps.h"
#include "Rewrites.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

bool braid::comm::eraseUnused(RewriteState &state, WaitOp wait) {
  std::optional<AwaitedValue> awaited = getAwaitedValue(wait);
  if (!awaited || !awaited->isAlone() || !wait.getValue().use_empty())
    return false;
  eraseCollective(state.rewriter, *awaited, state.erased);
  ++state.counts.erased;
  return true;
}

void braid::comm::visitEqualCollectives(
    Block &block, llvm::function_ref<void(const EqualCollectives &)> visit) {
  llvm::DenseMap<std::pair<Attribute, Value>, SmallVector<AwaitedValue, 1>>
      known;
  for (WaitOp wait : llvm::make_early_inc_range(block.getOps<WaitOp>())) {
    std::optional<AwaitedValue> awaited = getAwaitedValue(wait);
    if (!awaited || !awaited->isAlone())
      continue;
    CollectiveOpInterface start = awaited->start;
    auto &alike = known[{getOperationKey(start), awaited->getSource()}];
    const auto *equal = llvm::find_if(alike, [&](const AwaitedValue &earlier) {
      CollectiveOpInterface other = earlier.start;
      return other->isBeforeInBlock(start) &&
             llvm::equal(other->getOperands(), start->getOperands()) &&
             other->getResultTypes() == start->getResultTypes();
    });
    if (equal != alike.end())
      visit({equal->wait, wait});
    else
      alike.push_back(*awaited);
  }
}

/// True if `op`, or the op of `block` around it, is at or behind `place`.
static bool isFrom(Operation *op, Operation *place) {
  Operation *own = place->getBlock()->findAncestorOpInBlock(*op);
  return !own || !own->isBeforeInBlock(place);
}

/// True if `value`, or what shows its memory, is used at or behind `place`.
static bool isUsedFrom(Value value, Operation *place) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isFrom(user, place) || (getViewSource(user) == value &&
                                   isUsedFrom(user->getResult(0), place));
  });
}

bool braid::comm::isStillLive(const EqualCollectives &equal) {
  WaitOp first = equal.first, second = equal.second;
  AsyncStartOpInterface start = second.getStart();
  return isUsedFrom(first.getValue(), start);
}

void braid::comm::mergeEqual(RewriteState &state,
                             const EqualCollectives &equal) {
  WaitOp first = equal.first, second = equal.second;
  std::optional<AwaitedValue> awaited = getAwaitedValue(second);
  state.rewriter.replaceAllUsesWith(second.getValue(), first.getValue());
  eraseCollective(state.rewriter, *awaited, state.erased);
  ++state.counts.merged;
}
