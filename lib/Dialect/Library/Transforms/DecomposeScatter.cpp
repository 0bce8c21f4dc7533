//===- DecomposeScatter.cpp - Scatters as loops or kernels ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Library/Transforms/Decompose.h"

#include "ScatterBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace braid;
using namespace braid::library;

Type ScatterBuilder::getAccumulatedType() {
  bool isSum =
      isa<arith::AddFOp, arith::MulFOp>(op.getCombine().front().front()) &&
      isAssociative();
  return isSum && element.getIntOrFloatBitWidth() < 32 ? b.getF32Type()
                                                       : element;
}

bool ScatterBuilder::isAssociative() {
  Block &body = op.getCombine().front();
  Operation &first = body.front();
  return isa<arith::ArithDialect>(first.getDialect()) &&
         first.hasTrait<OpTrait::IsCommutative>() &&
         first.getNextNode() == body.getTerminator() &&
         body.getTerminator()->getOperand(0) == first.getResult(0) &&
         llvm::all_of(body.getArguments(), [&](Value argument) {
           return llvm::is_contained(first.getOperands(), argument);
         });
}

Value ScatterBuilder::combineAccumulated(ImplicitLocOpBuilder &at, Value first,
                                         Value second) {
  Block &body = op.getCombine().front();
  IRMapping mapping;
  if (accumulated != this->element) {
    SmallVector<Value> operands{first, second};
    if (body.front().getOperand(0) != body.getArgument(0))
      std::swap(operands[0], operands[1]);
    OperationState state(at.getLoc(), body.front().getName(), operands,
                         accumulated, body.front().getAttrs());
    return at.create(state)->getResult(0);
  }
  mapping.map(body.getArguments(), ValueRange{first, second});
  for (Operation &each : body.without_terminator())
    at.clone(each, mapping);
  return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
}

Value ScatterBuilder::combine(ImplicitLocOpBuilder &at, Value element,
                              Value update) {
  return combineAccumulated(at, element, widen(at, update));
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

Value ScatterBuilder::updateWindow(Value array, ArrayRef<Value> positions) {
  Value index = arith::IndexCastOp::create(
      b, b.getIndexType(), tensor::ExtractOp::create(b, indices, positions));
  // A negative index is a large unsigned number.
  Value isInside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index,
                            constant(b, b.getIndexType(), numWindows));
  auto ifInside = scf::IfOp::create(b, TypeRange(array.getType()), isInside,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifInside.elseBlock());
  scf::YieldOp::create(b, array);
  b.setInsertionPointToStart(ifInside.thenBlock());

  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), sizes,
      strides(rank, b.getIndexAttr(1));
  SmallVector<int64_t> windowSizes;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isWindow = llvm::is_contained(windowDims, dim);
    if (isWindow)
      windowSizes.push_back(type.getDimSize(dim));
    sizes.push_back(b.getIndexAttr(isWindow ? type.getDimSize(dim) : 1));
  }
  for (auto [dim, position] : llvm::zip(batchDims, positions))
    offsets[dim] = position;
  Value rest = index;
  for (int64_t dim : llvm::reverse(indexedDims)) {
    if (dim == indexedDims.front()) {
      offsets[dim] = rest;
      break;
    }
    Value size = constant(b, b.getIndexType(), type.getDimSize(dim));
    offsets[dim] = Value(arith::RemUIOp::create(b, rest, size));
    rest = arith::DivUIOp::create(b, rest, size);
  }
  if (useScalars) {
    // A scalar needs no buffer of its own.
    SmallVector<Value> places =
        getValueOrCreateConstantIndexOp(b, b.getLoc(), offsets);
    Value old = tensor::ExtractOp::create(b, array, places);
    Value update = tensor::ExtractOp::create(b, updates, positions);
    Value result =
        tensor::InsertOp::create(b, combine(b, old, update), array, places);
    scf::YieldOp::create(b, result);
    return ifInside.getResult(0);
  }
  Value window = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get(windowSizes, accumulated), array, offsets, sizes,
      strides);
  int64_t updateRank = positions.size() + windowSizes.size();
  SmallVector<OpFoldResult> updateOffsets(updateRank, b.getIndexAttr(0)),
      updateSizes(positions.size(), b.getIndexAttr(1)),
      updateStrides(updateRank, b.getIndexAttr(1));
  llvm::copy(positions, updateOffsets.begin());
  for (int64_t size : windowSizes)
    updateSizes.push_back(b.getIndexAttr(size));
  Value update = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get(windowSizes, element), updates, updateOffsets,
      updateSizes, updateStrides);
  Value changed =
      createElementwise(b, b.getLoc(), window, update,
                        [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
                          return combine(at, arguments[1], arguments[0]);
                        });
  Value result =
      tensor::InsertSliceOp::create(b, changed, array, offsets, sizes, strides);
  scf::YieldOp::create(b, result);
  return ifInside.getResult(0);
}

Value ScatterBuilder::loopOverBatch(unsigned number, Value array,
                                    SmallVector<Value> &positions) {
  if (number > batchSizes.size())
    return updateWindow(array, positions);
  int64_t size = number < batchSizes.size() ? batchSizes[number] : numUpdates;
  Type index = b.getIndexType();
  auto loop =
      scf::ForOp::create(b, constant(b, index, 0), constant(b, index, size),
                         constant(b, index, 1), array);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  positions.push_back(loop.getInductionVar());
  scf::YieldOp::create(
      b, loopOverBatch(number + 1, loop.getRegionIterArg(0), positions));
  return loop.getResult(0);
}

Value ScatterBuilder::convertArray(Value array, Value init,
                                   Conversion convert) {
  return createElementwise(b, b.getLoc(), init, array,
                           [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
                             return (this->*convert)(at, arguments[0]);
                           });
}

Value ScatterBuilder::loop(bool mayUseScalars) {
  useScalars = mayUseScalars && windowDims.empty();
  SmallVector<Value> positions;
  if (accumulated == element)
    return loopOverBatch(0, output, positions);
  Value wide = tensor::EmptyOp::create(b, type.getShape(), accumulated);
  wide = convertArray(output, wide, &ScatterBuilder::widen);
  wide = loopOverBatch(0, wide, positions);
  return convertArray(wide, output, &ScatterBuilder::narrow);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

bool braid::library::canLinkScatter(ScatterOp op) {
  constexpr int64_t most = int64_t(1) << 30;
  return isa<TensorType>(op.getOutput().getType()) &&
         op.getNumUpdates() < most && op.getNumWindows() < most;
}

/// The same op on tensors, for an op on buffers.
static ScatterOp moveScatterToTensors(RewriterBase &rewriter, ScatterOp op) {
  if (!isa<MemRefType>(op.getOutput().getType()))
    return op;
  Location loc = op.getLoc();
  SmallVector<Value> tensors;
  for (Value buffer : op.getOperands())
    tensors.push_back(bufferization::ToTensorOp::create(
        rewriter, loc, memref::getTensorTypeFromMemRefType(buffer.getType()),
        buffer, /*restrict=*/true));
  ArrayRef<Value> all(tensors);
  auto onTensors = ScatterOp::create(
      rewriter, loc, tensors.back().getType(), op.getBatchDimsAttr(),
      op.getIndexedDimsAttr(), all.take_front(2), all.drop_front(2));
  onTensors->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  onTensors.getCombine().takeBody(op.getCombine());
  auto copy = bufferization::MaterializeInDestinationOp::create(
      rewriter, loc, onTensors.getResult(0), op.getOutput());
  copy.setWritable(true);
  rewriter.eraseOp(op);
  rewriter.setInsertionPoint(onTensors);
  return onTensors;
}

void braid::library::loopOverScatter(RewriterBase &rewriter, ScatterOp given,
                                     bool mayUseScalars) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(given);
  ScatterOp op = moveScatterToTensors(rewriter, given);
  ScatterBuilder builder(rewriter, op);
  rewriter.replaceOp(op, builder.isEmpty() ? op.getOutput()
                                           : builder.loop(mayUseScalars));
}

void braid::library::linkScatter(RewriterBase &rewriter, ScatterOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  ScatterBuilder builder(rewriter, op);
  rewriter.replaceOp(op, builder.isEmpty() ? op.getOutput() : builder.link());
}
