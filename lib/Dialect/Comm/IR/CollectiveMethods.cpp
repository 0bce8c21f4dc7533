//===- CollectiveMethods.cpp - Methods of all collectives -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/CollectiveMethods.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace braid::comm;

const CollectiveTraits &CollectiveOpInterface::getCollectiveTraits() {
  return getTraits(getCollectiveKind());
}

bool CollectiveOpInterface::isPointToPoint() {
  return getCollectiveTraits().flow == BRAID_RT_FLOW_MESSAGE;
}

bool CollectiveOpInterface::isIdentityInGroupOfOne() {
  switch (getCollectiveTraits().flow) {
  case BRAID_RT_FLOW_REDUCE:
    return getReductionKind() != ReductionKind::premul_sum;
  case BRAID_RT_FLOW_GATHER:
  case BRAID_RT_FLOW_FROM_ROOT:
  case BRAID_RT_FLOW_EXCHANGE:
    return true;
  case BRAID_RT_FLOW_PAIRS: // A member that is no target gets zeros.
  case BRAID_RT_FLOW_MESSAGE:
  case BRAID_RT_FLOW_NONE:
    return false;
  }
  llvm_unreachable("unknown flow of data");
}

SmallVector<CallArgument>
braid::comm::getDefaultCallArguments(CollectiveOpInterface collective) {
  Builder builder(collective.getContext());
  SmallVector<CallArgument> arguments;
  if (std::optional<int64_t> root = collective.getRootIndex())
    arguments.push_back(CallArgument::getNumber(builder.getIndexAttr(*root)));
  if (collective.getCollectiveTraits().hasDim)
    arguments.push_back(CallArgument::getNumber(
        builder.getIndexAttr(collective.getSplitDim())));
  return arguments;
}

Attribute braid::comm::getLaneOfCollective(CollectiveOpInterface collective) {
  FlatSymbolRefAttr group = collective.getGroupAttr();
  std::string name =
      collective.isPointToPoint() ? "p2p" : getLaneName(collective);
  if (name.empty())
    return group;
  MLIRContext *context = collective.getContext();
  return ArrayAttr::get(context, {group, StringAttr::get(context, name)});
}

void braid::comm::nameTokens(CollectiveOpInterface collective,
                             function_ref<void(Value, StringRef)> setName) {
  ResultRange tokens = collective->getResults();
  if (!tokens.empty())
    setName(tokens.front(),
            stringifyCollectiveKind(collective.getCollectiveKind()));
}

void braid::comm::inferTokenTypes(MLIRContext *context, ValueRange inputs,
                                  SmallVectorImpl<Type> &types) {
  for (Value input : inputs)
    types.push_back(isa<RankedTensorType>(input.getType())
                        ? TokenType::get(input.getType())
                        : TokenType::get(context));
}

/// The value of `size` times, or divided by, the size of `group`.
static OpFoldResult scaleByGroupSize(OpBuilder &builder, Location loc,
                                     OpFoldResult size, FlatSymbolRefAttr group,
                                     bool divide) {
  Value groupSize = SizeOp::create(builder, loc, builder.getIndexType(), group);
  Value value = getValueOrCreateConstantIndexOp(builder, loc, size);
  if (divide)
    return arith::DivUIOp::create(builder, loc, value, groupSize).getResult();
  return arith::MulIOp::create(builder, loc, value, groupSize).getResult();
}

LogicalResult
braid::comm::reifyFromOperands(CollectiveOpInterface collective,
                               OpBuilder &builder, unsigned index,
                               SmallVectorImpl<OpFoldResult> &shape) {
  auto start = cast<AsyncStartOpInterface>(collective.getOperation());
  auto type = dyn_cast_or_null<RankedTensorType>(start.getInFlightType(index));
  if (!type)
    return failure();
  Location loc = collective.getLoc();
  braid_rt_shape rule = collective.getCollectiveTraits().shape;
  bool isScaled = rule == BRAID_RT_SHAPE_JOIN || rule == BRAID_RT_SHAPE_SPLIT;
  MutableArrayRef<OpOperand> destinations = start.getDestinationOperands();
  bool hasDestination = !destinations.empty();
  Value from =
      (hasDestination ? destinations : start.getSourceOperands())[index].get();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, from);
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isStatic(size))
      shape.push_back(builder.getIndexAttr(size));
    else if (!hasDestination && isScaled &&
             collective.getSplitDim() == static_cast<int64_t>(dim))
      shape.push_back(scaleByGroupSize(
          builder, loc,
          dim < sizes.size() ? sizes[dim] : builder.getIndexAttr(1),
          collective.getGroupAttr(), rule == BRAID_RT_SHAPE_SPLIT));
    else
      shape.push_back(sizes[dim]);
  }
  return success();
}
