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
#include "mlir/IR/TypeUtilities.h"
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

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

bool braid::hasKnownElements(Type type) {
  constexpr int64_t mostElements = 64;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return isScalarType(type);
  return isScalarType(tensor.getElementType()) && tensor.hasStaticShape() &&
         tensor.getNumElements() <= mostElements;
}

PathValue braid::getUnknownScalar(Value value, Type type, uint64_t id) {
  auto scalar = std::make_shared<PathValue::Scalar>();
  scalar->value = value;
  scalar->type = type;
  PathValue element;
  element.id = id;
  element.scalar = std::move(scalar);
  return element;
}

PathValue braid::getElement(const PathValue &tensor, Value value,
                            int64_t index) {
  if (tensor.scalar)
    return tensor;
  if (tensor.elements)
    return (*tensor.elements)[index];
  PathValue element =
      getUnknownScalar(value, getElementTypeOrSelf(value.getType()),
                       llvm::hash_combine(tensor.id, index, 13));
  element.isOpen = tensor.isOpen;
  return element;
}

std::vector<PathValue> braid::getElements(const PathValue &tensor,
                                          Value value) {
  std::vector<PathValue> elements;
  int64_t count = cast<ShapedType>(value.getType()).getNumElements();
  for (int64_t i = 0; i != count; ++i)
    elements.push_back(getElement(tensor, value, i));
  return elements;
}

PathValue braid::makeTensor(Type type, std::vector<PathValue> elements) {
  if (cast<ShapedType>(type).getRank() == 0)
    return elements.front();
  PathValue tensor;
  tensor.id = llvm::hash_combine(type.getAsOpaquePointer(), 15);
  for (const PathValue &element : elements) {
    tensor.id = llvm::hash_combine(tensor.id, element.id);
    tensor.isOpen |= element.isOpen;
  }
  tensor.elements =
      std::make_shared<const std::vector<PathValue>>(std::move(elements));
  return tensor;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

int64_t PathChoices::add(uint64_t id, Choice choice) {
  size_t number = choices.size();
  choice.chosen = number < prefix.size() ? prefix[number] : 0;
  int64_t value = getValue(choice);
  chosen[id] = value;
  choices.push_back(std::move(choice));
  return value;
}

int64_t PathChoices::choose(uint64_t id, Value value, Type type) {
  if (auto it = chosen.find(id); it != chosen.end())
    return it->second;
  Choice choice;
  choice.value = value;
  choice.op = value.getDefiningOp();
  if (!choice.op)
    choice.op = value.getParentBlock()->getParentOp();
  auto add = [&](int64_t number) {
    if (!llvm::is_contained(choice.pool, number))
      choice.pool.push_back(number);
  };
  if (type.isInteger(1)) {
    choice.pool = {1, 0};
  } else {
    choice.pool = {2, 0, 1, 3};
    for (int64_t constant : constants) {
      add(constant);
      if (int64_t next; !llvm::AddOverflow(constant, int64_t{1}, next))
        add(next);
    }
  }
  return this->add(id, std::move(choice));
}

unsigned PathChoices::chooseSuccessor(uint64_t id, Operation *op,
                                      unsigned count) {
  if (auto it = chosen.find(id); it != chosen.end())
    return it->second;
  Choice choice;
  choice.op = op;
  for (unsigned number = 0; number != count; ++number)
    choice.pool.push_back(number);
  return add(id, std::move(choice));
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

Attribute ScalarEvaluator::computeNew(const PathValue &value,
                                      Choosing choosing) {
  const PathValue::Scalar &scalar = *value.scalar;
  usedRank |= scalar.dependsOnRank;
  usedOpen |= value.isOpen;
  if (scalar.constant)
    return scalar.constant;
  if (scalar.op && isa<arith::SelectOp>(scalar.op)) {
    Attribute condition = compute(scalar.operands[0], choosing);
    if (condition)
      return compute(
          scalar.operands[*getNumber(cast<IntegerAttr>(condition)) ? 1 : 2],
          choosing);
    return {};
  }
  if (scalar.op) {
    SmallVector<Attribute> operands;
    // Folding changes no op whose operands are all constant.
    for (auto [operand, type] :
         llvm::zip(scalar.operands, scalar.op->getOperandTypes())) {
      Attribute attribute =
          operand.scalar ? compute(operand, choosing) : Attribute();
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
  // Ranks may choose differently where the value comes from what they are.
  if (choosing == Choosing::Nothing ||
      (choosing == Choosing::Shared && scalar.dependsOnRank))
    return {};
  return getNumberAttr(scalar.type,
                       choices.choose(value.id, scalar.value, scalar.type));
}

Attribute ScalarEvaluator::compute(const PathValue &value, Choosing choosing) {
  if (auto it = known.find(value.id); it != known.end()) {
    usedRank |= value.scalar->dependsOnRank;
    usedOpen |= value.isOpen;
    return it->second;
  }
  Attribute attribute = computeNew(value, choosing);
  if (attribute)
    known[value.id] = attribute;
  return attribute;
}

std::optional<int64_t> ScalarEvaluator::evaluate(const PathValue &value) {
  if (!value.scalar)
    return std::nullopt;
  return getNumber(cast<IntegerAttr>(compute(value, Choosing::All)));
}

std::optional<int64_t> ScalarEvaluator::evaluateKnown(const PathValue &value) {
  if (!value.scalar)
    return std::nullopt;
  Attribute attribute = compute(value, Choosing::Nothing);
  return attribute ? getNumber(cast<IntegerAttr>(attribute)) : std::nullopt;
}

std::optional<int64_t> ScalarEvaluator::evaluateForAll(const PathValue &value) {
  if (!value.scalar)
    return std::nullopt;
  Attribute attribute =
      compute(value, value.scalar->dependsOnRank ? Choosing::Shared
                                                 : Choosing::Nothing);
  return attribute ? getNumber(cast<IntegerAttr>(attribute)) : std::nullopt;
}
