//===- LegalizeForNCCL.cpp - The comm-legalize-for-nccl pass --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Legalizer.h"
#include "TokenFamilies.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMLEGALIZEFORNCCLPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// Legalizes the starts of one family of tokens. A wait undoes what the start
/// of its token has changed, so all starts of a class are replaced alike.
class FamilyLegalizer {
public:
  FamilyLegalizer(TokenFamily &family) : family(family) {}

  LogicalResult legalize();

private:
  /// The token of a start and what stands for it.
  struct StartedToken {
    Value token;
    Attribute key;
    Finish finish;
  };

  LogicalResult replaceStart(AsyncStartOpInterface start);
  LogicalResult rewrite(TokenClass &tokenClass);

  TokenFamily &family;
  DenseMap<Value, StartedToken> started; ///< By the token of the old start.
};

bool isLegal(AsyncStartOpInterface start) {
  auto op = dyn_cast<CollectiveOpInterface>(start.getOperation());
  return !op || Legalizer(op).isLegal();
}

/// Starts with equal keys are replaced alike. A start that is kept has a null
/// key.
Attribute getKey(AsyncStartOpInterface start) {
  if (isLegal(start))
    return {};
  Attribute parts[] = {start->getName().getIdentifier(),
                       start->getPropertiesAsAttribute()};
  return ArrayAttr::get(start->getContext(), parts);
}

LogicalResult emitUnsupported(Operation *op, const Twine &expected) {
  return op->emitOpError() << "is not supported by NCCL, expected " << expected
                           << " so that other collectives can replace it";
}

LogicalResult FamilyLegalizer::replaceStart(AsyncStartOpInterface start) {
  if (isLegal(start)) {
    for (Value token : start.getTokens())
      started[token] = {token, {}, {}};
    return success();
  }
  if (family.leavesFunction && !start.isBufferForm())
    return emitUnsupported(start, "tokens that stay in their function");
  Attribute key = getKey(start);
  FailureOr<Replacement> replacement =
      Legalizer(cast<CollectiveOpInterface>(start.getOperation())).replace();
  if (failed(replacement))
    return failure();
  if (replacement->usesOperands && !family.isAwaitedDirectly())
    return emitUnsupported(start, "waits as the only users of its tokens");
  // Nothing is to be undone, for example of `band` of i1.
  if (llvm::none_of(replacement->finishes,
                    [](const Finish &finish) { return bool(finish); }))
    key = {};
  for (auto [old, token, finish] :
       llvm::zip_equal(start.getTokens(), replacement->start->getResults(),
                       replacement->finishes))
    started[old] = {token, key, finish};
  return success();
}

/// The value of `wait`, which has a type of its own until `finish`.
Value finishValue(ImplicitLocOpBuilder &b, const Finish &finish, Value value,
                  Type original) {
  if (finish)
    value = finish(b, value);
  return value.getType() == original
             ? value
             : tensor::CastOp::create(b, original, value).getResult();
}

LogicalResult FamilyLegalizer::rewrite(TokenClass &tokenClass) {
  const StartedToken *first = nullptr;
  for (Value token : tokenClass.tokens) {
    auto found = started.find(token);
    if (found == started.end())
      continue;
    if (!first)
      first = &found->second;
    if (found->second.key != first->key ||
        found->second.token.getType() != first->token.getType())
      return emitUnsupported(token.getDefiningOp(),
                             "starts of one kind for the tokens of a wait");
  }
  // A token of an endless loop.
  if (!first)
    return success();
  Type original = tokenClass.tokens.front().getType();
  Type type = first->token.getType();
  for (Value token : tokenClass.tokens) {
    auto found = started.find(token);
    if (found == started.end())
      token.setType(type);
    else if (found->second.token != token)
      token.replaceAllUsesWith(found->second.token);
  }
  for (WaitOp wait : tokenClass.waits) {
    ImplicitLocOpBuilder b(wait.getLoc(), wait);
    auto renewed = WaitOp::create(b, cast<TokenType>(type).getValueType(),
                                  wait.getToken(), ValueRange(), ValueRange());
    renewed->setDiscardableAttrs(wait->getDiscardableAttrDictionary());
    wait.getValue().replaceAllUsesWith(
        finishValue(b, first->finish, renewed.getValue(),
                    cast<TokenType>(original).getValueType()));
    wait.erase();
  }
  return success();
}

LogicalResult FamilyLegalizer::legalize() {
  if (llvm::all_of(family.starts, isLegal))
    return success();
  for (AsyncStartOpInterface start : family.starts)
    if (failed(replaceStart(start)))
      return failure();
  for (TokenClass &tokenClass : family.classes)
    if (failed(rewrite(tokenClass)))
      return failure();
  for (AsyncStartOpInterface start : family.starts)
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
    for (TokenFamily &family : getTokenFamilies(getOperation()))
      if (failed(FamilyLegalizer(family).legalize()))
        return failure();
    return success();
  }
};

} // namespace
