//===- Bufferization.cpp - Library ops on buffers -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "braid/Dialect/Comm/IR/ContiguousBuffers.h"
#include "braid/Support/RoutineSignature.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace braid;
using namespace braid::library;

namespace {
/// An op that takes contiguous buffers and overwrites its outputs.
template <typename Model, typename OpTy>
struct LibraryModel : DstBufferizableOpInterfaceExternalModel<Model, OpTy> {
  /// True if the op reads what `operand` has before.
  static bool reads(OpTy op, OpOperand &operand) {
    return !op.isDpsInit(&operand);
  }
  /// True if the op takes a buffer of `type`, though it is not contiguous.
  static bool takes(BaseMemRefType) { return false; }

  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return Model::reads(cast<OpTy>(op), operand);
  }

  /// Copies what the op writes back where a buffer had to be made contiguous.
  LogicalResult bufferize(Operation *given, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto op = cast<OpTy>(given);
    if (op->getNumResults() == 0)
      return success();
    SmallVector<Value> buffers, packed;
    for (OpOperand &operand : op->getOpOperands()) {
      FailureOr<Value> buffer =
          getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      FailureOr<Value> taken = buffer;
      if (!Model::takes(cast<BaseMemRefType>(buffer->getType())))
        taken = comm::getContiguous(rewriter, op.getLoc(), *buffer, options,
                                    /*copy=*/Model::reads(op, operand));
      if (failed(taken))
        return failure();
      buffers.push_back(*buffer);
      packed.push_back(*taken);
    }
    clone(rewriter, op, TypeRange(), packed);
    size_t numInputs = op->getNumOperands() - op.getNumDpsInits();
    for (size_t i = numInputs; i != buffers.size(); ++i)
      if (buffers[i] != packed[i] &&
          failed(options.createMemCpy(rewriter, op.getLoc(), packed[i],
                                      buffers[i])))
        return failure();
    replaceOpWithBufferizedValues(
        rewriter, op, ArrayRef<Value>(buffers).drop_front(numInputs));
    return success();
  }
};

struct CallModel : LibraryModel<CallModel, CallOp> {
  static bool reads(CallOp op, OpOperand &operand) {
    return !op.isDpsInit(&operand) ||
           readsOutput(op.getRoutineNumber(),
                       operand.getOperandNumber() - op.getInputs().size());
  }
};

struct ConvolutionModel : LibraryModel<ConvolutionModel, ConvolutionOp> {};

template <typename OpTy>
struct AttentionModel : LibraryModel<AttentionModel<OpTy>, OpTy> {
  /// The library of a GPU takes 16 bytes at a time, along the last dimension.
  static bool takes(BaseMemRefType type) {
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
};

struct ScatterModel
    : DstBufferizableOpInterfaceExternalModel<ScatterModel, ScatterOp> {
  LogicalResult bufferize(Operation *given, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto op = cast<ScatterOp>(given);
    if (op.getResults().empty())
      return success();
    SmallVector<Value> buffers;
    for (Value operand : op.getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    ArrayRef<Value> all(buffers);
    auto onBuffers = ScatterOp::create(
        rewriter, op.getLoc(), TypeRange(), op.getBatchDimsAttr(),
        op.getIndexedDimsAttr(), all.take_front(2), all.drop_front(2));
    onBuffers->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    onBuffers.getCombine().takeBody(op.getCombine());
    replaceOpWithBufferizedValues(rewriter, op, all.drop_front(2));
    return success();
  }
};
} // namespace

void library::attachBufferization(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionModel<AttentionOp>>(context);
  AttentionBackwardOp::attachInterface<AttentionModel<AttentionBackwardOp>>(
      context);
  CallOp::attachInterface<CallModel>(context);
  ConvolutionOp::attachInterface<ConvolutionModel>(context);
  ScatterOp::attachInterface<ScatterModel>(context);
}
