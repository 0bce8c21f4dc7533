//===- DeadSources.cpp - Sources that operations take over ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace braid::comm;

bool inflight::isDeadAfter(memref::AllocOp allocation, memref::CopyOp copy) {
  Block *block = copy->getBlock();
  if (allocation->getBlock() != block)
    return false;
  return llvm::all_of(allocation->getUsers(), [&](Operation *user) {
    if (user == copy)
      return true;
    if (llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>) ||
        user->hasTrait<OpTrait::IsTerminator>())
      return false;
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    return ancestor && ancestor->isBeforeInBlock(copy);
  });
}

void inflight::takeOverDeadSources(ModuleOp module) {
  SmallVector<memref::AllocOp> owned;
  module.walk([&](memref::AllocOp allocation) {
    allocation->removeAttr(kEmptyAttrName);
    if (allocation->removeAttr(kOwnedAttrName))
      owned.push_back(allocation);
  });
  for (memref::AllocOp own : owned) {
    // The copy that fills the allocation is its first user in the block.
    memref::CopyOp copy;
    for (Operation *user : own->getUsers())
      if (auto candidate = dyn_cast<memref::CopyOp>(user);
          candidate && candidate.getTarget() == own.getResult() &&
          candidate->getBlock() == own->getBlock() &&
          (!copy || candidate->isBeforeInBlock(copy)))
        copy = candidate;
    if (!copy)
      continue;
    auto source = copy.getSource().getDefiningOp<memref::AllocOp>();
    if (!source || source.getType() != own.getType() ||
        !isDeadAfter(source, copy))
      continue;
    copy->erase();
    own.replaceAllUsesWith(source.getResult());
    own->erase();
  }
}
