//===- AttentionBufferization.cpp - Buffers of attention ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/ContiguousBuffers.h"
#include "braid/Dialect/Library/IR/Library.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace braid;
using namespace braid::library;

/// True if the library of a GPU takes a buffer of type `type` as it is: 16
/// bytes at a time, along the last dimension.
static bool isTakenAsItIs(BaseMemRefType type) {
  auto strided = cast<MemRefType>(type);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (strided.getRank() != 4 ||
      failed(strided.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return false;
  int64_t many = 128 / strided.getElementTypeBitWidth();
  strides.back() = offset;
  return llvm::all_of(strides, [&](int64_t stride) {
    return !ShapedType::isDynamic(stride) && stride % many == 0;
  });
}

/// A buffer of `buffer`'s type with the elements that the library takes.
static FailureOr<Value> getPacked(RewriterBase &rewriter, Location loc,
                                  Value buffer,
                                  const BufferizationOptions &options,
                                  bool copy) {
  if (isTakenAsItIs(cast<BaseMemRefType>(buffer.getType())))
    return buffer;
  return comm::getContiguous(rewriter, loc, buffer, options, copy);
}

template <typename AttentionLike>
static LogicalResult bufferizeAttention(AttentionLike op,
                                        RewriterBase &rewriter,
                                        const BufferizationOptions &options,
                                        BufferizationState &state) {
  if (op.getResults().empty())
    return success();
  SmallVector<Value> buffers, packed;
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Value> buffer =
        getBuffer(rewriter, operand.get(), options, state);
    if (failed(buffer))
      return failure();
    FailureOr<Value> taken = getPacked(rewriter, op.getLoc(), *buffer, options,
                                       /*copy=*/!op.isDpsInit(&operand));
    if (failed(taken))
      return failure();
    buffers.push_back(*buffer);
    packed.push_back(*taken);
  }
  size_t numInputs = op.getInputs().size();
  ArrayRef<Value> all(packed);
  auto onBuffers = AttentionLike::create(
      rewriter, op.getLoc(), TypeRange(), op.getScaleAttr(), op.getCausalAttr(),
      op.getWindowAttr(), op.getLayoutAttr(), all.take_front(numInputs),
      all.drop_front(numInputs));
  onBuffers->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (size_t i = numInputs; i != buffers.size(); ++i)
    if (buffers[i] != packed[i] &&
        failed(
            options.createMemCpy(rewriter, op.getLoc(), packed[i], buffers[i])))
      return failure();
  replaceOpWithBufferizedValues(rewriter, op,
                                ArrayRef<Value>(buffers).drop_front(numInputs));
  return success();
}

#define BRAID_BUFFERIZE_ATTENTION(Name)                                        \
  bool Name::bufferizesToMemoryRead(OpOperand &operand,                        \
                                    const AnalysisState &) {                   \
    return !isDpsInit(&operand);                                               \
  }                                                                            \
  bool Name::bufferizesToMemoryWrite(OpOperand &operand,                       \
                                     const AnalysisState &) {                  \
    return isDpsInit(&operand);                                                \
  }                                                                            \
  AliasingValueList Name::getAliasingValues(OpOperand &operand,                \
                                            const AnalysisState &) {           \
    if (!isDpsInit(&operand))                                                  \
      return {};                                                               \
    return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};          \
  }                                                                            \
  LogicalResult Name::bufferize(RewriterBase &rewriter,                        \
                                const BufferizationOptions &options,           \
                                BufferizationState &state) {                   \
    return bufferizeAttention(*this, rewriter, options, state);                \
  }
BRAID_BUFFERIZE_ATTENTION(AttentionOp)
BRAID_BUFFERIZE_ATTENTION(AttentionBackwardOp)
#undef BRAID_BUFFERIZE_ATTENTION
