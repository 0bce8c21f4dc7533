//===- AttentionBufferization.cpp - Buffers of attention ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

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
    return bufferizeOnPacked(*this, rewriter, options, state,                  \
                             [&](OpOperand &operand, Value buffer) {           \
                               return getPacked(                               \
                                   rewriter, getLoc(), buffer, options,        \
                                   /*copy=*/!isDpsInit(&operand));             \
                             });                                               \
  }
BRAID_BUFFERIZE_ATTENTION(AttentionOp)
BRAID_BUFFERIZE_ATTENTION(AttentionBackwardOp)
#undef BRAID_BUFFERIZE_ATTENTION
