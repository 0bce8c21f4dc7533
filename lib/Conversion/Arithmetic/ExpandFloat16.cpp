//===- ExpandFloat16.cpp - 16-bit floats by integers ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace braid {
#define GEN_PASS_DEF_EXPANDFLOAT16PASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

namespace {

/// Takes the maximum or minimum of f16 as that of unsigned integers of the same
/// order, in which NaNs win.
template <typename OpTy, typename IntegerOp>
struct OrderByIntegers : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF16())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type bits = b.getI16Type();
    if (auto shaped = dyn_cast<ShapedType>(type))
      bits = shaped.clone(bits);
    auto constant = [&](int64_t value) -> Value {
      TypedAttr scalar = b.getI16IntegerAttr(static_cast<int16_t>(value));
      if (auto shaped = dyn_cast<ShapedType>(bits))
        scalar = DenseElementsAttr::get(shaped, scalar);
      return arith::ConstantOp::create(b, scalar);
    };
    // Of negative numbers, the one with more bits is less.
    auto flipNegative = [&](Value x) -> Value {
      Value sign = arith::ShRSIOp::create(b, x, constant(15));
      Value mask = arith::AndIOp::create(b, sign, constant(0x7fff));
      return arith::XOrIOp::create(b, x, mask);
    };
    // The NaNs at the other end wrap around.
    constexpr bool isMaximum = std::is_same_v<OpTy, arith::MaximumFOp>;
    Value wrap = constant(isMaximum ? -0x83ff : 0x83ff);
    Value unwrap = constant(isMaximum ? 0x83ff : -0x83ff);
    SmallVector<Value> keys;
    for (Value operand : op->getOperands())
      keys.push_back(arith::AddIOp::create(
          b, flipNegative(arith::BitcastOp::create(b, bits, operand)), wrap));
    Value found = IntegerOp::create(b, keys[0], keys[1]);
    Value number = flipNegative(arith::AddIOp::create(b, found, unwrap));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type, number);
    return success();
  }
};

struct ExpandFloat16Pass
    : public braid::impl::ExpandFloat16PassBase<ExpandFloat16Pass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    patterns.add<OrderByIntegers<arith::MaximumFOp, arith::MaxUIOp>,
                 OrderByIntegers<arith::MinimumFOp, arith::MinUIOp>>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
