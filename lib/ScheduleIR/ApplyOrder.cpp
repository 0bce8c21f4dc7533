//===- ApplyOrder.cpp - Move the ops of a block into an order -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/GraphBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace mlir;
using namespace braid;

namespace {
/// An op in the new order, and its present position.
struct PlacedOp {
  Operation *op;
  unsigned position;
};
} // namespace

/// All ops of the graph's block in `order`. A transparent op that is not before
/// all nodes comes just before the first node that needs it.
static std::vector<PlacedOp> placeOps(const BlockGraph &graph,
                                      ArrayRef<unsigned> order) {
  std::vector<PlacedOp> ops;
  ops.reserve(graph.transparent.size() + graph.ops.size());
  std::vector<bool> isPlaced(graph.transparent.size(), false);
  auto placeTransparent = [&](unsigned index) {
    isPlaced[index] = true;
    ops.push_back(
        {graph.transparent[index], graph.transparentPlaces[index].position});
  };
  for (size_t index = 0; index != graph.numLeading; ++index)
    placeTransparent(index);

  SmallVector<unsigned> needed;
  auto need = [&](const BlockGraph::Place &user) {
    for (unsigned index :
         ArrayRef(graph.uses)
             .slice(user.usesBegin, user.usesEnd - user.usesBegin)) {
      if (isPlaced[index])
        continue;
      isPlaced[index] = true;
      needed.push_back(index);
    }
  };
  for (unsigned node : order) {
    needed.clear();
    need(graph.opPlaces[node]);
    for (size_t i = 0; i != needed.size(); ++i)
      need(graph.transparentPlaces[needed[i]]);
    llvm::sort(needed);
    llvm::for_each(needed, placeTransparent);
    ops.push_back({graph.ops[node], graph.opPlaces[node].position});
  }
  for (size_t index = 0; index != graph.transparent.size(); ++index)
    if (!isPlaced[index])
      placeTransparent(index);
  return ops;
}

/// A longest increasing subsequence of the positions of `ops`: these ops need
/// not move. Returns ascending indices into `ops`.
static std::vector<unsigned> selectInOrder(ArrayRef<PlacedOp> ops) {
  // The last op of the best subsequence of each length, and the predecessor of
  // each op in its subsequence.
  constexpr unsigned nothing = ~0u;
  std::vector<unsigned> last, before(ops.size(), nothing);
  for (unsigned index = 0, end = ops.size(); index != end; ++index) {
    unsigned position = ops[index].position;
    auto longer = last.end();
    if (!last.empty() && ops[last.back()].position > position)
      longer = llvm::partition_point(
          last, [&](unsigned other) { return ops[other].position < position; });
    if (longer != last.begin())
      before[index] = *std::prev(longer);
    if (longer == last.end())
      last.push_back(index);
    else
      *longer = index;
  }
  std::vector<unsigned> selection(last.size());
  unsigned index = last.empty() ? nothing : last.back();
  for (unsigned &selected : llvm::reverse(selection)) {
    selected = index;
    index = before[index];
  }
  return selection;
}

bool braid::applyOrder(const BlockGraph &graph, ArrayRef<unsigned> order,
                       OrderClaim *claim) {
  assert(order.size() == graph.ops.size() && "the order has all nodes");
  assert((graph.graph.size() == 0 || isLegalOrder(graph.graph, order)) &&
         "the order is legal");
  if (isProgramOrder(order))
    return false;

  std::vector<PlacedOp> ops = placeOps(graph, order);
  std::vector<unsigned> staying = selectInOrder(ops);
  if (claim) {
    claim->places.reserve(ops.size());
    for (const PlacedOp &op : ops)
      claim->places.push_back(op.position);
    claim->staying = staying;
  }
  // From the end of the block, move every op before its successor. The
  // terminator, or the end of the block, comes last.
  Block::iterator next = graph.block->end();
  if (!ops.empty() && graph.block->mightHaveTerminator())
    next = graph.block->getTerminator()->getIterator();
  for (size_t index = ops.size(); index-- != 0;) {
    Operation *op = ops[index].op;
    if (!staying.empty() && staying.back() == index)
      staying.pop_back();
    else
      op->moveBefore(graph.block, next);
    next = op->getIterator();
  }
  return true;
}
