//===- AttentionCalls.cpp - Calls of the library for attention ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include "../Support/Buffers.h"
#include "braid-rt/Attention.h"
#include "braid/Dialect/Library/IR/Library.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace braid;
using library::AttentionBackwardOp;
using library::AttentionOp;
using library::AttentionShape;

//===----------------------------------------------------------------------===//
// What the library supports
//===----------------------------------------------------------------------===//

/// The number in `sm_90a`; 0 in another name.
static unsigned getCapability(StringRef chip) {
  unsigned number = 0;
  if (!chip.consume_front("sm_") || chip.consumeInteger(10, number))
    return 0;
  return number;
}

/// What keeps the library from adding `bias`.
static std::string findObstacleInBias(Value bias, const AttentionShape &shape,
                                      Type element, bool hasGradient) {
  auto type = cast<ShapedType>(bias.getType());
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (type.getElementType() != element)
    stream << "a bias with elements of type " << type.getElementType()
           << ", expected " << element;
  else if (type.getDimSize(2) != shape.queries)
    stream << "a bias that all queries share";
  else if (shape.window > 0)
    stream << "a bias and a window, expected at most one of them";
  else if (hasGradient && (shape.queries % 64 != 0 || shape.keys % 64 != 0))
    stream << "the gradient of a bias of " << shape.queries << "x" << shape.keys
           << ", expected multiples of 64";
  return text;
}

template <typename AttentionLike>
static std::string findObstacleIn(AttentionLike op, StringRef chip,
                                  bool isBackward, bool hasBiasGradient) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  AttentionShape shape = op.getShape();
  Type element = getElementTypeOrSelf(op.getQueries().getType());
  unsigned capability = getCapability(chip);
  int64_t most = capability == 90 ? 256 : 128;
  if (capability < 80)
    stream << chip << ", expected sm_80 or newer";
  else if (isBackward && capability >= 100)
    stream << "gradients on " << chip
           << ", whose bits may differ from run to run, expected sm_80 to "
              "sm_90";
  else if (!element.isBF16() && !element.isF16())
    stream << "elements of type " << element << ", expected bf16 or f16";
  else if (std::max(shape.depth, shape.valueDepth) > most ||
           shape.depth % 8 != 0 || shape.valueDepth % 8 != 0)
    stream << "heads of " << shape.depth << " and " << shape.valueDepth
           << " elements, expected multiples of 8 up to " << most << " on "
           << chip;
  else if (shape.batch == 0 || shape.queries == 0 || shape.keys == 0 ||
           shape.depth == 0 || shape.valueDepth == 0)
    stream << "operands without elements";
  else if (shape.window > 0 && shape.queries > shape.keys)
    stream << "a window over " << shape.queries << " queries and " << shape.keys
           << " keys, expected no more queries than keys";
  else if (shape.queries == 1 && (shape.causal || isBackward))
    stream << (isBackward ? "gradients" : "a causal mask") << " of one query";
  else if (op.getBias())
    return findObstacleInBias(op.getBias(), shape, element, hasBiasGradient);
  return text;
}

std::string braid::findObstacle(Operation *op, StringRef chip) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return findObstacleIn(attention, chip, /*isBackward=*/false,
                          /*hasBiasGradient=*/false);
  auto backward = cast<AttentionBackwardOp>(op);
  return findObstacleIn(backward, chip, /*isBackward=*/true,
                        backward.hasBiasGradient());
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The order of the dimensions batch, head, position, element in an operand.
static ArrayRef<unsigned> getOrder(unsigned role, bool isHeadsFirst) {
  static constexpr unsigned headsFirst[] = {0, 1, 2, 3};
  static constexpr unsigned headsLast[] = {0, 2, 1, 3};
  bool isScore = role == BRAID_RT_ATTENTION_BIAS ||
                 role == BRAID_RT_ATTENTION_LOG_SUMS ||
                 role == BRAID_RT_ATTENTION_BIAS_GRADIENT;
  return isHeadsFirst || isScore ? ArrayRef<unsigned>(headsFirst)
                                 : ArrayRef<unsigned>(headsLast);
}

/// Builds the description of `buffer` (braid_rt_attention_operand); null if its
/// strides are not known.
static Value createOperand(OpBuilder &builder, Operation *op, unsigned role,
                           Value buffer, bool isHeadsFirst, Type type,
                           RuntimeCallBuilder &calls) {
  Location loc = op->getLoc();
  if (!buffer)
    return createStruct(
        builder, loc, type,
        {Value(), Value(), Value(), calls.getI32(0), calls.getI32(0)});
  auto bufferType = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides, sizes(bufferType.getShape());
  int64_t offset;
  if (failed(bufferType.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return Value();
  // Logarithms have one element a position.
  if (sizes.size() == 3) {
    sizes.push_back(1);
    strides.push_back(1);
  }
  SmallVector<int64_t> orderedSizes, orderedStrides;
  for (unsigned dim : getOrder(role, isHeadsFirst)) {
    orderedSizes.push_back(sizes[dim]);
    orderedStrides.push_back(strides[dim]);
  }
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  Value data =
      getElementAddress(builder, loc, buffer, metadata.getOffset(), calls);
  return createStruct(
      builder, loc, type,
      {data, calls.getConstantArray(orderedSizes),
       calls.getConstantArray(orderedStrides),
       calls.getI32(*getRuntimeDtype(bufferType.getElementType())),
       calls.getI32(0)});
}

template <typename AttentionLike>
static LogicalResult convert(AttentionLike op, ArrayRef<Value> buffers,
                             StringRef function) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RuntimeCallBuilder calls(builder, op);
  Type i32 = builder.getI32Type();
  Type pointer = calls.getPointer();
  {
    StackScope scope(calls);
    auto optionsType = LLVM::LLVMStructType::getLiteral(
        builder.getContext(),
        {builder.getF64Type(), builder.getI64Type(), i32, i32});
    auto operandType = LLVM::LLVMStructType::getLiteral(
        builder.getContext(), {pointer, pointer, pointer, i32, i32});
    AttentionShape shape = op.getShape();
    Value options = calls.allocate(optionsType, 1);
    calls.storeElement(
        createStruct(builder, loc, optionsType,
                     {calls.getF64(op.getScale()), calls.getI64(shape.window),
                      calls.getI32(shape.causal), calls.getI32(0)}),
        options, 0);
    Value operands = calls.allocate(operandType, buffers.size());
    for (auto [role, buffer] : llvm::enumerate(buffers)) {
      Value operand = createOperand(builder, op, role, buffer,
                                    op.isHeadsFirst(), operandType, calls);
      if (!operand)
        return op.emitOpError() << "has an operand of type " << buffer.getType()
                                << ", expected static strides";
      calls.storeElement(operand, operands, role);
    }
    calls.call(function, Type(), {options, operands, calls.getSite()});
  }
  op->erase();
  return success();
}

LogicalResult braid::convertAttentionToCall(Operation *op) {
  if (auto forward = dyn_cast<AttentionOp>(op)) {
    Value buffers[BRAID_RT_ATTENTION_OPERANDS] = {
        forward.getQueries(), forward.getKeys(),       forward.getValues(),
        forward.getBias(),    forward.getOutputs()[0], forward.getOutputs()[1]};
    return convert(forward, buffers, "braid_rt_attention");
  }
  auto backward = cast<AttentionBackwardOp>(op);
  auto outputs = backward.getOutputs();
  Value buffers[BRAID_RT_ATTENTION_BACKWARD_OPERANDS] = {
      backward.getQueries(),
      backward.getKeys(),
      backward.getValues(),
      backward.getBias(),
      backward.getOut(),
      backward.getLogSums(),
      backward.getOutGradient(),
      outputs[0],
      outputs[1],
      outputs[2],
      backward.hasBiasGradient() ? outputs[3] : Value()};
  return convert(backward, buffers, "braid_rt_attention_backward");
}
