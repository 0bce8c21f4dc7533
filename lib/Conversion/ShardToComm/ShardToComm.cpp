//===- ShardToComm.cpp - From the shard dialect to the comm dialect -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTSHARDTOCOMMPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::spmd;

static bool isAnnotation(Operation *op) {
  return isa<mlir::shard::ShardingOp, mlir::shard::GetShardingOp>(op);
}

/// Converts the op of `b`, which is no grid and no unused annotation.
static Replacement lowerMessages(Lowering &b, MessageLowering &messages) {
  if (isCollective(b.op))
    return lowerCollective(b);
  if (isIndices(b.op))
    return lowerIndices(b);
  if (isa<mlir::shard::UpdateHaloOp>(b.op))
    return lowerUpdateHalo(b);
  if (isa<mlir::shard::SendOp, mlir::shard::RecvOp>(b.op))
    return messages.lower(b);
  return b.op->emitOpError()
         << "is in the program, expected a partitioned program: run "
            "'sharding-propagation' and 'shard-partition' first";
}

namespace {
struct ConvertShardToCommPass
    : public braid::StructuralPass<
          braid::impl::ConvertShardToCommPassBase<ConvertShardToCommPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult initialize(MLIRContext *context) override {
    if (ranks < 0)
      return emitError(UnknownLoc::get(context))
             << "invalid number " << ranks.getValue()
             << " in option 'ranks', expected a number of at least 1, or 0 for "
                "the number of devices of the grids";
    return success();
  }

  CommunicationRules getRules() const override {
    CommunicationRules rules;
    rules.mayAdd = true;
    return rules;
  }

  LogicalResult transform() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> ops, annotations, grids;
    module.walk([&](Operation *op) {
      if (isa<mlir::shard::GridOp>(op))
        grids.push_back(op);
      else if (isAnnotation(op))
        annotations.push_back(op);
      else if (isa_and_present<mlir::shard::ShardDialect>(op->getDialect()))
        ops.push_back(op);
    });
    GridGroups groups(module, ranks.getValue());
    MessageLowering messages;
    for (Operation *op : ops) {
      Lowering b(op, groups);
      Replacement values = lowerMessages(b, messages);
      if (failed(values))
        return failure();
      op->replaceAllUsesWith(*values);
      op->erase();
    }
    // Users come behind their operands.
    for (Operation *op : llvm::reverse(annotations)) {
      if (op->use_empty()) {
        op->erase();
        continue;
      }
      op->emitOpError() << "is used, expected a partitioned program: run "
                           "'sharding-propagation' and 'shard-partition' first";
      return failure();
    }
    for (Operation *grid : grids)
      grid->erase();
    return success();
  }
};
} // namespace
