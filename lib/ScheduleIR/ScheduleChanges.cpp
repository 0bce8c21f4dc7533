//===- ScheduleChanges.cpp - Undo changes of scheduling -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/ScheduleChanges.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

void ScheduleChanges::applyOrder(const BlockGraph &graph,
                                 ArrayRef<unsigned> order) {
  std::vector<Operation *> ops(graph.ops.size() + graph.transparent.size());
  for (auto [op, place] : llvm::zip_equal(graph.ops, graph.opPlaces))
    ops[place.position] = op;
  for (auto [op, place] :
       llvm::zip_equal(graph.transparent, graph.transparentPlaces))
    ops[place.position] = op;
  auto [first, isFirst] = firstChanges.try_emplace(graph.block, changes.size());
  changes.push_back({graph.block, std::move(ops), {}, graph.effects});
  if (isFirst) {
    braid::applyOrder(graph, order, &changes.back().claim);
    return;
  }
  // The claim is about the last order, not about the first one.
  changes[first->second].claim = OrderClaim();
  braid::applyOrder(graph, order);
}

void ScheduleChanges::Order::restore() const {
  // Only the terminator, which stays last, is not in the list.
  Block::iterator end = block->end();
  if (block->mightHaveTerminator())
    end = block->getTerminator()->getIterator();
  for (Operation *op : ops)
    op->moveBefore(block, end);
}

LogicalResult ScheduleChanges::checkBlocks(
    function_ref<LogicalResult(Block &block, ArrayRef<Operation *> before,
                               const OrderClaim &claim, BlockEffects &effects)>
        check) const {
  for (auto [index, order] : llvm::enumerate(changes))
    if (firstChanges.lookup(order.block) == index &&
        failed(check(*order.block, order.ops, order.claim, *order.effects)))
      return failure();
  return success();
}

void ScheduleChanges::undo() {
  for (const Order &order : llvm::reverse(changes))
    order.restore();
  changes.clear();
  firstChanges.clear();
}
