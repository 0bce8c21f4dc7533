//===- Prologue.cpp - Ops that take no time, and blocks to schedule -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/GraphBuilder.h"

#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

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

bool braid::isPrologueOp(Operation *op) {
  if (op->getNumResults() == 0 || op->hasAttr(comm::CommDialect::kCostAttrName))
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (comm::getAsyncStart(op) || isa<comm::WaitOp>(op) ||
      !isMemoryEffectFree(op))
    return false;

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

SmallVector<Block *> braid::getSchedulableBlocks(Operation *function) {
  SmallVector<Block *> blocks;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function &&
        (isa<linalg::LinalgOp, gpu::LaunchOp, comm::ComputeOp>(op) ||
         op->hasTrait<OpTrait::SymbolTable>()))
      return WalkResult::skip();
    for (Region &region : op->getRegions()) {
      if (mayBeGraphRegion(region))
        continue;
      for (Block &block : region)
        if (llvm::any_of(block, [](Operation &nested) {
              return isa<comm::WaitOp>(nested) || comm::getAsyncStart(&nested);
            }))
          blocks.push_back(&block);
    }
    return WalkResult::advance();
  });
  return blocks;
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

unsigned braid::resolveShapesOfWaits(Operation *function) {
  SmallVector<tensor::DimOp> dims;
  function->walk([&](tensor::DimOp dim) {
    auto wait = dim.getSource().getDefiningOp<comm::WaitOp>();
    if (wait && wait.getStart() && dim.getConstantIndex())
      dims.push_back(dim);
  });

  Recorder recorder;
  unsigned numResolved = 0;
  for (tensor::DimOp dim : dims) {
    auto wait = dim.getSource().getDefiningOp<comm::WaitOp>();
    comm::AsyncStartOpInterface start = wait.getStart();
    OpBuilder builder(start, &recorder);
    SmallVector<OpFoldResult> shape;
    unsigned index = cast<OpResult>(wait.getToken()).getResultNumber();
    int64_t dimension = *dim.getConstantIndex();
    if (failed(start.reifyValueShape(builder, index, shape)) || dimension < 0 ||
        dimension >= static_cast<int64_t>(shape.size()))
      continue;
    dim.replaceAllUsesWith(getValueOrCreateConstantIndexOp(
        builder, dim.getLoc(), shape[dimension]));
    dim.erase();
    ++numResolved;
  }
  for (Operation *op : llvm::reverse(recorder.ops))
    if (isOpTriviallyDead(op))
      op->erase();
  return numResolved;
}
