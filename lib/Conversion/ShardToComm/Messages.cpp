//===- Messages.cpp - Sends and receives of shard to comm -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid;
using namespace braid::spmd;

/// The last receive that follows `send` without other communication or side
/// effects in between; null if there is none.
static Operation *findLastReceive(mlir::shard::SendOp send) {
  Operation *last = nullptr;
  for (Operation *op = send->getNextNode(); op; op = op->getNextNode()) {
    if (isa<mlir::shard::RecvOp>(op))
      last = op;
    else if (!isa<mlir::shard::SendOp>(op) &&
             (isCollective(op) || isa<mlir::shard::UpdateHaloOp>(op) ||
              !isMemoryEffectFree(op)))
      break;
  }
  return last;
}

/// A peer as an operand or an attribute.
static std::pair<Value, IntegerAttr> splitPeer(Lowering &b, OpFoldResult peer) {
  if (std::optional<int64_t> constant = getConstantIntValue(peer))
    return {Value(), b.getI64IntegerAttr(*constant)};
  return {cast<Value>(peer), IntegerAttr()};
}

static Replacement
lower(Lowering &b, mlir::shard::SendOp op, const AxisGroup &group,
      llvm::DenseMap<Operation *, SmallVector<Value>> &delayed) {
  FailureOr<OpFoldResult> member = b.getMember(
      group, op.getDestination(), op.getDestinationDynamic(), "destination");
  if (failed(member))
    return failure();
  if (group.symbol) {
    auto [peer, staticPeer] = splitPeer(b, *member);
    auto send =
        comm::SendOp::create(b, op.getInput(), group.symbol, peer, staticPeer);
    if (Operation *receive = findLastReceive(op))
      delayed[receive].push_back(send.getToken());
    else
      comm::WaitOp::create(b, send.getToken());
  }
  return SmallVector<Value>{b.cast(op.getInput(), op.getType())};
}

static Replacement
lower(Lowering &b, mlir::shard::RecvOp op, const AxisGroup &group,
      llvm::DenseMap<Operation *, SmallVector<Value>> &delayed) {
  std::optional<ArrayRef<int64_t>> source = op.getSource();
  if (!source)
    return op.emitOpError() << "has no source, expected one, as a receive "
                               "names the rank that sends";
  FailureOr<OpFoldResult> member =
      b.getMember(group, *source, op.getSourceDynamic(), "source");
  if (failed(member))
    return failure();
  Value result = op.getInput();
  if (group.symbol) {
    auto [peer, staticPeer] = splitPeer(b, *member);
    Type type = result.getType();
    SmallVector<Value> sizes =
        decomposeMixedValues(tensor::getMixedSizes(b, b.getLoc(), result))
            .second;
    result =
        b.await(comm::RecvOp::create(b, comm::TokenType::get(type), Value(),
                                     group.symbol, peer, staticPeer, sizes));
  }
  for (Value token : delayed.lookup(op))
    comm::WaitOp::create(b, token);
  return SmallVector<Value>{b.cast(result, op.getType())};
}

Replacement MessageLowering::lower(Lowering &b) {
  auto convert = [&](auto op) -> Replacement {
    FailureOr<AxisGroup> group =
        b.groups.getGroup(op, op.getGridAttr(), op.getGridAxes());
    if (failed(group))
      return failure();
    return ::lower(b, op, *group, delayed);
  };
  if (auto send = dyn_cast<mlir::shard::SendOp>(b.op))
    return convert(send);
  return convert(cast<mlir::shard::RecvOp>(b.op));
}
