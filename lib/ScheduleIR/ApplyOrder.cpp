//===- ApplyOrder.cpp - From an order back to the block -------------------===//
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
/// An op in the order to be, and where it stands now.
struct PlacedOp {
  Operation *op;
  unsigned position;
};
} // namespace

/// All ops of the graph's block in `order`. Prologue that does not stand before
/// all nodes comes right before the first node that needs it.
static std::vector<PlacedOp> placeOps(const BlockGraph &graph,
                                      ArrayRef<unsigned> order) {
  std::vector<PlacedOp> ops;
  ops.reserve(graph.prologue.size() + graph.ops.size());
  std::vector<bool> isPlaced(graph.prologue.size(), false);
  auto placePrologue = [&](unsigned index) {
    isPlaced[index] = true;
    ops.push_back(
        {graph.prologue[index], graph.prologuePlaces[index].position});
  };
  for (size_t index = 0; index != graph.numLeading; ++index)
    placePrologue(index);

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
      need(graph.prologuePlaces[needed[i]]);
    llvm::sort(needed);
    llvm::for_each(needed, placePrologue);
    ops.push_back({graph.ops[node], graph.opPlaces[node].position});
  }
  for (size_t index = 0; index != graph.prologue.size(); ++index)
    if (!isPlaced[index])
      placePrologue(index);
  return ops;
}

/// A longest selection of `ops` whose positions ascend: those need not move.
/// Ascending indices into `ops`.
static std::vector<unsigned> selectInOrder(ArrayRef<PlacedOp> ops) {
  // The last op of the best selection of each length so far, and the op before
  // each op in its selection.
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

bool braid::applyOrder(const BlockGraph &graph, ArrayRef<unsigned> order) {
  assert(order.size() == graph.ops.size() && "the order has all nodes");
  assert((graph.graph.size() == 0 || isLegalOrder(graph.graph, order)) &&
         "the order is legal");
  if (isProgramOrder(order))
    return false;

  std::vector<PlacedOp> ops = placeOps(graph, order);
  std::vector<unsigned> staying = selectInOrder(ops);
  // From the end, every op goes before the one that it has to precede; the
  // terminator, or the end of the block, comes after all.
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
