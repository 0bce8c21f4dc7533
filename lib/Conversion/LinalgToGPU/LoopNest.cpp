//===- LoopNest.cpp - Loops over buffers with linear addresses ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "BufferAddress.h"
#include "KernelBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid::kernels;

bool braid::kernels::hasTooManyIterations(ArrayRef<int64_t> sizes) {
  std::optional<int64_t> iterations = 1;
  for (int64_t size : sizes)
    if (!ShapedType::isDynamic(size) &&
        (!(iterations = llvm::checkedMul(*iterations, size)) ||
         *iterations >= kMostIterations))
      return true;
  return false;
}

/// True if loops of `sizes` access elements kMostIterations or farther from the
/// base pointer.
static bool reachesTooFar(const Access &access, ArrayRef<int64_t> sizes) {
  auto farthest = static_cast<uint64_t>(std::abs(access.base));
  for (auto [size, stride] : llvm::zip_equal(sizes, access.strides))
    farthest = llvm::SaturatingMultiplyAdd(
        static_cast<uint64_t>(std::abs(stride)),
        static_cast<uint64_t>(std::max<int64_t>(size, 1) - 1), farthest);
  return farthest >= static_cast<uint64_t>(kMostIterations);
}

bool Access::isInjective(ArrayRef<int64_t> sizes) const {
  SmallVector<std::pair<int64_t, int64_t>> loops;
  for (auto [stride, size] : llvm::zip_equal(strides, sizes))
    if (size != 1)
      loops.emplace_back(std::abs(stride), size);
  llvm::sort(loops);
  int64_t extent = 1;
  for (auto [stride, size] : loops) {
    if (stride < extent)
      return false;
    extent = stride * size;
  }
  return true;
}

int64_t LoopNest::getNumIterations() const {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

bool LoopNest::hasReduction() const {
  return llvm::is_contained(isReduction, true);
}

SmallVector<Access *> LoopNest::getAccesses() {
  SmallVector<Access *> accesses;
  for (Access &access : inputs)
    accesses.push_back(&access);
  for (Access &access : outputs)
    accesses.push_back(&access);
  return accesses;
}

SmallVector<const Access *> LoopNest::getAccesses() const {
  return llvm::to_vector_of<const Access *>(
      const_cast<LoopNest *>(this)->getAccesses());
}

void LoopNest::permute(ArrayRef<unsigned> order) {
  SmallVector<int64_t> oldSizes = sizes;
  SmallVector<bool> oldKinds = isReduction;
  for (auto [to, from] : llvm::enumerate(order)) {
    sizes[to] = oldSizes[from];
    isReduction[to] = oldKinds[from];
  }
  for (Access *access : getAccesses()) {
    SmallVector<int64_t> strides = access->strides;
    for (auto [to, from] : llvm::enumerate(order))
      access->strides[to] = strides[from];
  }
  for (DimensionIndex &dimension : dimensions)
    if (dimension.loop >= 0)
      dimension.loop =
          llvm::find(order, static_cast<unsigned>(dimension.loop)) -
          order.begin();
}

void LoopNest::orderByMemory() {
  if (usesIndices)
    return;
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, getNumLoops()));
  ArrayRef<int64_t> strides = outputs.front().strides;
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::make_pair(-std::abs(strides[a]), a) <
           std::make_pair(-std::abs(strides[b]), b);
  });
  permute(order);
  collapse();
}

void LoopNest::merge(unsigned loop) {
  unsigned outer = loop - 1;
  for (DimensionIndex &dimension : dimensions) {
    if (dimension.loop == static_cast<int>(outer))
      dimension.divisor *= sizes[loop];
    else if (dimension.loop >= static_cast<int>(loop))
      --dimension.loop;
  }
  sizes[outer] *= sizes[loop];
  sizes.erase(sizes.begin() + loop);
  isReduction.erase(isReduction.begin() + loop);
  for (Access *access : getAccesses()) {
    access->strides[outer] = access->strides[loop];
    access->strides.erase(access->strides.begin() + loop);
  }
}

void LoopNest::collapse(bool mayDivide) {
  if (usesIndices && !mayDivide)
    return;
  for (unsigned loop = sizes.size(); loop-- > 1;) {
    unsigned outer = loop - 1;
    if (isReduction[outer] != isReduction[loop] ||
        !llvm::all_of(getAccesses(), [&](Access *access) {
          return access->strides[outer] == access->strides[loop] * sizes[loop];
        }))
      continue;
    merge(loop);
  }
}

/// Adds `factor * expr` to the coefficients of an affine expression; false if
/// it is not linear.
static bool addLinear(AffineExpr expr, int64_t factor,
                      MutableArrayRef<int64_t> coefficients,
                      int64_t &constant) {
  if (auto value = dyn_cast<AffineConstantExpr>(expr)) {
    constant += factor * value.getValue();
    return true;
  }
  if (auto dimension = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dimension.getPosition()] += factor;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), factor, coefficients, constant) &&
           addLinear(binary.getRHS(), factor, coefficients, constant);
  auto multiplier = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && multiplier &&
         addLinear(binary.getLHS(), factor * multiplier.getValue(),
                   coefficients, constant);
}

/// The value of all elements of `buffer`, if it is a constant with equal
/// elements.
static TypedAttr getConstant(Value buffer) {
  auto reference = buffer.getDefiningOp<memref::GetGlobalOp>();
  if (!reference)
    return {};
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      reference, reference.getNameAttr());
  if (!global || !global.getConstant())
    return {};
  auto elements =
      dyn_cast_or_null<SplatElementsAttr>(global.getConstantInitValue());
  if (!elements || !elements.getElementType().isIntOrIndexOrFloat())
    return {};
  return elements.getSplatValue<TypedAttr>();
}

/// The access of `op` to `operand`, by the dimensions of the op.
static std::optional<Access> getAccess(linalg::LinalgOp op,
                                       OpOperand &operand) {
  auto type = cast<MemRefType>(operand.get().getType());
  if (!type.hasStaticShape())
    return std::nullopt;
  if (getByteSize(type.getElementType()) == 0)
    return std::nullopt;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  Access access;
  access.buffer = operand.get();
  access.elementType = type.getElementType();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  access.strides.assign(map.getNumDims(), 0);
  for (auto [expr, stride] : llvm::zip(map.getResults(), strides))
    if (!addLinear(expr, stride, access.strides, access.base))
      return std::nullopt;
  return access;
}

/// True if the body of `op` reads a buffer from outside with dynamic sizes or
/// strides.
static bool readsDynamicBuffer(linalg::LinalgOp op) {
  return llvm::any_of(getCaptured(*op.getBlock()), [](Value value) {
    auto buffer = dyn_cast<MemRefType>(value.getType());
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    return buffer && (!buffer.hasStaticShape() ||
                      failed(buffer.getStridesAndOffset(strides, offset)) ||
                      llvm::any_of(strides, ShapedType::isDynamic));
  });
}

std::optional<LoopNest> braid::kernels::getLoopNest(linalg::LinalgOp op) {
  if (readsDynamicBuffer(op))
    return std::nullopt;
  LoopNest nest{op.getLoc()};
  nest.body = op.getBlock();
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    // The body of a linalg.map may have no argument for the output.
    BlockArgument argument = index < nest.body->getNumArguments()
                                 ? nest.body->getArgument(index)
                                 : BlockArgument();
    if (!isa<MemRefType>(operand.get().getType())) {
      nest.scalars.emplace_back(operand.get(), argument);
      continue;
    }
    if (TypedAttr splat =
            op.isDpsInit(&operand) ? TypedAttr() : getConstant(operand.get())) {
      nest.constants.emplace_back(splat, argument);
      continue;
    }
    std::optional<Access> access = getAccess(op, operand);
    if (!access)
      return std::nullopt;
    access->argument = argument;
    (op.isDpsInit(&operand) ? nest.outputs : nest.inputs)
        .push_back(std::move(*access));
  }
  nest.fills.resize(nest.outputs.size());
  op.getBlock()->walk([&](linalg::IndexOp) { nest.usesIndices = true; });

  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<unsigned> kept;
  for (auto [dimension, size] : llvm::enumerate(sizes)) {
    if (size == 1) {
      nest.dimensions.push_back({-1});
      continue;
    }
    nest.dimensions.push_back({static_cast<int>(kept.size()), 1, size});
    kept.push_back(dimension);
    nest.sizes.push_back(size);
    nest.isReduction.push_back(iterators[dimension] ==
                               utils::IteratorType::reduction);
  }
  // So that numbers of elements and bytes do not overflow.
  if (hasTooManyIterations(nest.sizes))
    return std::nullopt;
  for (Access *access : nest.getAccesses()) {
    SmallVector<int64_t> strides;
    for (unsigned dimension : kept)
      strides.push_back(access->strides[dimension]);
    access->strides = std::move(strides);
    if (reachesTooFar(*access, nest.sizes))
      return std::nullopt;
  }
  return nest;
}
