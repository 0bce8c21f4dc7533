//===- Reduction.cpp - Reductions in kernels ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

#include "KernelBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// True if `op` may combine elements in any order. A reduction of floats allows
/// any order of its roundings.
static bool isAssociative(Operation *op) {
  return isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::MulIOp,
             arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

/// The neutral element of `op` in the type `type`.
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
    if (!op || op->getBlock() != nest.body || !isAssociative(op) ||
        !op->hasOneUse() || !accumulator.hasOneUse() ||
        *accumulator.user_begin() != op)
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
