//===- RankBodies.cpp - One rank on one path: bodies of linalg ops --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A body runs for each point of its op on each path of each rank. What these
// runs have in common is found once.
//
//===----------------------------------------------------------------------===//

#include "RankExecution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

static bool hasDims(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type && type.getRank() != 0;
}

/// True if elements of all operands may be followed.
static bool mayBeFollowed(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() != 0 &&
         llvm::all_of(op->getOperandTypes(),
                      [](Type type) {
                        return !isa<ShapedType>(type) ||
                               hasKnownElements(type) ||
                               (cast<ShapedType>(type).hasRank() &&
                                cast<ShapedType>(type).getRank() == 0);
                      }) &&
         llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &nested) {
                        return nested.getNumRegions() == 0 &&
                               isMemoryEffectFree(&nested);
                      });
}

const CommunicationQuery::Body &CommunicationQuery::getBody(Operation *op) {
  auto [it, isNew] = bodies.try_emplace(op);
  if (!isNew)
    return *it->second;
  it->second = std::make_unique<Body>();
  Body &found = *it->second;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || !mayBeFollowed(structured))
    return found;
  constexpr int64_t mostPoints = 256;
  SmallVector<int64_t> ranges = structured.getStaticLoopRanges();
  if (llvm::any_of(ranges, ShapedType::isDynamic) ||
      ShapedType::getNumElements(ranges) > mostPoints)
    return found;
  found.isFollowed = true;
  found.hasDims = !ranges.empty();

  SmallVector<AffineMap> maps = structured.getIndexingMapsArray();
  visitIndices(ranges, [&](ArrayRef<int64_t> indices) {
    llvm::append_range(found.indices, indices);
    for (auto [operand, map] : llvm::zip_equal(op->getOperands(), maps)) {
      int64_t place = 0;
      if (hasDims(operand))
        for (auto [index, size] :
             llvm::zip_equal(map.compose(indices),
                             cast<ShapedType>(operand.getType()).getShape()))
          place = place * size + index;
      found.places.push_back(place);
    }
    ++found.numPoints;
  });

  Block &block = *structured.getBlock();
  llvm::DenseMap<Value, unsigned> slots;
  for (BlockArgument argument : block.getArguments())
    slots.try_emplace(argument, slots.size());
  for (Operation &nested : block.without_terminator())
    for (Value result : nested.getResults())
      slots.try_emplace(result, slots.size());
  auto getSlot = [&](Value value) {
    auto [slot, isCaptured] = slots.try_emplace(value, slots.size());
    if (isCaptured)
      found.captured.push_back(value);
    return slot->second;
  };
  found.numOwnSlots = slots.size();
  for (Operation &nested : block.without_terminator()) {
    Body::Step step;
    step.op = &nested;
    if (auto index = dyn_cast<linalg::IndexOp>(nested))
      step.dim = index.getDim();
    step.isScalar =
        !isa<comm::CommDialect>(nested.getDialect()) &&
        llvm::all_of(nested.getResultTypes(), getScalarType) &&
        llvm::none_of(nested.getOperandTypes(), llvm::IsaPred<ShapedType>) &&
        llvm::none_of(nested.getResultTypes(), llvm::IsaPred<ShapedType>);
    step.id =
        llvm::hash_combine(nested.getName().getAsOpaquePointer(),
                           nested.getAttrDictionary().getAsOpaquePointer());
    for (Value operand : nested.getOperands())
      step.operands.push_back(getSlot(operand));
    for (OpResult result : nested.getResults()) {
      step.results.push_back(getSlot(result));
      if (!step.isScalar || !isa<FloatType>(result.getType()))
        continue;
      for (bool dependsOnRank : {false, true}) {
        auto scalar = std::make_shared<PathValue::Scalar>();
        scalar->resultNumber = result.getResultNumber();
        scalar->value = result;
        scalar->type = result.getType();
        scalar->dependsOnRank = dependsOnRank;
        step.unknown[dependsOnRank].push_back(std::move(scalar));
      }
    }
    found.steps.push_back(std::move(step));
  }
  for (Value yielded : block.getTerminator()->getOperands())
    found.yielded.push_back(getSlot(yielded));
  found.numInputs = structured.getNumDpsInputs();
  return found;
}

/// Runs `step` of a body, at the point with `indices`, on the values in
/// `slots`.
void RankExecution::runStep(const CommunicationQuery::Body::Step &step,
                            ArrayRef<int64_t> indices,
                            MutableArrayRef<PathValue> slots, Frame &frame) {
  if (step.dim) {
    slots[step.results.front()] =
        getConstantScalar(step.op->getResult(0).getType(), indices[*step.dim],
                          /*dependsOnRank=*/false);
    return;
  }
  if (!step.isScalar) {
    for (auto [operand, slot] :
         llvm::zip_equal(step.op->getOperands(), step.operands))
      frame[operand] = slots[slot];
    if (!bindGroupQuery(step.op, frame) && !bindElements(step.op, frame))
      bindResults(step.op, frame);
    for (auto [result, slot] :
         llvm::zip_equal(step.op->getResults(), step.results))
      slots[slot] = get(result, frame);
    return;
  }
  Values operands;
  uint64_t id = step.id;
  bool isOpen = false, dependsOnRank = false, isUnknown = false;
  for (unsigned slot : step.operands) {
    const PathValue &operand = operands.emplace_back(slots[slot]);
    id = llvm::hash_combine(id, operand.id);
    isOpen |= operand.isOpen;
    dependsOnRank |= operand.scalar && operand.scalar->dependsOnRank;
    isUnknown |= scalars.isUnknownFloat(operand);
  }
  // A select may not need the operand that is unknown.
  isUnknown &= !isa<arith::SelectOp>(step.op);
  for (auto [result, slot] :
       llvm::zip_equal(step.op->getResults(), step.results)) {
    uint64_t resultId = llvm::hash_combine(
        id, result.getResultNumber(), result.getType().getAsOpaquePointer());
    if (!isUnknown || !isa<FloatType>(result.getType())) {
      slots[slot] = computeScalar(result, resultId, operands);
      continue;
    }
    PathValue value;
    value.id = resultId;
    value.isOpen = isOpen;
    value.scalar = step.unknown[dependsOnRank][result.getResultNumber()];
    slots[slot] = std::move(value);
  }
}

/// Binds the results of a linalg op on tensors whose elements are followed: its
/// body runs for each point of the iterations.
bool RankExecution::bindBody(Operation *op, Frame &frame) {
  const CommunicationQuery::Body &body = query.getBody(op);
  if (!body.isFollowed)
    return false;
  // With dimensions there has to be something that is known.
  Values operands = getAll(op->getOperands(), frame);
  auto isKnown = [](const PathValue &value) {
    return value.elements || value.scalar;
  };
  if (body.hasDims && llvm::none_of(operands, isKnown))
    return false;
  unsigned numOperands = operands.size();
  // Initial values change from point to point.
  SmallVector<std::vector<PathValue>> own(numOperands);
  SmallVector<ArrayRef<PathValue>> arrays;
  for (auto [index, value] : llvm::enumerate(operands)) {
    Value operand = op->getOperand(index);
    bool isInput = index < body.numInputs;
    if (isInput && value.elements && hasDims(operand)) {
      arrays.push_back(*value.elements);
      continue;
    }
    own[index] = hasDims(operand) ? getElements(value, operand)
                                  : std::vector<PathValue>{value};
    arrays.push_back(own[index]);
  }
  std::vector<PathValue> slots(body.numOwnSlots);
  for (Value captured : body.captured)
    slots.push_back(get(captured, frame));
  size_t numDims =
      body.numPoints == 0 ? 0 : body.indices.size() / body.numPoints;
  for (unsigned point = 0; point != body.numPoints; ++point) {
    auto indices = ArrayRef(body.indices).slice(point * numDims, numDims);
    auto places = ArrayRef(body.places).slice(point * numOperands, numOperands);
    numSteps += body.steps.size() + 1;
    for (auto [slot, array, place] : llvm::enumerate(arrays, places))
      slots[slot] = array[place];
    for (const CommunicationQuery::Body::Step &step : body.steps)
      runStep(step, indices, slots, frame);
    for (auto [number, slot] : llvm::enumerate(body.yielded)) {
      unsigned init = body.numInputs + number;
      own[init][places[init]] = slots[slot];
    }
  }
  for (OpResult result : op->getResults()) {
    std::vector<PathValue> &array =
        own[body.numInputs + result.getResultNumber()];
    frame[result] = hasDims(result)
                        ? makeTensor(result.getType(), std::move(array))
                        : array.front();
  }
  return true;
}
