//===- PointToPointOps.cpp - Sends and receives ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "braid/Dialect/Comm/IR/CollectiveMethods.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

MutableArrayRef<OpOperand> SendOp::getSourceOperands() {
  return getInputMutable();
}
MutableArrayRef<OpOperand> SendOp::getDestinationOperands() { return {}; }
void SendOp::setDestinations(ValueRange) {
  llvm_unreachable("a send has no value");
}
LogicalResult SendOp::reifyValueShape(OpBuilder &, unsigned,
                                      SmallVectorImpl<OpFoldResult> &) {
  return failure();
}

MutableArrayRef<OpOperand> RecvOp::getSourceOperands() { return {}; }
MutableArrayRef<OpOperand> RecvOp::getDestinationOperands() {
  return getOutputMutable();
}
void RecvOp::setDestinations(ValueRange destinations) {
  getOutputMutable().assign(destinations);
  getSizesMutable().clear();
}

LogicalResult RecvOp::reifyValueShape(OpBuilder &builder, unsigned,
                                      SmallVectorImpl<OpFoldResult> &shape) {
  auto type =
      dyn_cast_or_null<RankedTensorType>(getToken().getType().getValueType());
  if (!type)
    return failure();
  if (Value output = getOutput()) {
    llvm::append_range(shape, tensor::getMixedSizes(builder, getLoc(), output));
    return success();
  }
  llvm::append_range(shape,
                     getMixedValues(type.getShape(), getSizes(), getContext()));
  return success();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyPeer(Operation *op, Value peer,
                                std::optional<int64_t> staticPeer) {
  // C27
  if (static_cast<bool>(peer) == staticPeer.has_value())
    return op->emitOpError()
           << "has " << (peer ? "both a value and a constant" : "no")
           << " peer, expected one";
  if (staticPeer && *staticPeer < 0)
    return op->emitOpError() << "has peer " << *staticPeer
                             << ", expected an index that is not negative";
  return success();
}

LogicalResult SendOp::verify() {
  return verifyPeer(*this, getPeer(), getStaticPeer());
}

LogicalResult RecvOp::verify() {
  if (failed(verifyPeer(*this, getPeer(), getStaticPeer())))
    return failure();
  // C29
  Type valueType = getToken().getType().getValueType();
  int64_t expected = valueType && !getOutput()
                         ? cast<RankedTensorType>(valueType).getNumDynamicDims()
                         : 0;
  if (static_cast<int64_t>(getSizes().size()) != expected)
    return emitOpError() << "has " << getSizes().size() << " sizes, expected "
                         << expected
                         << ", one for each dynamic dimension that it receives";
  return success();
}

/// Verifies the group of a message (C28) and a constant peer (C27). The peer of
/// a rank is another member.
static LogicalResult
verifyPeerOfGroup(Operation *op, std::optional<int64_t> peer, GroupOp group) {
  if (group.getMinimumSize() == 1)
    return op->emitOpError() << "is on group '" << group.getSymName()
                             << "', which has a communicator of one rank, "
                                "expected another member as the peer";
  return peer ? verifyMember(op, "peer", *peer, group) : success();
}

LogicalResult SendOp::verifyMembers(GroupOp &group) {
  return verifyPeerOfGroup(*this, getStaticPeer(), group);
}

LogicalResult RecvOp::verifyMembers(GroupOp &group) {
  return verifyPeerOfGroup(*this, getStaticPeer(), group);
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

static SmallVector<CallArgument>
getPeerArguments(MLIRContext *context, Value peer,
                 std::optional<int64_t> staticPeer) {
  if (peer)
    return {CallArgument::getNumber(peer)};
  return {CallArgument::getNumber(Builder(context).getIndexAttr(*staticPeer))};
}

SmallVector<CallArgument> SendOp::getCallArguments() {
  return getPeerArguments(getContext(), getPeer(), getStaticPeer());
}

SmallVector<CallArgument> RecvOp::getCallArguments() {
  return getPeerArguments(getContext(), getPeer(), getStaticPeer());
}
