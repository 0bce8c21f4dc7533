//===- SchedulableBlocks.cpp - Blocks with starts and waits ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/GraphBuilder.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/ScheduleIR/ScheduleChanges.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/RegionKindInterface.h"

#include <algorithm>

using namespace mlir;
using namespace braid;

namespace {
/// What one sweep over a function finds.
struct FunctionContents {
  /// Blocks with a start or a wait.
  SmallVector<SchedulableBlock> blocks;
  /// Constant dimensions of awaited values whose starts are known.
  SmallVector<tensor::DimOp> dims;

  void add(Region &region);
};
} // namespace

/// True if what is nested in `op` is scheduled: not in bodies of linalg ops, of
/// kernels and of `comm.compute`.
static bool hasSchedulableRegions(Operation *op) {
  // The regions themselves come last: they are not in the cache yet.
  return op->getNumRegions() != 0 &&
         !isa<linalg::LinalgOp, gpu::LaunchOp, comm::ComputeOp>(op) &&
         !op->hasTrait<OpTrait::SymbolTable>() && hasNestedOps(op);
}

void FunctionContents::add(Region &region) {
  bool isGraph = mayBeGraphRegion(region);
  for (Block &block : region) {
    // Where the block is in the list, once it turned out to belong there.
    constexpr size_t nowhere = ~size_t(0);
    size_t index = nowhere, numOps = 0;
    for (Operation &op : block) {
      ++numOps;
      if (index == nowhere && !isGraph &&
          (isa<comm::WaitOp>(op) || comm::getAsyncStart(&op))) {
        index = blocks.size();
        blocks.push_back({&block, 0});
      } else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
        auto wait = dim.getSource().getDefiningOp<comm::WaitOp>();
        if (wait && wait.getStart() && dim.getConstantIndex())
          dims.push_back(dim);
      } else if (hasSchedulableRegions(&op)) {
        for (Region &nested : op.getRegions())
          add(nested);
      }
    }
    if (index != nowhere)
      blocks[index].numOps = numOps;
  }
}

namespace {
/// Remembers what is built.
struct Recorder : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    ops.push_back(op);
  }
  SmallVector<Operation *> ops;
};
} // namespace

/// Replaces dimensions of awaited values by what the operands of the starts
/// say.
static void resolveShapes(ArrayRef<tensor::DimOp> dims,
                          ScheduleChanges &changes) {
  for (tensor::DimOp dim : dims) {
    if (dim->use_empty())
      continue;
    auto wait = dim.getSource().getDefiningOp<comm::WaitOp>();
    comm::AsyncStartOpInterface start = wait.getStart();
    Recorder recorder;
    OpBuilder builder(start, &recorder);
    SmallVector<OpFoldResult> shape;
    unsigned index = cast<OpResult>(wait.getToken()).getResultNumber();
    int64_t dimension = *dim.getConstantIndex();
    Value size;
    if (succeeded(start.reifyValueShape(builder, index, shape)) &&
        dimension >= 0 && dimension < static_cast<int64_t>(shape.size()))
      size = getValueOrCreateConstantIndexOp(builder, dim.getLoc(),
                                             shape[dimension]);
    SmallVector<Operation *> created;
    for (Operation *op : llvm::reverse(recorder.ops)) {
      bool isSize = size && size.getDefiningOp() == op;
      if (!isSize && isOpTriviallyDead(op))
        op->erase();
      else
        created.push_back(op);
    }
    if (!size)
      continue;
    std::reverse(created.begin(), created.end());
    changes.replace(dim, size, created);
  }
}

/// What is in the regions of `function`.
static FunctionContents getContents(Operation *function) {
  FunctionContents contents;
  for (Region &region : function->getRegions())
    contents.add(region);
  return contents;
}

SmallVector<SchedulableBlock>
braid::findSchedulableBlocks(Operation *function) {
  return getContents(function).blocks;
}

SmallVector<SchedulableBlock>
braid::prepareSchedulableBlocks(Operation *function, ScheduleChanges &changes) {
  FunctionContents contents = getContents(function);
  if (!contents.dims.empty())
    resolveShapes(contents.dims, changes);
  return std::move(contents.blocks);
}
