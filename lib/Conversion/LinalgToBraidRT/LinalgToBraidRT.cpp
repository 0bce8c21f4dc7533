//===- LinalgToBraidRT.cpp - Matrix products as library calls -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/Buffers.h"
#include "MatmulMatch.h"
#include "braid/Conversion/Passes.h"
#include "braid/Conversion/RuntimeCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTLINALGTOBRAIDRTPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

/// A matrix, or a batch of them, as the library takes it: 64-bit integers and a
/// pointer.
struct Matrix {
  Value data, rowStride, batchStride;
};

/// True if the elements of each row lie one after the other.
bool hasContiguousRows(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

Matrix getMatrix(OpBuilder &builder, Location loc, Value buffer,
                 RuntimeCallBuilder &calls) {
  auto type = cast<MemRefType>(buffer.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  Matrix matrix;
  matrix.data =
      getElementAddress(builder, loc, buffer, metadata.getOffset(), calls);
  unsigned rank = type.getRank();
  matrix.rowStride = toI64(builder, loc, metadata.getStrides()[rank - 2]);
  if (rank > 2)
    matrix.batchStride = toI64(builder, loc, metadata.getStrides()[0]);
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
  llvm_unreachable("a loop of a product that no operand has");
}

void convertToCall(linalg::LinalgOp op, const MatmulMatch &match) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RuntimeCallBuilder calls(builder, op);
  Value output = op.getDpsInits()[0];
  Matrix a = getMatrix(builder, loc, op.getDpsInputs()[0], calls);
  Matrix b = getMatrix(builder, loc, op.getDpsInputs()[1], calls);
  Matrix c = getMatrix(builder, loc, output, calls);
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

/// Makes the innermost loop of a product run along the rows of the result:
/// unlike the sum of a dot product it can be vectorized without reordering.
void convertToRowLoops(linalg::LinalgOp op, const MatmulMatch &match) {
  IRRewriter rewriter(op);
  if (op->hasAttr(kOverwritesAttrName)) {
    Type element = getElementTypeOrSelf(op.getDpsInits()[0].getType());
    Value zero;
    if (auto complex = dyn_cast<ComplexType>(element)) {
      Attribute part = rewriter.getZeroAttr(complex.getElementType());
      zero = complex::ConstantOp::create(rewriter, op.getLoc(), complex,
                                         rewriter.getArrayAttr({part, part}));
    } else {
      zero = arith::ConstantOp::create(rewriter, op.getLoc(),
                                       rewriter.getZeroAttr(element));
    }
    linalg::FillOp::create(rewriter, op.getLoc(), zero, op.getDpsInits()[0]);
  }
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> generalized =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(generalized))
      return;
    generic = *generalized;
  }
  SmallVector<unsigned> order;
  if (match.batch)
    order.push_back(*match.batch);
  order.append({match.m, match.k, match.n});
  (void)linalg::interchangeGenericOp(rewriter, generic, order);
}

struct ConvertLinalgToBraidRTPass
    : public braid::impl::ConvertLinalgToBraidRTPassBase<
          ConvertLinalgToBraidRTPass> {
  using ConvertLinalgToBraidRTPassBase::ConvertLinalgToBraidRTPassBase;

  void runOnOperation() override {
    SmallVector<std::pair<linalg::LinalgOp, MatmulMatch>> products;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!op.hasPureBufferSemantics())
        return;
      if (std::optional<MatmulMatch> match = matchMatmul(op))
        products.emplace_back(op, *match);
    });
    for (auto &[op, match] : products) {
      if (useLibrary && hasLibraryTypes(op) &&
          llvm::all_of(op->getOperands(), hasContiguousRows))
        convertToCall(op, match);
      else
        convertToRowLoops(op, match);
    }
  }
};

} // namespace
