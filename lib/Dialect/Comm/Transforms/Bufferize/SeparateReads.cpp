//===- SeparateReads.cpp - Names of their own for readers -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each use of a tensor, One-Shot's analysis looks at all uses of the tensor
// and of what may share its buffer. That is a time quadratic in the number of
// uses, for weights and constants that all layers read above all.
//
// No op may write the buffer of a constant or of a read-only argument, whatever
// the analysis finds, so no two of its uses are in conflict. Uses that only
// read can therefore be given the same buffer under another name, a few uses
// each, and the analysis decides the same.
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::bufferization;

/// How many uses keep one name.
static constexpr size_t groupSize = 8;

/// The uses of `tensor` that One-Shot takes for reads alone.
static SmallVector<OpOperand *> getReads(Value tensor) {
  SmallVector<OpOperand *> reads;
  for (OpOperand &use : tensor.getUses()) {
    Operation *user = use.getOwner();
    auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(user);
    if ((destinationStyle && destinationStyle.isDpsInput(&use)) ||
        isa<tensor::ExtractSliceOp>(user))
      reads.push_back(&use);
  }
  return reads;
}

/// Lets `reads` use what `createName` gives, a few each.
static void separate(ArrayRef<OpOperand *> reads,
                     function_ref<Value()> createName) {
  while (!reads.empty()) {
    ArrayRef<OpOperand *> group = reads.take_front(groupSize);
    Value name = createName();
    for (OpOperand *read : group)
      read->set(name);
    reads = reads.drop_front(group.size());
  }
}

static void separateConstant(arith::ConstantOp constant) {
  SmallVector<OpOperand *> reads = getReads(constant);
  if (reads.size() <= groupSize)
    return;
  OpBuilder builder(constant->getContext());
  builder.setInsertionPointAfter(constant);
  separate(reads, [&] { return builder.clone(*constant)->getResult(0); });
}

static void separateArgument(BlockArgument argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<OpOperand *> reads = getReads(argument);
  if (reads.size() <= groupSize)
    return;
  auto builder = OpBuilder::atBlockBegin(argument.getOwner());
  Location loc = argument.getLoc();
  auto buffer = ToBufferOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      argument, /*read_only=*/true);
  separate(reads, [&] {
    return ToTensorOp::create(builder, loc, type, buffer, /*restrict=*/true);
  });
}

void braid::comm::inflight::separateReads(ModuleOp module) {
  SmallVector<arith::ConstantOp> constants;
  module.walk([&](arith::ConstantOp constant) {
    if (isa<RankedTensorType>(constant.getType()))
      constants.push_back(constant);
  });
  for (arith::ConstantOp constant : constants)
    separateConstant(constant);

  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      auto isWritable = function.getArgAttrOfType<BoolAttr>(
          argument.getArgNumber(), BufferizationDialect::kWritableAttrName);
      // A name has the layout that arguments have by default.
      if (type && !type.getEncoding() && isWritable && !isWritable.getValue() &&
          !function.getArgAttr(argument.getArgNumber(),
                               BufferizationDialect::kBufferLayoutAttrName))
        separateArgument(argument);
    }
  }
}
