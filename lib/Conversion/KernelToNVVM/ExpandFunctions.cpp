//===- ExpandFunctions.cpp - Functions in few instructions ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

namespace braid {
#define GEN_PASS_DEF_EXPANDFUNCTIONSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

/// The coefficients of t, t^2, ... t^8 in log2(erfc(t)), fitted for t from 0 to
/// 4. The error of erfc is at most 1.6e-8. Above 4 the polynomial stays below
/// -24, because the last coefficient is negative.
static constexpr float kCoefficients[] = {
    -1.6279085874557495f,    -0.9184163808822632f,    -0.1484816074371338f,
    0.02825368009507656f,    -0.0007746291230432689f, -0.0014894419582560658f,
    0.00044550769962370396f, -4.535860352916643e-05f};

/// True if `type` is `element` or a vector of it with one dimension.
static bool hasElements(Type type, llvm::function_ref<bool(Type)> isElement) {
  auto vector = dyn_cast<VectorType>(type);
  return isElement(getElementTypeOrSelf(type)) &&
         (!vector || (vector.getRank() == 1 && !vector.isScalable()));
}

/// The `math.erf` to which `op` adds 1; null if there is none.
static math::ErfOp matchOnePlusErf(arith::AddFOp op) {
  if (!hasElements(op.getType(), [](Type type) { return type.isF32(); }))
    return {};
  for (auto [value, other] : {std::pair(op.getLhs(), op.getRhs()),
                              std::pair(op.getRhs(), op.getLhs())})
    if (auto erf = value.getDefiningOp<math::ErfOp>();
        erf && erf->hasOneUse() && matchPattern(other, m_OneFloat()))
      return erf;
  return {};
}

/// True if the pass expands `op` because bf16 has fewer digits than the
/// instructions that a GPU has.
static bool isNarrow(Operation *op) {
  return isa<math::TanhOp, math::ExpOp, arith::DivFOp>(op) &&
         hasElements(op->getResult(0).getType(),
                     [](Type type) { return type.isBF16(); });
}

namespace {

/// Emits functions of numbers, or of vectors of numbers, of f32.
class FunctionExpansion {
public:
  explicit FunctionExpansion(Operation *op) : b(op->getLoc(), op) {
    type = op->getResult(0).getType();
    auto vector = dyn_cast<VectorType>(type);
    wide = vector ? Type(vector.clone(b.getF32Type())) : b.getF32Type();
  }

  Value emitOnePlusErf(Value x);
  /// The result of `op` on bf16, from f32.
  Value emitNarrow(Operation *op);

private:
  Value constant(float value);
  Value callForEach(StringRef intrinsic, ValueRange operands);
  /// 2 to the power of `exponent`. libdevice takes three more instructions for
  /// subnormal results.
  Value power(Value exponent) {
    return callForEach("llvm.nvvm.ex2.approx.ftz.f32", exponent);
  }

  ImplicitLocOpBuilder b;
  Type type, wide;
};

} // namespace

Value FunctionExpansion::constant(float value) {
  TypedAttr attribute = b.getF32FloatAttr(value);
  if (auto vector = dyn_cast<VectorType>(wide))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(b, attribute);
}

Value FunctionExpansion::callForEach(StringRef intrinsic, ValueRange operands) {
  auto call = [&](ValueRange values) {
    return LLVM::CallIntrinsicOp::create(b, b.getF32Type(),
                                         b.getStringAttr(intrinsic), values)
        ->getResult(0);
  };
  auto vector = dyn_cast<VectorType>(wide);
  if (!vector)
    return call(operands);
  SmallVector<Value> results;
  for (int64_t lane = 0; lane < vector.getNumElements(); ++lane)
    results.push_back(call(llvm::map_to_vector(operands, [&](Value operand) {
      return vector::ExtractOp::create(b, operand, lane).getResult();
    })));
  return vector::FromElementsOp::create(b, vector, results);
}

Value FunctionExpansion::emitOnePlusErf(Value x) {
  Value t = math::AbsFOp::create(b, x);
  Value sum = constant(std::rbegin(kCoefficients)[0]);
  for (float coefficient : llvm::drop_begin(llvm::reverse(kCoefficients)))
    sum = math::FmaOp::create(b, sum, t, constant(coefficient));
  Value rest = power(arith::MulFOp::create(b, sum, t));
  // 1 + erf(x) is erfc(-x).
  Value other = arith::SubFOp::create(b, constant(2), rest);
  Value isNegative =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, constant(0));
  return arith::SelectOp::create(b, isNegative, rest, other);
}

Value FunctionExpansion::emitNarrow(Operation *op) {
  // Other ops on bf16 are computed in f32 without rounding in between, too.
  auto contract = arith::FastMathFlagsAttr::get(b.getContext(),
                                                arith::FastMathFlags::contract);
  auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return arith::ExtFOp::create(b, wide, operand, contract).getResult();
  });
  Value result;
  if (isa<math::ExpOp>(op))
    result = power(
        arith::MulFOp::create(b, operands[0], constant(llvm::numbers::log2ef)));
  else if (isa<math::TanhOp>(op))
    result =
        LLVM::TanhOp::create(b, wide, operands[0], LLVM::FastmathFlags::afn);
  else
    result = callForEach("llvm.nvvm.div.full", operands);
  return arith::TruncFOp::create(b, type, result,
                                 /*roundingmode=*/nullptr, contract);
}

namespace {

struct ExpandFunctionsPass
    : public braid::impl::ExpandFunctionsPassBase<ExpandFunctionsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> narrow;
    SmallVector<arith::AddFOp> sums;
    getOperation().walk([&](Operation *op) {
      if (isNarrow(op))
        narrow.push_back(op);
      else if (auto sum = dyn_cast<arith::AddFOp>(op);
               sum && matchOnePlusErf(sum))
        sums.push_back(sum);
    });
    for (arith::AddFOp op : sums) {
      math::ErfOp erf = matchOnePlusErf(op);
      op.replaceAllUsesWith(
          FunctionExpansion(op).emitOnePlusErf(erf.getOperand()));
      op.erase();
      erf.erase();
    }
    for (Operation *op : narrow) {
      op->replaceAllUsesWith(ValueRange(FunctionExpansion(op).emitNarrow(op)));
      op->erase();
    }
  }
};

} // namespace
