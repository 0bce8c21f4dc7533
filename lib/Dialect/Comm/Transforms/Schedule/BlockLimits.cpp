//===- BlockLimits.cpp - Memory that each block may use -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLimits.h"

#include "SchedulingPass.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <algorithm>

using namespace braid::comm;
using namespace mlir;

std::optional<int64_t> BlockLimits::getLimit(Block *block) const {
  auto it = limits.find(block);
  return it != limits.end() ? it->second : limit;
}

const ScheduledBlock *BlockLimits::lookup(Block *block) const {
  auto it = positions.find(block);
  return it != positions.end() ? &blocks[it->second] : nullptr;
}

void BlockLimits::add(ScheduledBlock scheduled) {
  positions[scheduled.block] = blocks.size();
  blocks.push_back(std::move(scheduled));
}

void BlockLimits::setFloor(Block *block, int64_t bytes) {
  limits[block] = bytes;
  floors.insert(block);
}

SmallVector<Block *> BlockLimits::getOutermostBlocks(Operation *op) {
  SmallVector<Block *> found;
  SmallPtrSet<Region *, 8> entered;
  SmallVector<Operation *> pending = {op};
  while (!pending.empty()) {
    Operation *next = pending.pop_back_val();
    SmallVector<Region *> bodies;
    for (Region &region : next->getRegions())
      bodies.push_back(&region);
    auto call = dyn_cast<CallOpInterface>(next);
    if (call && entersCallees)
      if (auto callee = dyn_cast_if_present<func::FuncOp>(
              call.resolveCallableInTable(&symbolTables)))
        bodies.push_back(&callee.getBody());
    for (Region *body : bodies) {
      if (!entered.insert(body).second)
        continue;
      for (Block &block : *body) {
        if (positions.contains(&block)) {
          found.push_back(&block);
          continue;
        }
        for (Operation &nested : block)
          if (nested.getNumRegions() != 0 || isa<CallOpInterface>(nested))
            pending.push_back(&nested);
      }
    }
  }
  return found;
}

bool BlockLimits::hasBlocksIn(Operation *op) {
  return !getOutermostBlocks(op).empty();
}

/// Drops the results of `changed`, of the blocks around them, and of callers:
/// functions that were scheduled later.
void BlockLimits::forget(ArrayRef<Block *> changed) {
  size_t first = blocks.size();
  SmallPtrSet<Block *, 8> stale;
  SmallPtrSet<Operation *, 4> functions;
  for (Block *block : changed) {
    first = std::min(first, positions.at(block));
    for (Block *around = block; around;) {
      stale.insert(around);
      Operation *parent = around->getParentOp();
      if (isa<func::FuncOp>(parent)) {
        functions.insert(parent);
        break;
      }
      around = parent->getBlock();
    }
  }
  auto isStale = [&](const ScheduledBlock &scheduled) {
    return stale.contains(scheduled.block) ||
           (positions.at(scheduled.block) > first &&
            !functions.contains(getFunctionOf(scheduled.block)));
  };
  blocks.erase(std::remove_if(blocks.begin(), blocks.end(), isStale),
               blocks.end());
  positions.clear();
  for (auto [position, scheduled] : llvm::enumerate(blocks))
    positions[scheduled.block] = position;
}

bool BlockLimits::tighten(Operation *op, int64_t bytes) {
  if (numRounds == maxRounds)
    return false;
  // At most one of several bodies runs at a time: each may use the largest
  // limit among them.
  SmallVector<Block *> bodies = getOutermostBlocks(op);
  int64_t most = 0;
  for (Block *block : bodies)
    most = std::max(most, lookup(block)->result.peakBytes);
  int64_t allowed = std::max<int64_t>(most - bytes, 0);
  SmallVector<Block *> changed;
  for (Block *block : bodies)
    if (!floors.contains(block) && lookup(block)->result.peakBytes > allowed)
      changed.push_back(block);
  if (changed.empty())
    return false;
  ++numRounds;
  for (Block *block : changed)
    limits[block] = allowed;
  forget(changed);
  return true;
}
