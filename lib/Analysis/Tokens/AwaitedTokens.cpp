//===- AwaitedTokens.cpp - Which operations an op waits for ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AwaitedTokens.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace braid;
using namespace mlir;

/// Adds where `token` comes from to `origins`.
static void addOrigins(Value token, Region &region, TokenOrigins &origins) {
  SmallVector<Value> tokens = {token};
  SmallPtrSet<Value, 4> seen;
  while (!tokens.empty()) {
    Value value = tokens.pop_back_val();
    if (value.getParentRegion() != &region || !seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (!llvm::is_contained(origins.arguments, argument))
        origins.arguments.push_back(argument);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto select = dyn_cast<arith::SelectOp>(op))
      tokens.append({select.getFalseValue(), select.getTrueValue()});
    else if (comm::getAsyncStart(op) && !llvm::is_contained(origins.starts, op))
      origins.starts.push_back(op);
  }
}

TokenOrigins braid::getTokenOrigins(Value token, Region &region) {
  TokenOrigins origins;
  addOrigins(token, region, origins);
  return origins;
}

TokenOrigins braid::getAwaitedTokens(Operation *op, Region &region) {
  TokenOrigins origins;
  if (isa<arith::SelectOp>(op))
    return origins;
  op->walk([&](Operation *user) {
    for (Value operand : user->getOperands())
      if (isa<comm::TokenType>(operand.getType()))
        addOrigins(operand, region, origins);
  });
  return origins;
}

SmallVector<Operation *, 1> braid::getCarriedStarts(BlockArgument argument) {
  SmallVector<Operation *, 1> starts;
  Region *body = argument.getOwner()->getParent();
  auto loop = dyn_cast<LoopLikeOpInterface>(body->getParentOp());
  if (!loop || !isa<comm::TokenType>(argument.getType()))
    return starts;
  SmallVector<BlockArgument, 1> pending = {argument};
  for (size_t index = 0; index != pending.size(); ++index) {
    OpOperand *yielded = loop.getTiedLoopYieldedValue(pending[index]);
    if (!yielded)
      continue;
    TokenOrigins origins = getTokenOrigins(yielded->get(), *body);
    for (Operation *start : origins.starts)
      if (!llvm::is_contained(starts, start))
        starts.push_back(start);
    for (BlockArgument other : origins.arguments)
      if (!llvm::is_contained(pending, other))
        pending.push_back(other);
  }
  return starts;
}

bool braid::mayBeMessage(Value token) {
  SmallVector<Value> pending = {token};
  SmallPtrSet<Value, 4> seen;
  auto addTokens = [&](ValueRange values) {
    for (Value value : values)
      if (isa<comm::TokenType>(value.getType()))
        pending.push_back(value);
  };
  // Whatever goes into the op or comes out of its regions.
  auto addTokensOf = [&](Operation *op) {
    addTokens(op->getOperands());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          addTokens(block.getTerminator()->getOperands());
  };
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      for (Block *predecessor : argument.getOwner()->getPredecessors())
        addTokens(predecessor->getTerminator()->getOperands());
      op = argument.getOwner()->getParentOp();
    }
    if (comm::getAsyncStart(op)) {
      auto collective = dyn_cast<comm::CollectiveOpInterface>(op);
      if (collective && collective.isPointToPoint())
        return true;
    } else if (isa<arith::SelectOp, RegionBranchOpInterface>(op)) {
      addTokensOf(op);
    } else {
      return true;
    }
  }
  return false;
}
