//===- KernelBody.cpp - Bodies of linalg ops in kernels -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBody.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// True if `op` can compute the elements of a vector at once.
static bool hasVectorForm(Operation &op) {
  if (isa<linalg::IndexOp>(op) || matchPattern(&op, m_Constant()))
    return true;
  auto isElement = [](Type type) {
    return VectorType::isValidElementType(type) &&
           (type.isIntOrFloat() || type.isIndex());
  };
  return OpTrait::hasElementwiseMappableTraits(&op) &&
         llvm::all_of(op.getOperandTypes(), isElement) &&
         llvm::all_of(op.getResultTypes(), isElement);
}

bool braid::kernels::isVectorizable(Block &body) {
  return llvm::all_of(body.without_terminator(), hasVectorForm);
}

bool braid::kernels::isElementwise(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    return isa<memref::LoadOp, affine::AffineApplyOp>(op) || hasVectorForm(op);
  });
}

Value braid::kernels::broadcast(ImplicitLocOpBuilder &b, Value value,
                                int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      b, VectorType::get({lanes}, value.getType()), value);
}

void braid::kernels::emitBodyOp(ImplicitLocOpBuilder &b, Operation &op,
                                IRMapping &mapping, int64_t lanes,
                                ArrayRef<Value> indices) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    mapping.map(index.getResult(), indices[index.getDim()]);
    return;
  }
  bool isVector = llvm::any_of(op.getOperands(), [&](Value operand) {
    return isa<VectorType>(mapping.lookupOrDefault(operand).getType());
  });
  if (!isVector) {
    b.clone(op, mapping);
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(broadcast(b, mapping.lookupOrDefault(operand), lanes));
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(VectorType::get({lanes}, type));
  OperationState state(op.getLoc(), op.getName(), operands, types,
                       op.getAttrs());
  Operation *copy = b.create(state);
  for (auto [from, to] : llvm::zip(op.getResults(), copy->getResults()))
    mapping.map(from, to);
}

SmallVector<Value> braid::kernels::emitBody(ImplicitLocOpBuilder &b,
                                            Block &body, IRMapping &mapping,
                                            int64_t lanes,
                                            ArrayRef<Value> indices) {
  for (Operation &op : body.without_terminator())
    emitBodyOp(b, op, mapping, lanes, indices);
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(broadcast(b, mapping.lookupOrDefault(value), lanes));
  return results;
}
