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
#include "llvm/Support/MathExtras.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include <algorithm>

using namespace mlir;
using namespace braid::comm;

WaitSets::WaitSets(Operation *root) {
  uint64_t numWaits = 0;
  root->walk([&](WaitOp) { ++numWaits; });
  depth = llvm::Log2_64_Ceil(numWaits + 1);
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != root)
      setOf[op] = compute(op);
  });
}

unsigned WaitSets::compute(Operation *op) {
  unsigned set = kEmpty;
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
  if (!isNew)
    return entry->second;
  unsigned wanted = nextWait++, set = kWait;
  for (unsigned level = 0; level < depth; ++level)
    set = (wanted >> level) & 1 ? getSet(kEmpty, set) : getSet(set, kEmpty);
  return entry->second = set;
}

unsigned WaitSets::getSet(unsigned low, unsigned high) {
  auto [entry, isNew] = numbers.try_emplace({low, high}, halves.size());
  if (isNew)
    halves.emplace_back(low, high);
  return entry->second;
}

unsigned WaitSets::unite(unsigned a, unsigned b) {
  if (a == b || b == kEmpty)
    return a;
  if (a == kEmpty)
    return b;
  std::pair<unsigned, unsigned> key = std::minmax(a, b);
  if (auto found = unions.find(key); found != unions.end())
    return found->second;
  // Two sets of one wait of the last level are equal.
  auto [lowA, highA] = halves[a];
  auto [lowB, highB] = halves[b];
  unsigned low = unite(lowA, lowB), high = unite(highA, highB);
  return unions[key] = getSet(low, high);
}
