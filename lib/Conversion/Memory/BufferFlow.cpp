//===- BufferFlow.cpp - Where buffers go ----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferFlow.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace braid;

static bool isBuffer(Value value) {
  return isa<BaseMemRefType>(value.getType());
}

/// Calls `add` with what each of `successors` of `op` gets for `use`, out of
/// `operands`.
static void addInputs(RegionBranchOpInterface op, OpOperand &use,
                      ArrayRef<RegionSuccessor> successors,
                      function_ref<OperandRange(const RegionSuccessor &)> get,
                      SmallVectorImpl<Value> &forwarded) {
  for (const RegionSuccessor &successor : successors) {
    OperandRange operands = get(successor);
    unsigned begin = operands.getBeginOperandIndex();
    unsigned number = use.getOperandNumber();
    if (number < begin || number >= begin + operands.size())
      continue;
    forwarded.push_back(successor.getSuccessorInputs()[number - begin]);
  }
}

SmallVector<Value> braid::getForwarded(OpOperand &use) {
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
    if (auto regions = dyn_cast<RegionBranchOpInterface>(owner->getParentOp())) {
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
  if (auto branch = dyn_cast<BranchOpInterface>(owner)) {
    if (std::optional<BlockArgument> argument =
            branch.getSuccessorBlockArgument(use.getOperandNumber()))
      forwarded.push_back(*argument);
    return forwarded;
  }
  // A view, a choice, a call: any result may be the buffer or a part of it.
  llvm::append_range(forwarded, llvm::make_filter_range(owner->getResults(),
                                                        isBuffer));
  return forwarded;
}

llvm::SetVector<Value>
braid::getAliases(ValueRange buffers,
                  function_ref<bool(OpOperand &)> stopAt) {
  llvm::SetVector<Value> aliases(buffers.begin(), buffers.end());
  for (unsigned index = 0; index < aliases.size(); ++index)
    for (OpOperand &use : aliases[index].getUses())
      if (!stopAt(use))
        for (Value value : getForwarded(use))
          aliases.insert(value);
  return aliases;
}

bool braid::isCarried(OpOperand &use, Operation *loop) {
  Operation *owner = use.getOwner();
  return isa<scf::YieldOp>(owner) && owner->getParentOp() == loop;
}
