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
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::spmd;

static bool isMessage(Operation *op) {
  return isa<mlir::shard::SendOp, mlir::shard::RecvOp>(op);
}

/// The last message of the run that begins with `first`. Between the messages
/// of a run no op communicates, has side effects, or uses what the run
/// receives.
static Operation *findLastOfRun(Operation *first) {
  Operation *last = first;
  llvm::SmallPtrSet<Value, 4> received;
  for (Operation *op = first; op; op = op->getNextNode()) {
    bool usesReceived = false;
    op->walk([&](Operation *nested) {
      usesReceived |= llvm::any_of(nested->getOperands(), [&](Value operand) {
        return received.contains(operand);
      });
    });
    if (usesReceived)
      break;
    if (isMessage(op))
      last = op;
    else if (isCollective(op) || isa<mlir::shard::UpdateHaloOp>(op) ||
             !isMemoryEffectFree(op))
      break;
    if (isa<mlir::shard::RecvOp>(op))
      received.insert(op->getResult(0));
  }
  return last;
}

/// A peer as an operand or an attribute.
static std::pair<Value, IntegerAttr> splitPeer(Lowering &b, OpFoldResult peer) {
  if (std::optional<int64_t> constant = getConstantIntValue(peer))
    return {Value(), b.getI64IntegerAttr(*constant)};
  return {cast<Value>(peer), IntegerAttr()};
}

/// The start of a send; null in a group of one device, failure after an error.
static FailureOr<Operation *> start(Lowering &b, mlir::shard::SendOp op,
                                    const AxisGroup &group) {
  FailureOr<OpFoldResult> member = b.getMember(
      group, op.getDestination(), op.getDestinationDynamic(), "destination");
  if (failed(member) || !group.symbol)
    return failed(member) ? FailureOr<Operation *>() : nullptr;
  auto [peer, staticPeer] = splitPeer(b, *member);
  return comm::SendOp::create(b, op.getInput(), group.symbol, peer, staticPeer)
      .getOperation();
}

/// The start of a receive, like that of a send.
static FailureOr<Operation *> start(Lowering &b, mlir::shard::RecvOp op,
                                    const AxisGroup &group) {
  std::optional<ArrayRef<int64_t>> source = op.getSource();
  if (!source)
    return op.emitOpError() << "has no source, expected one, as a receive "
                               "names the rank that sends";
  FailureOr<OpFoldResult> member =
      b.getMember(group, *source, op.getSourceDynamic(), "source");
  if (failed(member) || !group.symbol)
    return failed(member) ? FailureOr<Operation *>() : nullptr;
  auto [peer, staticPeer] = splitPeer(b, *member);
  SmallVector<Value> sizes =
      decomposeMixedValues(tensor::getMixedSizes(b, b.getLoc(), op.getInput()))
          .second;
  return comm::RecvOp::create(b, comm::TokenType::get(op.getType()), Value(),
                              group.symbol, peer, staticPeer, sizes)
      .getOperation();
}

Replacement MessageLowering::lower(Lowering &b) {
  if (!last)
    last = findLastOfRun(b.op);
  auto convert = [&](auto op) -> Replacement {
    FailureOr<AxisGroup> group =
        b.groups.getGroup(op, op.getGridAttr(), op.getGridAxes());
    if (failed(group))
      return failure();
    FailureOr<Operation *> started = start(b, op, *group);
    if (failed(started))
      return failure();
    Value result = op.getInput();
    if (*started) {
      auto wait = comm::WaitOp::create(b, (*started)->getResult(0));
      waits.push_back(wait);
      if (Value received = wait.getValue())
        result = received;
    }
    return SmallVector<Value>{b.cast(result, op.getType())};
  };
  auto send = dyn_cast<mlir::shard::SendOp>(b.op);
  Replacement values =
      send ? convert(send) : convert(cast<mlir::shard::RecvOp>(b.op));
  if (b.op == last) {
    for (Operation *wait : waits)
      wait->moveBefore(b.op);
    waits.clear();
    last = nullptr;
  }
  return values;
}
