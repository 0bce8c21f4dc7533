//===- SplitTokens.cpp - Tokens and their tensors in flight ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A start whose tokens are awaited in its block is split into tokens and
// tensors in flight, and its waits name the sources. One-Shot Bufferize
// bufferizes both.
//
// A token that leaves its block owns its buffers. One-Shot would copy tensors
// in flight at the borders of loops and functions, so such a start takes its
// buffer form at once: its source is copied to a buffer of its own before,
// unless nothing ever writes the source, and the token travels with memrefs,
// which One-Shot leaves alone. A type conversion turns
// `!comm.token<T>` into the token, the buffer in flight, and one source for
// each kind of source that a token of that type may own. A source's kind is its
// rank and element type, which its token's type does not say; a token that owns
// no source of a kind carries an empty buffer there. After bufferization
// `takeOverDeadSources` drops the copy of a source that no other op uses.
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace braid::comm;
using namespace braid::comm::inflight;

namespace {

/// For each type of tokens that leave their block, the kinds of sources that
/// such tokens own, in program order. A kind is a memref type of dynamic sizes.
using OwnedKinds = llvm::MapVector<Type, SmallVector<MemRefType, 1>>;

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

/// True if `start`, whose tokens leave its block, need not own its sources.
bool hasLastingSources(AsyncStartOpInterface start) {
  // The value of a token may not take the buffer of the source.
  bool isInPlace = start.getInFlightType(0) && start.canRunInPlace();
  return !isInPlace && !start.getSourceOperands().empty() &&
         llvm::all_of(start.getSources(), getLastingType);
}

/// The kind of sources like `source`, see above.
MemRefType getKind(Value source) {
  auto type = cast<ShapedType>(source.getType());
  return MemRefType::get(
      SmallVector<int64_t>(type.getRank(), ShapedType::kDynamic),
      type.getElementType());
}

/// True if a token of `start` leaves its block.
bool leavesBlock(AsyncStartOpInterface start) {
  return !llvm::all_of(start.getTokens(), isAwaitedInBlock);
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
  LogicalResult
  createDestinations(AsyncStartOpInterface start,
                     SmallVectorImpl<Value> &destinations,
                     function_ref<Value(RankedTensorType, ValueRange)> create);
  LogicalResult split(AsyncStartOpInterface start);
  LogicalResult takeBufferForm(AsyncStartOpInterface start);
  Value createOwnSource(Location loc, Value source);
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
    if (!hasTensorsInFlight(start) || mayRunInPlace(start) ||
        !leavesBlock(start) || hasLastingSources(start))
      return;
    auto sources = start.getSourceOperands();
    for (auto [source, token] : llvm::zip(sources, start.getTokens())) {
      auto &owned = kinds[token.getType()];
      if (MemRefType kind = getKind(source.get());
          !llvm::is_contained(owned, kind))
        owned.push_back(kind);
    }
  });
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

/// Appends to `destinations` a result of `create` for each value of `start`.
/// `create` gets the type of the value and the sizes of its dynamic dimensions.
LogicalResult Splitter::createDestinations(
    AsyncStartOpInterface start, SmallVectorImpl<Value> &destinations,
    function_ref<Value(RankedTensorType, ValueRange)> create) {
  for (unsigned index = 0; index < start.getTokens().size(); ++index) {
    auto type =
        dyn_cast_or_null<RankedTensorType>(start.getInFlightType(index));
    if (!type)
      continue;
    SmallVector<OpFoldResult> shape;
    if (failed(start.reifyValueShape(builder, index, shape)))
      return start->emitOpError()
             << "has a value whose shape cannot be computed from its operands";
    SmallVector<Value> sizes;
    // A size that is known but dynamic in the type needs a value, too.
    for (auto [dim, size] : llvm::enumerate(shape))
      if (type.isDynamicDim(dim))
        sizes.push_back(
            getValueOrCreateConstantIndexOp(builder, start.getLoc(), size));
    destinations.push_back(create(type, sizes));
  }
  return success();
}

LogicalResult Splitter::split(AsyncStartOpInterface start) {
  Location loc = start.getLoc();
  builder.setInsertionPoint(start);
  SmallVector<Value> sources = start.getSources();
  SmallVector<Value> destinations = start.getDestinations();
  bool inPlace = mayRunInPlace(start);
  // Not tensor.empty: no pass may put a buffer in flight into a part of another
  // one.
  if (!inPlace && destinations.empty() &&
      failed(createDestinations(start, destinations,
                                [&](RankedTensorType type, ValueRange sizes) {
                                  return bufferization::AllocTensorOp::create(
                                      builder, loc, type, sizes);
                                })))
    return failure();
  Recipe recipe(start,
                inPlace ? ValueRange(sources) : ValueRange(destinations));

  SmallVector<Type> tokenTypes, valueTypes;
  SmallVector<int64_t> destinationOf;
  for (unsigned index = 0; index < start.getTokens().size(); ++index) {
    tokenTypes.push_back(RawTokenType::get(module.getContext()));
    if (Type type = start.getInFlightType(index)) {
      valueTypes.push_back(type);
      destinationOf.push_back(inPlace ? -1 : static_cast<int64_t>(index));
    }
  }
  auto split =
      StartOp::create(builder, loc, tokenTypes, valueTypes, sources,
                      inPlace ? ValueRange() : ValueRange(destinations),
                      recipe.others, start->getName().getIdentifier(),
                      recipe.attributes, recipe.order, destinationOf);

  for (auto [index, token] : llvm::enumerate(start.getTokens())) {
    Value inFlight = valueTypes.empty() ? Value() : split.getInFlight()[index];
    ValueRange kept =
        sources.empty() ? ValueRange() : ValueRange(sources[index]);
    for (Operation *user : llvm::make_early_inc_range(token.getUsers())) {
      auto wait = cast<braid::comm::WaitOp>(user);
      builder.setInsertionPoint(wait);
      auto splitWait = inflight::WaitOp::create(
          builder, wait.getLoc(), SmallVector<Type, 1>(wait->getResultTypes()),
          split.getTokens()[index], inFlight, kept);
      splitWait->setDiscardableAttrs(wait->getDiscardableAttrDictionary());
      wait->replaceAllUsesWith(splitWait->getResults());
      wait->erase();
    }
  }
  start->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Starts whose tokens leave their block
//===----------------------------------------------------------------------===//

/// A new buffer with the contents of tensor `source`.
Value Splitter::createOwnSource(Location loc, Value source) {
  auto type = cast<RankedTensorType>(source.getType());
  auto owned = memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      tensor::createDynamicDimValues(builder, loc, source),
      builder.getI64IntegerAttr(64));
  owned->setAttr(kOwnedAttrName, builder.getUnitAttr());
  bufferization::MaterializeInDestinationOp::create(
      builder, loc, TypeRange(), source, owned, /*restrict=*/true,
      /*writable=*/true);
  return owned;
}

/// The token of type `type` until the type conversion: a cast of the token and
/// its buffers.
Value Splitter::joinToken(Location loc, Type type, Value rawToken,
                          Value inFlight, Value owned) {
  tokensLeave = true;
  SmallVector<Value> parts = {rawToken};
  if (inFlight)
    parts.push_back(inFlight);
  for (MemRefType kind : kinds.lookup(type)) {
    Value part = owned;
    if (!owned || getKind(owned) != kind) {
      part = memref::AllocOp::create(
          builder, loc,
          MemRefType::get(SmallVector<int64_t>(kind.getRank(), 0),
                          kind.getElementType()));
      part.getDefiningOp()->setAttr(kEmptyAttrName, builder.getUnitAttr());
    }
    parts.push_back(part.getType() == kind
                        ? part
                        : memref::CastOp::create(builder, loc, kind, part));
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, parts)
      .getResult(0);
}

LogicalResult Splitter::takeBufferForm(AsyncStartOpInterface start) {
  Location loc = start.getLoc();
  builder.setInsertionPoint(start);
  bool areLasting = hasLastingSources(start);
  SmallVector<Value> operands;
  for (Value source : start.getSources())
    operands.push_back(areLasting ? createLastingBuffer(builder, loc, source)
                                  : createOwnSource(loc, source));
  unsigned sourceCount = operands.size();
  SmallVector<Value> destinations;
  if (start.getInFlightType(0) && start.canRunInPlace())
    destinations = operands;
  else if (failed(createDestinations(
               start, destinations,
               [&](RankedTensorType type, ValueRange sizes) {
                 return memref::AllocOp::create(
                     builder, loc,
                     MemRefType::get(type.getShape(), type.getElementType()),
                     sizes, builder.getI64IntegerAttr(64));
               })))
    return failure();
  Recipe recipe(start, destinations);
  operands.append(destinations);
  operands.append(recipe.others);

  OperationState state(loc, start->getName());
  for (int64_t position : recipe.order)
    state.operands.push_back(operands[position]);
  state.addTypes(SmallVector<Type>(start.getTokens().size(),
                                   RawTokenType::get(module.getContext())));
  state.addAttributes(recipe.attributes.getValue());
  Operation *form = builder.create(state);
  if (areLasting)
    form->setAttr(CommDialect::kLastingSourcesAttrName, builder.getUnitAttr());
  for (auto [index, token] : llvm::enumerate(start.getTokens())) {
    Value inFlight = destinations.empty() ? Value() : destinations[index];
    bool owns =
        !areLasting && index < sourceCount && operands[index] != inFlight;
    token.replaceAllUsesWith(joinToken(loc, token.getType(),
                                       form->getResult(index), inFlight,
                                       owns ? operands[index] : Value()));
  }
  start->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Conversion of tokens that leave their block
//===----------------------------------------------------------------------===//

/// Replaces the cast of a token by its operands.
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

/// The buffer of `part` of a token; null if the token owns no source of that
/// kind.
Value getOwnedBuffer(Value part) {
  if (auto cast = part.getDefiningOp<memref::CastOp>())
    part = cast.getSource();
  Operation *definition = part.getDefiningOp();
  return definition && definition->hasAttr(kEmptyAttrName) ? Value() : part;
}

/// Selects each part of a token.
struct ConvertSelect : public OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (auto [ifTrue, ifFalse] :
         llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(arith::SelectOp::create(rewriter, op.getLoc(),
                                              adaptor.getCondition().front(),
                                              ifTrue, ifFalse));
    rewriter.replaceOpWithMultiple(op, ArrayRef<SmallVector<Value>>{parts});
    return success();
  }
};

struct ConvertWait : public OpConversionPattern<braid::comm::WaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(braid::comm::WaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ValueRange parts = adaptor.getToken();
    // A wait on buffers names them itself.
    SmallVector<Value> reads(op.getReads()), writes(op.getWrites());
    if (op.getValue())
      writes.push_back(parts[1]);
    if (reads.empty())
      for (Value part : parts.drop_front(op.getValue() ? 2 : 1))
        if (Value buffer = getOwnedBuffer(part))
          reads.push_back(buffer);
    auto wait = braid::comm::WaitOp::create(rewriter, op.getLoc(), TypeRange(),
                                            parts.front(), reads, writes);
    wait->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    if (op.getValue())
      rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(
          op, op.getValue().getType(), parts[1], /*restrict=*/true,
          /*writable=*/true);
    else
      rewriter.eraseOp(op);
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
        if (auto value = cast_or_null<RankedTensorType>(type.getValueType()))
          types.push_back(
              MemRefType::get(value.getShape(), value.getElementType()));
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
      if (failed(leavesBlock(start) ? takeBufferForm(start) : split(start)))
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
