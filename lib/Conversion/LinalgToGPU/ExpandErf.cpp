//===- ExpandErf.cpp - Error functions in few instructions ----------------===//
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

namespace braid {
#define GEN_PASS_DEF_EXPANDERFPASS
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

/// The `math.erf` to which `op` adds 1; null if there is none.
static math::ErfOp matchOnePlusErf(arith::AddFOp op) {
  if (!getElementTypeOrSelf(op.getType()).isF32())
    return {};
  for (auto [value, other] : {std::pair(op.getLhs(), op.getRhs()),
                              std::pair(op.getRhs(), op.getLhs())})
    if (auto erf = value.getDefiningOp<math::ErfOp>();
        erf && erf->hasOneUse() && matchPattern(other, m_OneFloat()))
      return erf;
  return {};
}

namespace {

/// Emits 1 + erf(x) for a number or a vector of numbers of f32.
class ErfExpansion {
public:
  ErfExpansion(ImplicitLocOpBuilder &b, Type type) : b(b), type(type) {}

  Value emit(Value x);

private:
  Value constant(float value);
  Value power(Value exponent);

  ImplicitLocOpBuilder &b;
  Type type;
};

Value ErfExpansion::constant(float value) {
  TypedAttr attribute = b.getF32FloatAttr(value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(b, attribute);
}

/// 2 to the power of `exponent`, by one instruction. libdevice takes three more
/// instructions for results that are negligible beside 1.
Value ErfExpansion::power(Value exponent) {
  auto emitOne = [&](Value element) -> Value {
    return LLVM::CallIntrinsicOp::create(
               b, b.getF32Type(),
               b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), element)
        ->getResult(0);
  };
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return emitOne(exponent);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < vector.getNumElements(); ++lane)
    elements.push_back(emitOne(vector::ExtractOp::create(b, exponent, lane)));
  return vector::FromElementsOp::create(b, vector, elements);
}

Value ErfExpansion::emit(Value x) {
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

struct ExpandErfPass : public braid::impl::ExpandErfPassBase<ExpandErfPass> {
  void runOnOperation() override {
    SmallVector<arith::AddFOp> sums;
    getOperation().walk([&](arith::AddFOp op) {
      auto vector = dyn_cast<VectorType>(op.getType());
      if (matchOnePlusErf(op) &&
          (!vector || (vector.getRank() == 1 && !vector.isScalable())))
        sums.push_back(op);
    });
    for (arith::AddFOp op : sums) {
      math::ErfOp erf = matchOnePlusErf(op);
      ImplicitLocOpBuilder builder(op.getLoc(), op);
      op.replaceAllUsesWith(
          ErfExpansion(builder, op.getType()).emit(erf.getOperand()));
      op.erase();
      erf.erase();
    }
  }
};

} // namespace
