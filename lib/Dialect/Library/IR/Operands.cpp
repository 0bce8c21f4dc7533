//===- Operands.cpp - What all library ops do with operands ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "braid/Dialect/Comm/IR/ContiguousBuffers.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace braid;

void library::addEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    MemoryEffects::Effect *effect = MemoryEffects::Read::get();
    if (op.isDpsInit(&operand))
      effect = MemoryEffects::Write::get();
    effects.emplace_back(effect, &operand, SideEffects::DefaultResource::get());
  }
}

uint64_t library::getByteSize(Value value) {
  auto type = cast<ShapedType>(value.getType());
  uint64_t bytes = type.getElementTypeBitWidth() / 8;
  for (int64_t size : type.getShape())
    bytes = llvm::SaturatingMultiply(bytes, static_cast<uint64_t>(size));
  return bytes;
}

LogicalResult library::bufferizeOnPacked(
    DestinationStyleOpInterface op, RewriterBase &rewriter,
    const BufferizationOptions &options, BufferizationState &state,
    function_ref<FailureOr<Value>(OpOperand &, Value)> pack) {
  if (op->getNumResults() == 0)
    return success();
  SmallVector<Value> buffers, packed;
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Value> buffer =
        getBuffer(rewriter, operand.get(), options, state);
    if (failed(buffer))
      return failure();
    FailureOr<Value> taken = pack(operand, *buffer);
    if (failed(taken))
      return failure();
    buffers.push_back(*buffer);
    packed.push_back(*taken);
  }
  clone(rewriter, op, TypeRange(), packed);
  size_t numInputs = op->getNumOperands() - op.getNumDpsInits();
  for (size_t i = numInputs; i != buffers.size(); ++i)
    if (buffers[i] != packed[i] &&
        failed(
            options.createMemCpy(rewriter, op.getLoc(), packed[i], buffers[i])))
      return failure();
  replaceOpWithBufferizedValues(rewriter, op,
                                ArrayRef<Value>(buffers).drop_front(numInputs));
  return success();
}

LogicalResult library::bufferizeOnContiguous(
    DestinationStyleOpInterface op, RewriterBase &rewriter,
    const BufferizationOptions &options, BufferizationState &state,
    function_ref<bool(OpOperand &)> reads) {
  return bufferizeOnPacked(
      op, rewriter, options, state, [&](OpOperand &operand, Value buffer) {
        return comm::getContiguous(rewriter, op.getLoc(), buffer, options,
                                   reads(operand));
      });
}
