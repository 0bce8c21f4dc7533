//===- LibraryCalls.cpp - Calls of libraries ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include "../Support/Buffers.h"
#include "ConvolutionKinds.h"
#include "braid-rt/Attention.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Library/IR/Library.h"
#include "braid/Support/MatmulAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace braid;
using library::AttentionBackwardOp;
using library::AttentionOp;
using library::AttentionShape;
using library::ConvolutionOp;

/// Stores `buffers` as an array of views (braid_rt_view) on the stack.
static Value createViews(OpBuilder &builder, Location loc, ValueRange buffers,
                         RuntimeCallBuilder &calls) {
  SmallVector<Value> views;
  for (Value buffer : buffers) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
    Value data =
        getElementAddress(builder, loc, buffer, metadata.getOffset(), calls);
    views.push_back(calls.createView(
        data, cast<MemRefType>(buffer.getType()), [&](unsigned dim) {
          return toI64(builder, loc, metadata.getSizes()[dim]);
        }));
  }
  return calls.storeArray(views);
}

LogicalResult braid::convertToCall(library::CallOp op) {
  for (Value buffer : op->getOperands())
    if (!comm::isContiguous(cast<MemRefType>(buffer.getType())))
      return op.emitOpError() << "has an operand of type " << buffer.getType()
                              << ", expected contiguous elements";
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RuntimeCallBuilder calls(builder, op);
  {
    StackScope scope(calls);
    Value inputs = createViews(builder, loc, op.getInputs(), calls);
    Value outputs = createViews(builder, loc, op.getOutputs(), calls);
    calls.call("braid_rt_call_routine", Type(),
               {calls.getI32(op.getRoutineNumber()),
                calls.getText(op.getFlags()), calls.getI64(op.getDimensions()),
                calls.getI64(op.getInputs().size()), inputs,
                calls.getI64(op.getOutputs().size()), outputs,
                calls.getSite()});
  }
  op->erase();
  return success();
}

/// The address, the sizes and the strides of `buffer` for the runtime, with its
/// dimensions in the order of `dims`, of which one that `buffer` does not have
/// has one element. Empty if its strides are not known.
static SmallVector<Value> describeBuffer(OpBuilder &builder, Location loc,
                                         Value buffer, ArrayRef<unsigned> dims,
                                         RuntimeCallBuilder &calls) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> sizes(type.getShape()), strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return {};
  sizes.resize(std::max(sizes.size(), dims.size()), 1);
  strides.resize(sizes.size(), 1);
  auto inOrder = [&](ArrayRef<int64_t> numbers) {
    return calls.getConstantArray(
        llvm::map_to_vector(dims, [&](unsigned dim) { return numbers[dim]; }));
  };
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  Value data =
      getElementAddress(builder, loc, buffer, metadata.getOffset(), calls);
  Value orderedSizes = inOrder(sizes);
  return {data, orderedSizes, inOrder(strides)};
}

static LogicalResult refuseStrides(Operation *op, Value buffer) {
  return op->emitOpError() << "has an operand of type " << buffer.getType()
                           << ", expected static strides";
}

/// True if what the library cannot do is left in `op`: `braid-decompose-
/// convolutions` arranges convolutions on tensors.
static bool isArranged(ConvolutionOp op, const LibraryConvolution &match) {
  library::ConvolutionShape shape = op.getShape();
  for (auto [dim, found] : llvm::zip_equal(shape.spatial, match.spatial))
    if (found.begin != 0 || found.end != dim.inputs ||
        (dim.taps > 1 && dim.isReversed != match.isKernelReversed))
      return false;
  return match.groups == 1 ||
         shape.hasKernelInputGroups == match.isKernelReversed;
}

LogicalResult braid::convertConvolutionToCall(ConvolutionOp op) {
  std::string obstacle;
  std::optional<LibraryConvolution> match =
      matchLibraryConvolution(op, obstacle);
  if (!match || !isArranged(op, *match))
    return op.emitOpError() << "is not a convolution of cuDNN, expected "
                               "braid-decompose-convolutions before, on tensors"
                            << (obstacle.empty() ? "" : ": found ") << obstacle;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RuntimeCallBuilder calls(builder, op);
  {
    StackScope scope(calls);
    SmallVector<int64_t> window;
    for (const LibraryConvolution::Dim &dim : match->spatial)
      window.append({dim.stride, dim.dilation, dim.low, dim.high});
    Type element = getElementTypeOrSelf(op.getInput().getType());
    Value options = calls.storeArray(
        createStruct(builder, loc,
                     {calls.getConstantArray(window),
                      calls.getI64(match->groups), calls.getI32(match->kind),
                      calls.getI32(static_cast<int32_t>(match->spatial.size())),
                      calls.getI32(*getRuntimeDtype(element)),
                      calls.getI32(op->hasAttr(kPrecisionAttrName)
                                       ? BRAID_RT_PRECISION_TF32
                                       : BRAID_RT_PRECISION_F32)}));
    SmallVector<Value> operands;
    for (unsigned operand : match->roles) {
      Value buffer = op->getOperand(operand);
      SmallVector<Value> fields =
          describeBuffer(builder, loc, buffer, match->dims[operand], calls);
      if (fields.empty())
        return refuseStrides(op, buffer);
      operands.push_back(createStruct(builder, loc, fields));
    }
    calls.call("braid_rt_convolution", Type(),
               {options, calls.storeArray(operands), calls.getSite()});
  }
  op->erase();
  return success();
}

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

template <typename AttentionLike>
static LogicalResult convert(AttentionLike op, ArrayRef<Value> buffers,
                             StringRef function) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RuntimeCallBuilder calls(builder, op);
  {
    StackScope scope(calls);
    AttentionShape shape = op.getShape();
    Value options = calls.storeArray(
        createStruct(builder, loc,
                     {calls.getF64(op.getScale()), calls.getI64(shape.window),
                      calls.getI32(shape.causal), calls.getI32(0)}));
    SmallVector<Value> operands;
    for (auto [role, buffer] : llvm::enumerate(buffers)) {
      SmallVector<Value> fields(3);
      int32_t dtype = 0;
      if (buffer) {
        // Logarithms have one element a position.
        fields = describeBuffer(builder, loc, buffer,
                                getOrder(role, op.isHeadsFirst()), calls);
        if (fields.empty())
          return refuseStrides(op, buffer);
        dtype = *getRuntimeDtype(getElementTypeOrSelf(buffer.getType()));
      }
      fields.append({calls.getI32(dtype), calls.getI32(0)});
      operands.push_back(createStruct(builder, loc, fields));
    }
    calls.call(function, Type(),
               {options, calls.storeArray(operands), calls.getSite()});
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
