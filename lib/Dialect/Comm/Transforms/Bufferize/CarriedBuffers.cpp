//===- CarriedBuffers.cpp - Buffers that conditions of loops pass on ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetOperations.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid::comm;

/// The values that allocate the memory of `buffer`, or have it from outside of
/// the region of `within`, or are its arguments.
static llvm::SmallDenseSet<Value> getOrigins(Value buffer, Region &within) {
  llvm::SmallDenseSet<Value> origins, seen;
  SmallVector<Value> pending = {buffer};
  while (!pending.empty()) {
    Value value =
        memref::skipViewLikeOps(cast<MemrefValue>(pending.pop_back_val()));
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Region *region = argument.getOwner()->getParent();
      unsigned number = argument.getArgNumber();
      auto whileLoop = dyn_cast<scf::WhileOp>(region->getParentOp());
      auto forLoop = dyn_cast<scf::ForOp>(region->getParentOp());
      if (region == &within || !within.isAncestor(region) ||
          !(whileLoop || forLoop)) {
        origins.insert(value);
      } else if (forLoop) {
        pending.append({forLoop.getTiedLoopInit(argument)->get(),
                        forLoop.getTiedLoopYieldedValue(argument)->get()});
      } else if (region == &whileLoop.getBefore()) {
        pending.append({whileLoop.getInits()[number],
                        whileLoop.getYieldOp().getOperand(number)});
      } else {
        pending.push_back(whileLoop.getConditionOp().getArgs()[number]);
      }
      continue;
    }
    Operation *op = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (!within.isAncestor(op->getParentRegion())) {
      origins.insert(value);
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      pending.append({select.getTrueValue(), select.getFalseValue()});
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      pending.push_back(loop.getConditionOp().getArgs()[number]);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      pending.append(
          {loop.getInitArgs()[number], loop.getYieldedValues()[number]});
    } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
      for (Region &region : op->getRegions())
        pending.push_back(region.front().getTerminator()->getOperand(number));
    } else {
      origins.insert(value);
    }
  }
  return origins;
}

static Value skipCasts(Value buffer) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  return buffer;
}

/// The copy of the argument `number` that the condition of `loop` passes on;
/// null if it passes on something else.
static memref::CopyOp findCopy(scf::WhileOp loop, unsigned number) {
  scf::ConditionOp condition = loop.getConditionOp();
  Value argument = loop.getBeforeArguments()[number];
  auto copied = condition.getArgs()[number].getDefiningOp<memref::AllocOp>();
  if (!copied || copied->getBlock() != loop.getBeforeBody() ||
      !copied.getResult().hasNUses(2))
    return {};
  memref::CopyOp copy;
  for (Operation *user : copied->getUsers())
    if (auto candidate = dyn_cast<memref::CopyOp>(user))
      copy = candidate;
  if (!copy || copy->getBlock() != loop.getBeforeBody() ||
      copy.getTarget() != copied.getResult() ||
      skipCasts(copy.getSource()) != argument ||
      argument.getType() != copied.getType())
    return {};
  // One-Shot copies behind all that the condition computes.
  for (Operation *op = copy->getNextNode(); op != condition;
       op = op->getNextNode())
    if (!isa<memref::AllocOp, memref::CopyOp>(op))
      return {};
  return copy;
}

/// True if the loop owns what it begins with.
static bool isOwnInit(Value init) {
  Value root = memref::skipViewLikeOps(cast<MemrefValue>(init));
  auto argument = dyn_cast<BlockArgument>(root);
  return isa_and_nonnull<memref::AllocOp, scf::WhileOp, scf::ForOp>(
      argument ? argument.getOwner()->getParentOp() : root.getDefiningOp());
}

static void forwardCarried(scf::WhileOp loop) {
  llvm::SmallDenseSet<Value> taken;
  SmallVector<memref::CopyOp> copies;
  size_t count = std::min<size_t>(loop.getNumResults(), loop.getInits().size());
  for (size_t number = 0; number < count; ++number) {
    memref::CopyOp copy = findCopy(loop, number);
    if (!copy || !isOwnInit(loop.getInits()[number]))
      continue;
    llvm::SmallDenseSet<Value> origins =
        getOrigins(loop.getYieldOp().getOperand(number), loop.getAfter());
    // A buffer that an iteration may or may not replace has no bound in time,
    // and is copied in any case.
    bool isNew = llvm::all_of(origins, [&](Value origin) {
      auto allocation = origin.getDefiningOp<memref::AllocOp>();
      return allocation &&
             loop.getAfter().isAncestor(allocation->getParentRegion());
    });
    origins.insert(
        memref::skipViewLikeOps(cast<MemrefValue>(loop.getInits()[number])));
    if (!isNew || llvm::any_of(origins, [&](Value origin) {
          return taken.contains(origin);
        }))
      continue;
    llvm::set_union(taken, origins);
    copies.push_back(copy);
  }
  for (memref::CopyOp copy : copies) {
    auto copied = copy.getTarget().getDefiningOp<memref::AllocOp>();
    Value source = skipCasts(copy.getSource());
    copy->erase();
    copied.replaceAllUsesWith(source);
    copied->erase();
  }
}

void inflight::forwardCarriedBuffers(ModuleOp module) {
  module.walk([](scf::WhileOp loop) {
    WalkResult result = loop->walk([](Operation *op) {
      return isa<CommDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                : WalkResult::advance();
    });
    if (!result.wasInterrupted())
      forwardCarried(loop);
  });
}
