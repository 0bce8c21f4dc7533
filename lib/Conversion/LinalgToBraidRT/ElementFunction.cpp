//===- ElementFunction.cpp - The function of an elementwise body ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace braid;

namespace {

using Values = llvm::DenseMap<Value, double>;

/// The result of comparing two numbers, 1 or 0.
std::optional<double> compare(arith::CmpFOp op, double a, double b) {
  switch (op.getPredicate()) {
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::UGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGE:
    return a >= b;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::ULT:
    return a < b;
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULE:
    return a <= b;
  default:
    return std::nullopt;
  }
}

/// The result of `op`, without rounding; nothing if `op` is not supported.
std::optional<double> evaluate(Operation &op, const Values &values) {
  auto get = [&](unsigned index) {
    return values.lookup(op.getOperand(index));
  };
  return llvm::TypeSwitch<Operation *, std::optional<double>>(&op)
      .Case([&](arith::ConstantOp constant) -> std::optional<double> {
        if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
          return number.getValueAsDouble();
        if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
          return static_cast<double>(number.getInt());
        return std::nullopt;
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return get(0); })
      .Case([&](arith::AddFOp) { return get(0) + get(1); })
      .Case([&](arith::SubFOp) { return get(0) - get(1); })
      .Case([&](arith::MulFOp) { return get(0) * get(1); })
      .Case([&](arith::DivFOp) { return get(0) / get(1); })
      .Case([&](arith::NegFOp) { return -get(0); })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { return std::fmax(get(0), get(1)); })
      .Case([&](arith::CmpFOp compareOp) {
        return compare(compareOp, get(0), get(1));
      })
      .Case([&](arith::SelectOp) { return get(0) != 0 ? get(1) : get(2); })
      .Case([&](math::TanhOp) { return std::tanh(get(0)); })
      .Case<math::FPowIOp, math::PowFOp>(
          [&](auto) { return std::pow(get(0), get(1)); })
      .Default([](Operation *) { return std::nullopt; });
}

/// The value that `body` yields for `x` and `b`; nothing if it is unknown.
std::optional<double> evaluate(Block &body, BlockArgument xArgument, double x,
                               BlockArgument bArgument, double b) {
  Values values;
  values[xArgument] = x;
  if (bArgument)
    values[bArgument] = b;
  for (Operation &op : body.without_terminator()) {
    if (op.getNumResults() != 1)
      return std::nullopt;
    for (Value operand : op.getOperands()) {
      if (values.contains(operand))
        continue;
      // Constants may stand outside the body.
      auto constant = operand.getDefiningOp<arith::ConstantOp>();
      std::optional<double> value;
      if (constant)
        value = evaluate(*constant, values);
      if (!value)
        return std::nullopt;
      values[operand] = *value;
    }
    std::optional<double> value = evaluate(op, values);
    if (!value)
      return std::nullopt;
    values[op.getResult(0)] = *value;
  }
  Value result = body.getTerminator()->getOperand(0);
  auto found = values.find(result);
  return found == values.end() ? std::nullopt
                               : std::optional<double>(found->second);
}

/// True unless `value` is a constant other than zero.
bool mayBeZero(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return true;
  auto number = dyn_cast<FloatAttr>(constant.getValue());
  return number && number.getValue().isZero();
}

/// True if `body` is piecewise linear with its only kink at zero.
bool isMadeOfChoices(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    if (isa<arith::ConstantOp>(op))
      return mayBeZero(op.getResult(0));
    if (!llvm::all_of(op.getOperands(), mayBeZero))
      return false;
    return isa<arith::AddFOp, arith::ExtFOp, arith::TruncFOp, arith::MaximumFOp,
               arith::MaxNumFOp, arith::CmpFOp, arith::SelectOp>(op);
  });
}

/// True if `body` is one smooth function with tanh.
bool isMadeOfTanh(Block &body) {
  auto ops = body.without_terminator();
  return llvm::any_of(ops, llvm::IsaPred<math::TanhOp>) &&
         llvm::all_of(ops, [](Operation &op) {
           return isa<arith::ConstantOp, arith::AddFOp, arith::SubFOp,
                      arith::MulFOp, arith::DivFOp, arith::NegFOp,
                      arith::ExtFOp, arith::TruncFOp, math::TanhOp,
                      math::FPowIOp, math::PowFOp>(op);
         });
}

/// Rounds `value` to the precision of `semantics`.
double round(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

/// True if `body` yields `function` of the sum of its arguments at all sample
/// points.
bool isEqualAtPoints(Block &body, BlockArgument x, BlockArgument b,
                     llvm::function_ref<double(double)> function) {
  constexpr std::array points = {-7.3, -4.1,  -2.6,  -1.9, -1.1,
                                 -0.7, -0.31, -0.04, 0.02, 0.23,
                                 0.6,  1.3,   1.7,   2.9,  5.2};
  constexpr std::array biases = {0.0, 0.55, -1.35};
  for (double point : points)
    for (double bias : biases) {
      if (!b && bias != 0)
        continue;
      std::optional<double> value = evaluate(body, x, point, b, bias);
      double argument = point + bias;
      double scale = 1 + std::fabs(argument);
      if (!value || !(std::fabs(*value - function(argument)) <= 1e-6 * scale))
        return false;
    }
  return true;
}

/// True if `body` is the approximation of gelu by tanh, with constants of any
/// precision.
bool isGelu(Block &body, BlockArgument x, BlockArgument b) {
  const std::array semantics = {
      &llvm::APFloat::IEEEdouble(), &llvm::APFloat::IEEEsingle(),
      &llvm::APFloat::IEEEhalf(), &llvm::APFloat::BFloat()};
  const double slope = std::sqrt(2 / M_PI), cubic = 0.044715;
  for (const llvm::fltSemantics *format : semantics) {
    double roundedSlope = round(slope, *format);
    double roundedCubic = round(cubic, *format);
    if (isEqualAtPoints(body, x, b, [&](double value) {
          double inner =
              roundedSlope * (value + roundedCubic * value * value * value);
          return 0.5 * value * (1 + std::tanh(inner));
        }))
      return true;
  }
  return false;
}

} // namespace

std::optional<ElementFunction>
braid::matchElementFunction(Block &body, BlockArgument x, BlockArgument b) {
  if (isMadeOfChoices(body)) {
    if (isEqualAtPoints(body, x, b, [](double value) { return value; }))
      return ElementFunction::identity;
    if (isEqualAtPoints(body, x, b,
                        [](double value) { return std::fmax(value, 0.0); }))
      return ElementFunction::relu;
  }
  if (isMadeOfTanh(body) && isGelu(body, x, b))
    return ElementFunction::gelu;
  return std::nullopt;
}
