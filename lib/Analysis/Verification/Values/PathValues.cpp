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

/// True for integers, and for the floats that conditions and sizes may come
/// from.
static bool isNumberType(Type type) {
  return isScalarType(type) || type.isF16() || type.isBF16() || type.isF32() ||
         type.isF64();
}

Type braid::getScalarType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && tensor.getRank() == 0)
    type = tensor.getElementType();
  return isNumberType(type) ? type : Type();
}

/// `scalar` as a constant of `type`, which may be a tensor of it.
static Attribute getConstant(Type type, Attribute scalar) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? DenseElementsAttr::get(tensor, scalar) : scalar;
}

/// The scalar that `constant` has; null for other constants.
static TypedAttr getScalar(Attribute constant) {
  if (auto elements = dyn_cast<DenseElementsAttr>(constant);
      elements && elements.isSplat())
    constant = elements.getSplatValue<Attribute>();
  return isa<IntegerAttr, FloatAttr>(constant) ? cast<TypedAttr>(constant)
                                               : TypedAttr();
}

IntegerAttr braid::getNumberAttr(Type type, int64_t number) {
  if (type.isIndex())
    return IntegerAttr::get(type, number);
  return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), number,
                                      /*isSigned=*/true,
                                      /*implicitTrunc=*/true));
}

/// None for a float, and for a number that needs more than 64 bits.
static std::optional<int64_t> getNumber(Attribute number) {
  auto attribute = dyn_cast_or_null<IntegerAttr>(number);
  if (!attribute)
    return std::nullopt;
  // Conditions are 0 and 1.
  if (attribute.getType().isInteger(1))
    return attribute.getValue().getBoolValue();
  return attribute.getValue().trySExtValue();
}

PathValue braid::getConstantScalar(Type type, int64_t number,
                                   bool dependsOnRank) {
  return getConstantScalar(getNumberAttr(type, number), dependsOnRank);
}

PathValue braid::getConstantScalar(TypedAttr number, bool dependsOnRank) {
  auto scalar = std::make_shared<PathValue::Scalar>();
  scalar->constant = number;
  scalar->type = number.getType();
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
  if (!isa<RankedTensorType, MemRefType>(type))
    return isNumberType(type);
  auto shaped = cast<ShapedType>(type);
  return isNumberType(shaped.getElementType()) && shaped.hasStaticShape() &&
         shaped.getNumElements() <= mostElements;
}

bool braid::mayBeUniform(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !hasKnownElements(type) &&
         isNumberType(tensor.getElementType());
}

PathValue braid::makeUniform(Type type, const PathValue &element) {
  if (hasKnownElements(type))
    return makeTensor(
        type, std::vector<PathValue>(cast<ShapedType>(type).getNumElements(),
                                     element));
  PathValue tensor;
  tensor.id = llvm::hash_combine(type.getAsOpaquePointer(), element.id, 29);
  tensor.isOpen = element.isOpen;
  if (mayBeUniform(type))
    tensor.uniform = std::make_shared<const PathValue>(element);
  return tensor;
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

/// The id of an element of which nothing is known.
static uint64_t getElementId(const PathValue &tensor, int64_t index) {
  return llvm::hash_combine(tensor.id, index, 13);
}

PathValue braid::getElement(const PathValue &tensor, Value value,
                            int64_t index) {
  if (tensor.scalar)
    return tensor;
  if (tensor.elements)
    return (*tensor.elements)[index];
  PathValue element =
      getUnknownScalar(value, getElementTypeOrSelf(value.getType()),
                       getElementId(tensor, index));
  element.isOpen = tensor.isOpen;
  return element;
}

std::vector<PathValue> braid::getElements(const PathValue &tensor,
                                          Value value) {
  if (tensor.elements)
    return *tensor.elements;
  int64_t count = cast<ShapedType>(value.getType()).getNumElements();
  if (count == 0)
    return {};
  std::vector<PathValue> elements(count, getElement(tensor, value, 0));
  // They differ in nothing else.
  if (!tensor.scalar)
    for (auto [i, element] : llvm::enumerate(elements))
      element.id = getElementId(tensor, i);
  return elements;
}

PathValue braid::makeTensor(Type type, std::vector<PathValue> elements) {
  if (cast<ShapedType>(type).getRank() == 0 && !elements.empty())
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
      return compute(scalar.operands[*getNumber(condition) ? 1 : 2], choosing);
    return {};
  }
  if (scalar.op) {
    SmallVector<Attribute> operands;
    // Folding changes no op whose operands are all constant.
    for (auto [operand, type] :
         llvm::zip(scalar.operands, scalar.op->getOperandTypes())) {
      Attribute attribute;
      if (operand.scalar)
        attribute = compute(operand, isa<FloatType>(operand.scalar->type)
                                         ? Choosing::Nothing
                                         : choosing);
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
  // Ranks may choose differently where the value comes from what they are. Of
  // floats only what is computed from them is chosen.
  if (choosing == Choosing::Nothing || isa<FloatType>(scalar.type) ||
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
  return getNumber(compute(value, Choosing::All));
}

std::optional<int64_t> ScalarEvaluator::evaluateKnown(const PathValue &value) {
  if (!value.scalar)
    return std::nullopt;
  return getNumber(compute(value, Choosing::Nothing));
}

bool ScalarEvaluator::isUnknownFloat(const PathValue &value) const {
  if (!value.scalar)
    return true;
  const PathValue::Scalar &scalar = *value.scalar;
  return !scalar.constant && !scalar.op && isa<FloatType>(scalar.type) &&
         !known.contains(value.id);
}

TypedAttr ScalarEvaluator::evaluateNumber(const PathValue &value) {
  if (!value.scalar)
    return {};
  bool usedRankBefore = usedRank, usedOpenBefore = usedOpen;
  Attribute number = compute(value, Choosing::Nothing);
  usedRank = usedRankBefore;
  usedOpen = usedOpenBefore;
  return cast_or_null<TypedAttr>(number);
}

std::optional<int64_t> ScalarEvaluator::evaluateForAll(const PathValue &value) {
  if (!value.scalar)
    return std::nullopt;
  Attribute attribute =
      compute(value, value.scalar->dependsOnRank ? Choosing::Shared
                                                 : Choosing::Nothing);
  return getNumber(attribute);
}
