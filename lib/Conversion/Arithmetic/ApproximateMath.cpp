//===- ApproximateMath.cpp - Functions that LLVM lowers badly -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/Passes.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace braid {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

/// Makes `op` take the logarithm of a normal number: upstream's polynomial
/// takes subnormal numbers for the smallest normal one.
static void scaleSubnormals(math::LogOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  Value x = op.getOperand();
  Value isTiny = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x,
                                       constant(0x1p-126));
  Value scaled = arith::MulFOp::create(b, x, constant(0x1p23));
  op.setOperand(arith::SelectOp::create(b, isTiny, scaled, x));
  b.setInsertionPointAfter(op);
  Value shift = arith::SelectOp::create(
      b, isTiny, constant(-23 * llvm::numbers::ln2), constant(0));
  auto sum = arith::AddFOp::create(b, op, shift);
  op.getResult().replaceAllUsesExcept(sum, sum);
}

namespace {

struct ApproximateMathPass
    : public braid::impl::ApproximateMathPassBase<ApproximateMathPass> {
  void runOnOperation() override {
    getOperation().walk([](math::LogOp op) {
      if (op.getType().isF32())
        scaleSubnormals(op);
    });
    // Upstream's sine and cosine lose all digits of large angles.
    auto isApproximated = [](StringRef name) {
      return llvm::is_contained(
          {math::ExpOp::getOperationName(), math::ExpM1Op::getOperationName(),
           math::LogOp::getOperationName(), math::Log1pOp::getOperationName(),
           math::TanhOp::getOperationName(), math::ErfOp::getOperationName()},
          name);
    };
    // Upstream's patterns take tensors for scalars.
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (isApproximated(op->getName().getStringRef()) &&
          isa<TensorType>(op->getResult(0).getType()) &&
          getElementTypeOrSelf(op->getResult(0)).isF32())
        return op->emitOpError("is on tensors, expected scalars or vectors: "
                               "the pass runs behind the conversion to loops");
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, isApproximated);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();

    // Upstream's conversion to LLVM, exp(x) - 1, has no digits near zero.
    RewritePatternSet calls(&getContext());
    populateMathToLibmConversionPatterns(calls);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addDynamicallyLegalOp<math::ExpM1Op>([](math::ExpM1Op op) {
      return !isa<FloatType, VectorType>(op.getType());
    });
    if (failed(
            applyPartialConversion(getOperation(), target, std::move(calls))))
      signalPassFailure();
  }
};

} // namespace
