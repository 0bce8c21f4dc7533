//===- BufferFlow.cpp - Aliases of buffers --------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferFlow.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace braid;

static bool isBuffer(Value value) {
  return isa<BaseMemRefType>(value.getType());
}

/// Adds the inputs of `successors` of `op` that receive the operand `use`.
/// `get` returns the operands that are passed to a successor.
static void addInputs(RegionBranchOpInterface op, OpOperand &use,
                      ArrayRef<RegionSuccessor> successors,
                      function_ref<OperandRange(const RegionSuccessor &)> get,
                      SmallVectorImpl<Value> &forwarded) {
  for (const RegionSuccessor &successor : successors) {
    OperandRange operands = get(successor);
    if (operands.empty())
      continue;
    unsigned begin = operands.getBeginOperandIndex();
    unsigned number = use.getOperandNumber();
    if (number < begin || number >= begin + operands.size())
      continue;
    forwarded.push_back(successor.getSuccessorInputs()[number - begin]);
  }
}

static llvm::SetVector<Value>
collectAliases(ValueRange buffers, function_ref<bool(OpOperand &)> stopAt,
               ArrayRef<Operation *> callers);

/// Adds the results of `call` in which the callee may return the buffer of
/// `use`. `callers` are the functions under analysis.
static void addResults(func::CallOp call, OpOperand &use,
                       ArrayRef<Operation *> callers,
                       SmallVectorImpl<Value> &forwarded) {
  if (llvm::none_of(call.getResults(), isBuffer))
    return;
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal() || llvm::is_contained(callers, callee)) {
    llvm::append_range(forwarded,
                       llvm::make_filter_range(call.getResults(), isBuffer));
    return;
  }
  SmallVector<Operation *> inner(callers);
  inner.push_back(callee);
  llvm::SetVector<Value> aliases = collectAliases(
      callee.getArgument(use.getOperandNumber()),
      [](OpOperand &) { return false; }, inner);
  callee.walk([&](func::ReturnOp exit) {
    for (auto [result, value] :
         llvm::zip_equal(call.getResults(), exit.getOperands()))
      if (aliases.contains(value))
        forwarded.push_back(result);
  });
}

SmallVector<Value> braid::getPassedOn(OpOperand &use) {
  Operation *owner = use.getOwner();
  SmallVector<Value> forwarded;
  SmallVector<RegionSuccessor> successors;
  if (auto regions = dyn_cast<RegionBranchOpInterface>(owner)) {
    regions.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    addInputs(
        regions, use, successors,
        [&](const RegionSuccessor &successor) {
          return regions.getEntrySuccessorOperands(successor);
        },
        forwarded);
    return forwarded;
  }
  if (auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(owner)) {
    if (auto regions =
            dyn_cast<RegionBranchOpInterface>(owner->getParentOp())) {
      regions.getSuccessorRegions(RegionBranchPoint(terminator), successors);
      addInputs(
          regions, use, successors,
          [&](const RegionSuccessor &successor) {
            return terminator.getSuccessorOperands(successor);
          },
          forwarded);
    }
    return forwarded;
  }
  if (auto branch = dyn_cast<BranchOpInterface>(owner))
    if (std::optional<BlockArgument> argument =
            branch.getSuccessorBlockArgument(use.getOperandNumber()))
      forwarded.push_back(*argument);
  return forwarded;
}

/// The values that may alias the buffer of `use` because of its owner: views,
/// arguments and results of regions and loops, arguments of blocks, results of
/// calls.
static SmallVector<Value> getForwarded(OpOperand &use,
                                       ArrayRef<Operation *> callers) {
  Operation *owner = use.getOwner();
  if (isa<RegionBranchOpInterface, BranchOpInterface>(owner) ||
      isa<RegionBranchTerminatorOpInterface>(owner))
    return getPassedOn(use);
  SmallVector<Value> forwarded;
  if (auto call = dyn_cast<func::CallOp>(owner)) {
    addResults(call, use, callers, forwarded);
    return forwarded;
  }
  // Any result, for example of a view or a select, may be the buffer or a part
  // of it.
  llvm::append_range(forwarded,
                     llvm::make_filter_range(owner->getResults(), isBuffer));
  return forwarded;
}

static llvm::SetVector<Value>
collectAliases(ValueRange buffers, function_ref<bool(OpOperand &)> stopAt,
               ArrayRef<Operation *> callers) {
  llvm::SetVector<Value> aliases(buffers.begin(), buffers.end());
  for (unsigned index = 0; index < aliases.size(); ++index)
    for (OpOperand &use : aliases[index].getUses())
      if (!stopAt(use))
        for (Value value : getForwarded(use, callers))
          aliases.insert(value);
  return aliases;
}

llvm::SetVector<Value>
braid::getAliases(ValueRange buffers, function_ref<bool(OpOperand &)> stopAt) {
  return collectAliases(buffers, stopAt, {});
}

bool braid::isCarried(OpOperand &use, Operation *loop) {
  Operation *owner = use.getOwner();
  return isa<scf::YieldOp>(owner) && owner->getParentOp() == loop;
}
