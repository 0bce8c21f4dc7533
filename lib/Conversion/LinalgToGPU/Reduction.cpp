//===- Reduction.cpp - Reductions in kernels ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

#include "BufferAddress.h"
#include "KernelBody.h"
#include "Kernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace braid::kernels;

/// A vector of `type` with as many elements as `like`, or `type` itself.
static Type withLanesOf(Type like, Type type) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.cloneWith({}, type);
  return type;
}

Value Combiner::getNeutral(ImplicitLocOpBuilder &b, int64_t lanes) const {
  return braid::kernels::broadcast(b, arith::ConstantOp::create(b, neutral),
                                   lanes);
}

Value Combiner::combine(ImplicitLocOpBuilder &b, Value accumulator,
                        Value value) const {
  SmallVector<Value> operands(2, value);
  operands[accumulatorOperand] = accumulator;
  OperationState state(b.getLoc(), op->getName(), operands, value.getType(),
                       op->getAttrs());
  return b.create(state)->getResult(0);
}

Value Combiner::widen(ImplicitLocOpBuilder &b, Value value) const {
  if (getElementTypeOrSelf(value.getType()) == type)
    return value;
  return arith::ExtFOp::create(b, withLanesOf(value.getType(), type), value);
}

Value Combiner::narrow(ImplicitLocOpBuilder &b, Value value) const {
  if (type == elementType)
    return value;
  return arith::TruncFOp::create(b, withLanesOf(value.getType(), elementType),
                                 value);
}

Value Combiner::combineLanes(ImplicitLocOpBuilder &b, Value value) const {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return value;
  Value result;
  for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
    Value element = vector::ExtractOp::create(b, value, lane);
    result = result ? combine(b, result, element) : element;
  }
  return result;
}

Value Combiner::shuffle(ImplicitLocOpBuilder &b, Value value,
                        int64_t distance) const {
  // Shuffles move at least 32 bits.
  bool isSmall = type.getIntOrFloatBitWidth() < 32;
  if (isSmall)
    value = arith::ExtUIOp::create(b, b.getI32Type(), value);
  value = gpu::ShuffleOp::create(b, value, distance, kWarpSize,
                                 gpu::ShuffleMode::XOR)
              .getShuffleResult();
  return isSmall ? arith::TruncIOp::create(b, type, value) : value;
}

Value Combiner::combineThreads(ImplicitLocOpBuilder &b, Value value,
                               int64_t group, int64_t distance) const {
  for (int64_t other = group / 2; other > 0; other /= 2)
    value = combine(b, value, shuffle(b, value, other * distance));
  return value;
}

SmallVector<Value> Combiner::reduceScatterThreads(
    ImplicitLocOpBuilder &b, SmallVector<Value> values, int64_t group,
    int64_t distance, llvm::function_ref<Value(int64_t)> isInFirstHalf) const {
  for (int64_t other = group / 2; other > 0; other /= 2) {
    if (values.size() == 1)
      return {combineThreads(b, values.front(), 2 * other, distance)};
    // The first half of the threads keeps the first half of the values.
    size_t half = values.size() / 2;
    Value isFirst = isInFirstHalf(2 * other);
    for (size_t each = 0; each < half; ++each) {
      Value first = values[each], second = values[each + half];
      Value kept = arith::SelectOp::create(b, isFirst, first, second);
      Value sent = arith::SelectOp::create(b, isFirst, second, first);
      values[each] = combine(b, kept, shuffle(b, sent, other * distance));
    }
    values.resize(half);
  }
  return values;
}

/// The neutral element, in the type `type`, of an `op` that may combine
/// elements in any order: a reduction of floats allows any order of its
/// roundings.
static TypedAttr getNeutralOf(Operation *op, Type type) {
  std::optional<TypedAttr> neutral = arith::getNeutralElement(op);
  if (!neutral)
    return {};
  auto number = dyn_cast<FloatAttr>(*neutral);
  if (!number || number.getType() == type)
    return *neutral;
  APFloat value = number.getValue();
  bool losesInfo = false;
  value.convert(cast<FloatType>(type).getFloatSemantics(),
                APFloat::rmNearestTiesToEven, &losesInfo);
  return FloatAttr::get(type, value);
}

std::optional<SmallVector<Combiner>>
braid::kernels::matchCombiners(const LoopNest &nest) {
  SmallVector<Combiner> combiners;
  auto yields = nest.body->getTerminator()->getOperands();
  for (auto [access, yielded] : llvm::zip(nest.outputs, yields)) {
    Operation *op = yielded.getDefiningOp();
    Value accumulator = access.argument;
    Type type = access.elementType;
    // Shuffles move numbers of a known width.
    if (!type.isIntOrFloat())
      return std::nullopt;
    Combiner combiner;
    combiner.type = isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32
                        ? Float32Type::get(type.getContext())
                        : type;
    if (isa_and_nonnull<arith::TruncFOp>(op) && op->hasOneUse() &&
        accumulator.hasOneUse())
      if (auto wide = dyn_cast<arith::ExtFOp>(*accumulator.user_begin());
          wide && wide.getType() == combiner.type) {
        combiner.narrowing = op;
        combiner.widening = wide;
        op = op->getOperand(0).getDefiningOp();
        accumulator = wide;
      }
    if (!op || op->getBlock() != nest.body || !op->hasOneUse() ||
        !accumulator.hasOneUse() || *accumulator.user_begin() != op)
      return std::nullopt;
    bool isFirst = op->getOperand(0) == accumulator;
    combiner.op = op;
    combiner.accumulatorOperand = isFirst ? 0 : 1;
    combiner.element = op->getOperand(isFirst ? 1 : 0);
    combiner.elementType = type;
    combiner.neutral = getNeutralOf(op, combiner.type);
    if (!combiner.neutral)
      return std::nullopt;
    combiners.push_back(combiner);
  }
  return combiners;
}

/// True if adjacent iterations of `loop` read other elements than adjacent ones
/// or the same one.
static bool isStrided(const Access &access, unsigned loop) {
  return access.strides[loop] != 0 && access.strides[loop] != 1;
}

static int64_t getNumElements(const LoopNest &nest, const Access &access) {
  int64_t elements = 1;
  for (auto [size, stride] : llvm::zip(nest.sizes, access.strides))
    elements *= stride == 0 ? 1 : size;
  return elements;
}

std::optional<unsigned> braid::kernels::findColumnLoop(const LoopNest &nest) {
  auto isAlongReduction = [&](const Access &access) {
    return llvm::any_of(llvm::zip(nest.isReduction, access.strides),
                        [](auto loop) {
                          auto [isReduction, stride] = loop;
                          return isReduction && stride == 1;
                        });
  };
  std::optional<unsigned> columns;
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop) {
    if (nest.isReduction[loop] ||
        llvm::none_of(nest.inputs, [&](const Access &access) {
          return access.strides[loop] == 1;
        }))
      continue;
    int64_t strided = 0;
    bool isReadable = true;
    for (const Access &access : nest.inputs)
      if (isStrided(access, loop)) {
        strided += getNumElements(nest, access);
        isReadable &= isAlongReduction(access);
      }
    if (isReadable && strided < fewest) {
      columns = loop;
      fewest = strided;
    }
  }
  return columns;
}

const Access *braid::kernels::findStridedInput(const LoopNest &nest,
                                               unsigned columns) {
  const Access *largest = nullptr;
  for (const Access &access : nest.inputs)
    if (isStrided(access, columns) &&
        (!largest ||
         getNumElements(nest, *largest) < getNumElements(nest, access)))
      largest = &access;
  return largest;
}

SmallVector<Value>
braid::kernels::emitElements(ImplicitLocOpBuilder &b, const LoopNest &nest,
                             ArrayRef<Combiner> combiners, IRMapping &mapping,
                             int64_t lanes, ArrayRef<Value> indices) {
  for (Operation &op : nest.body->without_terminator())
    if (llvm::none_of(combiners, [&](const Combiner &combiner) {
          return combiner.op == &op || combiner.widening == &op ||
                 combiner.narrowing == &op;
        }))
      emitBodyOp(b, op, mapping, lanes, indices);
  SmallVector<Value> elements;
  for (const Combiner &combiner : combiners)
    elements.push_back(combiner.widen(
        b, braid::kernels::broadcast(
               b, mapping.lookupOrDefault(combiner.element), lanes)));
  return elements;
}

void braid::kernels::takeElements(ImplicitLocOpBuilder &b, const LoopNest &nest,
                                  ArrayRef<Combiner> combiners,
                                  IRMapping &mapping, int64_t lanes,
                                  ArrayRef<Value> indices, Value isValid,
                                  MutableArrayRef<Value> accumulators) {
  for (auto [combiner, accumulator, element] :
       llvm::zip(combiners, accumulators,
                 emitElements(b, nest, combiners, mapping, lanes, indices))) {
    Value taken = element;
    if (isValid)
      taken = arith::SelectOp::create(b, isValid, taken,
                                      combiner.getNeutral(b, lanes));
    accumulator = accumulator ? combiner.combine(b, accumulator, taken) : taken;
  }
}

void braid::kernels::reduceInOrder(
    ImplicitLocOpBuilder &b, const LoopNest &nest,
    ArrayRef<unsigned> reductions, function_ref<Value(unsigned loop)> getSize,
    MutableArrayRef<Value> indices, SmallVectorImpl<Value> &values,
    function_ref<SmallVector<Value>(ValueRange, IRMapping &)> mapIteration) {
  std::optional<SmallVector<Combiner>> combiners = matchCombiners(nest);
  if (combiners)
    for (auto [combiner, value] : llvm::zip(*combiners, values))
      value = combiner.widen(b, value);
  SmallVector<Value> begins, ends, steps;
  for (unsigned loop : reductions) {
    ends.push_back(getSize(loop));
    Type type = ends.back().getType();
    begins.push_back(arith::ConstantOp::create(b, b.getIntegerAttr(type, 0)));
    steps.push_back(arith::ConstantOp::create(b, b.getIntegerAttr(type, 1)));
  }
  auto emitIteration = [&](OpBuilder &, Location, ValueRange loops,
                           ValueRange args) {
    for (auto [loop, index] : llvm::zip(reductions, loops))
      indices[loop] = index;
    IRMapping mapping;
    SmallVector<Value> asked = mapIteration(args, mapping), next(args);
    if (combiners)
      takeElements(b, nest, *combiners, mapping, /*lanes=*/1, asked,
                   /*isValid=*/{}, next);
    else
      next = emitBody(b, *nest.body, mapping, /*lanes=*/1, asked);
    return scf::ValueVector(next.begin(), next.end());
  };
  values = llvm::to_vector(scf::buildLoopNest(b, b.getLoc(), begins, ends,
                                              steps, values, emitIteration)
                               .results);
  if (combiners)
    for (auto [combiner, value] : llvm::zip(*combiners, values))
      value = combiner.narrow(b, value);
}

//===----------------------------------------------------------------------===//
// Two steps
//===----------------------------------------------------------------------===//

namespace {

/// Replaces a reduction by two, the first of which reduces parts.
class ReductionSplitter {
public:
  ReductionSplitter(RewriterBase &rewriter, linalg::LinalgOp op,
                    const LoopNest &nest, const Split &split)
      : rewriter(rewriter), op(op), nest(nest), split(split),
        iterators(op.getIteratorTypesArray()) {}

  /// Returns the second step.
  linalg::LinalgOp run();

private:
  unsigned getNumLoops() const { return iterators.size(); }
  /// True if the first step has a result for each iteration of `loop`, or for
  /// each part of it.
  bool isOfParts(unsigned loop) const {
    return loop <= split.loop &&
           iterators[loop] == utils::IteratorType::reduction;
  }
  AffineExpr getLoop(unsigned loop) {
    return getAffineDimExpr(loop, op.getContext());
  }
  /// Where the loops are after the split.
  SmallVector<AffineExpr> getShiftedLoops();
  /// The loops over results and parts, in the order of the dimensions of the
  /// partial results.
  SmallVector<unsigned> getPartialLoops();
  void addInput(OpOperand &operand);
  void addPartials();
  /// The indices of the loops of the op, in the body of the first step.
  SmallVector<Value> getIndices(ImplicitLocOpBuilder &b);
  void createFirstStep();
  linalg::LinalgOp createSecondStep();

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  const LoopNest &nest;
  const Split &split;
  SmallVector<utils::IteratorType> iterators;
  /// Operands of the first step: inputs, and buffers with the results of each
  /// part.
  SmallVector<Value> inputs, partials;
  SmallVector<AffineMap> maps;
};

} // namespace

SmallVector<AffineExpr> ReductionSplitter::getShiftedLoops() {
  SmallVector<AffineExpr> shifted;
  for (unsigned loop = 0; loop < getNumLoops(); ++loop)
    shifted.push_back(getLoop(loop <= split.loop ? loop : loop + 1));
  return shifted;
}

SmallVector<unsigned> ReductionSplitter::getPartialLoops() {
  // The parts of a result are adjacent: the second step reduces rows, in the
  // kernel of what follows.
  SmallVector<unsigned> loops;
  for (bool ofParts : {false, true})
    for (unsigned loop = 0; loop < getNumLoops(); ++loop)
      if (ofParts ? isOfParts(loop)
                  : iterators[loop] == utils::IteratorType::parallel)
        loops.push_back(loop);
  return loops;
}

void ReductionSplitter::addInput(OpOperand &operand) {
  inputs.push_back(splitOperand(rewriter, operand, split, maps.emplace_back()));
}

void ReductionSplitter::addPartials() {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges(), shape;
  SmallVector<AffineExpr> shifted = getShiftedLoops(), exprs;
  for (unsigned loop : getPartialLoops()) {
    bool isSplit = loop == split.loop;
    exprs.push_back(isSplit ? getLoop(loop) : shifted[loop]);
    shape.push_back(isSplit ? split.size / split.part : sizes[loop]);
  }
  for (auto [output, combiner] : llvm::zip(op.getDpsInits(), split.combiners)) {
    auto type = cast<MemRefType>(output.getType());
    auto partialType =
        MemRefType::get(shape, combiner.type, MemRefLayoutAttrInterface(),
                        type.getMemorySpace());
    Value partial = memref::AllocOp::create(rewriter, op.getLoc(), partialType);
    Value neutral =
        arith::ConstantOp::create(rewriter, op.getLoc(), combiner.neutral);
    linalg::FillOp::create(rewriter, op.getLoc(), neutral, partial);
    partials.push_back(partial);
    maps.push_back(
        AffineMap::get(getNumLoops() + 1, 0, exprs, op.getContext()));
  }
}

SmallVector<Value> ReductionSplitter::getIndices(ImplicitLocOpBuilder &b) {
  SmallVector<Value> indices;
  if (!nest.usesIndices)
    return indices;
  for (unsigned loop = 0; loop < getNumLoops(); ++loop)
    indices.push_back(
        linalg::IndexOp::create(b, loop <= split.loop ? loop : loop + 1));
  Value part = arith::ConstantIndexOp::create(b, split.part);
  Value first = arith::MulIOp::create(b, indices[split.loop], part);
  indices[split.loop] = arith::AddIOp::create(
      b, first, linalg::IndexOp::create(b, split.loop + 1));
  return indices;
}

void ReductionSplitter::createFirstStep() {
  SmallVector<utils::IteratorType> firstIterators(iterators);
  for (unsigned loop = 0; loop < split.loop; ++loop)
    firstIterators[loop] = utils::IteratorType::parallel;
  firstIterators.insert(firstIterators.begin() + split.loop,
                        utils::IteratorType::parallel);
  Location loc = op.getLoc();
  Block &body = *op.getBlock();
  ArrayRef<Combiner> combiners = split.combiners;
  linalg::GenericOp::create(
      rewriter, loc, inputs, partials, maps, firstIterators,
      [&](OpBuilder &builder, Location, ValueRange arguments) {
        ImplicitLocOpBuilder b(loc, builder);
        IRMapping mapping;
        mapping.map(body.getArguments(), arguments);
        SmallVector<Value> elements = emitElements(b, nest, combiners, mapping,
                                                   /*lanes=*/1, getIndices(b));
        SmallVector<Value> combined;
        for (auto [combiner, element, argument] : llvm::zip(
                 combiners, elements, arguments.take_back(combiners.size())))
          combined.push_back(combiner.combine(b, argument, element));
        linalg::YieldOp::create(b, combined);
      });
}

/// Loops over the results and over the parts.
linalg::LinalgOp ReductionSplitter::createSecondStep() {
  SmallVector<AffineExpr> kept(getNumLoops() + 1,
                               getAffineConstantExpr(0, op.getContext()));
  SmallVector<utils::IteratorType> secondIterators;
  for (unsigned loop : getPartialLoops()) {
    kept[loop] = getLoop(secondIterators.size());
    secondIterators.push_back(iterators[loop]);
  }
  AffineMap identity = AffineMap::getMultiDimIdentityMap(secondIterators.size(),
                                                         op.getContext());
  SmallVector<AffineMap> secondMaps(partials.size(), identity);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      exprs.push_back(expr.replaceDims(kept));
    secondMaps.push_back(
        AffineMap::get(secondIterators.size(), 0, exprs, op.getContext()));
  }
  Location loc = op.getLoc();
  auto second = linalg::GenericOp::create(
      rewriter, loc, partials, op.getDpsInits(), secondMaps, secondIterators,
      [&](OpBuilder &builder, Location, ValueRange arguments) {
        ImplicitLocOpBuilder b(loc, builder);
        SmallVector<Value> combined;
        for (auto [index, combiner] : llvm::enumerate(split.combiners)) {
          Value before = combiner.widen(b, arguments[partials.size() + index]);
          combined.push_back(combiner.narrow(
              b, combiner.combine(b, before, arguments[index])));
        }
        linalg::YieldOp::create(b, combined);
      });
  // The fills of the results stay before the second step.
  for (Value output : second.getOutputs())
    if (linalg::FillOp fill = findFill(second, output))
      rewriter.moveOpBefore(fill, second);
  return second;
}

linalg::LinalgOp ReductionSplitter::run() {
  rewriter.setInsertionPoint(op);
  for (OpOperand *operand : op.getDpsInputOperands())
    addInput(*operand);
  addPartials();
  createFirstStep();
  linalg::LinalgOp second = createSecondStep();
  rewriter.eraseOp(op);
  return second;
}

linalg::LinalgOp braid::kernels::createSteps(RewriterBase &rewriter,
                                             linalg::LinalgOp op,
                                             const LoopNest &nest,
                                             const Split &split) {
  return ReductionSplitter(rewriter, op, nest, split).run();
}
