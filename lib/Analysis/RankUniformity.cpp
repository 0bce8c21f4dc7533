//===- RankUniformity.cpp - What all ranks do alike -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/RankUniformity.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace braid;

/// True if the bounds of `loop` are known, and uniform: all ranks run its body
/// equally often.
static bool hasUniformBounds(LoopLikeOpInterface loop) {
  std::optional<SmallVector<OpFoldResult>> lower = loop.getLoopLowerBounds();
  std::optional<SmallVector<OpFoldResult>> upper = loop.getLoopUpperBounds();
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!lower || !upper || !steps)
    return false;
  return llvm::all_of(llvm::concat<OpFoldResult>(*lower, *upper, *steps),
                      [](OpFoldResult bound) {
                        auto value = dyn_cast<Value>(bound);
                        return !value || isUniform(value);
                      });
}

static bool isUniformSize(comm::SizeOp op) {
  SymbolTableCollection symbolTables;
  comm::GroupOp group = comm::lookupGroup(op, op.getGroupAttr(), symbolTables);
  return group && (group.isAll() ||
                   llvm::all_equal(llvm::map_range(
                       group.getRankLists(),
                       [](ArrayRef<int64_t> ranks) { return ranks.size(); })));
}

bool braid::isUniform(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    if (!loop)
      return false;
    std::optional<SmallVector<Value>> variables = loop.getLoopInductionVars();
    return variables && llvm::is_contained(*variables, value) &&
           hasUniformBounds(loop);
  }
  Operation *op = value.getDefiningOp();
  if (auto size = dyn_cast<comm::SizeOp>(op))
    return isUniformSize(size);
  return !isa<comm::RankOp>(op) && op->getNumRegions() == 0 && isPure(op) &&
         llvm::all_of(op->getOperands(), isUniform);
}

RankUniformity::RankUniformity(Operation *root)
    : root(root), knowsCallers(isa<ModuleOp>(root)) {}

/// Calls `visit` with each attribute of `op` that may name a symbol. Builds no
/// dictionary of the properties, which takes longer than the walk.
static void visitAttributes(Operation *op,
                            function_ref<void(Attribute)> visit) {
  auto visitOne = [&](Attribute attribute) {
    if (attribute && !isa<IntegerAttr, FloatAttr, StringAttr, TypeAttr,
                          UnitAttr, DenseArrayAttr, ElementsAttr>(attribute))
      visit(attribute);
  };
  for (NamedAttribute attribute : op->getRawDictionaryAttrs())
    visitOne(attribute.getValue());
  std::optional<RegisteredOperationName> info = op->getRegisteredInfo();
  if (!info || op->getPropertiesStorageSize() == 0)
    return;
  for (StringAttr name : info->getAttributeNames())
    if (std::optional<Attribute> attribute = op->getInherentAttr(name))
      visitOne(*attribute);
}

void RankUniformity::collectUsers() {
  hasUsers = true;
  SymbolTableCollection symbolTables;
  root->walk([&](Operation *op) {
    auto addSymbol = [&](SymbolRefAttr symbol) {
      Operation *function = symbolTables.lookupNearestSymbolFrom(op, symbol);
      if (isa_and_present<FunctionOpInterface>(function))
        users[function].push_back(op);
    };
    visitAttributes(op, [&](Attribute attribute) {
      if (auto symbol = dyn_cast<SymbolRefAttr>(attribute))
        addSymbol(symbol);
      else
        attribute.walk(addSymbol);
    });
  });
}

void RankUniformity::addCopy(Operation *copy, Operation *function) {
  enteredTogether[copy] = areEnteredTogether(function);
}

bool RankUniformity::areEnteredTogether(Operation *function) {
  auto symbol = dyn_cast<SymbolOpInterface>(function);
  if (!knowsCallers)
    return symbol && symbol.isPublic();
  if (!hasUsers)
    collectUsers();
  // A function that calls itself is entered as its other callers say.
  auto [it, isNew] = enteredTogether.try_emplace(function, true);
  if (!isNew)
    return it->second;
  bool together = llvm::all_of(users[function], [&](Operation *user) {
    return isa<CallOpInterface>(user) && areReachedTogether(*user->getBlock());
  });
  return enteredTogether[function] = together;
}

bool RankUniformity::areReachedTogether(Block &block) {
  Block *current = &block;
  while (Operation *op = current->getParentOp()) {
    // The blocks after the first are run under the conditions of branches.
    if (current != &current->getParent()->front())
      return false;
    if (isa<FunctionOpInterface>(op)) {
      for (Operation *outer = op->getParentOp(); outer;
           outer = outer->getParentOp())
        if (outer->hasAttr(comm::CommDialect::kMpmdAttrName))
          return false;
      return areEnteredTogether(op);
    }
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      if (!hasUniformBounds(loop))
        return false;
    } else if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
      // Whatever decides between regions is among the operands that they do not
      // get.
      SmallVector<RegionSuccessor> successors;
      branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
      if (successors.size() > 1 && !llvm::all_of(op->getOperands(), isUniform))
        return false;
    } else if (!op->hasTrait<OpTrait::IsIsolatedFromAbove>() &&
               op->getNumRegions() > 1) {
      return false;
    }
    current = op->getBlock();
    if (!current)
      break;
  }
  return true;
}
