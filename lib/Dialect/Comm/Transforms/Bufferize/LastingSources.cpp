//===- LastingSources.cpp - Sources that nothing ever writes --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid::comm;
using bufferization::BufferizationDialect;

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

/// The buffer type of `argument`, if its function never writes that buffer and
/// gives no token to its caller.
static MemRefType getArgumentType(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!type || !function || !argument.getOwner()->isEntryBlock() ||
      llvm::any_of(function.getResultTypes(), llvm::IsaPred<TokenType>))
    return {};
  auto isWritable = function.getArgAttrOfType<BoolAttr>(
      argument.getArgNumber(), BufferizationDialect::kWritableAttrName);
  if (!isWritable || isWritable.getValue())
    return {};
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// The type of the buffer that `source` views, as far as nothing writes that.
static MemRefType getViewedType(Value source) {
  if (auto argument = dyn_cast<BlockArgument>(source))
    return getArgumentType(argument);
  Operation *op = source.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(source.getType());
  if (!type || !isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
                    tensor::ExpandShapeOp>(op))
    return {};
  MemRefType viewed = getViewedType(op->getOperand(0));
  if (!viewed)
    return {};
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return memref::SubViewOp::inferRankReducedResultType(
        type.getShape(), viewed, slice.getMixedOffsets(), slice.getMixedSizes(),
        slice.getMixedStrides());
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    SmallVector<ReassociationIndices> groups =
        collapse.getReassociationIndices();
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(viewed, groups))
      return {};
    return memref::CollapseShapeOp::computeCollapsedType(viewed, groups);
  }
  auto expand = cast<tensor::ExpandShapeOp>(op);
  FailureOr<MemRefType> expanded = memref::ExpandShapeOp::computeExpandedType(
      viewed, type.getShape(), expand.getReassociationIndices());
  return succeeded(expanded) ? *expanded : MemRefType();
}

MemRefType inflight::getLastingType(Value source) {
  MemRefType type = getViewedType(source);
  return type && isContiguous(type) ? type : MemRefType();
}

Value inflight::createLastingBuffer(OpBuilder &builder, Location loc,
                                    Value source) {
  SmallVector<Operation *> views;
  Value view = source;
  while (Operation *op = view.getDefiningOp()) {
    views.push_back(op);
    view = op->getOperand(0);
  }
  for (Operation *op : llvm::reverse(views)) {
    Operation *own = builder.clone(*op);
    own->setOperand(0, view);
    view = own->getResult(0);
  }
  return bufferization::ToBufferOp::create(builder, loc, getLastingType(source),
                                           view, /*readOnly=*/true);
}
