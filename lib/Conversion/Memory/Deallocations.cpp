//===- Deallocations.cpp - Deallocations after the last use, or none ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace braid {
#define GEN_PASS_DEF_DROPDEALLOCATIONSPASS
#define GEN_PASS_DEF_FREEEARLYPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

/// The last op in the block of `dealloc` that uses the buffer or a view of it,
/// also in nested regions. Null if there is none, or if other values may alias
/// the buffer.
Operation *getLastUser(memref::DeallocOp dealloc,
                       BufferViewFlowAnalysis &aliases) {
  Block *block = dealloc->getBlock();
  Operation *last = dealloc.getMemref().getDefiningOp();
  for (Value alias : aliases.resolve(dealloc.getMemref())) {
    for (Operation *user : alias.getUsers()) {
      if (user == dealloc)
        continue;
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      if (!ancestor)
        return nullptr;
      if (last->isBeforeInBlock(ancestor))
        last = ancestor;
    }
  }
  return last;
}

struct FreeEarlyPass : public braid::StructuralPass<
                           braid::impl::FreeEarlyPassBase<FreeEarlyPass>> {
  LogicalResult transform() override {
    BufferViewFlowAnalysis aliases(getOperation());
    SmallVector<memref::DeallocOp> deallocs;
    getOperation().walk([&](memref::DeallocOp dealloc) {
      auto allocation = dealloc.getMemref().getDefiningOp<memref::AllocOp>();
      if (allocation && allocation->getBlock() == dealloc->getBlock())
        deallocs.push_back(dealloc);
    });
    // Moves come last, because each move invalidates the op order of its block.
    SmallVector<std::pair<memref::DeallocOp, Operation *>> moves;
    for (memref::DeallocOp dealloc : deallocs)
      if (Operation *last = getLastUser(dealloc, aliases);
          last && !last->hasTrait<OpTrait::IsTerminator>() &&
          last->isBeforeInBlock(dealloc))
        moves.emplace_back(dealloc, last);
    for (auto [dealloc, last] : moves)
      dealloc->moveAfter(last);
    return success();
  }
};

struct DropDeallocationsPass
    : public braid::StructuralPass<
          braid::impl::DropDeallocationsPassBase<DropDeallocationsPass>> {
  LogicalResult transform() override {
    getOperation()->walk([](memref::DeallocOp dealloc) { dealloc->erase(); });
    return success();
  }
};
} // namespace
