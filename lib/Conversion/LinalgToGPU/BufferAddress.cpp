//===- BufferAddress.cpp - Alignment and overlap of buffers ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAddress.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>
#include <optional>

using namespace mlir;

/// The alignment of every allocation and argument, which the runtime and the
/// memory plan guarantee.
static constexpr int64_t kBufferAlignment = 64;
/// An upper limit; no access needs more.
static constexpr int64_t kMaxAlignment = 256;

int64_t braid::kernels::getByteSize(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * getByteSize(complex.getElementType());
  if (isa<IndexType>(type))
    return 8;
  if (!type.isIntOrFloat())
    return 0;
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 1)
    return 1;
  return width == 8 || width == 16 || width == 32 || width == 64 ? width / 8
                                                                 : 0;
}

namespace {

int64_t powerOfTwo(int64_t bytes) {
  // Modulo 2^64 a negative number has the powers of two of its magnitude.
  return static_cast<int64_t>(std::gcd(static_cast<uint64_t>(bytes),
                                       static_cast<uint64_t>(kMaxAlignment)));
}

/// The largest power of two up to `kMaxAlignment` that divides `number`, as far
/// as at most `depth` ops tell. It divides what a narrower type keeps, too.
int64_t getDivisor(Value number, unsigned depth = 8) {
  APInt constant;
  if (matchPattern(number, m_ConstantInt(&constant)))
    return powerOfTwo(constant.getSExtValue());
  Operation *op = number.getDefiningOp();
  if (!op || depth == 0)
    return 1;
  auto getLess = [&](Value left, Value right) {
    return std::min(getDivisor(left, depth - 1), getDivisor(right, depth - 1));
  };
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>(
          [&](auto cast) { return getDivisor(cast.getIn(), depth - 1); })
      .Case<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp,
            arith::MaxUIOp, arith::MinUIOp>(
          [&](auto op) { return getLess(op.getLhs(), op.getRhs()); })
      .Case([&](arith::SelectOp op) {
        return getLess(op.getTrueValue(), op.getFalseValue());
      })
      .Case([&](arith::MulIOp op) {
        return std::min(kMaxAlignment, getDivisor(op.getLhs(), depth - 1) *
                                           getDivisor(op.getRhs(), depth - 1));
      })
      .Default([](Operation *) { return 1; });
}

} // namespace

/// The values one of which control flow gives `value`; none if it does not.
static SmallVector<Value> getPassed(Value value) {
  Operation *definition = value.getDefiningOp();
  if (!definition) {
    auto argument = cast<BlockArgument>(value);
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<LoopLikeOpInterface>(parent);
    if (OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr)
      return {init->get(), loop.getTiedLoopYieldedValue(argument)->get()};
    // What the condition passes on.
    if (auto whileLoop = dyn_cast<scf::WhileOp>(parent))
      return {whileLoop.getConditionOp().getArgs()[argument.getArgNumber()]};
    return {};
  }
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto select = dyn_cast<arith::SelectOp>(definition))
    return {select.getTrueValue(), select.getFalseValue()};
  if (auto loop = dyn_cast<scf::ForOp>(definition))
    return {loop.getRegionIterArg(number)};
  if (auto loop = dyn_cast<scf::WhileOp>(definition))
    return {loop.getConditionOp().getArgs()[number]};
  if (auto condition = dyn_cast<scf::IfOp>(definition))
    return {condition.thenYield().getOperand(number),
            condition.elseYield().getOperand(number)};
  return {};
}

int64_t braid::kernels::getBaseAlignment(Value buffer) {
  int64_t alignment = kMaxAlignment;
  SmallVector<Value> pending = {buffer};
  // A loop may carry the same buffers along many paths.
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *definition = next.getDefiningOp();
    if (SmallVector<Value> passed = getPassed(next); !passed.empty()) {
      pending.append(passed);
    } else if (!definition) {
      auto argument = cast<BlockArgument>(next);
      if (!isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) ||
          !argument.getOwner()->isEntryBlock())
        return 1;
      alignment = std::min(alignment, kBufferAlignment);
    } else if (isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(
                   definition)) {
      alignment = std::min(alignment, kBufferAlignment);
    } else if (isa<memref::SubViewOp, memref::ReinterpretCastOp, memref::CastOp,
                   memref::CollapseShapeOp, memref::ExpandShapeOp,
                   memref::ExtractStridedMetadataOp, memref::TransposeOp>(
                   definition)) {
      // The offset or the shape changes, but not the base pointer.
      pending.push_back(definition->getOperand(0));
    } else if (auto view = dyn_cast<memref::ViewOp>(definition)) {
      std::optional<int64_t> shift = getConstantIntValue(view.getByteShift());
      alignment = std::min(alignment, shift ? powerOfTwo(*shift) : 1);
      pending.push_back(view.getSource());
    } else {
      return 1;
    }
  }
  return alignment;
}

/// The alignment of the first element of `view`, a part of `source`.
static int64_t getAlignmentOfView(Value source,
                                  OffsetSizeAndStrideOpInterface view) {
  auto type = cast<MemRefType>(source.getType());
  int64_t size = braid::kernels::getByteSize(type.getElementType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return 1;
  int64_t alignment = braid::kernels::getAlignment(source);
  for (auto [step, stride] : llvm::zip(view.getMixedOffsets(), strides)) {
    if (ShapedType::isDynamic(stride))
      return std::min(alignment, size);
    int64_t bytes = powerOfTwo(stride * size);
    auto value = dyn_cast<Value>(step);
    int64_t divisor =
        value ? getDivisor(value) : powerOfTwo(*getConstantIntValue(step));
    alignment = std::min(alignment, bytes * divisor);
  }
  return alignment;
}

int64_t braid::kernels::getAlignment(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t size = braid::kernels::getByteSize(type.getElementType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (size == 0 || failed(type.getStridesAndOffset(strides, offset)))
    return 1;
  int64_t base = getBaseAlignment(buffer);
  if (ShapedType::isStatic(offset))
    return std::min(base, powerOfTwo(offset * size));
  if (auto view = buffer.getDefiningOp<memref::SubViewOp>())
    return getAlignmentOfView(view.getSource(), view);
  if (auto cast = buffer.getDefiningOp<memref::CastOp>())
    return getAlignment(cast.getSource());
  return std::min(base, size);
}

Value braid::kernels::getRoot(Value buffer) {
  while (Operation *definition = buffer.getDefiningOp()) {
    if (!isa<memref::SubViewOp, memref::ReinterpretCastOp, memref::CastOp,
             memref::CollapseShapeOp, memref::ExpandShapeOp, memref::ViewOp,
             memref::ExtractStridedMetadataOp, memref::TransposeOp>(definition))
      break;
    buffer = definition->getOperand(0);
  }
  return buffer;
}

/// The offsets of the first byte of `buffer` and of the first byte after it,
/// from its root.
static std::optional<std::pair<int64_t, int64_t>> getByteRange(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t size = braid::kernels::getByteSize(type.getElementType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      !type.hasStaticShape() || ShapedType::isDynamic(offset))
    return std::nullopt;
  int64_t last = offset;
  for (auto [extent, stride] : llvm::zip(type.getShape(), strides)) {
    if (ShapedType::isDynamic(stride) || stride < 0)
      return std::nullopt;
    last += (extent - 1) * stride;
  }
  // Only a memref.view moves the base pointer.
  int64_t shift = 0;
  for (Value value = buffer; Operation *definition = value.getDefiningOp();) {
    if (value == braid::kernels::getRoot(value))
      break;
    if (auto view = dyn_cast<memref::ViewOp>(definition)) {
      std::optional<int64_t> bytes = getConstantIntValue(view.getByteShift());
      if (!bytes)
        return std::nullopt;
      shift += *bytes;
    }
    value = definition->getOperand(0);
  }
  return std::make_pair(shift + offset * size, shift + (last + 1) * size);
}

bool braid::kernels::isOwnMemory(Value root) {
  if (Operation *definition = root.getDefiningOp())
    return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(
        definition);
  auto argument = cast<BlockArgument>(root);
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  // A caller of a private function may pass the same buffer twice.
  return function && function.isPublic() && argument.getOwner()->isEntryBlock();
}

/// True if `allocation` runs after `value` is defined, so that they cannot
/// overlap.
static bool isNewerThan(Value allocation, Value value) {
  auto alloc = allocation.getDefiningOp<memref::AllocOp>();
  Operation *within =
      alloc ? value.getParentBlock()->findAncestorOpInBlock(*alloc) : nullptr;
  Operation *definition = value.getDefiningOp();
  return within && (!definition || definition->isBeforeInBlock(within));
}

/// The memory that `root` may be, as far as control flow passes memory on; none
/// if it may be other memory, too.
static SmallVector<Value> getSources(Value root) {
  SmallVector<Value> pending = {root}, sources;
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = braid::kernels::getRoot(pending.pop_back_val());
    if (!seen.insert(next).second)
      continue;
    if (SmallVector<Value> passed = getPassed(next); !passed.empty())
      pending.append(passed);
    else if (braid::kernels::isOwnMemory(next))
      sources.push_back(next);
    else
      return {};
  }
  return sources;
}

/// True if one memory cannot be `a` as well as `b`, two values of own memory.
static bool isOtherMemory(Value a, Value b) {
  auto globalA = a.getDefiningOp<memref::GetGlobalOp>();
  auto globalB = b.getDefiningOp<memref::GetGlobalOp>();
  return globalA && globalB ? globalA.getName() != globalB.getName() : a != b;
}

bool braid::kernels::mayOverlap(Value a, Value b) {
  Value rootOfA = getRoot(a), rootOfB = getRoot(b);
  if (rootOfA != rootOfB) {
    if (isNewerThan(rootOfA, rootOfB) || isNewerThan(rootOfB, rootOfA))
      return false;
    SmallVector<Value> ofA = getSources(rootOfA), ofB = getSources(rootOfB);
    return ofA.empty() || ofB.empty() || !llvm::all_of(ofA, [&](Value one) {
             return llvm::all_of(
                 ofB, [&](Value other) { return isOtherMemory(one, other); });
           });
  }
  auto rangeOfA = getByteRange(a), rangeOfB = getByteRange(b);
  if (!rangeOfA || !rangeOfB)
    return true;
  return rangeOfA->first < rangeOfB->second &&
         rangeOfB->first < rangeOfA->second;
}
