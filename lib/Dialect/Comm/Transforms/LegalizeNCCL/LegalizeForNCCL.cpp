//===- LegalizeForNCCL.cpp - The comm-legalize-for-nccl pass --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Legalizer.h"
#include "TaggedTokens.h"
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
/// of its token has changed. If the starts of a web differ in what is to be
/// undone, its tokens carry a tag, the number of the *form* of the start.
class FamilyLegalizer {
public:
  FamilyLegalizer(TokenFamily &family) : family(family) {}

  /// True if a web has a tag now.
  bool hasTags() const { return tagged; }
  LogicalResult legalize();

private:
  /// The token of a start and what stands for it.
  struct StartedToken {
    Value token;
    unsigned form;
    Finish finish;
  };

  LogicalResult replaceStart(AsyncStartOpInterface start);
  unsigned getForm(Attribute key);
  LogicalResult rewrite(TokenWeb &web);

  TokenFamily &family;
  /// What distinguishes the forms; a start that is kept has none.
  SmallVector<Attribute> forms;
  DenseMap<Value, StartedToken> started; ///< By the token of the old start.
  bool keepsTypes = false;
  bool tagged = false;
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

unsigned FamilyLegalizer::getForm(Attribute key) {
  auto *found = llvm::find(forms, key);
  if (found == forms.end()) {
    forms.push_back(key);
    return forms.size() - 1;
  }
  return found - forms.begin();
}

LogicalResult FamilyLegalizer::replaceStart(AsyncStartOpInterface start) {
  if (isLegal(start)) {
    unsigned form = getForm({});
    for (Value token : start.getTokens())
      started[token] = {token, form, {}};
    return success();
  }
  if (family.leavesFunction && !start.isBufferForm())
    return emitUnsupported(start, "tokens that stay in their function");
  Attribute key = getKey(start);
  FailureOr<Replacement> replacement =
      Legalizer(cast<CollectiveOpInterface>(start.getOperation()))
          .replace(keepsTypes);
  if (failed(replacement))
    return failure();
  if (replacement->usesOperands && !family.isAwaitedDirectly())
    return emitUnsupported(start, "waits as the only users of its tokens");
  // Nothing is to be undone, for example of `band` of i1.
  if (llvm::none_of(replacement->finishes,
                    [](const Finish &finish) { return bool(finish); }))
    key = {};
  unsigned form = getForm(key);
  for (auto [old, token, finish] :
       llvm::zip_equal(start.getTokens(), replacement->start->getResults(),
                       replacement->finishes))
    started[old] = {token, form, finish};
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

/// Selects one of `finishes`, which are numbered from `first`, by `tag`.
Value finishByTag(ImplicitLocOpBuilder &b, Value tag,
                  ArrayRef<std::pair<unsigned, Finish>> finishes, Value value,
                  Type original) {
  unsigned number = finishes.front().first;
  const Finish &finish = finishes.front().second;
  if (finishes.size() == 1)
    return finishValue(b, finish, value, original);
  Value expected = arith::ConstantIndexOp::create(b, number);
  Value isThis =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, tag, expected);
  auto choice = scf::IfOp::create(b, TypeRange(original), isThis,
                                  /*withElseRegion=*/true);
  auto fill = [&](Block *block,
                  function_ref<Value(ImplicitLocOpBuilder &)> get) {
    auto inner = ImplicitLocOpBuilder::atBlockEnd(b.getLoc(), block);
    scf::YieldOp::create(inner, get(inner));
  };
  fill(choice.thenBlock(), [&](ImplicitLocOpBuilder &inner) {
    return finishValue(inner, finish, value, original);
  });
  fill(choice.elseBlock(), [&](ImplicitLocOpBuilder &inner) {
    return finishByTag(inner, tag, finishes.drop_front(), value, original);
  });
  return choice.getResult(0);
}

/// Replaces `wait` by one on `token`, and by the value that `finish` computes.
void renewWait(WaitOp wait, Value token,
               function_ref<Value(ImplicitLocOpBuilder &, Value)> finish) {
  ImplicitLocOpBuilder b(wait.getLoc(), wait);
  auto renewed =
      WaitOp::create(b, cast<TokenType>(token.getType()).getValueType(), token,
                     ValueRange(), ValueRange());
  renewed->setDiscardableAttrs(wait->getDiscardableAttrDictionary());
  wait.getValue().replaceAllUsesWith(finish(b, renewed.getValue()));
  wait.erase();
}

LogicalResult FamilyLegalizer::rewrite(TokenWeb &web) {
  // The finish of each form, in the order of the starts.
  llvm::MapVector<unsigned, Finish> finishes;
  Type type, original = web.tokens.front().getType();
  for (Value token : web.tokens) {
    auto found = started.find(token);
    if (found == started.end())
      continue;
    finishes.insert({found->second.form, found->second.finish});
    Type newType = found->second.token.getType();
    if (type && type != newType)
      return emitUnsupported(
          token.getDefiningOp(),
          "starts with replacements of one type for the tokens of a wait");
    type = newType;
  }
  // A token of an endless loop.
  if (!type)
    return success();
  bool hasTag = finishes.size() > 1;
  tagged |= hasTag;
  Type passedOn = hasTag ? getTaggedType(cast<TokenType>(type)) : type;
  for (Value token : web.tokens) {
    auto found = started.find(token);
    if (found == started.end()) {
      token.setType(passedOn);
      continue;
    }
    const StartedToken &other = found->second;
    if (hasTag)
      replaceByTagged(token, other.token, other.form);
    else if (other.token != token)
      token.replaceAllUsesWith(other.token);
  }
  Type value = cast<TokenType>(original).getValueType();
  for (WaitOp wait : web.waits) {
    if (!hasTag) {
      renewWait(wait, wait.getToken(), [&](ImplicitLocOpBuilder &b, Value of) {
        return finishValue(b, finishes.front().second, of, value);
      });
      continue;
    }
    Value token, tag;
    std::tie(token, tag) =
        splitTagged(wait.getToken(), cast<TokenType>(type), wait);
    renewWait(wait, token, [&](ImplicitLocOpBuilder &b, Value of) {
      return finishByTag(b, tag, finishes.getArrayRef(), of, value);
    });
  }
  return success();
}

LogicalResult FamilyLegalizer::legalize() {
  llvm::SmallDenseSet<Attribute> keys;
  for (AsyncStartOpInterface start : family.starts)
    keys.insert(getKey(start));
  if (llvm::all_of(family.starts, isLegal))
    return success();
  keepsTypes = keys.size() > 1;
  for (AsyncStartOpInterface start : family.starts)
    if (failed(replaceStart(start)))
      return failure();
  for (TokenWeb &web : family.webs)
    if (failed(rewrite(web)))
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
    bool tagged = false;
    for (TokenFamily &family : getTokenFamilies(getOperation())) {
      FamilyLegalizer legalizer(family);
      if (failed(legalizer.legalize()))
        return failure();
      tagged |= legalizer.hasTags();
    }
    return success(!tagged || succeeded(lowerTags(getOperation())));
  }
};

} // namespace
