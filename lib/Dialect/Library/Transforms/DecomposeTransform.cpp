//===- DecomposeTransform.cpp - Division of inverse transforms ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorOps.h"

#include "braid/Dialect/Library/Transforms/Decompose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid;

/// 1 / N of type `real`, for N elements in the last `dimensions` of `value`.
static Value createShare(OpBuilder &builder, Location loc, Value value,
                         int64_t dimensions, FloatType real) {
  auto type = cast<RankedTensorType>(value.getType());
  auto takeLast = type.getShape().take_back(dimensions);
  if (!ShapedType::isDynamicShape(takeLast)) {
    double share =
        1 / static_cast<double>(ShapedType::getNumElements(takeLast));
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(real, share));
  }
  Value count = arith::ConstantIndexOp::create(builder, loc, 1);
  for (int64_t dim = type.getRank() - dimensions; dim != type.getRank(); ++dim)
    count = arith::MulIOp::create(
        builder, loc, count,
        tensor::DimOp::create(builder, loc, value, dim).getResult());
  count = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), count);
  Value number = arith::SIToFPOp::create(builder, loc, real, count);
  Value one =
      arith::ConstantOp::create(builder, loc, builder.getFloatAttr(real, 1));
  return arith::DivFOp::create(builder, loc, one, number);
}

bool library::hasDivision(CallOp op) {
  return op.getRoutine() == "ifft" || op.getRoutine() == "irfft";
}

void library::separateDivision(RewriterBase &rewriter, CallOp given) {
  rewriter.setInsertionPoint(given);
  auto op = cast<CallOp>(moveToTensors(
      rewriter, cast<DestinationStyleOpInterface>(given.getOperation())));
  Location loc = op.getLoc();
  rewriter.modifyOpInPlace(op, [&]() {
    op.setRoutine(op.getRoutine() == "ifft" ? "bfft" : "brfft");
  });
  rewriter.setInsertionPointAfter(op);
  Value sums = op->getResult(0);
  auto type = cast<RankedTensorType>(sums.getType());
  auto complexType = dyn_cast<ComplexType>(type.getElementType());
  Type real =
      complexType ? complexType.getElementType() : type.getElementType();
  Value share = createShare(rewriter, loc, sums, op.getDimensions(),
                            cast<FloatType>(real));
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, sums),
      type.getElementType());
  Value scaled = createElementwise(
      rewriter, loc, empty, sums,
      [&](ImplicitLocOpBuilder &builder, ValueRange elements) -> Value {
        auto scale = [&](Value part) -> Value {
          return arith::MulFOp::create(builder, part, share);
        };
        if (!complexType)
          return scale(elements[0]);
        return complex::CreateOp::create(
            builder, complexType,
            scale(complex::ReOp::create(builder, elements[0])),
            scale(complex::ImOp::create(builder, elements[0])));
      });
  rewriter.replaceUsesWithIf(sums, scaled, [&](OpOperand &use) {
    return use.getOwner() != scaled.getDefiningOp() &&
           !isa<tensor::DimOp>(use.getOwner());
  });
}
