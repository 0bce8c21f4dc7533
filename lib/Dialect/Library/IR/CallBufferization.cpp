//===- CallBufferization.cpp - Buffers of library calls -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

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
  return bufferizeOnContiguous(
      *this, rewriter, options, state, [&](OpOperand &operand) {
        return bufferizesToMemoryRead(operand, AnalysisState(options));
      });
}
