//===- TokenClasses.cpp - Tokens that reach the same waits ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenClasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid::comm;

bool TokenClass::isAwaitedDirectly() const {
  return tokens.size() == 1 &&
         llvm::all_of(tokens.front().getUsers(), llvm::IsaPred<WaitOp>);
}

namespace {

/// Joins the tokens of a function.
class Joiner {
public:
  FunctionTokens run(Operation *function);

private:
  void number(Operation *function);
  void visit(Operation *op);
  void join(Value first, Value second);
  bool passesOn(Operation *op);

  llvm::MapVector<Value, unsigned> numbers;
  llvm::IntEqClasses classes;
  /// The tokens that other ops create or use.
  SmallVector<unsigned> strangers;
};

void Joiner::number(Operation *function) {
  auto add = [&](Value value) {
    if (isa<TokenType>(value.getType()))
      numbers.insert({value, numbers.size()});
  };
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::for_each(op->getResults(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
  });
  classes.grow(numbers.size());
}

void Joiner::join(Value first, Value second) {
  auto *one = numbers.find(first), *other = numbers.find(second);
  if (one != numbers.end() && other != numbers.end())
    classes.join(one->second, other->second);
}

/// Joins the tokens that `op` passes on. Returns false if `op` is no control
/// flow and no selection.
bool Joiner::passesOn(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    join(select.getResult(), select.getTrueValue());
    join(select.getResult(), select.getFalseValue());
    return true;
  }
  if (auto regions = dyn_cast<RegionBranchOpInterface>(op)) {
    RegionBranchSuccessorMapping mapping;
    regions.getSuccessorOperandInputMapping(mapping);
    for (auto &[operand, inputs] : mapping)
      for (Value input : inputs)
        join(operand->get(), input);
    return true;
  }
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (auto argument =
              branch.getSuccessorBlockArgument(operand.getOperandNumber()))
        join(operand.get(), *argument);
    return true;
  }
  return isa<RegionBranchTerminatorOpInterface>(op) &&
         isa<RegionBranchOpInterface>(op->getParentOp());
}

void Joiner::visit(Operation *op) {
  if (isa<AsyncStartOpInterface, WaitOp>(op) || passesOn(op))
    return;
  auto note = [&](Value value) {
    if (auto *found = numbers.find(value); found != numbers.end())
      strangers.push_back(found->second);
  };
  llvm::for_each(op->getOperands(), note);
  llvm::for_each(op->getResults(), note);
  // No op says what the arguments of its blocks are.
  for (Region &region : op->getRegions())
    if (!region.empty())
      llvm::for_each(region.getArguments(), note);
}

FunctionTokens Joiner::run(Operation *function) {
  number(function);
  function->walk([&](Operation *op) { visit(op); });
  classes.compress();
  FunctionTokens found;
  found.classes.resize(classes.getNumClasses());
  for (auto [token, number] : numbers) {
    found.classOf[token] = classes[number];
    TokenClass &tokenClass = found.classes[classes[number]];
    tokenClass.tokens.push_back(token);
    for (Operation *user : token.getUsers())
      if (auto wait = dyn_cast<WaitOp>(user))
        tokenClass.waits.push_back(wait);
    auto start = token.getDefiningOp<AsyncStartOpInterface>();
    if (start && token == start.getTokens()[0])
      found.starts.push_back(start);
  }
  for (unsigned number : strangers)
    found.classes[classes[number]].leavesFunction = true;
  return found;
}

} // namespace

FunctionTokens braid::comm::getTokens(Operation *function) {
  return Joiner().run(function);
}
