//===- AwaitedValue.cpp - Values of collectives that may change -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AwaitedValue.h"
#include "Dialect/Comm/Transforms/Chunks/RewriteJudge.h"

#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/Dialect/Comm/IR/ReorderedSums.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

AsyncStartOpInterface AwaitedValue::getAsync() const {
  return cast<AsyncStartOpInterface>(
      CollectiveOpInterface(start).getOperation());
}

OpOperand &AwaitedValue::getSourceOperand() const {
  return getAsync().getSourceOperands()[number];
}

std::optional<AwaitedValue> braid::comm::getAwaitedValue(WaitOp wait) {
  AsyncStartOpInterface async = wait.getStart();
  if (!async || !isa_and_present<CommDialect>(async->getDialect()) ||
      async.isBufferForm() || async->getBlock() != wait->getBlock())
    return std::nullopt;
  auto start = dyn_cast<CollectiveOpInterface>(async.getOperation());
  if (!start || start.isPointToPoint() || !wait.getValue() ||
      !wait.getToken().hasOneUse() || hasSettings(start) ||
      start->hasAttr(CommDialect::kCostAttrName) ||
      wait->hasAttr(CommDialect::kCostAttrName) ||
      !async.getDestinationOperands().empty() ||
      async.getSourceOperands().size() != async.getTokens().size() ||
      start->getNumResults() != async.getTokens().size())
    return std::nullopt;
  AwaitedValue found = {
      start, cast<OpResult>(wait.getToken()).getResultNumber(), wait};
  // Gathers and scatters of scalars have a dimension on one side alone.
  auto source = dyn_cast<RankedTensorType>(found.getSource().getType());
  auto value = cast<RankedTensorType>(wait.getValue().getType());
  if (!source || source.getRank() != value.getRank())
    return std::nullopt;
  return found;
}

std::optional<AwaitedValue> braid::comm::getAwaitedValue(Value value) {
  auto wait = value.getDefiningOp<WaitOp>();
  return wait ? getAwaitedValue(wait) : std::nullopt;
}

Attribute braid::comm::getOperationKey(CollectiveOpInterface start) {
  NamedAttrList attributes(start->getAttrDictionary());
  attributes.erase(CommDialect::kLabelAttrName);
  attributes.erase(CommDialect::kReportNumberAttrName);
  attributes.erase(kReorderedSumsAttrName);
  Builder builder(start.getContext());
  attributes.set("op", builder.getStringAttr(start->getName().getStringRef()));
  return attributes.getDictionary(start.getContext());
}

void braid::comm::eraseCollective(RewriterBase &rewriter,
                                  const AwaitedValue &awaited,
                                  ErasedStarts &erased) {
  CollectiveOpInterface start = awaited.start;
  erased.insert(start);
  rewriter.eraseOp(awaited.wait);
  rewriter.eraseOp(start);
}

Value braid::comm::retype(RewriterBase &rewriter, const AwaitedValue &awaited,
                          Value source, RankedTensorType type) {
  OpBuilder::InsertionGuard guard(rewriter);
  CollectiveOpInterface start = awaited.start;
  WaitOp wait = awaited.wait;
  Value token = wait.getToken();
  rewriter.modifyOpInPlace(start, [&]() {
    awaited.getSourceOperand().set(source);
    token.setType(TokenType::get(type));
  });
  rewriter.setInsertionPoint(wait);
  auto retyped = WaitOp::create(rewriter, wait.getLoc(), type, token,
                                ValueRange(), ValueRange());
  retyped->setDiscardableAttrs(wait->getDiscardableAttrDictionary());
  return retyped.getValue();
}

/// True if the collective gives the same to each member.
static bool givesAllTheSame(CollectiveOpInterface start) {
  const CollectiveTraits &traits = start.getCollectiveTraits();
  switch (traits.flow) {
  case BRAID_RT_FLOW_REDUCE:
  case BRAID_RT_FLOW_GATHER:
    return !traits.hasRoot && traits.shape != BRAID_RT_SHAPE_SPLIT;
  case BRAID_RT_FLOW_FROM_ROOT:
    return traits.shape == BRAID_RT_SHAPE_SAME;
  default:
    return false;
  }
}

/// True if the results of `op` depend on nothing but its operands.
static bool dependsOnOperands(Operation *op) {
  if (isa<RankOp>(op) || !isPure(op))
    return false;
  if (op->getNumRegions() == 0)
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured &&
         llvm::all_of(*structured.getBlock(), [&](Operation &nested) {
           return nested.getNumRegions() == 0 && !isa<RankOp>(nested) &&
                  llvm::all_of(nested.getOperands(), [&](Value operand) {
                    return operand.getParentBlock() == structured.getBlock();
                  });
         });
}

bool braid::comm::isReplicated(Value value, FlatSymbolRefAttr group) {
  // Programs compute a scale in a few steps.
  constexpr size_t mostSteps = 16;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next).second || isUniform(next))
      continue;
    Operation *op = next.getDefiningOp();
    if (!op || seen.size() > mostSteps)
      return false;
    if (auto wait = dyn_cast<WaitOp>(op)) {
      AsyncStartOpInterface async = wait.getStart();
      auto start = async ? dyn_cast<CollectiveOpInterface>(async.getOperation())
                         : CollectiveOpInterface();
      if (!start || start.getGroupAttr() != group || !givesAllTheSame(start))
        return false;
      continue;
    }
    if (!dependsOnOperands(op))
      return false;
    llvm::append_range(pending, op->getOperands());
  }
  return true;
}

/// The constant that defines `value`; null for another value.
static Operation *getConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>() ? op : nullptr;
}

bool braid::comm::isThereBefore(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  return !definition || definition->getBlock() != op->getBlock() ||
         definition->isBeforeInBlock(op) || getConstant(value);
}

Value braid::comm::getBefore(RewriterBase &rewriter, Value value,
                             Operation *op) {
  Operation *constant = getConstant(value);
  if (!constant || constant->getBlock() != op->getBlock() ||
      constant->isBeforeInBlock(op))
    return value;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  return rewriter.clone(*constant)->getResult(0);
}
