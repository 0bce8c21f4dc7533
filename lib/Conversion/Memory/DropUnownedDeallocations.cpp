//===- DropUnownedDeallocations.cpp - Deallocations of others' buffers ----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferFlow.h"

#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace braid {
#define GEN_PASS_DEF_DROPUNOWNEDDEALLOCATIONSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

/// The conditions of a function that may be true. A condition is false if it is
/// only ever the constant false: through regions, loops, branches and the
/// results of deallocations. The analysis first assumes that of all conditions.
class Conditions {
public:
  explicit Conditions(func::FuncOp function);
  bool mayBeTrue(Value condition) const {
    return trueValues.contains(condition);
  }

private:
  void findPassedOn(func::FuncOp function);
  void findSources(func::FuncOp function);

  /// The values that receive the value of a condition.
  llvm::DenseMap<Value, SmallVector<Value>> receivers;
  llvm::DenseSet<Value> received;
  llvm::SetVector<Value> trueValues;
};

bool isCondition(Value value) { return value.getType().isInteger(1); }

Conditions::Conditions(func::FuncOp function) {
  findPassedOn(function);
  findSources(function);
  for (unsigned index = 0; index < trueValues.size(); ++index)
    for (Value receiver : receivers.lookup(trueValues[index]))
      trueValues.insert(receiver);
}

void Conditions::findPassedOn(func::FuncOp function) {
  auto add = [&](Value from, Value to) {
    receivers[from].push_back(to);
    received.insert(to);
  };
  function.walk([&](Operation *op) {
    if (auto dealloc = dyn_cast<bufferization::DeallocOp>(op)) {
      for (Value result : dealloc.getUpdatedConditions()) {
        received.insert(result);
        for (Value condition : dealloc.getConditions())
          add(condition, result);
      }
      return;
    }
    for (OpOperand &use : op->getOpOperands())
      if (isCondition(use.get()))
        for (Value to : getPassedOn(use))
          add(use.get(), to);
  });
}

/// Adds the conditions that another op than a branch computes.
void Conditions::findSources(func::FuncOp function) {
  auto add = [&](Value value) {
    if (isCondition(value) && !received.contains(value) &&
        !matchPattern(value, m_Zero()))
      trueValues.insert(value);
  };
  function.walk([&](Block *block) {
    llvm::for_each(block->getArguments(), add);
    for (Operation &op : *block)
      llvm::for_each(op.getResults(), add);
  });
}

/// Removes the buffers of `dealloc` whose conditions are never true.
void simplify(bufferization::DeallocOp dealloc, const Conditions &conditions) {
  SmallVector<Value> buffers, remaining;
  for (auto [buffer, condition] :
       llvm::zip_equal(dealloc.getMemrefs(), dealloc.getConditions()))
    if (conditions.mayBeTrue(condition)) {
      buffers.push_back(buffer);
      remaining.push_back(condition);
    }
  if (!buffers.empty()) {
    dealloc.getMemrefsMutable().assign(buffers);
    dealloc.getConditionsMutable().assign(remaining);
    return;
  }
  OpBuilder builder(dealloc);
  if (!dealloc.use_empty()) {
    Value isOwned = arith::ConstantOp::create(builder, dealloc.getLoc(),
                                              builder.getBoolAttr(false));
    for (Value result : dealloc.getUpdatedConditions())
      result.replaceAllUsesWith(isOwned);
  }
  dealloc.erase();
}

struct DropUnownedDeallocationsPass
    : public braid::impl::DropUnownedDeallocationsPassBase<
          DropUnownedDeallocationsPass> {
  void runOnOperation() override {
    SmallVector<bufferization::DeallocOp> deallocs;
    getOperation().walk(
        [&](bufferization::DeallocOp dealloc) { deallocs.push_back(dealloc); });
    if (deallocs.empty())
      return;
    Conditions conditions(getOperation());
    for (bufferization::DeallocOp dealloc : deallocs)
      simplify(dealloc, conditions);
  }
};

} // namespace
