//===- MoveElementwise.cpp - Elementwise ops over collectives -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Memory/TypeSize.h"
#include "Pointwise.h"
#include "Rewrites.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

static uint64_t getElementBytesOf(Type type) {
  return getElementBytes(getElementTypeOrSelf(type), SizeDefaults());
}

/// The dimension of a value along which a collective puts elements of several
/// members; none if each element keeps its place.
static std::optional<int64_t> getMovedDim(CollectiveOpInterface start) {
  if (start.getCollectiveTraits().shape == BRAID_RT_SHAPE_SAME)
    return std::nullopt;
  return start.getSplitDim();
}

/// True if members may get zeros that no member sends.
static bool mayGiveZeros(CollectiveOpInterface start) {
  const CollectiveTraits &traits = start.getCollectiveTraits();
  return traits.flow == BRAID_RT_FLOW_PAIRS ||
         (traits.flow == BRAID_RT_FLOW_GATHER && traits.hasRoot);
}

/// True if `op` converts elements one by one, zero to zero.
static bool isConversion(const PointwiseOp &op) {
  Operation *step = op.getOnlyStep();
  return isa_and_nonnull<CastOpInterface>(step);
}

/// True if the collective gives the elements of its operands as they are, so
/// that `op` may be computed before or behind it.
static bool movesElements(CollectiveOpInterface start, const PointwiseOp &op) {
  return !start.getReductionKind() && start.getCallSuffix().empty() &&
         start.getCollectiveTraits().flow != BRAID_RT_FLOW_NONE &&
         (!mayGiveZeros(start) || isConversion(op));
}

/// The value that all elements of `value` have; null if it is not known.
static Attribute getSplat(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return elements.getSplatValue<Attribute>();
}

/// True if input number `number` of `op`, which no collective gives, is the
/// same for all members, also where elements of other members come to be.
/// `loop` is the loop over `getMovedDim`.
static bool isSameForMembers(const PointwiseOp &op, size_t number,
                             FlatSymbolRefAttr group,
                             std::optional<unsigned> loop) {
  Value value = op.getInputs()[number]->get();
  if (getSplat(value))
    return true;
  if (loop && op.getMap(number).isFunctionOfDim(*loop))
    return false;
  return isReplicated(value, group);
}

/// Input number `number` of `op`, which no collective gives, with the shape of
/// `like`, in front of `place`.
static Value getInputLike(RewriterBase &rewriter, const PointwiseOp &op,
                          size_t number, std::optional<unsigned> loop,
                          Value like, Operation *place) {
  Value value = op.getInputs()[number]->get();
  Attribute splat = getSplat(value);
  if (!splat || !loop || !op.getMap(number).isFunctionOfDim(*loop))
    return getBefore(rewriter, value, place);
  auto shape = cast<RankedTensorType>(like.getType()).getShape();
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(value));
  return arith::ConstantOp::create(rewriter, place->getLoc(),
                                   DenseElementsAttr::get(type, splat));
}

/// True if the splats among the inputs of `op` that have the dimension of
/// `loop` have the shape of an operand of a static shape.
static bool canResizeSplats(const PointwiseOp &op, std::optional<unsigned> loop,
                            Value like, AffineMap map) {
  auto type = cast<RankedTensorType>(like.getType());
  for (size_t number = 0; number != op.getInputs().size(); ++number)
    if (loop && op.getMap(number).isFunctionOfDim(*loop) &&
        getSplat(op.getInputs()[number]->get()) &&
        (!type.hasStaticShape() || op.getMap(number) != map))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// In front of collectives
//===----------------------------------------------------------------------===//

namespace {
/// An elementwise op and the collectives whose values it alone takes.
struct MovableOp {
  PointwiseOp op;
  /// In program order.
  SmallVector<AwaitedValue> values;
  /// The number of an input that a collective gives.
  size_t number;
  /// The loop over the dimension that collectives move, and the dimension of
  /// the result that is.
  std::optional<unsigned> loop;
  int64_t dim = 0;
  bool isRoundedSum = false;
};
} // namespace

/// The one op that uses `value`, after equal ones have become one; null if
/// there are others.
static Operation *mergeUsers(RewriterBase &rewriter, Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    if (user->getBlock() != value.getParentBlock())
      return nullptr;
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  SmallVector<Operation *> equal;
  for (Operation *user : value.getUsers()) {
    if (user == first || llvm::is_contained(equal, user))
      continue;
    if (!isPure(user) ||
        !OperationEquivalence::isEquivalentTo(
            user, first, OperationEquivalence::exactValueMatch,
            /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations))
      return nullptr;
    equal.push_back(user);
  }
  for (Operation *user : equal)
    rewriter.replaceOp(user, first);
  return first;
}

/// Finds the inputs of `movable` that collectives give, and checks that all
/// others are the same for all members.
static bool matchInputs(MovableOp &movable, const AwaitedValue &first) {
  const PointwiseOp &op = movable.op;
  CollectiveOpInterface start = first.start;
  Attribute key = getOperationKey(start);
  bool reduces = start.getReductionKind().has_value();
  llvm::SmallDenseSet<Value> known;
  SmallVector<size_t> others;
  std::optional<size_t> number;
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    std::optional<AwaitedValue> value = getAwaitedValue(input->get());
    bool isOnlyUser =
        value && llvm::all_of(input->get().getUsers(), [&](Operation *user) {
          return user == op.getOp();
        });
    if (!isOnlyUser || value->start->getBlock() != op.getOp()->getBlock() ||
        getOperationKey(value->start) != key ||
        !op.getMap(index).isPermutation()) {
      others.push_back(index);
      continue;
    }
    if (number && op.getMap(index) != op.getMap(*number))
      return false;
    if (!number)
      number = index;
    if (known.insert(input->get()).second)
      movable.values.push_back(*value);
  }
  if (!number || (reduces && !others.empty()))
    return false;
  movable.number = *number;
  AffineMap map = op.getMap(*number);
  if (std::optional<int64_t> dim = getMovedDim(start)) {
    movable.loop = map.getDimPosition(*dim);
    movable.dim = *op.getResultMap().getResultPosition(
        getAffineDimExpr(*movable.loop, start.getContext()));
  }
  return llvm::all_of(others, [&](size_t index) {
    return isSameForMembers(op, index, start.getGroupAttr(), movable.loop);
  });
}

/// What may be computed in front of the collective of `wait`, if it pays.
static std::optional<MovableOp>
matchMovable(const AwaitedValue &first, Operation *user, Numerics numerics) {
  std::optional<PointwiseOp> op = PointwiseOp::get(user);
  CollectiveOpInterface start = first.start;
  if (!op || !isa<RankedTensorType>(first.getSource().getType()))
    return std::nullopt;
  MovableOp movable = {*op, {}, 0, std::nullopt};
  if (start.getReductionKind()) {
    if (*start.getReductionKind() != ReductionKind::sum ||
        !isSumOf(*op, movable.isRoundedSum) ||
        (movable.isRoundedSum && numerics != Numerics::Reassociate))
      return std::nullopt;
  } else if (!movesElements(start, *op)) {
    return std::nullopt;
  }
  if (!matchInputs(movable, first))
    return std::nullopt;
  if (start.getReductionKind() && movable.values.size() != 2)
    return std::nullopt;
  llvm::sort(movable.values, [](const AwaitedValue &a, const AwaitedValue &b) {
    CollectiveOpInterface first = a.start, second = b.start;
    return first != second && first->isBeforeInBlock(second);
  });
  // One operand of a launch may change, but the launch stays.
  if (movable.values.size() > 1 &&
      !llvm::all_of(movable.values,
                    [](const AwaitedValue &value) { return value.isAlone(); }))
    return std::nullopt;

  const AwaitedValue &last = movable.values.back();
  Value value = WaitOp(last.wait).getValue();
  auto source = cast<RankedTensorType>(last.getSource().getType());
  AffineMap map = op->getMap(movable.number), result = op->getResultMap();
  uint64_t bytes = 0;
  for (const AwaitedValue &other : movable.values) {
    auto type = cast<RankedTensorType>(other.getSource().getType());
    if (type.getShape() != source.getShape() || type.getEncoding())
      return std::nullopt;
    bytes += getElementBytesOf(type);
  }
  uint64_t newBytes = getElementBytesOf(op->getType());
  bool isTransposed = map != result;
  if (isTransposed) {
    // Gathers along other dimensions than the first have to be packed.
    bool isFreed = movable.dim == 0 && getMovedDim(start) != 0;
    bool isKept = movable.dim == getMovedDim(start).value_or(0);
    if (start.getCollectiveKind() != CollectiveKind::all_gather ||
        (!isFreed && (!isKept || newBytes >= bytes)) || newBytes > bytes ||
        !last.isAlone())
      return std::nullopt;
  } else if (newBytes >= bytes) {
    return std::nullopt;
  }
  // The collective has to give what the op gave.
  SmallVector<int64_t> shape;
  auto whole = cast<RankedTensorType>(value.getType());
  for (AffineExpr loop : result.getResults())
    shape.push_back(whole.getDimSize(*map.getResultPosition(loop)));
  if (op->getType().getShape() != ArrayRef(shape))
    return std::nullopt;

  CollectiveOpInterface place = last.start;
  bool areThere =
      llvm::all_of(llvm::enumerate(op->getInputs()), [&](const auto &input) {
        Value taken = input.value()->get();
        return llvm::any_of(movable.values,
                            [&](const AwaitedValue &other) {
                              return WaitOp(other.wait).getValue() == taken;
                            }) ||
               isThereBefore(taken, place);
      });
  if (!areThere || !canResizeSplats(*op, movable.loop, last.getSource(), map))
    return std::nullopt;
  return movable;
}

bool braid::comm::moveInFront(RewriteState &state, WaitOp wait) {
  std::optional<AwaitedValue> first = getAwaitedValue(wait);
  if (!first)
    return false;
  RewriterBase &rewriter = state.rewriter;
  Operation *user = mergeUsers(rewriter, wait.getValue());
  std::optional<MovableOp> movable =
      user ? matchMovable(*first, user, state.numerics) : std::nullopt;
  if (!movable)
    return false;
  const PointwiseOp &op = movable->op;
  AwaitedValue last = movable->values.back();
  CollectiveOpInterface start = last.start;
  llvm::SmallDenseMap<Value, Value> sources;
  for (const AwaitedValue &value : movable->values)
    sources[WaitOp(value.wait).getValue()] = value.getSource();
  rewriter.setInsertionPoint(start);
  SmallVector<Value> inputs;
  for (auto [number, input] : llvm::enumerate(op.getInputs())) {
    Value source = sources.lookup(input->get());
    inputs.push_back(source ? source
                            : getInputLike(rewriter, op, number, movable->loop,
                                           last.getSource(), start));
  }
  rewriter.setInsertionPoint(start);
  Value moved = op.clone(rewriter, inputs, movable->number);
  if (auto gather = dyn_cast<AllGatherOp>(start.getOperation()))
    rewriter.modifyOpInPlace(gather, [&]() { gather.setDim(movable->dim); });
  if (movable->isRoundedSum)
    recordReassociation(start, "of the sum of 2");
  Value value = retype(rewriter, last, moved, op.getType());
  rewriter.replaceOp(user, value);
  rewriter.eraseOp(last.wait);
  for (const AwaitedValue &value : ArrayRef(movable->values).drop_back())
    eraseCollective(rewriter, value, state.erased);
  state.counts.moved += movable->values.size();
  return true;
}

//===----------------------------------------------------------------------===//
// Conversions that users begin with
//===----------------------------------------------------------------------===//

/// The op with which the body of the owner of `use` converts the value, if the
/// body does nothing else with it; null otherwise.
static Operation *getFirstConversion(OpOperand &use) {
  auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!generic || !generic.hasPureTensorSemantics() ||
      !generic.isDpsInput(&use))
    return nullptr;
  BlockArgument argument = generic.getMatchingBlockArgument(&use);
  Operation *conversion = nullptr;
  for (Operation *user : argument.getUsers()) {
    if (!isa<CastOpInterface>(user) || user->getNumOperands() != 1 ||
        user->getNumResults() != 1 ||
        (conversion &&
         !OperationEquivalence::isEquivalentTo(
             user, conversion, OperationEquivalence::exactValueMatch,
             /*markEquivalent=*/nullptr,
             OperationEquivalence::IgnoreLocations)))
      return nullptr;
    conversion = user;
  }
  return conversion;
}

/// True if `a` and `b` convert alike, whatever they convert.
static bool convertAlike(Operation *a, Operation *b) {
  return OperationEquivalence::isEquivalentTo(
      a, b, OperationEquivalence::ignoreValueEquivalence,
      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

/// Lets the owner of `use` take what its body has converted.
static void takeConverted(RewriterBase &rewriter, OpOperand &use, Value value) {
  auto generic = cast<linalg::GenericOp>(use.getOwner());
  BlockArgument argument = generic.getMatchingBlockArgument(&use);
  rewriter.modifyOpInPlace(generic, [&]() {
    use.set(value);
    SmallVector<Operation *> conversions(argument.getUsers());
    argument.setType(getElementTypeOrSelf(value));
    for (Operation *conversion : conversions)
      rewriter.replaceOp(conversion, argument);
  });
}

/// Replaces `generic`, if it only copies its operand.
static void replaceCopy(RewriterBase &rewriter, linalg::GenericOp generic) {
  Block &body = *generic.getBody();
  if (generic.getNumResults() != 1 || generic.getNumDpsInputs() != 1 ||
      !llvm::hasSingleElement(body) ||
      body.getTerminator()->getOperand(0) != body.getArgument(0) ||
      generic.getIndexingMapsArray()[0] != generic.getIndexingMapsArray()[1] ||
      generic.getDpsInputs()[0].getType() != generic.getResult(0).getType())
    return;
  rewriter.replaceOp(generic, generic.getDpsInputs()[0]);
}

/// Converts `value` as `conversion` does an element.
static Value convert(RewriterBase &rewriter, Value value,
                     Operation *conversion) {
  Location loc = conversion->getLoc();
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, value),
      conversion->getResult(0).getType());
  return createElementwise(rewriter, loc, empty, value,
                           [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
                             IRMapping mapping;
                             mapping.map(conversion->getOperand(0),
                                         arguments[0]);
                             return b.clone(*conversion, mapping)->getResult(0);
                           });
}

bool braid::comm::moveConversionInFront(RewriteState &state, WaitOp wait) {
  std::optional<AwaitedValue> awaited = getAwaitedValue(wait);
  if (!awaited || wait.getValue().use_empty())
    return false;
  CollectiveOpInterface start = awaited->start;
  auto source = dyn_cast<RankedTensorType>(awaited->getSource().getType());
  if (!source || source.getEncoding() || start.getReductionKind() ||
      !start.getCallSuffix().empty())
    return false;
  Operation *conversion = nullptr;
  for (OpOperand &use : wait.getValue().getUses()) {
    Operation *found = getFirstConversion(use);
    if (!found || (conversion && !convertAlike(found, conversion)))
      return false;
    conversion = found;
  }
  Type element = conversion->getResult(0).getType();
  if (getElementBytesOf(element) >= getElementBytesOf(source))
    return false;
  RewriterBase &rewriter = state.rewriter;
  rewriter.setInsertionPoint(start);
  Value converted = convert(rewriter, awaited->getSource(), conversion);
  auto whole = cast<RankedTensorType>(wait.getValue().getType());
  Value value = retype(rewriter, *awaited, converted,
                       RankedTensorType::get(whole.getShape(), element));
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : wait.getValue().getUses())
    uses.push_back(&use);
  llvm::SmallSetVector<Operation *, 4> owners;
  for (OpOperand *use : uses) {
    owners.insert(use->getOwner());
    takeConverted(rewriter, *use, value);
  }
  rewriter.eraseOp(wait);
  for (Operation *owner : owners)
    replaceCopy(rewriter, cast<linalg::GenericOp>(owner));
  ++state.counts.moved;
  return true;
}

//===----------------------------------------------------------------------===//
// Behind collectives
//===----------------------------------------------------------------------===//

namespace {
/// An elementwise op of which the collective of `awaited` takes the result.
struct SinkableOp {
  AwaitedValue awaited;
  PointwiseOp op;
  /// The number of the input that the collective may take instead.
  size_t number;
  std::optional<unsigned> loop;
};
} // namespace

static std::optional<SinkableOp> matchSinkable(WaitOp wait) {
  std::optional<AwaitedValue> awaited = getAwaitedValue(wait);
  Operation *producer =
      awaited ? awaited->getSource().getDefiningOp() : nullptr;
  if (!producer || !producer->hasOneUse() ||
      producer->getBlock() != wait->getBlock())
    return std::nullopt;
  std::optional<PointwiseOp> op = PointwiseOp::get(producer);
  CollectiveOpInterface start = awaited->start;
  if (!op || !movesElements(start, *op))
    return std::nullopt;
  std::optional<unsigned> loop;
  if (std::optional<int64_t> dim = getMovedDim(start))
    loop = op->getResultMap().getDimPosition(*dim);
  uint64_t bytes = getElementBytesOf(op->getType());
  std::optional<size_t> number;
  for (auto [index, input] : llvm::enumerate(op->getInputs())) {
    if (isSameForMembers(*op, index, start.getGroupAttr(), loop))
      continue;
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (number || !type || type.getEncoding() ||
        op->getMap(index) != op->getResultMap() ||
        type.getShape() != op->getType().getShape() ||
        getElementBytesOf(type) >= bytes)
      return std::nullopt;
    number = index;
  }
  if (!number ||
      !canResizeSplats(*op, loop, wait.getValue(), op->getMap(*number)))
    return std::nullopt;
  return SinkableOp{*awaited, *op, *number, loop};
}

bool braid::comm::canMoveBehind(WaitOp wait) {
  return matchSinkable(wait).has_value();
}

bool braid::comm::moveBehind(RewriteState &state, WaitOp wait) {
  std::optional<SinkableOp> sinkable = matchSinkable(wait);
  if (!sinkable)
    return false;
  const PointwiseOp &op = sinkable->op;
  RewriterBase &rewriter = state.rewriter;
  auto whole = cast<RankedTensorType>(wait.getValue().getType());
  Value source = op.getInputs()[sinkable->number]->get();
  Value value = retype(
      rewriter, sinkable->awaited, source,
      RankedTensorType::get(whole.getShape(), getElementTypeOrSelf(source)));
  rewriter.setInsertionPoint(wait);
  SmallVector<Value> inputs;
  for (size_t number = 0; number != op.getInputs().size(); ++number)
    inputs.push_back(number == sinkable->number
                         ? value
                         : getInputLike(rewriter, op, number, sinkable->loop,
                                        wait.getValue(), wait));
  rewriter.setInsertionPoint(wait);
  Value moved = op.clone(rewriter, inputs, sinkable->number);
  if (moved.getType() != whole)
    moved =
        tensor::CastOp::create(rewriter, op.getOp()->getLoc(), whole, moved);
  rewriter.replaceOp(wait, moved);
  rewriter.eraseOp(op.getOp());
  ++state.counts.moved;
  return true;
}
