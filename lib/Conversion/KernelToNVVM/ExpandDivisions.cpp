//===- ExpandDivisions.cpp - Divisions by one number in few instructions --===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace braid {
#define GEN_PASS_DEF_EXPANDDIVISIONSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

/// Shorter vectors do not pay for the reciprocal, which is itself a division.
static constexpr int64_t kMinLanes = 4;

/// The magnitudes for which the form in f32 is exact: divisors from 2^-24 to
/// 2^24, dividends from 2^-100 to below 2^28. The quotient is then normal, and
/// the smallest possible remainder, 2^(-100 - 47), is a multiple of the
/// smallest number of f32.
static constexpr float kMinShortDivisor = 0x1p-24F, kMaxShortDivisor = 0x1p24F;
static constexpr int32_t kMinShortDividendExponent = -100;
/// The bias of the exponent of f32, and the place of the exponent in the bits
/// of a number times 2, which lack the sign.
static constexpr int32_t kExponentBias = 127, kDoubledExponentShift = 24;

/// The number by which `op` divides all elements of a vector; null if the
/// divisors differ or if no short form exists.
static Value getCommonDivisor(arith::DivFOp op) {
  auto vector = dyn_cast<VectorType>(op.getType());
  if (!vector || vector.getRank() != 1 || vector.isScalable() ||
      vector.getNumElements() < kMinLanes)
    return {};
  Type element = vector.getElementType();
  if (!element.isF32() && !element.isBF16() && !element.isF16())
    return {};
  auto broadcast = op.getRhs().getDefiningOp<vector::BroadcastOp>();
  return broadcast && broadcast.getSource().getType() == element
             ? broadcast.getSource()
             : Value();
}

namespace {

Value createConstant(ImplicitLocOpBuilder &b, float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

/// Whether the form in f32 is exact for `divisor`.
Value isShort(ImplicitLocOpBuilder &b, Value divisor) {
  Value magnitude = math::AbsFOp::create(b, divisor);
  Value isLarge = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, magnitude,
                                        createConstant(b, kMinShortDivisor));
  Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, magnitude,
                                        createConstant(b, kMaxShortDivisor));
  return arith::AndIOp::create(b, isLarge, isSmall);
}

/// Whether the form in f32 is exact for all `dividends`: the exponent, less the
/// smallest allowed one, needs no more than 7 bits.
Value areShort(ImplicitLocOpBuilder &b, Value dividends) {
  auto type = cast<VectorType>(dividends.getType()).clone(b.getI32Type());
  Value lowest = arith::ConstantOp::create(
      b,
      DenseElementsAttr::get(type, (kExponentBias + kMinShortDividendExponent)
                                       << kDoubledExponentShift));
  Value bits = arith::BitcastOp::create(b, type, dividends);
  Value beyond =
      arith::SubIOp::create(b, arith::AddIOp::create(b, bits, bits), lowest);
  Value all = vector::ReductionOp::create(b, vector::CombiningKind::OR, beyond);
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, all, zero);
}

/// Divides by a multiplication with the reciprocal of `divisor` and a
/// correction with the remainder. All values have the type of `dividends`.
/// Without `isOrdinary`, quotients may be zero, infinite or no numbers; the
/// remainder of these is zero or no number, and the correction would lose them.
Value emitCorrected(ImplicitLocOpBuilder &b, Value dividends, Value divisor,
                    Value reciprocal, bool isOrdinary) {
  Type type = dividends.getType();
  Value reciprocals = vector::BroadcastOp::create(b, type, reciprocal);
  Value negated =
      vector::BroadcastOp::create(b, type, arith::NegFOp::create(b, divisor));
  Value guess = arith::MulFOp::create(b, dividends, reciprocals);
  Value remainder = math::FmaOp::create(b, guess, negated, dividends);
  Value corrected = math::FmaOp::create(b, remainder, reciprocals, guess);
  if (isOrdinary)
    return corrected;
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(type));
  Value isInexact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, remainder, zeros);
  return arith::SelectOp::create(b, isInexact, corrected, guess);
}

/// Divides in f64. The corrected quotients have an error of half a unit in the
/// last place of f64. A quotient of two numbers of 24 digits is a midpoint of
/// f32, or is at least 2^-49 of its size away from midpoints, so rounding twice
/// gives the right number.
Value emitInDouble(ImplicitLocOpBuilder &b, Value dividends, Value divisor) {
  auto type = cast<VectorType>(dividends.getType());
  Type f64 = b.getF64Type();
  Value one = arith::ConstantOp::create(b, b.getF64FloatAttr(1));
  Value wide = arith::ExtFOp::create(b, f64, divisor);
  Value quotients = emitCorrected(
      b, arith::ExtFOp::create(b, type.clone(f64), dividends), wide,
      arith::DivFOp::create(b, one, wide), /*isOrdinary=*/false);
  return arith::TruncFOp::create(b, type, quotients);
}

/// Returns the quotients of `op`, which divides by `scalar`. Later passes merge
/// the reciprocals of one number, which stand where the number is defined.
Value expand(arith::DivFOp op, Value scalar) {
  OpBuilder place(scalar.getContext());
  place.setInsertionPointAfterValue(scalar);
  ImplicitLocOpBuilder shared(scalar.getLoc(), place);
  Type f32 = shared.getF32Type();
  Value divisor = scalar.getType() == f32
                      ? scalar
                      : arith::ExtFOp::create(shared, f32, scalar);
  Value reciprocal =
      arith::DivFOp::create(shared, createConstant(shared, 1), divisor);
  Value isShortDivisor = isShort(shared, divisor);

  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<VectorType>(op.getType());
  VectorType wide = type.clone(f32);
  Value dividends = op.getLhs();
  if (type != wide)
    dividends = arith::ExtFOp::create(b, wide, dividends);
  auto yield = [](auto emit) {
    return [emit](OpBuilder &builder, Location loc) {
      ImplicitLocOpBuilder b(loc, builder);
      scf::YieldOp::create(b, emit(b));
    };
  };
  Value quotients =
      scf::IfOp::create(
          b, arith::AndIOp::create(b, isShortDivisor, areShort(b, dividends)),
          yield([&](ImplicitLocOpBuilder &b) {
            return emitCorrected(b, dividends, divisor, reciprocal,
                                 /*isOrdinary=*/true);
          }),
          yield([&](ImplicitLocOpBuilder &b) {
            return emitInDouble(b, dividends, divisor);
          }))
          .getResult(0);
  return type == wide ? quotients : arith::TruncFOp::create(b, type, quotients);
}

struct ExpandDivisionsPass
    : public braid::impl::ExpandDivisionsPassBase<ExpandDivisionsPass> {
  void runOnOperation() override {
    SmallVector<arith::DivFOp> divisions;
    getOperation()->walk([&](arith::DivFOp op) {
      if (getCommonDivisor(op))
        divisions.push_back(op);
    });
    for (arith::DivFOp op : divisions) {
      op.replaceAllUsesWith(expand(op, getCommonDivisor(op)));
      op.erase();
    }
  }
};

} // namespace
