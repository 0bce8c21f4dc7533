//===- MatmulCalls.cpp - Calls of the library for matmuls -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include "../Support/Buffers.h"

#include "braid-rt/Blas.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace braid;

namespace {

/// The arguments of the library for a matrix or a batch of matrices: 64-bit
/// integers and a pointer.
struct Matrix {
  Value data, rowStride, batchStride;
};

/// The matrices of `buffer`, whose dimension `batch` runs over a batch if there
/// are more than two dimensions.
Matrix getMatrix(OpBuilder &builder, Location loc, Value buffer, unsigned batch,
                 RuntimeCallBuilder &calls) {
  auto type = cast<MemRefType>(buffer.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  Matrix matrix;
  matrix.data =
      getElementAddress(builder, loc, buffer, metadata.getOffset(), calls);
  bool hasBatch = type.getRank() > 2;
  unsigned row = hasBatch ? 1 - batch : 0;
  matrix.rowStride = toI64(builder, loc, metadata.getStrides()[row]);
  if (hasBatch)
    matrix.batchStride = toI64(builder, loc, metadata.getStrides()[batch]);
  return matrix;
}

/// The number of iterations of loop `dim` of `op`.
Value getLoopSize(OpBuilder &builder, linalg::LinalgOp op, unsigned dim) {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (std::optional<unsigned> position =
            map.getResultPosition(builder.getAffineDimExpr(dim)))
      return toI64(builder, op.getLoc(),
                   memref::DimOp::create(builder, op.getLoc(), operand.get(),
                                         *position));
  }
  llvm_unreachable("a loop of a matmul that no operand has");
}

} // namespace

void braid::convertToCall(linalg::LinalgOp op, const MatmulMatch &match) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RuntimeCallBuilder calls(builder, op);
  Value output = op.getDpsInits()[0];
  Matrix a = getMatrix(builder, loc, op.getDpsInputs()[match.left],
                       match.batchOfA, calls);
  Matrix b = getMatrix(builder, loc, op.getDpsInputs()[match.right],
                       match.batchOfB, calls);
  Matrix c = getMatrix(builder, loc, output, match.batchOfC, calls);
  SmallVector<Value> arguments = {
      calls.getI32(*getRuntimeDtype(getElementTypeOrSelf(output.getType()))),
      calls.getI32(match.transposedA), calls.getI32(match.transposedB)};
  if (match.batch)
    arguments.push_back(getLoopSize(builder, op, *match.batch));
  for (unsigned dim : {match.m, match.n, match.k})
    arguments.push_back(getLoopSize(builder, op, dim));
  auto addMatrix = [&](const Matrix &matrix) {
    arguments.append({matrix.data, matrix.rowStride});
    if (match.batch)
      arguments.push_back(matrix.batchStride);
  };
  addMatrix(a);
  addMatrix(b);
  arguments.push_back(calls.getF64(op->hasAttr(kOverwritesAttrName) ? 0 : 1));
  addMatrix(c);
  arguments.push_back(calls.getSite());
  calls.call(match.batch ? "braid_rt_batch_matmul" : "braid_rt_matmul", Type(),
             arguments);
  op->erase();
}

/// The options of a matmul (braid_rt_matmul_options) on the stack.
static Value createOptions(OpBuilder &builder, linalg::LinalgOp op,
                           const MatmulMatch &match,
                           RuntimeCallBuilder &calls) {
  Location loc = op.getLoc();
  int32_t epilogue = BRAID_RT_EPILOGUE_NONE;
  if (auto name = op->getAttrOfType<StringAttr>(kEpilogueAttrName))
    epilogue = name == "relu" ? BRAID_RT_EPILOGUE_RELU : BRAID_RT_EPILOGUE_GELU;
  Value bias;
  if (match.hasBias) {
    Value buffer = op.getDpsInputs()[2];
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
    bias = getElementAddress(builder, loc, buffer, metadata.getOffset(), calls);
  }
  int32_t multiprocessors = 0;
  if (auto count = op->getAttrOfType<IntegerAttr>(
          comm::CommDialect::kMultiprocessorsAttrName))
    multiprocessors = static_cast<int32_t>(count.getInt());
  int32_t precision = op->hasAttr(kPrecisionAttrName) ? BRAID_RT_PRECISION_TF32
                                                      : BRAID_RT_PRECISION_F32;
  Type result = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  return calls.storeArray(createStruct(
      builder, loc,
      {calls.getI32(*getRuntimeDtype(result)), calls.getI32(epilogue),
       calls.getI32(multiprocessors), calls.getI32(precision), bias}));
}

void braid::convertToFusedCall(linalg::LinalgOp op, const MatmulMatch &match) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RuntimeCallBuilder calls(builder, op);
  {
    StackScope scope(calls);
    Value input = op.getDpsInputs()[match.left];
    SmallVector<Value> arguments = {
        calls.getI32(*getRuntimeDtype(getElementTypeOrSelf(input.getType()))),
        calls.getI32(match.transposedA), calls.getI32(match.transposedB),
        match.batch ? getLoopSize(builder, op, *match.batch) : calls.getI64(1)};
    for (unsigned dim : {match.m, match.n, match.k})
      arguments.push_back(getLoopSize(builder, op, dim));
    auto addMatrix = [&](Value buffer, unsigned batch) {
      Matrix matrix = getMatrix(builder, loc, buffer, batch, calls);
      arguments.append({matrix.data, matrix.rowStride,
                        match.batch ? matrix.batchStride : calls.getI64(0)});
    };
    addMatrix(input, match.batchOfA);
    addMatrix(op.getDpsInputs()[match.right], match.batchOfB);
    arguments.push_back(calls.getF64(op->hasAttr(kOverwritesAttrName) ? 0 : 1));
    addMatrix(op.getDpsInits()[0], match.batchOfC);
    arguments.push_back(createOptions(builder, op, match, calls));
    arguments.push_back(calls.getSite());
    calls.call("braid_rt_fused_matmul", Type(), arguments);
  }
  op->erase();
}
