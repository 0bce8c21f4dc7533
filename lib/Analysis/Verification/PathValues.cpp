//===- PathValues.cpp - What values are on one path of one rank -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PathValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace braid;
using namespace mlir;

bool braid::isScalarType(Type type) {
  return type.isIndex() || type.isSignlessInteger();
}

Type braid::getScalarType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && tensor.getRank() == 0)
    type = tensor.getElementType();
  return isScalarType(type) ? type : Type();
}

/// `scalar` as a constant of `type`, which may be a tensor of it.
static Attribute getConstant(Type type, Attribute scalar) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? DenseElementsAttr::get(tensor, scalar) : scalar;
}

/// The scalar that `constant` has; null for other constants.
static IntegerAttr getScalar(Attribute constant) {
  if (auto elements = dyn_cast<DenseElementsAttr>(constant);
      elements && elements.isSplat())
    constant = elements.getSplatValue<Attribute>();
  return dyn_cast<IntegerAttr>(constant);
}

IntegerAttr braid::getNumberAttr(Type type, int64_t number) {
  if (type.isIndex())
    return IntegerAttr::get(type, number);
  return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), number,
                                      /*isSigned=*/true,
                                      /*implicitTrunc=*/true));
}

/// None for a number that needs more than 64 bits.
static std::optional<int64_t> getNumber(IntegerAttr attribute) {
  // Conditions are 0 and 1.
  if (attribute.getType().isInteger(1))
    return attribute.getValue().getBoolValue();
  return attribute.getValue().trySExtValue();
}

PathValue braid::getConstantScalar(Type type, int64_t number,
                                   bool dependsOnRank) {
  auto scalar = std::make_shared<PathValue::Scalar>();
  scalar->constant = getNumberAttr(type, number);
  scalar->dependsOnRank = dependsOnRank;
  PathValue value;
  value.id = llvm::hash_combine(scalar->constant.getAsOpaquePointer(), 1);
  value.scalar = std::move(scalar);
  return value;
}

int64_t PathChoices::choose(uint64_t id, Value value) {
  auto [it, isNew] = chosen.try_emplace(id, 0);
  if (!isNew)
    return it->second;
  Choice choice;
  choice.value = value;
  auto add = [&](int64_t number) {
    if (!llvm::is_contained(choice.pool, number))
      choice.pool.push_back(number);
  };
  if (getScalarType(value.getType()).isInteger(1)) {
    choice.pool = {1, 0};
  } else {
    choice.pool = {2, 0, 1, 3};
    for (int64_t constant : constants) {
      add(constant);
      if (int64_t next; !llvm::AddOverflow(constant, int64_t{1}, next))
        add(next);
    }
  }
  size_t number = choices.size();
  choice.chosen = number < prefix.size() ? prefix[number] : 0;
  it->second = getValue(choice);
  choices.push_back(std::move(choice));
  return it->second;
}

Attribute ScalarEvaluator::computeNew(const PathValue &value, bool mayChoose) {
  const PathValue::Scalar &scalar = *value.scalar;
  usedRank |= scalar.dependsOnRank;
  if (scalar.constant)
    return scalar.constant;
  if (scalar.op && isa<arith::SelectOp>(scalar.op)) {
    Attribute condition = compute(scalar.operands[0], mayChoose);
    if (condition)
      return compute(
          scalar.operands[*getNumber(cast<IntegerAttr>(condition)) ? 1 : 2],
          mayChoose);
    return {};
  }
  if (scalar.op) {
    SmallVector<Attribute> operands;
    // Folding changes no op whose operands are all constant.
    for (auto [operand, type] :
         llvm::zip(scalar.operands, scalar.op->getOperandTypes())) {
      Attribute attribute =
          operand.scalar ? compute(operand, mayChoose) : Attribute();
      if (!attribute)
        break;
      operands.push_back(getConstant(type, attribute));
    }
    bool isKnown = operands.size() == scalar.operands.size();
    SmallVector<OpFoldResult> results;
    if (isKnown && succeeded(scalar.op->fold(operands, results)) &&
        results.size() == scalar.op->getNumResults()) {
      OpFoldResult result = results[scalar.resultNumber];
      if (auto attribute = dyn_cast<Attribute>(result))
        return getScalar(attribute);
      // An op may fold to one of its operands.
      for (auto [operand, attribute] :
           llvm::zip_equal(scalar.op->getOperands(), operands))
        if (operand == cast<Value>(result))
          return getScalar(attribute);
    }
  }
  if (!mayChoose)
    return {};
  return getNumberAttr(getScalarType(scalar.value.getType()),
                       choices.choose(value.id, scalar.value));
}

Attribute ScalarEvaluator::compute(const PathValue &value, bool mayChoose) {
  if (auto it = known.find(value.id); it != known.end()) {
    usedRank |= value.scalar->dependsOnRank;
    return it->second;
  }
  Attribute attribute = computeNew(value, mayChoose);
  if (attribute)
    known[value.id] = attribute;
  return attribute;
}

std::optional<int64_t> ScalarEvaluator::evaluate(const PathValue &value) {
  if (!value.scalar)
    return std::nullopt;
  return getNumber(cast<IntegerAttr>(compute(value, /*mayChoose=*/true)));
}

std::optional<int64_t> ScalarEvaluator::evaluateKnown(const PathValue &value) {
  if (!value.scalar)
    return std::nullopt;
  Attribute attribute = compute(value, /*mayChoose=*/false);
  return attribute ? getNumber(cast<IntegerAttr>(attribute)) : std::nullopt;
}
