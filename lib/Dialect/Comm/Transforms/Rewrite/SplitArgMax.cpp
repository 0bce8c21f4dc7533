//===- SplitArgMax.cpp - Places of extrema by two reductions --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace {

/// Keeps the largest or the smallest element, and its place: of equal elements
/// the least place. A NaN is larger and smaller than any number; the first one
/// stays.
class ArgMax {
public:
  explicit ArgMax(linalg::GenericOp op) : op(op) {}

  /// True if the op is such a reduction, and two others are as exact.
  bool match();
  void split(RewriterBase &rewriter);

private:
  /// True if `value` says that the accumulator is more than an element, or NaN.
  bool isStaying(Value value) const;
  bool matchElements(Value value);
  bool matchPlaces(Value value);
  bool mayHaveNaNs() const { return isa<FloatType>(element.getType()); }
  /// The loop whose number of iterations is the place; none if another op
  /// computes places.
  std::optional<unsigned> findCountedLoop();
  bool isInitRedundant();
  Value createExtrema(ImplicitLocOpBuilder &b);
  /// What the places begin with: the least place of initial values that are as
  /// large as the `extrema`.
  Value createFirstPlaces(ImplicitLocOpBuilder &b, Value extrema);
  Value createPlaces(ImplicitLocOpBuilder &b, Value extrema);
  /// Copies what computes `value` in the body.
  Value copy(ImplicitLocOpBuilder &b, Value value, IRMapping &mapping);
  AffineMap getResultMap() {
    return op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  }
  TypedAttr getLastPlace();

  linalg::GenericOp op;
  /// The accumulators of the body, and what it combines them with.
  Value extremum, extremumPlace, element, place;
  TypedAttr init, initPlace;
  bool isMax = false, isSigned = true, isPlaceSigned = true;
};

} // namespace

/// The value of all elements of `tensor`, if it is a constant.
static TypedAttr getConstantElement(Value tensor) {
  Attribute constant;
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>();
      fill && matchPattern(fill.value(), m_Constant(&constant)))
    return dyn_cast<TypedAttr>(constant);
  DenseElementsAttr elements;
  if (matchPattern(tensor, m_Constant(&elements)) && elements.isSplat())
    return dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
  return {};
}

/// True if `value` compares `a` by `predicate` with `b`, or `b` by `swapped`
/// with `a`.
template <typename CompareOp, typename Predicate>
static bool isCompare(Value value, Value a, Value b, Predicate predicate,
                      Predicate swapped) {
  auto compare = value.getDefiningOp<CompareOp>();
  return compare && ((compare.getPredicate() == predicate &&
                      compare.getLhs() == a && compare.getRhs() == b) ||
                     (compare.getPredicate() == swapped &&
                      compare.getLhs() == b && compare.getRhs() == a));
}

static bool isCompare(Value value, Value a, Value b,
                      arith::CmpFPredicate predicate,
                      arith::CmpFPredicate swapped) {
  return isCompare<arith::CmpFOp>(value, a, b, predicate, swapped);
}

static bool isCompare(Value value, Value a, Value b,
                      arith::CmpIPredicate predicate,
                      arith::CmpIPredicate swapped) {
  return isCompare<arith::CmpIOp>(value, a, b, predicate, swapped);
}

static bool isEqual(Value value, Value a, Value b) {
  return isCompare(value, a, b, arith::CmpFPredicate::OEQ,
                   arith::CmpFPredicate::OEQ) ||
         isCompare(value, a, b, arith::CmpIPredicate::eq,
                   arith::CmpIPredicate::eq);
}

static bool isNaN(Value value, Value of) {
  return isCompare(value, of, of, arith::CmpFPredicate::UNE,
                   arith::CmpFPredicate::UNO);
}

/// True if `value` is `OpTy` of two operands of which `isFirst` holds for one
/// and `isSecond` for the other.
template <typename OpTy>
static bool isBinary(Value value, function_ref<bool(Value)> isFirst,
                     function_ref<bool(Value)> isSecond) {
  auto binary = value.getDefiningOp<OpTy>();
  return binary && ((isFirst(binary.getLhs()) && isSecond(binary.getRhs())) ||
                    (isFirst(binary.getRhs()) && isSecond(binary.getLhs())));
}

bool ArgMax::isStaying(Value value) const {
  if (!mayHaveNaNs()) {
    using Predicate = arith::CmpIPredicate;
    Predicate above = isSigned ? Predicate::sgt : Predicate::ugt;
    Predicate below = isSigned ? Predicate::slt : Predicate::ult;
    return isCompare(value, extremum, element, isMax ? above : below,
                     isMax ? below : above);
  }
  using Predicate = arith::CmpFPredicate;
  return isBinary<arith::OrIOp>(
      value,
      [&](Value operand) {
        return isCompare(operand, extremum, element,
                         isMax ? Predicate::OGT : Predicate::OLT,
                         isMax ? Predicate::OLT : Predicate::OGT);
      },
      [&](Value operand) { return isNaN(operand, extremum); });
}

bool ArgMax::matchElements(Value value) {
  Operation *definition = value.getDefiningOp();
  if (isa_and_nonnull<arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp,
                      arith::MinUIOp>(definition)) {
    isMax = isa<arith::MaxSIOp, arith::MaxUIOp>(definition);
    isSigned = isa<arith::MaxSIOp, arith::MinSIOp>(definition);
    unsigned old = definition->getOperand(0) == extremum ? 0 : 1;
    element = definition->getOperand(1 - old);
    return definition->getOperand(old) == extremum;
  }
  auto select = dyn_cast_or_null<arith::SelectOp>(definition);
  if (!select || select.getTrueValue() != extremum)
    return false;
  element = select.getFalseValue();
  for (bool hasSign : {true, false})
    for (bool ofMax : {true, false}) {
      isSigned = hasSign;
      isMax = ofMax;
      if (isStaying(select.getCondition()))
        return true;
    }
  return false;
}

bool ArgMax::matchPlaces(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select || select.getTrueValue() != extremumPlace)
    return false;
  place = select.getFalseValue();
  using Predicate = arith::CmpIPredicate;
  auto keepsLesser = [&](Predicate predicate, Predicate swapped) {
    auto isTie = [&](Value tie) {
      return isBinary<arith::AndIOp>(
          tie,
          [&](Value operand) { return isEqual(operand, extremum, element); },
          [&](Value operand) {
            return isCompare(operand, extremumPlace, place, predicate, swapped);
          });
    };
    return isBinary<arith::OrIOp>(
        select.getCondition(),
        [&](Value operand) { return isStaying(operand); }, isTie);
  };
  isPlaceSigned = keepsLesser(Predicate::slt, Predicate::sgt);
  return isPlaceSigned || keepsLesser(Predicate::ult, Predicate::ugt);
}

/// The loop of `op` whose index `value` of the body is.
static std::optional<unsigned> getIndexLoop(linalg::GenericOp op, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBody())
      return std::nullopt;
    // Another op writes its indices to a tensor.
    OpOperand *operand = op.getMatchingOpOperand(argument);
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!op.isDpsInput(operand) || !producer || producer.getNumResults() != 1 ||
        producer.getNumReductionLoops() != 0 ||
        !producer.getIndexingMapsArray().back().isIdentity())
      return std::nullopt;
    std::optional<unsigned> loop = getIndexLoop(
        producer, producer.getBody()->getTerminator()->getOperand(0));
    if (!loop)
      return std::nullopt;
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(*loop));
    return dim ? std::optional(dim.getPosition()) : std::nullopt;
  }
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  auto index = (cast ? cast.getIn() : value).getDefiningOp<linalg::IndexOp>();
  if (!index || index->getBlock() != op.getBody())
    return std::nullopt;
  return index.getDim();
}

std::optional<unsigned> ArgMax::findCountedLoop() {
  std::optional<unsigned> loop = getIndexLoop(op, place);
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  if (!loop || ArrayRef(reductions) != ArrayRef(*loop))
    return std::nullopt;
  // Narrow integers would begin again.
  int64_t size = op.getStaticLoopRanges()[*loop];
  unsigned bits = place.getType().getIntOrFloatBitWidth() - isPlaceSigned;
  bool fits = ShapedType::isDynamic(size)
                  ? bits >= 31
                  : bits >= 64 || llvm::isUIntN(bits, size);
  return fits ? loop : std::nullopt;
}

bool ArgMax::match() {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 2 ||
      op.getNumReductionLoops() == 0 || !op->getDiscardableAttrs().empty() ||
      op.getMatchingIndexingMap(op.getDpsInitOperand(1)) != getResultMap() ||
      !getResultMap().isProjectedPermutation())
    return false;
  // Copies of ops with regions would ask for loops that are gone.
  Block &body = *op.getBody();
  if (llvm::any_of(body,
                   [](Operation &inner) { return inner.getNumRegions() != 0; }))
    return false;
  extremum = body.getArgument(op.getNumDpsInputs());
  extremumPlace = body.getArgument(op.getNumDpsInputs() + 1);
  auto yielded = body.getTerminator()->getOperands();
  if (!isa<IntegerType, FloatType>(extremum.getType()) ||
      !isa<IntegerType>(extremumPlace.getType()) ||
      !matchElements(yielded[0]) || !matchPlaces(yielded[1]))
    return false;
  // Elements and places depend on no accumulator.
  llvm::SetVector<Value> needed;
  needed.insert_range(ArrayRef<Value>{element, place});
  for (size_t number = 0; number < needed.size(); ++number) {
    Operation *definition = needed[number].getDefiningOp();
    if (definition && definition->getBlock() == &body)
      needed.insert_range(definition->getOperands());
  }
  if (needed.contains(extremum) || needed.contains(extremumPlace))
    return false;
  init = getConstantElement(op.getDpsInits()[0]);
  initPlace = getConstantElement(op.getDpsInits()[1]);
  if (!init || !initPlace)
    return false;
  if (!mayHaveNaNs())
    return true;
  // The reduction tells zeros by their signs, and which NaN is the first one by
  // its order.
  return op->getResult(0).use_empty() && findCountedLoop() &&
         !cast<FloatAttr>(init).getValue().isNaN();
}

/// True if elements as large as what they begin with have no larger places.
bool ArgMax::isInitRedundant() {
  std::optional<unsigned> loop = findCountedLoop();
  if (!loop || cast<IntegerAttr>(initPlace).getValue().isNegative())
    return false;
  int64_t size = op.getStaticLoopRanges()[*loop];
  if (ShapedType::isDynamic(size) || size == 0)
    return false;
  if (auto number = dyn_cast<FloatAttr>(init))
    return number.getValue().isInfinity() &&
           number.getValue().isNegative() == isMax;
  APInt value = cast<IntegerAttr>(init).getValue();
  if (isSigned)
    return isMax ? value.isMinSignedValue() : value.isMaxSignedValue();
  return isMax ? value.isZero() : value.isAllOnes();
}

Value ArgMax::copy(ImplicitLocOpBuilder &b, Value value, IRMapping &mapping) {
  Operation *definition = value.getDefiningOp();
  if (mapping.contains(value) || !definition ||
      definition->getBlock() != op.getBody())
    return mapping.lookupOrDefault(value);
  for (Value operand : definition->getOperands())
    copy(b, operand, mapping);
  b.clone(*definition, mapping);
  return mapping.lookup(value);
}

Value ArgMax::createExtrema(ImplicitLocOpBuilder &b) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.pop_back();
  Value first = op.getDpsInits()[0];
  auto body = [&](OpBuilder &nested, Location loc, ValueRange arguments) {
    ImplicitLocOpBuilder inner(loc, nested);
    IRMapping mapping;
    mapping.map(op.getBody()->getArguments().drop_back(), arguments);
    Value old = arguments.back(), next = copy(inner, element, mapping);
    Value result;
    if (mayHaveNaNs())
      result = isMax ? Value(arith::MaximumFOp::create(inner, old, next))
                     : Value(arith::MinimumFOp::create(inner, old, next));
    else if (isSigned)
      result = isMax ? Value(arith::MaxSIOp::create(inner, old, next))
                     : Value(arith::MinSIOp::create(inner, old, next));
    else
      result = isMax ? Value(arith::MaxUIOp::create(inner, old, next))
                     : Value(arith::MinUIOp::create(inner, old, next));
    linalg::YieldOp::create(inner, result);
  };
  return linalg::GenericOp::create(b, first.getType(), op.getInputs(), first,
                                   maps, op.getIteratorTypesArray(), body)
      .getResult(0);
}

TypedAttr ArgMax::getLastPlace() {
  Type type = place.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, isPlaceSigned ? APInt::getSignedMaxValue(width)
                                              : APInt::getMaxValue(width));
}

Value ArgMax::createFirstPlaces(ImplicitLocOpBuilder &b, Value extrema) {
  auto type = cast<RankedTensorType>(op.getDpsInits()[1].getType());
  Value empty = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), extrema), type.getElementType());
  Value last = arith::ConstantOp::create(b, getLastPlace());
  if (isInitRedundant())
    return linalg::FillOp::create(b, last, empty).getResult(0);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto body = [&](OpBuilder &nested, Location loc, ValueRange arguments) {
    ImplicitLocOpBuilder inner(loc, nested);
    Value start = arith::ConstantOp::create(inner, init);
    Value isStart =
        mayHaveNaNs()
            ? Value(arith::CmpFOp::create(inner, arith::CmpFPredicate::OEQ,
                                          start, arguments[0]))
            : Value(arith::CmpIOp::create(inner, arith::CmpIPredicate::eq,
                                          start, arguments[0]));
    Value first = arith::ConstantOp::create(inner, initPlace);
    linalg::YieldOp::create(
        inner,
        arith::SelectOp::create(inner, isStart, first, last).getResult());
  };
  return linalg::GenericOp::create(b, type, extrema, empty,
                                   {identity, identity}, loops, body)
      .getResult(0);
}

Value ArgMax::createPlaces(ImplicitLocOpBuilder &b, Value extrema) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> inputs = op.getInputs();
  // The extremum takes the place of its accumulator.
  inputs.push_back(extrema);
  Value first = createFirstPlaces(b, extrema);
  Value last = arith::ConstantOp::create(b, getLastPlace());
  auto body = [&](OpBuilder &nested, Location loc, ValueRange arguments) {
    ImplicitLocOpBuilder inner(loc, nested);
    IRMapping mapping;
    mapping.map(op.getBody()->getArguments(), arguments);
    Value next = copy(inner, element, mapping);
    Value where = copy(inner, place, mapping);
    Value found = mapping.lookup(extremum), old = arguments.back();
    Value isFound;
    if (mayHaveNaNs()) {
      Value isLikeIt =
          arith::CmpFOp::create(inner, arith::CmpFPredicate::OEQ, next, found);
      Value isNoNumber =
          arith::CmpFOp::create(inner, arith::CmpFPredicate::UNO, next, next);
      isFound = arith::OrIOp::create(inner, isLikeIt, isNoNumber);
    } else {
      isFound =
          arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, next, found);
    }
    Value taken = arith::SelectOp::create(inner, isFound, where, last);
    linalg::YieldOp::create(
        inner, isPlaceSigned
                   ? Value(arith::MinSIOp::create(inner, old, taken))
                   : Value(arith::MinUIOp::create(inner, old, taken)));
  };
  return linalg::GenericOp::create(b, first.getType(), inputs, first, maps,
                                   op.getIteratorTypesArray(), body)
      .getResult(0);
}

void ArgMax::split(RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  Value extrema = createExtrema(b);
  Value places = createPlaces(b, extrema);
  rewriter.replaceOp(op, {extrema, places});
}

bool braid::comm::splitArgMax(RewriterBase &rewriter, linalg::GenericOp op,
                              int64_t opsPerByte) {
  // A host computes adjacent results as vectors: a maximum of 256 rows of 1000
  // takes 40 us with its places, and 56 us in two reductions.
  ArgMax argMax(op);
  if (!argMax.match() ||
      (opsPerByte == 0 &&
       !linalg::isReductionIterator(op.getIteratorTypesArray().back())))
    return false;
  argMax.split(rewriter);
  return true;
}
