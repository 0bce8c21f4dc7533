//===- RankValues.cpp - One rank on one path: values ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankExecution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

PathValue RankExecution::makeUnknown(Value value, uint64_t id) {
  PathValue unknown;
  unknown.id = id;
  Type type = value.getType();
  if (isa<comm::TokenType>(type)) {
    // Poison stands for a token where there is none.
    if (value.getDefiningOp<ub::PoisonOp>())
      return unknown;
    unknown.token = tokens.add(value, std::nullopt, 0);
  } else if (isa<BaseMemRefType>(type)) {
    unknown.buffer = makeRoot(value, id, {});
  } else if (Type scalarType = getScalarType(type)) {
    unknown = getUnknownScalar(value, scalarType, id);
  }
  return unknown;
}

/// Binds the results of `op` to values of which nothing is known.
void RankExecution::bindUnknown(Operation *op, Frame &frame) {
  if (op->getNumResults() == 0)
    return;
  uint64_t run = countRun(op);
  for (OpResult result : op->getResults())
    frame[result] = makeUnknown(
        result, llvm::hash_combine(op, run, result.getResultNumber()));
  setSizes(op, frame);
}

bool RankExecution::bindGroupQuery(Operation *op, Frame &frame) {
  bool isRank = isa<comm::RankOp>(op);
  if (!isRank && !isa<comm::SizeOp>(op))
    return false;
  comm::GroupOp group =
      query.getGroup(op, op->getAttrOfType<FlatSymbolRefAttr>("group"));
  if (!group)
    return false;
  SmallVector<int64_t> members = getMembers(group, rank, numRanks);
  auto *position = llvm::find(members, rank);
  int64_t number = static_cast<int64_t>(members.size());
  if (isRank)
    number = position == members.end() ? -1 : position - members.begin();
  bool dependsOnRank = isRank || (!group.isAll() && !group.getStaticSize());
  frame[op->getResult(0)] =
      getConstantScalar(op->getResult(0).getType(), number, dependsOnRank);
  return true;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The position of the element at `indices` in an array of `sizes`; none if an
/// index is not known or out of bounds.
static std::optional<int64_t>
getPosition(ArrayRef<std::optional<int64_t>> indices, ArrayRef<int64_t> sizes) {
  int64_t position = 0;
  for (auto [index, size] : llvm::zip_equal(indices, sizes)) {
    if (!index || *index < 0 || *index >= size)
      return std::nullopt;
    position = position * size + *index;
  }
  return position;
}

void braid::visitIndices(ArrayRef<int64_t> sizes,
                         function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> indices(sizes.size());
  for (int64_t i = 0, e = ShapedType::getNumElements(sizes); i < e; ++i) {
    int64_t rest = i;
    for (size_t dim = sizes.size(); dim-- != 0;) {
      indices[dim] = rest % sizes[dim];
      rest /= sizes[dim];
    }
    visit(indices);
  }
}

/// Binds the result of an op that moves elements of tensors whose elements are
/// followed. Nothing is bound where an operand has no known elements: then
/// equal operands still give equal results.
bool RankExecution::bindElements(Operation *op, Frame &frame) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  Value result = op->getResult(0);
  auto isFollowed = [](Value value) {
    return isa<RankedTensorType>(value.getType()) &&
           hasKnownElements(value.getType());
  };
  auto getShape = [](Value value) {
    return cast<ShapedType>(value.getType()).getShape();
  };
  auto getNumbers = [&](ArrayRef<OpFoldResult> values) {
    return llvm::map_to_vector(
        values, [&](OpFoldResult value) { return getKnown(value, frame); });
  };
  // Where the elements of a part of `whole` are; empty if that is not known.
  auto getPositions = [&](OffsetSizeAndStrideOpInterface slice,
                          ArrayRef<int64_t> whole) {
    SmallVector<std::optional<int64_t>> offsets =
        getNumbers(slice.getMixedOffsets());
    SmallVector<std::optional<int64_t>> sizes =
        getNumbers(slice.getMixedSizes());
    SmallVector<std::optional<int64_t>> strides =
        getNumbers(slice.getMixedStrides());
    SmallVector<int64_t> positions, part;
    for (std::optional<int64_t> size : sizes)
      part.push_back(size.value_or(0));
    visitIndices(part, [&](ArrayRef<int64_t> indices) {
      SmallVector<std::optional<int64_t>> place;
      for (auto [offset, index, stride] :
           llvm::zip_equal(offsets, indices, strides))
        place.push_back(offset && stride
                            ? std::optional(*offset + index * *stride)
                            : std::nullopt);
      positions.push_back(getPosition(place, whole).value_or(-1));
    });
    if (llvm::is_contained(positions, -1))
      positions.clear();
    return positions;
  };
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (!isFollowed(extract.getTensor()))
      return false;
    std::optional<int64_t> position =
        getPosition(getNumbers(getAsOpFoldResult(extract.getIndices())),
                    getShape(extract.getTensor()));
    if (!position)
      return false;
    PathValue element = getElement(get(extract.getTensor(), frame),
                                   extract.getTensor(), *position);
    frame[result] = std::move(element);
    return true;
  }
  if (!isFollowed(result) ||
      cast<ShapedType>(result.getType()).getNumElements() == 0)
    return false;
  std::vector<PathValue> elements;
  if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    std::optional<int64_t> position = getPosition(
        getNumbers(getAsOpFoldResult(insert.getIndices())), getShape(result));
    if (!position)
      return false;
    elements = getElements(get(insert.getDest(), frame), insert.getDest());
    elements[*position] = get(insert.getScalar(), frame);
  } else if (auto create = dyn_cast<tensor::FromElementsOp>(op)) {
    Values values = getAll(create.getElements(), frame);
    elements.assign(values.begin(), values.end());
  } else if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    elements.assign(cast<ShapedType>(result.getType()).getNumElements(),
                    get(splat.getInput(), frame));
  } else if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                 tensor::ReshapeOp>(op)) {
    const PathValue &source = get(op->getOperand(0), frame);
    if (!isFollowed(op->getOperand(0)) || (!source.elements && !source.scalar))
      return false;
    elements = getElements(source, op->getOperand(0));
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    const PathValue &source = get(slice.getSource(), frame);
    if (!isFollowed(slice.getSource()) || !source.elements)
      return false;
    for (int64_t position : getPositions(slice, getShape(slice.getSource())))
      elements.push_back((*source.elements)[position]);
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (!isFollowed(insert.getSource()))
      return false;
    SmallVector<int64_t> positions = getPositions(insert, getShape(result));
    std::vector<PathValue> part =
        getElements(get(insert.getSource(), frame), insert.getSource());
    if (positions.size() != part.size())
      return false;
    elements = getElements(get(insert.getDest(), frame), insert.getDest());
    for (auto [position, element] : llvm::zip_equal(positions, part))
      elements[position] = element;
  } else if (op->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(op) &&
             op->getNumRegions() == 0) {
    bool isKnown = llvm::any_of(op->getOperands(), [&](Value operand) {
      return get(operand, frame).elements != nullptr;
    });
    if (!isKnown || !llvm::all_of(op->getOperandTypes(), hasKnownElements))
      return false;
    int64_t count = cast<ShapedType>(result.getType()).getNumElements();
    for (int64_t i = 0; i != count; ++i) {
      Values operands;
      for (Value operand : op->getOperands())
        operands.push_back(isa<ShapedType>(operand.getType())
                               ? getElement(get(operand, frame), operand, i)
                               : get(operand, frame));
      elements.push_back(makeScalar(op, 0, operands));
    }
  } else {
    return false;
  }
  if (static_cast<int64_t>(elements.size()) !=
      cast<ShapedType>(result.getType()).getNumElements())
    return false;
  frame[result] = makeTensor(result.getType(), std::move(elements));
  return true;
}

/// Binds the result of an op on larger tensors all of whose elements are equal.
bool RankExecution::bindUniform(Operation *op, Frame &frame) {
  if (op->getNumResults() != 1)
    return false;
  Value result = op->getResult(0);
  Type type = result.getType();
  auto getUniform = [&](Value value) -> const PathValue * {
    return isa<RankedTensorType>(value.getType())
               ? get(value, frame).uniform.get()
               : &get(value, frame);
  };
  auto bindTo = [&](const PathValue *element) {
    if (!element || !element->scalar)
      return false;
    PathValue value = *element;
    frame[result] = makeUniform(type, value);
    return true;
  };
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    const PathValue *element = getUniform(extract.getTensor());
    if (!element)
      return false;
    PathValue value = *element;
    frame[result] = std::move(value);
    return true;
  }
  if (!mayBeUniform(type) && !hasKnownElements(type))
    return false;
  if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::ReshapeOp, tensor::ExtractSliceOp>(op))
    return bindTo(getUniform(op->getOperand(0)));
  if (!mayBeUniform(type))
    return false;
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return bindTo(&get(splat.getInput(), frame));
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return bindTo(&get(fill.getInputs().front(), frame));
  if (DenseElementsAttr constant; op->hasTrait<OpTrait::ConstantLike>() &&
                                  matchPattern(op, m_Constant(&constant)) &&
                                  constant.isSplat()) {
    PathValue element =
        getConstantScalar(cast<TypedAttr>(constant.getSplatValue<Attribute>()),
                          /*dependsOnRank=*/false);
    return bindTo(&element);
  }
  if (!op->hasTrait<OpTrait::Elementwise>() || !isMemoryEffectFree(op) ||
      op->getNumRegions() != 0 || op->getNumOperands() == 0)
    return false;
  Values operands;
  for (Value operand : op->getOperands()) {
    const PathValue *element = getUniform(operand);
    if (!element)
      return false;
    operands.push_back(*element);
  }
  PathValue element = makeScalar(op, 0, operands);
  return bindTo(&element);
}

//===----------------------------------------------------------------------===//
// Computed scalars
//===----------------------------------------------------------------------===//

static unsigned getDepth(const PathValue &value) {
  return value.scalar ? value.scalar->depth : 0;
}

/// The scalar `id` that `result`, of an op without effects, is computed from
/// `operands`, which may be done for each element of tensors.
PathValue RankExecution::computeScalar(OpResult result, uint64_t id,
                                       ArrayRef<PathValue> operands) {
  auto scalar = std::make_shared<PathValue::Scalar>();
  scalar->op = result.getOwner();
  scalar->resultNumber = result.getResultNumber();
  scalar->value = result;
  scalar->type = getElementTypeOrSelf(result.getType());
  scalar->operands.assign(operands.begin(), operands.end());
  PathValue value;
  value.id = id;
  for (const PathValue &operand : operands) {
    value.isOpen |= operand.isOpen;
    scalar->dependsOnRank |= operand.scalar && operand.scalar->dependsOnRank;
    scalar->depth = std::max(scalar->depth, getDepth(operand) + 1);
  }
  value.scalar = scalar;
  settle(*scalar, value);
  return value;
}

/// The scalar that result number `resultNumber` of `op` is for `operands`, the
/// same for all ops of its name and attributes.
PathValue RankExecution::makeScalar(Operation *op, unsigned resultNumber,
                                    ArrayRef<PathValue> operands) {
  uint64_t id = llvm::hash_combine(op->getName().getAsOpaquePointer(),
                                   op->getAttrDictionary().getAsOpaquePointer(),
                                   resultNumber, 21);
  for (const PathValue &operand : operands)
    id = llvm::hash_combine(id, operand.id);
  return computeScalar(op->getResult(resultNumber), id, operands);
}

/// Drops what a float, or an integer at the end of a long chain of ops, is
/// computed from: of a float that is not known now, nobody asks for more, and
/// chains are as long as the path. `scalar` is that of `value`.
void RankExecution::settle(PathValue::Scalar &scalar, const PathValue &value) {
  constexpr unsigned mostDepth = 1024;
  if (!isa<FloatType>(scalar.type) && scalar.depth < mostDepth)
    return;
  scalar.constant = scalars.evaluateNumber(value);
  scalar.op = nullptr;
  scalar.operands.clear();
  scalar.depth = 0;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The size of dimension `dim` of the tensor `value`.
PathValue RankExecution::getSize(Value value, int64_t dim, Frame &frame) {
  auto type = cast<RankedTensorType>(value.getType());
  Type index = IndexType::get(type.getContext());
  if (!type.isDynamicDim(dim))
    return getConstantScalar(index, type.getDimSize(dim),
                             /*dependsOnRank=*/false);
  const PathValue &tensor = get(value, frame);
  if (tensor.sizes)
    return (*tensor.sizes)[dim];
  PathValue size =
      getUnknownScalar(value, index, llvm::hash_combine(tensor.id, dim, 17));
  size.isOpen = tensor.isOpen;
  return size;
}

bool RankExecution::bindSize(Operation *op, Frame &frame) {
  auto size = dyn_cast<tensor::DimOp>(op);
  if (!size || !isa<RankedTensorType>(size.getSource().getType()))
    return false;
  std::optional<int64_t> dim = getKnown(size.getDimension(), frame);
  if (!dim || *dim < 0 ||
      *dim >= cast<RankedTensorType>(size.getSource().getType()).getRank())
    return false;
  PathValue value = getSize(size.getSource(), *dim, frame);
  frame[size.getResult()] = std::move(value);
  return true;
}

/// Sets what is known of the dynamic sizes of the results of `op`.
void RankExecution::setSizes(Operation *op, Frame &frame) {
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || type.hasStaticShape() || get(result, frame).sizes)
      continue;
    std::vector<PathValue> sizes;
    auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op);
    bool isCast = isa<CastOpInterface>(op) && op->getNumOperands() == 1 &&
                  isa<RankedTensorType>(op->getOperand(0).getType());
    if (destinationStyle || isCast) {
      Value from = destinationStyle
                       ? destinationStyle.getTiedOpOperand(result)->get()
                       : op->getOperand(0);
      for (int64_t dim = 0; dim != type.getRank(); ++dim)
        sizes.push_back(getSize(from, dim, frame));
    } else {
      const CommunicationQuery::Shapes &shapes = query.getShapes(op);
      if (shapes.sizes.size() != op->getNumResults())
        return;
      for (Operation *sizeOp : shapes.ops)
        if (!bindGroupQuery(sizeOp, frame) && !bindSize(sizeOp, frame))
          bindScalars(sizeOp, frame);
      for (OpFoldResult size : shapes.sizes[result.getResultNumber()])
        sizes.push_back(
            isa<Attribute>(size)
                ? getConstantScalar(
                      IndexType::get(op->getContext()),
                      cast<IntegerAttr>(cast<Attribute>(size)).getInt(),
                      /*dependsOnRank=*/false)
                : get(cast<Value>(size), frame));
    }
    if (static_cast<int64_t>(sizes.size()) == type.getRank())
      frame[result].sizes =
          std::make_shared<const std::vector<PathValue>>(std::move(sizes));
  }
}

//===----------------------------------------------------------------------===//
// Results of all other ops
//===----------------------------------------------------------------------===//

void RankExecution::bindResults(Operation *op, Frame &frame) {
  // Of tensors the chosen one has elements and sizes.
  if (auto select = dyn_cast<arith::SelectOp>(op);
      select && isa<RankedTensorType>(select.getType()) &&
      isScalarType(select.getCondition().getType()))
    if (std::optional<int64_t> holds =
            scalars.evaluateKnown(get(select.getCondition(), frame))) {
      PathValue chosen =
          get(*holds ? select.getTrueValue() : select.getFalseValue(), frame);
      frame[select.getResult()] = std::move(chosen);
      return;
    }
  bindScalars(op, frame);
  setSizes(op, frame);
}

void RankExecution::bindScalars(Operation *op, Frame &frame) {
  if (op->getNumResults() == 0)
    return;
  if (DenseElementsAttr constant;
      op->hasTrait<OpTrait::ConstantLike>() &&
      hasKnownElements(op->getResult(0).getType()) &&
      matchPattern(op, m_Constant(&constant)) && !constant.empty()) {
    std::vector<PathValue> elements;
    for (Attribute element : constant.getValues<Attribute>())
      elements.push_back(getConstantScalar(cast<TypedAttr>(element),
                                           /*dependsOnRank=*/false));
    frame[op->getResult(0)] =
        makeTensor(constant.getType(), std::move(elements));
    return;
  }
  for (Value operand : op->getOperands())
    if (std::optional<unsigned> token = get(operand, frame).token;
        token && !isa<arith::SelectOp>(op))
      tokens.handOut(*token, op);
  // What a load gives changes with the next write to its buffer.
  bool isPure = isMemoryEffectFree(op);
  uint64_t id =
      llvm::hash_combine(op->getName().getAsOpaquePointer(),
                         op->getAttrDictionary().getAsOpaquePointer());
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (const auto &buffer = get(load.getMemRef(), frame).buffer) {
      id = llvm::hash_combine(id, versions[buffer->root]);
      isPure = true;
    }
  }
  // Attributes do not tell what a body computes, and from what.
  if (isPure && op->getNumRegions() != 0) {
    id = llvm::hash_combine(id, op);
    mlir::visitUsedValuesDefinedAbove(op->getRegions(), [&](OpOperand *used) {
      id = llvm::hash_combine(id, get(used->get(), frame).id);
    });
  }
  if (!isPure)
    id = llvm::hash_combine(op, countRun(op));
  Values operands = getAll(op->getOperands(), frame);
  bool dependsOnRank = false, isOpen = false;
  for (const PathValue &operand : operands) {
    isOpen |= operand.isOpen;
    id = llvm::hash_combine(id, operand.id);
    dependsOnRank |= operand.scalar && operand.scalar->dependsOnRank;
  }
  for (OpResult result : op->getResults()) {
    uint64_t resultId = llvm::hash_combine(
        id, result.getResultNumber(), result.getType().getAsOpaquePointer());
    if (isPure && !isa<memref::LoadOp>(op) && getScalarType(result.getType())) {
      PathValue value = computeScalar(result, resultId, operands);
      frame[result] = std::move(value);
      continue;
    }
    PathValue value = makeUnknown(result, resultId);
    value.isOpen = isOpen;
    if (value.scalar && dependsOnRank) {
      auto scalar = std::make_shared<PathValue::Scalar>(*value.scalar);
      scalar->dependsOnRank = true;
      value.scalar = std::move(scalar);
    }
    frame[result] = value;
  }
}

std::optional<int64_t> RankExecution::getKnown(OpFoldResult value,
                                               Frame &frame) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return cast<IntegerAttr>(attribute).getInt();
  return scalars.evaluateKnown(get(cast<Value>(value), frame));
}
