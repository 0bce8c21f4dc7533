//===- DynamicSlices.cpp - Slices at places that tensors have -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Rewrite/Rewrites.h"

#include "Dialect/Comm/Transforms/FusionCost.h"
#include "FuseReads.h"

#include "braid/Support/IR/Operations.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The bytes that a large GPU moves while the host reads an element and
/// launches the next kernel.
static constexpr int64_t kBytesOfRead = int64_t(64) << 20;
/// The most ops on scalars between an element and an offset.
static constexpr size_t kMostScalars = 64;
/// Each iteration of the new op computes the offset.
static constexpr int64_t kMostWeightOfElement = 8;

/// True if an elementwise op can stand for `op`, a slice that is read.
static bool mayReplace(tensor::ExtractSliceOp op) {
  return op.hasUnitStride() && op.getSizes().empty() &&
         op.getSourceType().hasStaticShape() &&
         2 * getBytes(op.getType()) <= kBytesOfRead;
}

/// True if an elementwise op can stand for `op`, a slice that is inserted.
static bool mayReplace(tensor::InsertSliceOp op) {
  // Iterations change in place what they carry.
  int64_t most = op->getParentOfType<LoopLikeOpInterface>() ? kBytesOfLaunch
                                                            : kBytesOfRead;
  return op.hasUnitStride() && op.getSizes().empty() &&
         op.getSourceType().hasStaticShape() &&
         op.getSourceType().getNumElements() != 0 &&
         op.getType().hasStaticShape() && 2 * getBytes(op.getType()) <= most;
}

namespace {

/// What follows from an element that the program reads.
struct ReadOffset {
  /// The element, and ops on scalars that follow from it.
  SmallVector<Operation *> scalars;
  llvm::SetVector<Operation *> slices;
};

} // namespace

/// What follows from `element`, if slices alone need that, at offsets.
static std::optional<ReadOffset> followRead(tensor::ExtractOp element) {
  if (!element.getTensor().getType().hasStaticShape() ||
      !element.getType().isIntOrIndex())
    return std::nullopt;
  ReadOffset read;
  llvm::SetVector<Operation *> scalars;
  scalars.insert(element);
  for (size_t number = 0; number < scalars.size(); ++number)
    for (OpOperand &use : scalars[number]->getUses()) {
      Operation *user = use.getOwner();
      bool isSlice = llvm::TypeSwitch<Operation *, bool>(user)
                         .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp>(
                             [](auto op) { return mayReplace(op); })
                         .Default(false);
      if (isSlice) {
        read.slices.insert(user);
        continue;
      }
      if (scalars.size() >= kMostScalars ||
          user->getBlock() != element->getBlock() ||
          user->getNumRegions() != 0 || user->getNumResults() != 1 ||
          !isMemoryEffectFree(user) ||
          !user->getResult(0).getType().isIntOrIndex() ||
          !llvm::all_of(user->getOperandTypes(),
                        [](Type type) { return type.isIntOrIndex(); }))
        return std::nullopt;
      scalars.insert(user);
    }
  if (read.slices.empty())
    return std::nullopt;
  read.scalars = scalars.takeVector();
  return read;
}

/// The element of `tensor` at `places`. What computes it is done again, if that
/// is little.
static Value readElement(RewriterBase &rewriter, Location loc, Value tensor,
                         ArrayRef<Value> places) {
  auto producer = tensor.getDefiningOp<linalg::GenericOp>();
  if (producer && isComputedAnywhere(producer) &&
      getWeight(cast<linalg::LinalgOp>(producer.getOperation())) <=
          kMostWeightOfElement)
    return computeElement(rewriter, loc, producer, places,
                          [&](Value input, ArrayRef<Value> indices) -> Value {
                            return tensor::ExtractOp::create(rewriter, loc,
                                                             input, indices);
                          });
  return tensor::ExtractOp::create(rewriter, loc, tensor, places);
}

namespace {

/// Replaces slices by elementwise ops that compute `scalars`.
class SliceReplacer {
public:
  SliceReplacer(RewriterBase &rewriter,
                const llvm::SetVector<Operation *> &scalars)
      : rewriter(rewriter), scalars(scalars) {}

  void replace(tensor::ExtractSliceOp op);
  void replace(tensor::InsertSliceOp op);

private:
  /// The offsets of a slice, at the insertion point of `b`.
  SmallVector<Value> computeOffsets(ImplicitLocOpBuilder &b,
                                    OffsetSizeAndStrideOpInterface op);
  Value createOp(Operation *op, RankedTensorType type, ValueRange inputs,
                 llvm::function_ref<Value(ImplicitLocOpBuilder &,
                                          ArrayRef<Value>, ValueRange)>
                     compute);

  RewriterBase &rewriter;
  const llvm::SetVector<Operation *> &scalars;
};

} // namespace

SmallVector<Value>
SliceReplacer::computeOffsets(ImplicitLocOpBuilder &b,
                              OffsetSizeAndStrideOpInterface op) {
  // What the offsets follow from.
  llvm::SetVector<Operation *> needed;
  auto need = [&](ValueRange values) {
    for (Value value : values)
      if (Operation *scalar = value.getDefiningOp();
          scalar && scalars.contains(scalar))
        needed.insert(scalar);
  };
  need(op.getOffsets());
  for (size_t number = 0; number < needed.size(); ++number)
    need(needed[number]->getOperands());
  IRMapping mapping;
  for (Operation *scalar : topologicalSort(needed)) {
    auto element = dyn_cast<tensor::ExtractOp>(scalar);
    if (!element) {
      b.clone(*scalar, mapping);
      continue;
    }
    SmallVector<Value> places;
    for (Value index : element.getIndices())
      places.push_back(mapping.lookupOrDefault(index));
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
    mapping.map(element.getResult(),
                readElement(rewriter, b.getLoc(), element.getTensor(), places));
  }
  SmallVector<Value> offsets;
  for (OpFoldResult offset : op.getMixedOffsets()) {
    auto value = dyn_cast<Value>(offset);
    offsets.push_back(
        value ? mapping.lookupOrDefault(value)
              : getValueOrCreateConstantIndexOp(b, b.getLoc(), offset));
  }
  return offsets;
}

Value SliceReplacer::createOp(
    Operation *op, RankedTensorType type, ValueRange inputs,
    llvm::function_ref<Value(ImplicitLocOpBuilder &, ArrayRef<Value>,
                             ValueRange)>
        compute) {
  rewriter.setInsertionPoint(op);
  Value empty = tensor::EmptyOp::create(rewriter, op->getLoc(), type.getShape(),
                                        type.getElementType());
  SmallVector<AffineMap> maps(inputs.size(),
                              rewriter.getMultiDimIdentityMap(type.getRank()));
  return createParallel(rewriter, op->getLoc(), empty, inputs, maps,
                        [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
                          SmallVector<Value> places;
                          for (int64_t dim = 0; dim < type.getRank(); ++dim)
                            places.push_back(linalg::IndexOp::create(b, dim));
                          return compute(b, places, arguments);
                        });
}

void SliceReplacer::replace(tensor::ExtractSliceOp op) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Value read = createOp(
      op, op.getType(), {},
      [&](ImplicitLocOpBuilder &b, ArrayRef<Value> places, ValueRange) {
        SmallVector<Value> indices = computeOffsets(b, op);
        const Value *place = places.begin();
        for (auto [dim, index] : llvm::enumerate(indices))
          if (!dropped.test(dim))
            index = arith::AddIOp::create(b, index, *place++);
        return tensor::ExtractOp::create(b, op.getSource(), indices)
            .getResult();
      });
  rewriter.replaceOp(op, read);
}

void SliceReplacer::replace(tensor::InsertSliceOp op) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Value inserted = createOp(
      op, op.getType(), op.getDest(),
      [&](ImplicitLocOpBuilder &b, ArrayRef<Value> places,
          ValueRange arguments) {
        SmallVector<Value> indices;
        Value isInside;
        for (auto [dim, offset, index, size] : llvm::enumerate(
                 computeOffsets(b, op), places, op.getStaticSizes())) {
          if (size == op.getType().getDimSize(dim)) {
            if (!dropped.test(dim))
              indices.push_back(index);
            continue;
          }
          // A place before the first one is a large unsigned number.
          Value inSource = arith::SubIOp::create(b, index, offset);
          Value fits =
              arith::CmpIOp::create(b, arith::CmpIPredicate::ult, inSource,
                                    arith::ConstantIndexOp::create(b, size));
          isInside = isInside ? arith::AndIOp::create(b, isInside, fits) : fits;
          if (!dropped.test(dim))
            indices.push_back(inSource);
        }
        if (!isInside)
          return tensor::ExtractOp::create(b, op.getSource(), indices)
              .getResult();
        return readInside(b, isInside, op.getSource(), indices, arguments[0],
                          /*readsOnce=*/true);
      });
  rewriter.replaceOp(op, inserted);
}

void braid::comm::readOffsetsInBodies(RewriterBase &rewriter, Operation *root) {
  SmallVector<tensor::ExtractOp> elements;
  root->walk([&](tensor::ExtractOp element) {
    if (!element->getParentOfType<linalg::LinalgOp>())
      elements.push_back(element);
  });
  llvm::SetVector<Operation *> scalars, slices;
  for (tensor::ExtractOp element : elements)
    if (std::optional<ReadOffset> read = followRead(element)) {
      scalars.insert_range(read->scalars);
      slices.insert_range(read->slices);
    }
  SliceReplacer replacer(rewriter, scalars);
  for (Operation *slice : slices)
    llvm::TypeSwitch<Operation *>(slice)
        .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp>(
            [&](auto op) { replacer.replace(op); });
  eraseDead(rewriter, std::move(scalars));
}
