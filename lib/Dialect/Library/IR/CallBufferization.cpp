//===- CallBufferization.cpp - Buffers of library calls -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/ContiguousBuffers.h"
#include "braid/Dialect/Library/IR/Library.h"
#include "braid/Support/RoutineSignature.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace braid;
using namespace braid::library;

bool CallOp::bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) {
  return !isDpsInit(&operand) ||
         readsOutput(getRoutineNumber(),
                     operand.getOperandNumber() - getInputs().size());
}

bool CallOp::bufferizesToMemoryWrite(OpOperand &operand,
                                     const AnalysisState &) {
  return isDpsInit(&operand);
}

AliasingValueList CallOp::getAliasingValues(OpOperand &operand,
                                            const AnalysisState &) {
  if (!isDpsInit(&operand))
    return {};
  return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
}

LogicalResult CallOp::bufferize(RewriterBase &rewriter,
                                const BufferizationOptions &options,
                                BufferizationState &state) {
  if (getResults().empty())
    return success();
  SmallVector<Value> buffers, packed;
  for (OpOperand &operand : (*this)->getOpOperands()) {
    FailureOr<Value> buffer =
        getBuffer(rewriter, operand.get(), options, state);
    if (failed(buffer))
      return failure();
    FailureOr<Value> contiguous = comm::getContiguous(
        rewriter, getLoc(), *buffer, options,
        bufferizesToMemoryRead(operand, AnalysisState(options)));
    if (failed(contiguous))
      return failure();
    buffers.push_back(*buffer);
    packed.push_back(*contiguous);
  }
  size_t numInputs = getInputs().size();
  ArrayRef<Value> all(packed);
  auto call =
      CallOp::create(rewriter, getLoc(), TypeRange(), getRoutineAttr(),
                     getFlagsAttr(), getDimensionsAttr(),
                     all.take_front(numInputs), all.drop_front(numInputs));
  call->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  for (size_t i = numInputs; i != buffers.size(); ++i)
    if (buffers[i] != packed[i] &&
        failed(options.createMemCpy(rewriter, getLoc(), packed[i], buffers[i])))
      return failure();
  replaceOpWithBufferizedValues(rewriter, *this,
                                ArrayRef<Value>(buffers).drop_front(numInputs));
  return success();
}
