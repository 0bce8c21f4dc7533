//===- TensorOps.cpp - What all decompositions build ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid;

Operation *library::moveToTensors(RewriterBase &rewriter,
                                  DestinationStyleOpInterface op) {
  if (op->getNumResults() != 0)
    return op;
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Value buffer = operand.get();
    auto type = cast<MemRefType>(buffer.getType());
    if (op.isDpsInit(&operand))
      operands.push_back(tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                                 type.getElementType()));
    else
      operands.push_back(bufferization::ToTensorOp::create(
          rewriter, loc, memref::getTensorTypeFromMemRefType(type), buffer,
          /*restrict=*/true));
  }
  ValueRange outputs = ValueRange(operands).take_back(op.getNumDpsInits());
  Operation *onTensors = clone(rewriter, op, TypeRange(outputs), operands);
  for (auto [result, buffer] :
       llvm::zip_equal(onTensors->getResults(), op.getDpsInits())) {
    auto copy = bufferization::MaterializeInDestinationOp::create(
        rewriter, loc, result, buffer);
    copy.setWritable(true);
  }
  rewriter.eraseOp(op);
  rewriter.setInsertionPoint(onTensors);
  return onTensors;
}
