//===- SplitTokens.cpp - Tokens with their tensors in flight --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A token that is awaited where it was started is split on the spot: its waits
// name the sources. A token that leaves its block owns its sources, so that
// they live, unchanged, until its wait, wherever that is. It is split by a type
// conversion: `!comm.token<T>` becomes the token, the tensor in flight, and one
// owned source for each kind of source that a token of that type may own. A
// source's kind is its rank and element type, which its token's type does not
// say; a token that owns no source of a kind carries an empty tensor there.
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace braid::comm;
using namespace braid::comm::inflight;

namespace {

/// For each type of tokens that leave their block, the kinds of sources that
/// such tokens own, in program order. A kind is a tensor type of dynamic sizes.
using OwnedKinds = llvm::MapVector<Type, SmallVector<RankedTensorType, 1>>;

//===----------------------------------------------------------------------===//
// Which tokens leave their block
//===----------------------------------------------------------------------===//

/// True if `op` runs at most once for each run of `block`, an enclosing block.
bool runsOncePerBlock(Operation *op, Block *block) {
  while (op && op->getBlock() != block) {
    Region *region = op->getParentRegion();
    Operation *parent = region->getParentOp();
    if (!region->hasOneBlock() || !parent || isa<FunctionOpInterface>(parent))
      return false;
    auto branch = dyn_cast<RegionBranchOpInterface>(parent);
    if (!branch || branch.isRepetitiveRegion(region->getRegionNumber()))
      return false;
    op = parent;
  }
  return op != nullptr;
}

/// True if all uses of `token` are waits that see its start's block end.
bool isAwaitedInBlock(OpResult token) {
  return llvm::all_of(token.getUsers(), [&](Operation *user) {
    return isa<braid::comm::WaitOp>(user) &&
           runsOncePerBlock(user, token.getOwner()->getBlock());
  });
}

/// True if the value of `token` may take the buffer of its source.
bool mayRunInPlace(AsyncStartOpInterface start) {
  return start.canRunInPlace() && start.getDestinationOperands().empty() &&
         start.getInFlightType(0);
}

/// The kind of `source`, see above.
RankedTensorType getKind(Value source) {
  auto type = cast<RankedTensorType>(source.getType());
  return RankedTensorType::get(
      SmallVector<int64_t>(type.getRank(), ShapedType::kDynamic),
      type.getElementType());
}

/// True if the tokens of `start` are to be split: they carry values, or tensors
/// are read until their waits.
bool hasTensorsInFlight(AsyncStartOpInterface start) {
  return !start.isBufferForm() &&
         (start.getInFlightType(0) || !start.getSourceOperands().empty());
}

//===----------------------------------------------------------------------===//
// Starts and the waits in their block
//===----------------------------------------------------------------------===//

class Splitter {
public:
  Splitter(ModuleOp module) : module(module), builder(module.getContext()) {}

  LogicalResult run();

private:
  void collect();
  LogicalResult split(AsyncStartOpInterface start);
  void splitWaits(Value token, Value rawToken, Value inFlight, Value source);
  Value joinToken(Location loc, Type type, Value rawToken, Value inFlight,
                  Value owned);
  LogicalResult convertRemainingTokens();

  ModuleOp module;
  OpBuilder builder;
  SmallVector<AsyncStartOpInterface> starts;
  OwnedKinds kinds;
  bool tokensLeave = false;
};

void Splitter::collect() {
  module.walk([&](Operation *op) {
    AsyncStartOpInterface start = getAsyncStart(op);
    if (!start)
      return;
    starts.push_back(start);
    if (!hasTensorsInFlight(start) || mayRunInPlace(start))
      return;
    auto sources = start.getSourceOperands();
    for (auto [source, token] : llvm::zip(sources, start.getTokens())) {
      if (isAwaitedInBlock(token))
        continue;
      auto &owned = kinds[token.getType()];
      if (RankedTensorType kind = getKind(source.get());
          !llvm::is_contained(owned, kind))
        owned.push_back(kind);
    }
  });
}

/// Replaces the waits of `token`, all in the block of its start.
void Splitter::splitWaits(Value token, Value rawToken, Value inFlight,
                          Value source) {
  for (Operation *user : llvm::make_early_inc_range(token.getUsers())) {
    auto wait = cast<braid::comm::WaitOp>(user);
    builder.setInsertionPoint(wait);
    SmallVector<Type, 1> types(wait->getResultTypes());
    auto split = inflight::WaitOp::create(
        builder, wait.getLoc(), types, rawToken, inFlight,
        source ? ValueRange(source) : ValueRange());
    split->setDiscardableAttrs(wait->getDiscardableAttrDictionary());
    wait->replaceAllUsesWith(split->getResults());
    wait->erase();
  }
}

/// What stands for a token of type `type` that leaves its block until the type
/// conversion: a cast of everything that travels.
Value Splitter::joinToken(Location loc, Type type, Value rawToken,
                          Value inFlight, Value owned) {
  tokensLeave = true;
  SmallVector<Value> parts = {rawToken};
  if (inFlight)
    parts.push_back(inFlight);
  for (RankedTensorType kind : kinds.lookup(type)) {
    if (owned && getKind(owned) == kind) {
      parts.push_back(owned.getType() == kind
                          ? owned
                          : tensor::CastOp::create(builder, loc, kind, owned));
      continue;
    }
    SmallVector<OpFoldResult> sizes(kind.getRank(), builder.getIndexAttr(0));
    Value empty =
        tensor::EmptyOp::create(builder, loc, sizes, kind.getElementType());
    parts.push_back(empty.getType() == kind
                        ? empty
                        : tensor::CastOp::create(builder, loc, kind, empty));
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, parts)
      .getResult(0);
}

/// The attributes and the order of operands of the buffer form of `start`,
/// whose values will be in `destinations`.
struct Recipe {
  DictionaryAttr attributes;
  SmallVector<int64_t> order;
  SmallVector<Value> others;

  Recipe(AsyncStartOpInterface start, ValueRange destinations) {
    Operation *copy = start->clone();
    auto form = cast<AsyncStartOpInterface>(copy);
    if (!destinations.empty())
      form.setDestinations(destinations);
    attributes = copy->getAttrDictionary();
    MutableArrayRef<OpOperand> sources = form.getSourceOperands();
    MutableArrayRef<OpOperand> outputs = form.getDestinationOperands();
    auto contains = [](MutableArrayRef<OpOperand> range, OpOperand &operand) {
      return &operand >= range.begin() && &operand < range.end();
    };
    for (OpOperand &operand : copy->getOpOperands()) {
      if (contains(sources, operand)) {
        order.push_back(&operand - sources.begin());
      } else if (contains(outputs, operand)) {
        order.push_back(sources.size() + (&operand - outputs.begin()));
      } else {
        order.push_back(sources.size() + outputs.size() + others.size());
        others.push_back(operand.get());
      }
    }
    copy->destroy();
  }
};

LogicalResult Splitter::split(AsyncStartOpInterface start) {
  Location loc = start.getLoc();
  builder.setInsertionPoint(start);
  SmallVector<Value> sources = start.getSources();
  SmallVector<Value> destinations = start.getDestinations();
  bool inPlace = mayRunInPlace(start);
  SmallVector<Type> valueTypes;
  SmallVector<int64_t> destinationOf;
  for (auto [index, token] : llvm::enumerate(start.getTokens())) {
    Type type = start.getInFlightType(index);
    if (!type)
      continue;
    valueTypes.push_back(type);
    destinationOf.push_back(inPlace ? -1 : static_cast<int64_t>(index));
    if (inPlace || index < destinations.size())
      continue;
    SmallVector<OpFoldResult> shape;
    if (failed(start.reifyValueShape(builder, index, shape)))
      return start->emitOpError()
             << "has a value whose shape cannot be computed from its operands";
    SmallVector<Value> sizes;
    // A size that is known but dynamic in the type needs a value, too.
    for (auto [dim, size] : llvm::enumerate(shape))
      if (cast<RankedTensorType>(type).isDynamicDim(dim))
        sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
    // Not tensor.empty: no pass may put a buffer in flight into a part of
    // another one.
    destinations.push_back(bufferization::AllocTensorOp::create(
        builder, loc, cast<RankedTensorType>(type), sizes));
  }
  Recipe recipe(start,
                inPlace ? ValueRange(sources) : ValueRange(destinations));

  SmallVector<bool> owns(sources.size(), false);
  SmallVector<Type> ownedTypes;
  for (auto [index, source] : llvm::enumerate(sources)) {
    owns[index] = !inPlace && !isAwaitedInBlock(start.getTokens()[index]);
    if (owns[index])
      ownedTypes.push_back(source.getType());
  }
  SmallVector<Type> tokenTypes(start.getTokens().size(),
                               RawTokenType::get(module.getContext()));
  auto split =
      StartOp::create(builder, loc, tokenTypes, valueTypes, ownedTypes, sources,
                      inPlace ? ValueRange() : ValueRange(destinations),
                      recipe.others, start->getName().getIdentifier(),
                      recipe.attributes, recipe.order, destinationOf, owns);

  for (auto [index, token] : llvm::enumerate(start.getTokens())) {
    Value inFlight = valueTypes.empty() ? Value() : split.getInFlight()[index];
    Value source = sources.empty() ? Value() : sources[index];
    Value rawToken = split.getTokens()[index];
    if (isAwaitedInBlock(token)) {
      splitWaits(token, rawToken, inFlight, source);
      continue;
    }
    builder.setInsertionPointAfter(split);
    Value owned =
        split.ownsSource(index) ? split.getOwnedSource(index) : Value();
    token.replaceAllUsesWith(
        joinToken(loc, token.getType(), rawToken, inFlight, owned));
  }
  start->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Tokens that leave their block
//===----------------------------------------------------------------------===//

/// A token is what was joined to it.
struct ConvertJoin : public OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts(op.getInputs());
    rewriter.replaceOpWithMultiple(op, ArrayRef<SmallVector<Value>>{parts});
    return success();
  }
};

/// True if `part` stands where a token owns no source of a kind.
bool isEmptyPart(Value part) {
  if (auto cast = part.getDefiningOp<tensor::CastOp>())
    part = cast.getSource();
  return part.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

struct ConvertWait : public OpConversionPattern<braid::comm::WaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(braid::comm::WaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ValueRange parts = adaptor.getToken();
    if (!op.getReads().empty() || !op.getWrites().empty()) {
      // A wait on buffers names them itself; its token gets back its type after
      // bufferization.
      rewriter.modifyOpInPlace(
          op, [&] { op.getTokenMutable().set(parts.front()); });
      return success();
    }
    SmallVector<Type, 1> types(op->getResultTypes());
    Value inFlight = op.getValue() ? parts[1] : Value();
    SmallVector<Value> kept(parts.drop_front(inFlight ? 2 : 1));
    llvm::erase_if(kept, isEmptyPart);
    if (!inFlight && kept.empty()) {
      rewriter.modifyOpInPlace(
          op, [&] { op.getTokenMutable().set(parts.front()); });
      return success();
    }
    auto wait = inflight::WaitOp::create(rewriter, op.getLoc(), types,
                                         parts.front(), inFlight, kept);
    wait->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, wait);
    return success();
  }
};

struct ConvertSelect : public OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (auto [ifTrue, ifFalse] :
         llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue())) {
      Value condition = adaptor.getCondition().front();
      if (isa<RankedTensorType>(ifTrue.getType()))
        parts.push_back(inflight::SelectOp::create(rewriter, op.getLoc(),
                                                   ifTrue.getType(), condition,
                                                   ifTrue, ifFalse));
      else
        parts.push_back(arith::SelectOp::create(rewriter, op.getLoc(),
                                                condition, ifTrue, ifFalse));
    }
    rewriter.replaceOpWithMultiple(op, ArrayRef<SmallVector<Value>>{parts});
    return success();
  }
};

/// Moves the attributes of the arguments of `function`, whose types were
/// `oldTypes`, to where `converter` has put the arguments.
void moveArgumentAttributes(func::FuncOp function, ArrayAttr attributes,
                            TypeRange oldTypes,
                            const TypeConverter &converter) {
  SmallVector<Attribute> moved;
  for (auto [index, type] : llvm::enumerate(oldTypes)) {
    SmallVector<Type> types;
    (void)converter.convertType(type, types);
    moved.push_back(attributes[index]);
    moved.append(types.size() - 1, DictionaryAttr::get(function.getContext()));
  }
  function.setAllArgAttrs(moved);
}

LogicalResult Splitter::convertRemainingTokens() {
  MLIRContext *context = module.getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [&](TokenType type,
          SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
        const auto *owned = kinds.find(type);
        bool hasOwned = owned != kinds.end();
        // A plain token of a barrier or of buffers stays as it is.
        if (!type.getValueType() && !hasOwned) {
          types.push_back(type);
          return success();
        }
        types.push_back(RawTokenType::get(context));
        if (type.getValueType())
          types.push_back(type.getValueType());
        if (hasOwned)
          llvm::append_range(types, owned->second);
        return success();
      });

  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal(
      [&](Operation *op) { return converter.isLegal(op); });
  target.addLegalDialect<InFlightDialect>();
  target.addDynamicallyLegalOp<UnrealizedConversionCastOp>(
      [](UnrealizedConversionCastOp op) {
        return llvm::none_of(op.getInputs(), [](Value value) {
          return isa<RawTokenType>(value.getType());
        });
      });
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp function) {
    return converter.isSignatureLegal(function.getFunctionType());
  });
  target.addDynamicallyLegalDialect<CommDialect>([&](Operation *op) {
    return getAsyncStart(op) || converter.isLegal(op);
  });

  RewritePatternSet patterns(context);
  patterns.add<ConvertJoin, ConvertWait, ConvertSelect>(converter, context);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 converter);
  populateCallOpTypeConversionPattern(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  cf::populateCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                     target);

  SmallVector<std::tuple<func::FuncOp, ArrayAttr, SmallVector<Type>>>
      attributes;
  module.walk([&](func::FuncOp function) {
    if (ArrayAttr argAttrs = function.getAllArgAttrs())
      attributes.emplace_back(function, argAttrs,
                              SmallVector<Type>(function.getArgumentTypes()));
  });
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    return failure();
  for (auto &[function, argAttrs, types] : attributes)
    moveArgumentAttributes(function, argAttrs, types, converter);
  return success();
}

LogicalResult Splitter::run() {
  collect();
  for (AsyncStartOpInterface start : starts) {
    if (hasTensorsInFlight(start)) {
      if (failed(split(start)))
        return failure();
      continue;
    }
    // A plain token where tokens of its type may own sources.
    for (OpResult token : start.getTokens()) {
      if (!kinds.contains(token.getType()))
        continue;
      builder.setInsertionPointAfter(start);
      auto raw = UnrealizedConversionCastOp::create(
          builder, start.getLoc(), RawTokenType::get(module.getContext()),
          token);
      Value joined = joinToken(start.getLoc(), token.getType(),
                               raw.getResult(0), Value(), Value());
      token.replaceAllUsesExcept(joined, raw);
    }
  }
  bool hasTokensInSignatures = false;
  module.walk([&](func::FuncOp function) {
    auto isToken = llvm::IsaPred<TokenType>;
    hasTokensInSignatures |=
        llvm::any_of(function.getArgumentTypes(), isToken) ||
        llvm::any_of(function.getResultTypes(), isToken);
  });
  if (!tokensLeave && !hasTokensInSignatures)
    return success();
  return convertRemainingTokens();
}

} // namespace

LogicalResult inflight::splitTokens(ModuleOp module) {
  return Splitter(module).run();
}
