//===- PointToPointOps.cpp - Sends, receives and permutations -------------===//
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
#include "llvm/ADT/SmallSet.h"

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

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

LogicalResult PermuteOp::verify() {
  // A DenseSet reserves the largest integers, which users may write.
  llvm::SmallSet<int64_t, 8> sources, targets;
  for (auto pair : getPairs().getAsRange<DenseI64ArrayAttr>()) {
    // C25
    if (pair.size() != 2)
      return emitOpError() << "has a pair of " << pair.size()
                           << " members, expected a source and a target";
    if (pair[0] < 0 || pair[1] < 0)
      return emitOpError() << "has pair [" << pair[0] << ", " << pair[1]
                           << "], expected indices that are not negative";
    // C26
    if (!sources.insert(pair[0]).second)
      return emitOpError() << "has member " << pair[0]
                           << " as the source of two pairs, expected one";
    if (!targets.insert(pair[1]).second)
      return emitOpError() << "has member " << pair[1]
                           << " as the target of two pairs, expected one";
  }
  return success();
}

LogicalResult PermuteOp::verifyMembers(GroupOp &group) {
  // C25
  for (auto pair : getPairs().getAsRange<DenseI64ArrayAttr>())
    for (int64_t member : pair.asArrayRef())
      if (failed(verifyMember(*this, "member", member, group)))
        return failure();
  return success();
}

SmallVector<CallArgument> PermuteOp::getCallArguments() {
  SmallVector<OpFoldResult> members;
  for (auto pair : getPairs().getAsRange<DenseI64ArrayAttr>())
    llvm::append_range(members,
                       getAsIndexOpFoldResult(getContext(), pair.asArrayRef()));
  return {CallArgument::getNumber(
              Builder(getContext()).getIndexAttr(getPairs().size())),
          CallArgument::getList(members)};
}
