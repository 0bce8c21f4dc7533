//===- WaitSets.cpp - Which collectives ops depend on ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseOps.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include <algorithm>

using namespace mlir;
using namespace braid::comm;

WaitSets::WaitSets(Operation *root) {
  sets.push_back({});
  numbers[{}] = 0;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != root)
      setOf[op] = compute(op);
  });
}

unsigned WaitSets::compute(Operation *op) {
  unsigned set = 0;
  auto add = [&](Value value) {
    // A block argument is available to all ops of the block.
    if (Operation *definition = value.getDefiningOp())
      set = unite(set, setOf.lookup(definition));
  };
  for (Value operand : op->getOperands())
    add(operand);
  for (Region &region : op->getRegions()) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(region, region, captured);
    llvm::for_each(captured, add);
    // An op depends on the waits in its regions.
    region.walk([&](WaitOp wait) { set = unite(set, getSingleton(wait)); });
  }
  if (isa<WaitOp>(op))
    set = unite(set, getSingleton(op));
  return set;
}

unsigned WaitSets::getSingleton(Operation *wait) {
  auto [entry, isNew] = singletons.try_emplace(wait, 0);
  if (isNew)
    entry->second = intern({nextWait++});
  return entry->second;
}

unsigned WaitSets::unite(unsigned a, unsigned b) {
  if (a == b || b == 0)
    return a;
  if (a == 0)
    return b;
  auto key = std::minmax(a, b);
  auto found = unions.find(key);
  if (found != unions.end())
    return found->second;
  std::vector<unsigned> members;
  std::set_union(sets[a].begin(), sets[a].end(), sets[b].begin(), sets[b].end(),
                 std::back_inserter(members));
  return unions[key] = intern(std::move(members));
}

unsigned WaitSets::intern(std::vector<unsigned> members) {
  auto [entry, isNew] = numbers.try_emplace(members, sets.size());
  if (isNew)
    sets.push_back(std::move(members));
  return entry->second;
}
