//===- Prologue.cpp - Ops that take no time, and blocks to schedule -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/GraphBuilder.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Schedule/BufferRange.h"
#include "braid/Schedule/ScheduleChanges.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <algorithm>

using namespace mlir;
using namespace braid;

static bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

/// True if all users of `op` are one op of its own block.
static bool isUsedByOneOp(Operation *op) {
  if (op->use_empty())
    return false;
  Operation *user = *op->user_begin();
  return user->getBlock() == op->getBlock() &&
         llvm::all_of(op->getUsers(),
                      [&](Operation *other) { return other == user; });
}

/// True if all that `op` does is to allocate the memrefs that it gives.
static bool isAllocation(Operation *op) {
  if (op->getNumRegions() != 0 ||
      !llvm::all_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
    return false;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  return interface &&
         llvm::all_of(op->getResults(), BufferResolver::isAllocation) &&
         interface.hasEffect<MemoryEffects::Allocate>() &&
         !interface.hasEffect<MemoryEffects::Read>() &&
         !interface.hasEffect<MemoryEffects::Write>() &&
         !interface.hasEffect<MemoryEffects::Free>();
}

/// True if `op` takes no time, should it have no effects.
static bool takesNoTime(Operation *op) {
  // No interface tells which ops on tensors only change how one looks at them.
  if (isa<tensor::EmptyOp, tensor::CastOp, tensor::DimOp, tensor::RankOp,
          tensor::ExtractSliceOp, tensor::ExpandShapeOp,
          tensor::CollapseShapeOp, tensor::ReshapeOp, memref::DimOp,
          memref::RankOp, memref::GetGlobalOp, UnrealizedConversionCastOp>(op))
    return true;
  if (auto view = dyn_cast<ViewLikeOpInterface>(op))
    return isa<BaseMemRefType>(view.getViewSource().getType());
  if (isa<linalg::FillOp, tensor::SplatOp>(op))
    return isUsedByOneOp(op);
  if (op->getNumRegions() != 0)
    return false;

  auto isToken = [](Type type) { return isa<comm::TokenType>(type); };
  if (llvm::all_of(op->getResultTypes(), isToken))
    return true;
  return llvm::all_of(op->getResultTypes(), isScalar) &&
         llvm::all_of(op->getOperandTypes(), isScalar);
}

bool braid::isPrologueOp(Operation *op) {
  if (op->getNumResults() == 0 ||
      op->getDiscardableAttr(comm::CommDialect::kCostAttrName))
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (comm::getAsyncStart(op) || isa<comm::WaitOp>(op))
    return false;
  // Effects last: they take longest to find out.
  return isAllocation(op) || (takesNoTime(op) && isMemoryEffectFree(op));
}

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

SmallVector<SchedulableBlock>
braid::prepareSchedulableBlocks(Operation *function, ScheduleChanges &changes) {
  FunctionContents contents;
  for (Region &region : function->getRegions())
    contents.add(region);
  if (!contents.dims.empty())
    resolveShapes(contents.dims, changes);
  return std::move(contents.blocks);
}
