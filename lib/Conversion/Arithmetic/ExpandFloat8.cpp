//===- ExpandFloat8.cpp - Conversions of 8-bit floats ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace braid {
#define GEN_PASS_DEF_EXPANDFLOAT8PASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type));
}

namespace {

/// Emits conversions of scalars, vectors or tensors of one shape.
class Float8Expansion {
public:
  Float8Expansion(Operation *op, Type shape)
      : b(op->getLoc(), op), shaped(dyn_cast<ShapedType>(shape)) {}

  Value extend(Value input, FloatType to);
  Value truncate(Value input, FloatType to);

private:
  /// The type of the shape with elements of type `element`.
  Type with(Type element) {
    return shaped ? Type(shaped.clone(element)) : element;
  }
  Value constant(int64_t bits, Type element = {});
  Value bitcast(Value value, Type element) {
    return arith::BitcastOp::create(b, with(element), value);
  }
  /// Converts between floats of 16, 32 and 64 bits.
  Value convert(Value value, FloatType to);
  Value roundToOdd(Value input);
  Value roundBits(Value magnitude, int mantissaBits, int bias);

  ImplicitLocOpBuilder b;
  ShapedType shaped;
};

Value Float8Expansion::constant(int64_t bits, Type element) {
  if (!element)
    element = b.getI32Type();
  TypedAttr value = b.getIntegerAttr(element, bits);
  if (shaped)
    value = DenseElementsAttr::get(cast<ShapedType>(with(element)), value);
  return arith::ConstantOp::create(b, value);
}

Value Float8Expansion::convert(Value value, FloatType to) {
  unsigned width = cast<FloatType>(getElementTypeOrSelf(value)).getWidth();
  if (getElementTypeOrSelf(value) == to)
    return value;
  if (width < to.getWidth())
    return arith::ExtFOp::create(b, with(to), value);
  return arith::TruncFOp::create(b, with(to), value);
}

Value Float8Expansion::extend(Value input, FloatType to) {
  Value bits = bitcast(input, b.getI8Type());
  if (isa<Float8E5M2Type>(getElementTypeOrSelf(input))) {
    // f8E5M2 is the high byte of an f16.
    Type half = b.getI16Type();
    bits = arith::ExtUIOp::create(b, with(half), bits);
    bits = arith::ShLIOp::create(b, bits, constant(8, half));
    Value value = bitcast(bits, b.getF16Type());
    return to.getWidth() == 16 && !to.isF16()
               ? convert(convert(value, b.getF32Type()), to)
               : convert(value, to);
  }
  bits = arith::ExtUIOp::create(b, with(b.getI32Type()), bits);
  Value magnitude = arith::AndIOp::create(b, bits, constant(0x7f));
  Value sign = arith::ShLIOp::create(
      b, arith::AndIOp::create(b, bits, constant(0x80)), constant(24));
  // The exponent of f32 is larger by 120; multiplication normalizes numbers
  // that are subnormal in f8E4M3FN.
  Value value = bitcast(arith::ShLIOp::create(b, magnitude, constant(20)),
                        b.getF32Type());
  value = arith::MulFOp::create(
      b, value, bitcast(constant(int64_t(127 + 120) << 23), b.getF32Type()));
  Value isNaN = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, magnitude,
                                      constant(0x7f));
  Value result = arith::SelectOp::create(b, isNaN, constant(0x7fc00000),
                                         bitcast(value, b.getI32Type()));
  result = arith::OrIOp::create(b, result, sign);
  return convert(bitcast(result, b.getF32Type()), to);
}

/// Rounds the f64 `input` to f32 so that rounding the result again to fewer
/// bits equals one rounding: an inexact result has an odd last bit (Boldo and
/// Melquiond, "When double rounding is odd", 2005).
Value Float8Expansion::roundToOdd(Value input) {
  Value rounded = convert(input, b.getF32Type());
  Value back = convert(rounded, b.getF64Type());
  Value bits = bitcast(rounded, b.getI32Type());
  Value isInexact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, input);
  Value isEven = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq, arith::AndIOp::create(b, bits, constant(1)),
      constant(0));
  // Magnitudes have the same order as their bits.
  auto magnitude = [&](Value value) {
    Type wide = b.getI64Type();
    return arith::ShLIOp::create(b, bitcast(value, wide), constant(1, wide));
  };
  Value isAbove = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt,
                                        magnitude(back), magnitude(input));
  Value odd = arith::SelectOp::create(
      b, isAbove, arith::SubIOp::create(b, bits, constant(1)),
      arith::AddIOp::create(b, bits, constant(1)));
  Value isMoved = arith::AndIOp::create(b, isInexact, isEven);
  return bitcast(arith::SelectOp::create(b, isMoved, odd, bits),
                 b.getF32Type());
}

/// Rounds an f32 with the bits `magnitude` to the float format with
/// `mantissaBits` and `bias`, to nearest, ties to even, and returns the bits.
/// The result for a number that is too large exceeds the bits of the format.
Value Float8Expansion::roundBits(Value magnitude, int mantissaBits, int bias) {
  int dropped = 23 - mantissaBits;
  // Adds half of the last kept place, less 1 if the last kept bit is 0.
  Value last = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, magnitude, constant(dropped)), constant(1));
  Value normal = arith::AddIOp::create(
      b, magnitude, constant((int64_t(1) << (dropped - 1)) - 1));
  normal = arith::AddIOp::create(b, normal, last);
  normal = arith::ShRUIOp::create(b, normal, constant(dropped));
  normal = arith::SubIOp::create(b, normal,
                                 constant(int64_t(127 - bias) << mantissaBits));
  // The last place of `shifter` is the smallest number of the format, so the
  // addition rounds to multiples of this number.
  Value shifter = constant(int64_t(1 - bias - mantissaBits + 23 + 127) << 23);
  Value sum = arith::AddFOp::create(b, bitcast(magnitude, b.getF32Type()),
                                    bitcast(shifter, b.getF32Type()));
  Value subnormal =
      arith::SubIOp::create(b, bitcast(sum, b.getI32Type()), shifter);
  Value isSubnormal =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, magnitude,
                            constant(int64_t(127 - bias + 1) << 23));
  return arith::SelectOp::create(b, isSubnormal, subnormal, normal);
}

Value Float8Expansion::truncate(Value input, FloatType to) {
  bool isE5M2 = isa<Float8E5M2Type>(to);
  Value value = getElementTypeOrSelf(input).isF64()
                    ? roundToOdd(input)
                    : convert(input, b.getF32Type());
  Value bits = bitcast(value, b.getI32Type());
  Value magnitude = arith::AndIOp::create(b, bits, constant(0x7fffffff));
  Value rounded =
      isE5M2 ? roundBits(magnitude, 2, 15) : roundBits(magnitude, 3, 7);
  // The next bits after the largest number are infinity in f8E5M2 and NaN in
  // f8E4M3FN.
  rounded = arith::MinUIOp::create(b, rounded, constant(isE5M2 ? 0x7c : 0x7f));
  Value isNaN = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, magnitude,
                                      constant(0x7f800000));
  rounded = arith::SelectOp::create(b, isNaN, constant(isE5M2 ? 0x7e : 0x7f),
                                    rounded);
  Value sign = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, bits, constant(24)), constant(0x80));
  Value byte = arith::TruncIOp::create(b, with(b.getI8Type()),
                                       arith::OrIOp::create(b, rounded, sign));
  return bitcast(byte, to);
}

struct ExpandFloat8Pass
    : public braid::impl::ExpandFloat8PassBase<ExpandFloat8Pass> {
  void runOnOperation() override {
    SmallVector<Operation *> conversions;
    getOperation()->walk([&](Operation *op) {
      if (auto truncation = dyn_cast<arith::TruncFOp>(op);
          truncation && isFloat8(op->getResult(0).getType()) &&
          truncation.getRoundingmode().value_or(
              arith::RoundingMode::to_nearest_even) ==
              arith::RoundingMode::to_nearest_even)
        conversions.push_back(op);
      if (isa<arith::ExtFOp>(op) && isFloat8(op->getOperand(0).getType()))
        conversions.push_back(op);
    });
    for (Operation *op : conversions) {
      Value input = op->getOperand(0), result = op->getResult(0);
      auto to = cast<FloatType>(getElementTypeOrSelf(result));
      Float8Expansion expansion(op, result.getType());
      result.replaceAllUsesWith(isa<arith::ExtFOp>(op)
                                    ? expansion.extend(input, to)
                                    : expansion.truncate(input, to));
      op->erase();
    }
  }
};

} // namespace
