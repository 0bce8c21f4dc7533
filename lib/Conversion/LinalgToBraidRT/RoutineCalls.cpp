//===- RoutineCalls.cpp - Calls of library routines -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include "../Support/Buffers.h"
#include "braid/Dialect/Comm/IR/Comm.h"

using namespace mlir;
using namespace braid;

/// Stores `buffers` as an array of views (braid_rt_view) on the stack.
static Value createViews(OpBuilder &builder, Location loc, ValueRange buffers,
                         RuntimeCallBuilder &calls) {
  Type i32 = builder.getI32Type();
  auto viewType = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {calls.getPointer(), calls.getPointer(), i32, i32});
  Value views = calls.allocate(viewType, std::max<size_t>(buffers.size(), 1));
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    auto type = cast<MemRefType>(buffer.getType());
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
    Value data =
        getElementAddress(builder, loc, buffer, metadata.getOffset(), calls);
    Value sizes;
    if (type.hasStaticShape() && type.getRank() > 0) {
      sizes = calls.getConstantArray(type.getShape());
    } else if (type.getRank() > 0) {
      sizes = calls.allocate(builder.getI64Type(), type.getRank());
      for (auto [dim, size] : llvm::enumerate(metadata.getSizes()))
        calls.storeElement(toI64(builder, loc, size), sizes, dim);
    }
    Value view = createStruct(
        builder, loc, viewType,
        {data, sizes, calls.getI32(*getRuntimeDtype(type.getElementType())),
         calls.getI32(type.getRank())});
    calls.storeElement(view, views, index);
  }
  return views;
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
