//===- SeparateReads.cpp - Separate values for readers --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each use of a tensor, One-Shot's analysis visits all uses of the tensor
// and of its aliases. The time is quadratic in the number of uses, which are
// many for weights and constants that all layers read.
//
// No op may write the buffer of a constant or of a read-only argument, so no
// two uses of it conflict. This pass creates aliases of such a tensor and gives
// each alias a few of the uses that only read. The results of the analysis stay
// the same.
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

/// The number of uses of one alias.
static constexpr size_t groupSize = 8;

/// The uses of `tensor` that only read, according to One-Shot.
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

/// Replaces the tensor in `reads` by values of `createName`, one for each
/// `groupSize` uses.
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
      // An alias has the default layout of arguments.
      if (type && !type.getEncoding() && isWritable && !isWritable.getValue() &&
          !function.getArgAttr(argument.getArgNumber(),
                               BufferizationDialect::kBufferLayoutAttrName))
        separateArgument(argument);
    }
  }
}
