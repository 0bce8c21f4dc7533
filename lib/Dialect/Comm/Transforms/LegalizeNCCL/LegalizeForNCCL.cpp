//===- LegalizeForNCCL.cpp - The comm-legalize-for-nccl pass --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Legalizer.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMLEGALIZEFORNCCLPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// Tokens that control flow and `arith.select` pass on to one another, so that
/// all have one type.
struct TokenClass {
  SmallVector<Value> tokens; ///< In program order.
  SmallVector<WaitOp> waits;
  /// True if an op that is neither a start, a wait nor control flow in the
  /// function creates or uses one of the tokens.
  bool leavesFunction = false;

  /// True if waits are the only users of one token of a start.
  bool isAwaitedDirectly() const {
    return tokens.size() == 1 &&
           llvm::all_of(tokens.front().getUsers(), llvm::IsaPred<WaitOp>);
  }
};

/// The tokens of a function.
struct FunctionTokens {
  SmallVector<TokenClass> classes;
  DenseMap<Value, unsigned> classOf;
  /// In program order.
  SmallVector<AsyncStartOpInterface> starts;
};

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

/// Legalizes the starts of a function. A wait undoes what the start of its
/// token has changed, which is the same for all starts of a class of tokens.
class FunctionLegalizer {
public:
  FunctionLegalizer(Operation *function) : function(Joiner().run(function)) {}

  LogicalResult legalize();

private:
  /// The token that stands for one of a start, and what its wait undoes: equal
  /// keys, null for nothing, undo the same.
  struct StartedToken {
    Value token;
    Attribute key;
    Finish finish;
  };

  LogicalResult replaceStart(AsyncStartOpInterface start);
  LogicalResult rewrite(const TokenClass &tokenClass);

  FunctionTokens function;
  DenseMap<Value, StartedToken> started; ///< By the token of the old start.
};

bool isLegal(AsyncStartOpInterface start) {
  auto op = dyn_cast<CollectiveOpInterface>(start.getOperation());
  return !op || Legalizer(op).isLegal();
}

/// Starts with equal keys are replaced alike.
Attribute getKey(AsyncStartOpInterface start) {
  Attribute parts[] = {start->getName().getIdentifier(),
                       start->getPropertiesAsAttribute()};
  return ArrayAttr::get(start->getContext(), parts);
}

LogicalResult emitUnsupported(Operation *op, const Twine &expected) {
  return op->emitOpError() << "is not supported by NCCL, expected " << expected
                           << " so that other collectives can replace it";
}

LogicalResult FunctionLegalizer::replaceStart(AsyncStartOpInterface start) {
  if (isLegal(start)) {
    for (Value token : start.getTokens())
      started[token] = {token, {}, {}};
    return success();
  }
  auto getClass = [&](Value token) -> const TokenClass & {
    return function.classes[function.classOf.lookup(token)];
  };
  if (!start.isBufferForm() &&
      llvm::any_of(start.getTokens(),
                   [&](Value token) { return getClass(token).leavesFunction; }))
    return emitUnsupported(start, "tokens that stay in their function");
  FailureOr<Replacement> replacement =
      Legalizer(cast<CollectiveOpInterface>(start.getOperation())).replace();
  if (failed(replacement))
    return failure();
  if (replacement->usesOperands &&
      !llvm::all_of(start.getTokens(), [&](Value token) {
        return getClass(token).isAwaitedDirectly();
      }))
    return emitUnsupported(start, "waits as the only users of its tokens");
  // Nothing is to be undone, for example of `band` of i1.
  bool isUndone = llvm::any_of(
      replacement->finishes, [](const Finish &finish) { return bool(finish); });
  Attribute key = isUndone ? getKey(start) : Attribute();
  for (auto [old, token, finish] :
       llvm::zip_equal(start.getTokens(), replacement->start->getResults(),
                       replacement->finishes))
    started[old] = {token, key, finish};
  return success();
}

/// Replaces `wait` by one on its present token, and by what `finish` computes
/// from the value, of the type `original`.
void renewWait(WaitOp wait, const Finish &finish, Type original) {
  ImplicitLocOpBuilder b(wait.getLoc(), wait);
  Value token = wait.getToken();
  auto renewed =
      WaitOp::create(b, cast<TokenType>(token.getType()).getValueType(), token,
                     ValueRange(), ValueRange());
  renewed->setDiscardableAttrs(wait->getDiscardableAttrDictionary());
  Value value = renewed.getValue();
  if (finish)
    value = finish(b, value);
  if (value.getType() != original)
    value = tensor::CastOp::create(b, original, value);
  wait.getValue().replaceAllUsesWith(value);
  wait.erase();
}

LogicalResult FunctionLegalizer::rewrite(const TokenClass &tokenClass) {
  Value firstToken;
  Type original = tokenClass.tokens.front().getType();
  for (Value token : tokenClass.tokens) {
    auto found = started.find(token);
    if (found == started.end())
      continue;
    if (!firstToken)
      firstToken = token;
    const StartedToken &first = started[firstToken], &other = found->second;
    if (first.key != other.key ||
        first.token.getType() != other.token.getType())
      return emitUnsupported(
          (other.key ? token : firstToken).getDefiningOp(),
          "one kind of collective in all starts that reach a wait");
  }
  // A token of an endless loop.
  if (!firstToken)
    return success();
  const StartedToken &first = started[firstToken];
  for (Value token : tokenClass.tokens) {
    auto found = started.find(token);
    if (found == started.end())
      token.setType(first.token.getType());
    else if (found->second.token != token)
      token.replaceAllUsesWith(found->second.token);
  }
  // Nothing is to be undone.
  if (!first.finish && first.token.getType() == original)
    return success();
  for (WaitOp wait : tokenClass.waits)
    renewWait(wait, first.finish, cast<TokenType>(original).getValueType());
  return success();
}

LogicalResult FunctionLegalizer::legalize() {
  for (AsyncStartOpInterface start : function.starts)
    if (failed(replaceStart(start)))
      return failure();
  for (const TokenClass &tokenClass : function.classes)
    if (failed(rewrite(tokenClass)))
      return failure();
  for (AsyncStartOpInterface start : function.starts)
    if (started.lookup(start.getTokens()[0]).token != start.getTokens()[0])
      start->erase();
  return success();
}

/// True if a start with reduction `after` may stand for one with `before`.
bool mayReplaceReduction(ReductionKind before, ReductionKind after) {
  switch (before) {
  case ReductionKind::band:
    return after == ReductionKind::min;
  case ReductionKind::bor:
    return after == ReductionKind::max;
  case ReductionKind::bxor:
  case ReductionKind::avg:
  case ReductionKind::premul_sum:
    return after == ReductionKind::sum || after == before;
  default:
    return after == before;
  }
}

/// The table of the pass: true if the start `after` may stand for `before`.
bool mayReplaceStart(const StartSummary &before, const StartSummary &after) {
  if (isSameStart(before, after))
    return true;
  if (before.sources.size() != after.sources.size() ||
      after.splitDim.value_or(0) != 0)
    return false;
  if (after.kind == before.kind) {
    if (before.reduction.has_value() != after.reduction.has_value() ||
        (before.reduction &&
         !mayReplaceReduction(*before.reduction, *after.reduction)))
      return false;
    // The dimension becomes 0; a root stays.
    return before.splitDim || before.arguments == after.arguments;
  }
  if (!isBitwise(before.reduction) || after.reduction)
    return false;
  return after.kind == (before.kind == CollectiveKind::reduce_scatter
                            ? CollectiveKind::all_to_all
                            : CollectiveKind::all_gather);
}

struct CommLegalizeForNCCLPass
    : public braid::StructuralPass<
          braid::comm::impl::CommLegalizeForNCCLPassBase<
              CommLegalizeForNCCLPass>> {
  CommunicationRules getRules() const override {
    CommunicationRules rules;
    rules.mayReplace = mayReplaceStart;
    return rules;
  }

  LogicalResult transform() override {
    return FunctionLegalizer(getOperation()).legalize();
  }
};

} // namespace
