//===- SchedulableBlocks.cpp - Blocks with starts and waits ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/GraphBuilder.h"

#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/RegionKindInterface.h"

using namespace mlir;
using namespace braid;

/// True if the blocks in `op` are scheduled. Bodies of linalg ops, of kernels
/// and of `comm.compute` are not.
static bool hasSchedulableRegions(Operation *op) {
  // Access the regions last, because they are not in the cache yet.
  return op->getNumRegions() != 0 &&
         !isa<linalg::LinalgOp, gpu::LaunchOp, comm::ComputeOp>(op) &&
         !op->hasTrait<OpTrait::SymbolTable>() && hasNestedOps(op);
}

static void findBlocks(Region &region,
                       SmallVectorImpl<SchedulableBlock> &blocks) {
  bool isGraph = mayBeGraphRegion(region);
  for (Block &block : region) {
    // The position of the block in the list, or `nowhere`.
    constexpr size_t nowhere = ~size_t(0);
    size_t index = nowhere, numOps = 0;
    for (Operation &op : block) {
      ++numOps;
      if (index == nowhere && !isGraph &&
          (isa<comm::WaitOp>(op) || comm::getAsyncStart(&op))) {
        index = blocks.size();
        blocks.push_back({&block, 0});
      } else if (hasSchedulableRegions(&op)) {
        for (Region &nested : op.getRegions())
          findBlocks(nested, blocks);
      }
    }
    if (index != nowhere)
      blocks[index].numOps = numOps;
  }
}

SmallVector<SchedulableBlock>
braid::findSchedulableBlocks(Operation *function) {
  SmallVector<SchedulableBlock> blocks;
  for (Region &region : function->getRegions())
    findBlocks(region, blocks);
  return blocks;
}
