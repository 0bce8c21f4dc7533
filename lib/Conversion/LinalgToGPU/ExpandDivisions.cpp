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
#include "llvm/ADT/DenseMap.h"

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
/// The divisors for which the form in f64 is exact: these have a normal
/// reciprocal in f32.
static constexpr float kMinDivisor = 0x1p-126F, kMaxDivisor = 0x1p126F;
/// The bias of the exponent of f32, the place of the exponent in the bits of a
/// number times 2, which lack the sign, and these bits of infinity.
static constexpr int32_t kExponentBias = 127, kDoubledExponentShift = 24;
static constexpr uint32_t kDoubledInfinity = 0xff000000;

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

/// What all divisions by one number share.
struct Divisor {
  /// The divisor and its reciprocal, rounded to the nearest, in f32.
  Value value, reciprocal;
  /// Whether the divisor has one of the magnitudes of the form in f32, and one
  /// of those of the form in f64.
  Value isShort, isNormal;
};

/// Expands the divisions of one operation.
class DivisionExpansion {
public:
  /// Computes what all divisions by `scalar` share, once, where `scalar` is
  /// defined.
  Divisor prepare(Value scalar);

  /// Returns the quotients of `op`, which divides by `divisor`.
  Value emit(arith::DivFOp op, const Divisor &divisor);

private:
  llvm::DenseMap<Value, Divisor> prepared;
};

Value createConstant(ImplicitLocOpBuilder &b, float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

/// A vector of the integers that have the size of the elements of `type`.
Value createBits(ImplicitLocOpBuilder &b, VectorType type, uint32_t value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type.clone(b.getI32Type()), value));
}

/// Whether `magnitude` is from `min` to `max`; false for what is no number.
Value isBetween(ImplicitLocOpBuilder &b, Value magnitude, float min,
                float max) {
  Value isLarge = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, magnitude,
                                        createConstant(b, min));
  Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, magnitude,
                                        createConstant(b, max));
  return arith::AndIOp::create(b, isLarge, isSmall);
}

Divisor DivisionExpansion::prepare(Value scalar) {
  auto [entry, isNew] = prepared.try_emplace(scalar);
  if (!isNew)
    return entry->second;
  OpBuilder place(scalar.getContext());
  place.setInsertionPointAfterValue(scalar);
  ImplicitLocOpBuilder b(scalar.getLoc(), place);
  Type f32 = b.getF32Type();
  Value value =
      scalar.getType() == f32 ? scalar : arith::ExtFOp::create(b, f32, scalar);
  Value reciprocal = arith::DivFOp::create(b, createConstant(b, 1), value);
  Value magnitude = math::AbsFOp::create(b, value);
  return entry->second = {
             value, reciprocal,
             isBetween(b, magnitude, kMinShortDivisor, kMaxShortDivisor),
             isBetween(b, magnitude, kMinDivisor, kMaxDivisor)};
}

/// The bits of `numbers` times 2, which lack the sign.
Value emitDoubledBits(ImplicitLocOpBuilder &b, Value numbers) {
  auto type = cast<VectorType>(numbers.getType());
  Value bits = arith::BitcastOp::create(b, type.clone(b.getI32Type()), numbers);
  return arith::AddIOp::create(b, bits, bits);
}

/// Whether the form in f32 is exact for all `dividends`: the exponent, less the
/// smallest allowed one, needs no more than 7 bits.
Value areShort(ImplicitLocOpBuilder &b, Value dividends) {
  Value lowest = createBits(
      b, cast<VectorType>(dividends.getType()),
      static_cast<uint32_t>(kExponentBias + kMinShortDividendExponent)
          << kDoubledExponentShift);
  Value beyond =
      arith::SubIOp::create(b, emitDoubledBits(b, dividends), lowest);
  Value all = vector::ReductionOp::create(b, vector::CombiningKind::OR, beyond);
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, all, zero);
}

/// Divides by a multiplication with the reciprocal of `divisor` and a
/// correction with the remainder. All values have the type of `dividends`.
Value emitCorrected(ImplicitLocOpBuilder &b, Value dividends, Value divisor,
                    Value reciprocal) {
  Type type = dividends.getType();
  Value reciprocals = vector::BroadcastOp::create(b, type, reciprocal);
  Value negated =
      vector::BroadcastOp::create(b, type, arith::NegFOp::create(b, divisor));
  Value guess = arith::MulFOp::create(b, dividends, reciprocals);
  Value remainder = math::FmaOp::create(b, guess, negated, dividends);
  return math::FmaOp::create(b, remainder, reciprocals, guess);
}

/// The reciprocal of `divisor` in f64, with an error below 2^-47: the one of
/// f32, after a step of Newton's method.
Value emitReciprocalInDouble(ImplicitLocOpBuilder &b, Value divisor,
                             Value reciprocal) {
  Value one = arith::ConstantOp::create(b, b.getF64FloatAttr(1));
  Value guess = arith::ExtFOp::create(b, b.getF64Type(), reciprocal);
  Value error =
      math::FmaOp::create(b, arith::NegFOp::create(b, divisor), guess, one);
  return math::FmaOp::create(b, guess, error, guess);
}

/// Divides in f64. The corrected quotients have an error of half a unit in the
/// last place of f64. A quotient of two numbers of 24 digits is a midpoint of
/// f32, or is at least 2^-49 of its size away from midpoints, so rounding twice
/// gives the right number. The product with the reciprocal replaces quotients
/// of zeros, whose sign the correction loses, and quotients of dividends that
/// are infinite or no numbers.
Value emitInDouble(ImplicitLocOpBuilder &b, Value dividends,
                   const Divisor &divisor) {
  auto type = cast<VectorType>(dividends.getType());
  Type f64 = b.getF64Type();
  Value wide = arith::ExtFOp::create(b, f64, divisor.value);
  Value quotients =
      emitCorrected(b, arith::ExtFOp::create(b, type.clone(f64), dividends),
                    wide, emitReciprocalInDouble(b, wide, divisor.reciprocal));
  Value product = arith::MulFOp::create(
      b, dividends, vector::BroadcastOp::create(b, type, divisor.reciprocal));
  // Less 1, zeros have the largest bits of all.
  Value bits = arith::SubIOp::create(b, emitDoubledBits(b, dividends),
                                     createBits(b, type, 1));
  Value isOrdinary =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, bits,
                            createBits(b, type, kDoubledInfinity - 1));
  return arith::SelectOp::create(
      b, isOrdinary, arith::TruncFOp::create(b, type, quotients), product);
}

Value DivisionExpansion::emit(arith::DivFOp op, const Divisor &divisor) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<VectorType>(op.getType());
  VectorType wide = type.clone(b.getF32Type());
  bool isNarrow = type != wide;
  Value dividends = op.getLhs();
  if (isNarrow)
    dividends = arith::ExtFOp::create(b, wide, dividends);
  // Emits `emitTrue` and `emitFalse`, of which `condition` chooses one.
  auto choose = [](OpBuilder &builder, Location loc, Value condition,
                   auto emitTrue, auto emitFalse) {
    auto yield = [](auto emit) {
      return [emit](OpBuilder &builder, Location loc) {
        ImplicitLocOpBuilder b(loc, builder);
        scf::YieldOp::create(b, emit(b));
      };
    };
    return scf::IfOp::create(builder, loc, condition, yield(emitTrue),
                             yield(emitFalse))
        .getResult(0);
  };
  auto divide = [&](ImplicitLocOpBuilder &b) -> Value {
    Value divisors = vector::BroadcastOp::create(b, wide, divisor.value);
    return arith::DivFOp::create(b, dividends, divisors);
  };
  Value quotients = choose(
      b, b.getLoc(),
      arith::AndIOp::create(b, divisor.isShort, areShort(b, dividends)),
      [&](ImplicitLocOpBuilder &b) {
        return emitCorrected(b, dividends, divisor.value, divisor.reciprocal);
      },
      [&](ImplicitLocOpBuilder &b) {
        return choose(
            b, b.getLoc(), divisor.isNormal,
            [&](ImplicitLocOpBuilder &b) {
              return emitInDouble(b, dividends, divisor);
            },
            divide);
      });
  return isNarrow ? arith::TruncFOp::create(b, type, quotients) : quotients;
}

struct ExpandDivisionsPass
    : public braid::impl::ExpandDivisionsPassBase<ExpandDivisionsPass> {
  void runOnOperation() override {
    SmallVector<arith::DivFOp> divisions;
    getOperation()->walk([&](arith::DivFOp op) {
      if (getCommonDivisor(op))
        divisions.push_back(op);
    });
    DivisionExpansion expansion;
    for (arith::DivFOp op : divisions) {
      Divisor divisor = expansion.prepare(getCommonDivisor(op));
      op.replaceAllUsesWith(expansion.emit(op, divisor));
      op.erase();
    }
  }
};

} // namespace
