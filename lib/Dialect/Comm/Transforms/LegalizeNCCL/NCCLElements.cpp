//===- NCCLElements.cpp - Elements that NCCL reduces ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NCCLElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace braid::comm;

std::optional<NCCLElements>
NCCLElements::get(Type element, ReductionKind reduction, bool exact) {
  MLIRContext *context = element.getContext();
  auto integerType = [&](unsigned width) {
    return IntegerType::get(context, width);
  };
  if (isa<ComplexType>(element)) {
    if (reduction != ReductionKind::premul_sum)
      return std::nullopt;
    return NCCLElements(Step::Scale, element, element, ReductionKind::sum);
  }
  if (isa<IntegerType>(element)) {
    // An average sums in 64 bits.
    if (reduction == ReductionKind::avg)
      return NCCLElements(Step::Average, element, integerType(64),
                          ReductionKind::sum);
    if (element.isInteger(16))
      return NCCLElements(Step::ExtendInteger, element, integerType(32),
                          reduction);
    return std::nullopt;
  }
  if (!exact)
    return std::nullopt;
  unsigned width = element.getIntOrFloatBitWidth();
  // In NCCL, the minimum or maximum of a number and a NaN is the number.
  if (reduction == ReductionKind::min || reduction == ReductionKind::max)
    return NCCLElements(Step::OrderedBits, element,
                        integerType(width == 16 ? 32 : width), reduction);
  // NCCL rounds and saturates sums of 8-bit floats at each step, and does not
  // scale them in a group of one. bf16 has the range of f32.
  if (width == 8)
    return NCCLElements(Step::ExtendFloat, element, BFloat16Type::get(context),
                        reduction);
  return std::nullopt;
}

/// The bits of the last number in the order of the floats `type`.
static APInt getLastBits(Type type) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  return (APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics)
                                              : APFloat::getLargest(semantics))
      .bitcastToAPInt();
}

/// The integer that stands for NaN and wins the reduction.
APInt NCCLElements::getOrderedNaN() const {
  unsigned width = type.getIntOrFloatBitWidth();
  return newReduction == ReductionKind::max ? APInt::getSignedMaxValue(width)
                                            : APInt::getSignedMinValue(width);
}

Value NCCLElements::getConstant(ImplicitLocOpBuilder &b,
                                const APInt &value) const {
  Type bits = b.getIntegerType(value.getBitWidth());
  return arith::ConstantOp::create(b, b.getIntegerAttr(bits, value));
}

/// Maps the bits of floats to integers of the same order, and back. The bits of
/// negative floats have the reverse order, hence the flip.
Value NCCLElements::flipNegative(ImplicitLocOpBuilder &b, Value bits) const {
  unsigned width = type.getIntOrFloatBitWidth();
  Value isNegative =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, bits,
                            getConstant(b, APInt::getZero(width)));
  Value flipped = arith::XOrIOp::create(
      b, bits, getConstant(b, APInt::getSignedMaxValue(width)));
  return arith::SelectOp::create(b, isNegative, flipped, bits);
}

Value NCCLElements::toOrderedBits(ImplicitLocOpBuilder &b,
                                  Value element) const {
  unsigned width = type.getIntOrFloatBitWidth();
  Type bitsType = b.getIntegerType(width);
  Value bits = arith::BitcastOp::create(b, bitsType, element);
  Value magnitude = arith::AndIOp::create(
      b, bits, getConstant(b, APInt::getSignedMaxValue(width)));
  Value isNaN = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, magnitude,
                                      getConstant(b, getLastBits(type)));
  Value ordered = arith::SelectOp::create(
      b, isNaN, getConstant(b, getOrderedNaN()), flipNegative(b, bits));
  return bitsType == newType
             ? ordered
             : arith::ExtSIOp::create(b, newType, ordered).getResult();
}

Value NCCLElements::fromOrderedBits(ImplicitLocOpBuilder &b,
                                    Value element) const {
  Type bitsType = b.getIntegerType(type.getIntOrFloatBitWidth());
  if (bitsType != newType)
    element = arith::TruncIOp::create(b, bitsType, element);
  Value isNaN = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, element,
                                      getConstant(b, getOrderedNaN()));
  Value bits = flipNegative(b, element);
  APInt bitsOfNaN = APFloat::getNaN(cast<FloatType>(type).getFloatSemantics())
                        .bitcastToAPInt();
  bits = arith::SelectOp::create(b, isNaN, getConstant(b, bitsOfNaN), bits);
  return arith::BitcastOp::create(b, type, bits);
}

Value NCCLElements::convert(ImplicitLocOpBuilder &b, Value element,
                            Value scale) const {
  switch (step) {
  case Step::ExtendInteger:
  case Step::Average:
    return element.getType() == newType
               ? element
               : arith::ExtSIOp::create(b, newType, element).getResult();
  case Step::ExtendFloat:
    return arith::ExtFOp::create(b, newType, element);
  case Step::OrderedBits:
    return toOrderedBits(b, element);
  case Step::Scale:
    return complex::MulOp::create(b, scale, element);
  }
  llvm_unreachable("unknown step");
}

Value NCCLElements::convertScale(ImplicitLocOpBuilder &b, Value scale) const {
  if (!scale || step == Step::Scale)
    return {};
  return convert(b, scale, {});
}

Value NCCLElements::restore(ImplicitLocOpBuilder &b, Value element,
                            Value size) const {
  switch (step) {
  case Step::Average:
    element = arith::DivSIOp::create(b, element, size);
    [[fallthrough]];
  case Step::ExtendInteger:
    return type == newType
               ? element
               : arith::TruncIOp::create(b, type, element).getResult();
  case Step::ExtendFloat:
    return arith::TruncFOp::create(b, type, element);
  case Step::OrderedBits:
    return fromOrderedBits(b, element);
  case Step::Scale:
    return element;
  }
  llvm_unreachable("unknown step");
}
