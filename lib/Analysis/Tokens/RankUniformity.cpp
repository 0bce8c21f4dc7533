//===- RankUniformity.cpp - What all ranks do alike -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Tokens/RankUniformity.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace braid;

static bool isUniformSize(comm::SizeOp op) {
  SymbolTableCollection symbolTables;
  comm::GroupOp group = comm::lookupGroup(op, op.getGroupAttr(), symbolTables);
  return group && (group.isAll() ||
                   llvm::all_equal(llvm::map_range(
                       group.getRankLists(),
                       [](ArrayRef<int64_t> ranks) { return ranks.size(); })));
}

/// True if all ranks that may run `wait` get the same bits: copies of what the
/// members of a group with one list have, or reductions of their integers.
static bool givesSameToAll(comm::WaitOp wait) {
  Operation *start = wait.getToken().getDefiningOp();
  auto collective = dyn_cast_or_null<comm::CollectiveOpInterface>(start);
  if (!collective || !(isa<comm::AllGatherOp, comm::BroadcastOp>(start) ||
                       (isa<comm::AllReduceOp>(start) &&
                        getElementTypeOrSelf(wait.getValue()).isInteger())))
    return false;
  SymbolTableCollection symbolTables;
  comm::GroupOp group =
      comm::lookupGroup(start, collective.getGroupAttr(), symbolTables);
  return group && (group.isAll() || group.getRankLists().size() == 1);
}

namespace {

/// Collects what a value is computed from. If nothing of it may differ between
/// ranks, all of it is uniform, also what a loop carries from one iteration to
/// the next one.
class UniformValues {
public:
  /// Adds `values`; true, as a step of those that may fail.
  bool add(ValueRange values) {
    for (Value value : values)
      if (seen.insert(value).second)
        pending.push_back(value);
    return true;
  }
  /// What decides how often `loop` runs its body; false if that is not known.
  bool addIterations(LoopLikeOpInterface loop);
  bool areUniform() {
    while (!pending.empty())
      if (!visit(pending.pop_back_val()))
        return false;
    return true;
  }

private:
  bool visit(Value value);
  bool visitArgument(BlockArgument argument);
  bool visitResult(OpResult result);
  bool visitBody(linalg::LinalgOp op);

  llvm::DenseSet<Value> seen;
  SmallVector<Value> pending;
};

} // namespace

bool UniformValues::addIterations(LoopLikeOpInterface loop) {
  if (auto whileLoop = dyn_cast<scf::WhileOp>(*loop))
    return add(whileLoop.getConditionOp().getCondition());
  std::optional<SmallVector<OpFoldResult>> lower = loop.getLoopLowerBounds();
  std::optional<SmallVector<OpFoldResult>> upper = loop.getLoopUpperBounds();
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!lower || !upper || !steps)
    return false;
  for (OpFoldResult bound : llvm::concat<OpFoldResult>(*lower, *upper, *steps))
    if (auto value = dyn_cast<Value>(bound))
      add(value);
  return true;
}

bool UniformValues::visitArgument(BlockArgument argument) {
  Operation *op = argument.getOwner()->getParentOp();
  auto loop = dyn_cast_or_null<LoopLikeOpInterface>(op);
  if (!loop || !addIterations(loop))
    return false;
  if (auto whileLoop = dyn_cast<scf::WhileOp>(op)) {
    unsigned number = argument.getArgNumber();
    if (argument.getOwner() == whileLoop.getAfterBody())
      return add(whileLoop.getConditionOp().getArgs()[number]);
    return add({whileLoop.getInits()[number],
                whileLoop.getYieldOp().getOperand(number)});
  }
  std::optional<SmallVector<Value>> variables = loop.getLoopInductionVars();
  if (variables && llvm::is_contained(*variables, argument))
    return true;
  auto forLoop = dyn_cast<scf::ForOp>(op);
  if (!forLoop)
    return false;
  return add({forLoop.getTiedLoopInit(argument)->get(),
              forLoop.getTiedLoopYieldedValue(argument)->get()});
}

/// Adds what the body of `op` uses from outside; false if it asks for the rank.
bool UniformValues::visitBody(linalg::LinalgOp op) {
  visitUsedValuesDefinedAbove(op->getRegions(),
                              [&](OpOperand *used) { add(used->get()); });
  return llvm::all_of(*op.getBlock(), [](Operation &nested) {
    auto size = dyn_cast<comm::SizeOp>(nested);
    return nested.getNumRegions() == 0 && !isa<comm::RankOp>(nested) &&
           (!size || isUniformSize(size));
  });
}

bool UniformValues::visitResult(OpResult result) {
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  if (isa<comm::RankOp>(op))
    return false;
  if (auto size = dyn_cast<comm::SizeOp>(op))
    return isUniformSize(size);
  if (auto wait = dyn_cast<comm::WaitOp>(op))
    return givesSameToAll(wait);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return add({branch.getCondition(), branch.thenYield().getOperand(number),
                branch.elseYield().getOperand(number)});
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return addIterations(loop) && add(loop.getConditionOp().getArgs()[number]);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return addIterations(loop) &&
           add({loop.getInitArgs()[number], loop.getYieldedValues()[number]});
  if (!isPure(op))
    return false;
  add(op->getOperands());
  if (op->getNumRegions() == 0)
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && visitBody(structured);
}

bool UniformValues::visit(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return visitArgument(argument);
  return visitResult(cast<OpResult>(value));
}

bool braid::isUniform(Value value) {
  UniformValues values;
  values.add(value);
  return values.areUniform();
}

/// True if all ranks run the body of `loop` equally often.
static bool hasUniformIterations(LoopLikeOpInterface loop) {
  UniformValues values;
  return values.addIterations(loop) && values.areUniform();
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
  SmallVector<Operation *> pending;
  auto addApart = [&](Operation *function) {
    if (enteredApart.insert(function).second)
      pending.push_back(function);
  };
  // The functions that a function calls where all of its ranks come together.
  llvm::DenseMap<Operation *, SmallVector<Operation *>> callees;
  root->walk([&](Operation *op) {
    auto addSymbol = [&](SymbolRefAttr symbol) {
      Operation *function = symbolTables.lookupNearestSymbolFrom(op, symbol);
      if (!isa_and_present<FunctionOpInterface>(function))
        return;
      Operation *caller = nullptr;
      if (!isa<CallOpInterface>(op) ||
          !areReachedTogetherWithin(*op->getBlock(), caller))
        addApart(function);
      else if (caller)
        callees[caller].push_back(function);
    };
    visitAttributes(op, [&](Attribute attribute) {
      if (auto symbol = dyn_cast<SymbolRefAttr>(attribute))
        addSymbol(symbol);
      else
        attribute.walk(addSymbol);
    });
  });
  while (!pending.empty())
    llvm::for_each(callees[pending.pop_back_val()], addApart);
}

void RankUniformity::addCopy(Operation *copy, Operation *function) {
  if (!areEnteredTogether(function))
    enteredApart.insert(copy);
}

bool RankUniformity::areEnteredTogether(Operation *function) {
  if (!knowsCallers) {
    auto symbol = dyn_cast<SymbolOpInterface>(function);
    return symbol && symbol.isPublic();
  }
  if (!hasUsers)
    collectUsers();
  return !enteredApart.contains(function);
}

bool RankUniformity::areReachedTogether(Block &block) {
  Operation *function = nullptr;
  return areReachedTogetherWithin(block, function) &&
         (!function || areEnteredTogether(function));
}

bool RankUniformity::areReachedTogetherWithin(Block &block,
                                              Operation *&function) {
  function = nullptr;
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
      function = op;
      return true;
    }
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      if (!hasUniformIterations(loop))
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
