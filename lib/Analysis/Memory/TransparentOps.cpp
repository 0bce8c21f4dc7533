//===- TransparentOps.cpp - Ops that take no time -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransparentOps.h"

#include "BufferRange.h"
#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace braid;

Value braid::getViewSource(Operation *op) {
  if (auto view = dyn_cast<ViewLikeOpInterface>(op))
    return view.getViewSource();
  // No interface tells which ops on tensors are views.
  if (isa<tensor::BitcastOp, tensor::CastOp, tensor::CollapseShapeOp,
          tensor::ExpandShapeOp, tensor::ExtractSliceOp, tensor::ReshapeOp,
          bufferization::ToBufferOp, bufferization::ToTensorOp>(op))
    return op->getOperand(0);
  return {};
}

static bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

/// The one op of its own block that uses `op`; null if there are others, or
/// none.
static Operation *getOnlyUser(Operation *op) {
  if (op->use_empty())
    return nullptr;
  Operation *user = *op->user_begin();
  bool isOnly = user->getBlock() == op->getBlock() &&
                llvm::all_of(op->getUsers(),
                             [&](Operation *other) { return other == user; });
  return isOnly ? user : nullptr;
}

bool braid::isFoldedFill(Operation *op) {
  if (!isa<linalg::FillOp, tensor::SplatOp>(op))
    return false;
  Operation *user = getOnlyUser(op);
  return user && (isa<linalg::LinalgOp>(user) ||
                  user->hasTrait<OpTrait::Elementwise>());
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
  if (getViewSource(op) ||
      isa<tensor::EmptyOp, tensor::DimOp, tensor::RankOp, memref::DimOp,
          memref::RankOp, memref::GetGlobalOp, UnrealizedConversionCastOp>(op))
    return true;
  if (isa<linalg::FillOp, tensor::SplatOp>(op))
    return isFoldedFill(op);
  if (op->getNumRegions() != 0)
    return false;

  auto isToken = [](Type type) { return isa<comm::TokenType>(type); };
  if (llvm::all_of(op->getResultTypes(), isToken))
    return true;
  return llvm::all_of(op->getResultTypes(), isScalar) &&
         llvm::all_of(op->getOperandTypes(), isScalar);
}

bool braid::isTransparentOp(Operation *op) {
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

bool braid::isUnneededCompute(Operation *op) {
  return op->use_empty() && !isa<comm::ComputeOp>(op) &&
         !op->getDiscardableAttr(comm::CommDialect::kCostAttrName) &&
         isMemoryEffectFree(op) && isOpTriviallyDead(op);
}
