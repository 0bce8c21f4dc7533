//===- ConvolutionCalls.cpp - Calls of the library for convolutions -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include "../Support/Buffers.h"
#include "ConvolutionKinds.h"
#include "braid/Support/MatmulAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace braid;
using library::ConvolutionOp;

/// Builds the description of `buffer` (braid_rt_convolution_operand); null if
/// its strides are not known.
static Value createConvolutionOperand(OpBuilder &builder, Location loc,
                                      Value buffer, ArrayRef<unsigned> dims,
                                      Type type, RuntimeCallBuilder &calls) {
  auto bufferType = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides, sizes, orderedStrides;
  int64_t offset;
  if (failed(bufferType.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return Value();
  for (unsigned dim : dims) {
    sizes.push_back(bufferType.getDimSize(dim));
    orderedStrides.push_back(strides[dim]);
  }
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  Value data =
      getElementAddress(builder, loc, buffer, metadata.getOffset(), calls);
  return createStruct(builder, loc, type,
                      {data, calls.getConstantArray(sizes),
                       calls.getConstantArray(orderedStrides)});
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
  Type i32 = builder.getI32Type();
  Type pointer = calls.getPointer();
  {
    StackScope scope(calls);
    auto optionsType = LLVM::LLVMStructType::getLiteral(
        builder.getContext(),
        {pointer, builder.getI64Type(), i32, i32, i32, i32});
    auto operandType = LLVM::LLVMStructType::getLiteral(
        builder.getContext(), {pointer, pointer, pointer});
    SmallVector<int64_t> window;
    for (const LibraryConvolution::Dim &dim : match->spatial)
      window.append({dim.stride, dim.dilation, dim.low, dim.high});
    Type element = getElementTypeOrSelf(op.getInput().getType());
    Value options = calls.allocate(optionsType, 1);
    calls.storeElement(
        createStruct(builder, loc, optionsType,
                     {calls.getConstantArray(window),
                      calls.getI64(match->groups), calls.getI32(match->kind),
                      calls.getI32(static_cast<int32_t>(match->spatial.size())),
                      calls.getI32(*getRuntimeDtype(element)),
                      calls.getI32(op->hasAttr(kPrecisionAttrName)
                                       ? BRAID_RT_PRECISION_TF32
                                       : BRAID_RT_PRECISION_F32)}),
        options, 0);
    Value operands = calls.allocate(operandType, BRAID_RT_CONVOLUTION_OPERANDS);
    for (auto [role, operand] : llvm::enumerate(match->roles)) {
      Value buffer = op->getOperand(operand);
      Value description = createConvolutionOperand(
          builder, loc, buffer, match->dims[operand], operandType, calls);
      if (!description)
        return op.emitOpError() << "has an operand of type " << buffer.getType()
                                << ", expected static strides";
      calls.storeElement(description, operands, role);
    }
    calls.call("braid_rt_convolution", Type(),
               {options, operands, calls.getSite()});
  }
  op->erase();
  return success();
}
