//===- KernelBody.cpp - Bodies of linalg ops in kernels -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBody.h"

#include "BufferAddress.h"
#include "KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace braid::kernels;

/// True if `op` can compute the elements of a vector at once.
static bool hasVectorForm(Operation &op) {
  if (isa<linalg::IndexOp>(op) || matchPattern(&op, m_Constant()))
    return true;
  auto isElement = [](Type type) {
    return VectorType::isValidElementType(type) &&
           (type.isIntOrFloat() || type.isIndex());
  };
  return OpTrait::hasElementwiseMappableTraits(&op) &&
         llvm::all_of(op.getOperandTypes(), isElement) &&
         llvm::all_of(op.getResultTypes(), isElement);
}

bool braid::kernels::isVectorizable(Block &body) {
  return llvm::all_of(body.without_terminator(), hasVectorForm);
}

bool braid::kernels::isElementwise(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    if (isa<scf::IfOp>(op))
      return llvm::all_of(op.getRegions(), [](Region &region) {
        return region.empty() || isElementwise(region.front());
      });
    return isa<memref::LoadOp>(op) || hasVectorForm(op);
  });
}

//===----------------------------------------------------------------------===//
// Vectors along a loop
//===----------------------------------------------------------------------===//

using ValueSet = llvm::DenseSet<Value>;

static bool isAnyIn(ValueRange values, const ValueSet &varying) {
  return llvm::any_of(values,
                      [&](Value value) { return varying.contains(value); });
}

static void spread(Block &block, ValueSet &varying);

/// Adds to `varying` what `op` computes of values that are in it.
static void spread(Operation &op, ValueSet &varying) {
  auto pass = [&](ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to))
      if (varying.contains(source))
        varying.insert(target);
  };
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    pass(loop.getInits(), loop.getBeforeArguments());
    size_t known = 0;
    while (known != varying.size()) {
      known = varying.size();
      spread(*loop.getBeforeBody(), varying);
      ValueRange passed = loop.getConditionOp().getArgs();
      pass(passed, loop.getAfterArguments());
      pass(passed, loop.getResults());
      spread(*loop.getAfterBody(), varying);
      pass(loop.getYieldedValues(), loop.getBeforeArguments());
    }
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region &region : branch->getRegions())
      if (!region.empty()) {
        spread(region.front(), varying);
        pass(region.front().getTerminator()->getOperands(),
             branch.getResults());
      }
  } else if (isAnyIn(op.getOperands(), varying)) {
    varying.insert(op.result_begin(), op.result_end());
  }
}

static void spread(Block &block, ValueSet &varying) {
  for (Operation &op : block)
    spread(op, varying);
}

/// The widest vectors up to `lanes` in which `value` is that of adjacent
/// iterations, `adjacent`, plus a multiple of the width; 1 if there are none.
static int64_t getAdjacentLanes(Value value, const ValueSet &adjacent,
                                int64_t lanes) {
  if (adjacent.contains(value))
    return lanes;
  Operation *op = value.getDefiningOp();
  APInt shift;
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::RemUIOp>(op) ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&shift)))
    return 1;
  return std::gcd(getAdjacentLanes(op->getOperand(0), adjacent, lanes),
                  shift.getSExtValue());
}

/// The widest vectors up to `lanes` in which all iterations have the same
/// `place`, possibly a quotient of adjacent places.
static int64_t getLanesOfPlace(Value place, const ValueSet &varying,
                               const ValueSet &adjacent, int64_t lanes) {
  if (!varying.contains(place))
    return lanes;
  auto quotient = place.getDefiningOp<arith::DivUIOp>();
  APInt divisor;
  if (!quotient || !matchPattern(quotient.getRhs(), m_ConstantInt(&divisor)))
    return 1;
  return std::gcd(getAdjacentLanes(quotient.getLhs(), adjacent, lanes),
                  divisor.getSExtValue());
}

/// The widest vectors up to `lanes` in which all iterations have the same
/// `condition`: bounds that are multiples of the width divide no vector.
static int64_t getLanesAlike(Value condition, const ValueSet &varying,
                             const ValueSet &adjacent, int64_t lanes) {
  if (!varying.contains(condition))
    return lanes;
  Operation *op = condition.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op))
    return std::min(getLanesAlike(op->getOperand(0), varying, adjacent, lanes),
                    getLanesAlike(op->getOperand(1), varying, adjacent, lanes));
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  APInt bound;
  if (!compare || !matchPattern(compare.getRhs(), m_ConstantInt(&bound)) ||
      !llvm::is_contained({arith::CmpIPredicate::ult, arith::CmpIPredicate::uge,
                           arith::CmpIPredicate::slt,
                           arith::CmpIPredicate::sge},
                          compare.getPredicate()))
    return 1;
  return std::gcd(getAdjacentLanes(compare.getLhs(), adjacent, lanes),
                  bound.getSExtValue());
}

/// The widest vector up to `lanes` for which all places that `load` reads in
/// vectors are aligned.
static int64_t getAlignedLoadLanes(memref::LoadOp load, int64_t lanes) {
  auto type = load.getMemRefType();
  int64_t size = getByteSize(type.getElementType());
  int64_t alignment = getAlignment(load.getMemref());
  auto [strides, offset] = type.getStridesAndOffset();
  for (auto [extent, stride] :
       llvm::zip(type.getShape().drop_back(), ArrayRef(strides).drop_back()))
    if (extent != 1)
      alignment = std::gcd(alignment, stride * size);
  lanes = std::min(lanes, kAccessBytes / size);
  while (lanes > 1 && alignment % (lanes * size) != 0)
    lanes /= 2;
  return lanes;
}

/// True if a bound keeps the last index of `load` from being adjacent to those
/// of other iterations.
static bool isClamped(memref::LoadOp load) {
  return load.getMemRefType().getRank() > 0 &&
         load.getIndices().back().getDefiningOp<arith::MinUIOp>();
}

/// The widest vector up to `lanes` that `load` reads where adjacent iterations
/// have the values `varying`; `adjacent` has the index of the iteration.
static int64_t getLoadLanes(memref::LoadOp load, const ValueSet &varying,
                            const ValueSet &adjacent, int64_t lanes) {
  auto type = load.getMemRefType();
  int64_t size = getByteSize(type.getElementType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (size == 0 || !VectorType::isValidElementType(type.getElementType()) ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || llvm::any_of(strides, ShapedType::isDynamic))
    return 1;
  for (Value place : load.getIndices().drop_back())
    lanes = getLanesOfPlace(place, varying, adjacent, lanes);
  // Threads that read single elements still read adjacent ones.
  if (isClamped(load))
    return lanes;
  lanes = getAdjacentLanes(load.getIndices().back(), adjacent, lanes);
  // Bytes are no reason for narrower vectors of all else.
  return type.getElementType().isInteger(1) ? lanes
                                            : getAlignedLoadLanes(load, lanes);
}

/// The widest vectors up to `lanes` of which all ops of `block` have a form.
static int64_t limitLanes(Block &block, const ValueSet &varying,
                          const ValueSet &adjacent, int64_t lanes) {
  for (Operation &op : block.without_terminator()) {
    if (isa<scf::IfOp, scf::WhileOp>(op)) {
      // All iterations of a vector take the same way.
      if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        if (varying.contains(loop.getConditionOp().getCondition()))
          return 1;
      } else {
        lanes = getLanesAlike(cast<scf::IfOp>(op).getCondition(), varying,
                              adjacent, lanes);
      }
      for (Region &region : op.getRegions())
        if (!region.empty())
          lanes = limitLanes(region.front(), varying, adjacent, lanes);
      continue;
    }
    bool isVector = false;
    op.walk([&](Operation *inner) {
      isVector |= isAnyIn(inner->getOperands(), varying);
    });
    if (!isVector)
      continue;
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load && !hasVectorForm(op))
      return 1;
    if (load)
      lanes = getLoadLanes(load, varying, adjacent, lanes);
  }
  return lanes;
}

int64_t braid::kernels::getVectorLanes(const LoopNest &nest, unsigned loop,
                                       int64_t lanes) {
  ValueSet varying, adjacent;
  for (const Access *access : nest.getAccesses())
    if (access->argument && access->getStride(loop) != 0)
      varying.insert(access->argument);
  nest.body->walk([&](linalg::IndexOp op) {
    const DimensionIndex &dimension = nest.dimensions[op.getDim()];
    if (dimension.loop != static_cast<int>(loop) ||
        dimension.divisor % lanes == 0)
      return;
    varying.insert(op);
    if (dimension.divisor == 1 &&
        (dimension.size == nest.sizes[loop] || dimension.size % lanes == 0))
      adjacent.insert(op);
  });
  spread(*nest.body, varying);
  return limitLanes(*nest.body, varying, adjacent, lanes);
}

//===----------------------------------------------------------------------===//
// Copies of bodies
//===----------------------------------------------------------------------===//

Value braid::kernels::broadcast(ImplicitLocOpBuilder &b, Value value,
                                int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      b, VectorType::get({lanes}, value.getType()), value);
}

/// Emits the vector that `load` reads in the iterations of a vector, whose last
/// indices are adjacent.
static void emitVectorLoad(ImplicitLocOpBuilder &b, memref::LoadOp load,
                           IRMapping &mapping, int64_t lanes) {
  SmallVector<Value> indices;
  for (Value index : load.getIndices())
    indices.push_back(mapping.lookupOrDefault(index));
  // All elements have the same other indices.
  for (Value &index : MutableArrayRef(indices).drop_back())
    if (isa<VectorType>(index.getType()))
      index = vector::ExtractOp::create(b, index, 0);
  Value memory = mapping.lookupOrDefault(load.getMemref());
  auto type = VectorType::get({lanes}, load.getType());
  Value places = indices.back();
  if (!isClamped(load) && getAlignedLoadLanes(load, lanes) == lanes) {
    indices.back() = vector::ExtractOp::create(b, places, 0);
    mapping.map(load.getResult(), loadVector(b, type, memory, indices));
    return;
  }
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    indices.back() = vector::ExtractOp::create(b, places, lane);
    elements.push_back(memref::LoadOp::create(b, memory, indices));
  }
  mapping.map(load.getResult(),
              vector::FromElementsOp::create(b, type, elements).getResult());
}

/// Copies the ops of `block`. What the terminator passes to the `targets` that
/// are in `varying` is a vector.
static void emitBlock(ImplicitLocOpBuilder &b, Block &block, IRMapping &mapping,
                      int64_t lanes, ArrayRef<Value> indices,
                      ValueRange targets, const ValueSet &varying) {
  for (Operation &op : block.without_terminator())
    emitBodyOp(b, op, mapping, lanes, indices);
  Operation *end = block.getTerminator();
  size_t first = end->getNumOperands() - targets.size();
  SmallVector<Value> operands;
  for (auto [number, operand] : llvm::enumerate(end->getOperands())) {
    Value value = mapping.lookupOrDefault(operand);
    bool isVector =
        number >= first && varying.contains(targets[number - first]);
    operands.push_back(isVector ? broadcast(b, value, lanes) : value);
  }
  OperationState state(end->getLoc(), end->getName(), operands, TypeRange(),
                       end->getAttrs());
  b.create(state);
}

/// Copies a loop or a branch that all iterations of a vector take alike.
static void emitControlFlow(ImplicitLocOpBuilder &b, Operation &op,
                            IRMapping &mapping, int64_t lanes,
                            ArrayRef<Value> indices) {
  ValueSet varying;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Value copy = mapping.lookupOrNull(operand);
          copy && isa<VectorType>(copy.getType()))
        varying.insert(operand);
  });
  spread(op, varying);
  auto getType = [&](Value value) -> Type {
    return varying.contains(value) ? VectorType::get({lanes}, value.getType())
                                   : value.getType();
  };
  auto types = llvm::map_to_vector(op.getResults(), getType);
  auto emit = [&](OpBuilder &nested, Block &block, ValueRange arguments,
                  ValueRange targets) {
    ImplicitLocOpBuilder inner(op.getLoc(), nested);
    mapping.map(block.getArguments(), arguments);
    emitBlock(inner, block, mapping, lanes, indices, targets, varying);
  };
  Operation *copy = nullptr;
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    SmallVector<Value> inits;
    for (auto [init, argument] :
         llvm::zip(loop.getInits(), loop.getBeforeArguments())) {
      Value value = mapping.lookupOrDefault(init);
      inits.push_back(varying.contains(argument) ? broadcast(b, value, lanes)
                                                 : value);
    }
    copy = scf::WhileOp::create(
        b, types, inits,
        [&](OpBuilder &nested, Location, ValueRange arguments) {
          emit(nested, *loop.getBeforeBody(), arguments,
               loop.getAfterArguments());
        },
        [&](OpBuilder &nested, Location, ValueRange arguments) {
          emit(nested, *loop.getAfterBody(), arguments,
               loop.getBeforeArguments());
        });
  } else {
    auto branch = cast<scf::IfOp>(op);
    bool hasElse = !branch.getElseRegion().empty();
    Value condition = mapping.lookupOrDefault(branch.getCondition());
    if (isa<VectorType>(condition.getType()))
      condition = vector::ExtractOp::create(b, condition, 0);
    auto branchCopy =
        scf::IfOp::create(b, types, condition, /*addThenBlock=*/true,
                          /*addElseBlock=*/hasElse);
    copy = branchCopy;
    for (auto [from, to] :
         llvm::zip(branch->getRegions(), branchCopy->getRegions())) {
      if (from.empty())
        continue;
      // A block without results has its terminator already.
      if (!to.front().empty())
        to.front().back().erase();
      OpBuilder nested = OpBuilder::atBlockEnd(&to.front());
      emit(nested, from.front(), {}, branch.getResults());
    }
  }
  mapping.map(op.getResults(), copy->getResults());
}

void braid::kernels::emitBodyOp(ImplicitLocOpBuilder &b, Operation &op,
                                IRMapping &mapping, int64_t lanes,
                                ArrayRef<Value> indices) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    mapping.map(index.getResult(), indices[index.getDim()]);
    return;
  }
  if (isa<scf::IfOp, scf::WhileOp>(op)) {
    emitControlFlow(b, op, mapping, lanes, indices);
    return;
  }
  bool isVector = llvm::any_of(op.getOperands(), [&](Value operand) {
    return isa<VectorType>(mapping.lookupOrDefault(operand).getType());
  });
  if (!isVector) {
    b.clone(op, mapping);
    return;
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    emitVectorLoad(b, load, mapping, lanes);
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(broadcast(b, mapping.lookupOrDefault(operand), lanes));
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(VectorType::get({lanes}, type));
  OperationState state(op.getLoc(), op.getName(), operands, types,
                       op.getAttrs());
  Operation *copy = b.create(state);
  for (auto [from, to] : llvm::zip(op.getResults(), copy->getResults()))
    mapping.map(from, to);
}

SmallVector<Value> braid::kernels::emitBody(ImplicitLocOpBuilder &b,
                                            Block &body, IRMapping &mapping,
                                            int64_t lanes,
                                            ArrayRef<Value> indices) {
  for (Operation &op : body.without_terminator())
    emitBodyOp(b, op, mapping, lanes, indices);
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(broadcast(b, mapping.lookupOrDefault(value), lanes));
  return results;
}

void braid::kernels::emitPoints(KernelBuilder &builder, ArrayRef<Point> points,
                                int64_t lanes, unsigned vectorLoop) {
  auto getWidest = [&](const Access &access) {
    return getAlignedLanes(access, *points.front().nest, vectorLoop, lanes);
  };
  // What several ops read is loaded once.
  SmallVector<std::tuple<const Access *, ArrayRef<Value>, Value>> loaded;
  auto load = [&](const Access &access, ArrayRef<Value> indices) {
    for (auto [other, places, value] : loaded)
      if (other->buffer == access.buffer && other->base == access.base &&
          other->strides == access.strides && places == indices)
        return value;
    bool isVector = lanes > 1 && access.getStride(vectorLoop) != 0;
    Value value = builder.load(
        builder.getMemory(access.buffer), builder.getAddress(access, indices),
        isVector ? lanes : 1, /*isReadOnce=*/false, getWidest(access));
    loaded.emplace_back(&access, indices, value);
    return value;
  };
  SmallVector<IRMapping> mappings(points.size());
  for (auto [point, mapping] : llvm::zip_equal(points, mappings)) {
    builder.mapCaptured(*point.nest, mapping);
    for (const Access *access : point.nest->getAccesses())
      if (access->argument && !access->argument.use_empty())
        mapping.map(access->argument, load(*access, point.indices));
  }
  SmallVector<SmallVector<Value>> results;
  for (auto [point, mapping] : llvm::zip_equal(points, mappings))
    results.push_back(
        emitBody(builder.b, *point.nest->body, mapping, lanes,
                 builder.getAskedIndices(*point.nest, point.indices, lanes,
                                         vectorLoop)));
  for (auto [point, values] : llvm::zip_equal(points, results))
    for (auto [access, value] : llvm::zip_equal(point.nest->outputs, values))
      builder.store(value, builder.getMemory(access.buffer),
                    builder.getAddress(access, point.indices),
                    getWidest(access));
}
