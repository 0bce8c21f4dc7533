//===- Halo.cpp - Exchanges of halos by permutes --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace braid;
using namespace braid::spmd;
using mlir::shard::UpdateHaloOp;

namespace {
/// A dimension with halos, and the ranks along it.
struct HaloDim {
  int64_t dim;
  AxisGroup group;
  /// The sizes of the halos in front of and behind the rank's own data.
  OpFoldResult front, back;
};

/// The offsets and sizes of a part of a tensor.
struct Box {
  SmallVector<OpFoldResult> offsets, sizes;
};
} // namespace

static Value extract(Lowering &b, Value tensor, const Box &box) {
  SmallVector<OpFoldResult> strides(box.sizes.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, tensor, box.offsets, box.sizes,
                                        strides);
}

static Value insert(Lowering &b, Value part, Value tensor, const Box &box) {
  SmallVector<OpFoldResult> strides(box.sizes.size(), b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(b, part, tensor, box.offsets, box.sizes,
                                       strides);
}

/// The dimensions with halos, in ascending order.
static FailureOr<SmallVector<HaloDim>> getHaloDims(Lowering &b,
                                                   UpdateHaloOp op) {
  int64_t rank = cast<ShapedType>(op.getResult().getType()).getRank();
  ArrayRef<mlir::shard::GridAxesAttr> splits = op.getSplitAxes().getAxes();
  if (static_cast<int64_t>(splits.size()) > rank)
    return op.emitOpError() << "has split_axes for " << splits.size()
                            << " dimensions, expected at most " << rank
                            << ", the rank of its operand";
  size_t numSplit = llvm::count_if(
      splits, [](mlir::shard::GridAxesAttr axes) { return !axes.empty(); });
  ArrayRef<int64_t> statics = op.getStaticHaloSizes();
  if (statics.size() != 2 * numSplit)
    return op.emitOpError()
           << "has " << statics.size() << " halo sizes, expected "
           << 2 * numSplit << ", two for each split dimension";
  for (int64_t size : statics)
    if (ShapedType::isStatic(size) && size < 0)
      return op.emitOpError() << "has halo size " << size
                              << ", expected a number that is not negative";
  if (static_cast<size_t>(llvm::count(statics, ShapedType::kDynamic)) !=
      op.getHaloSizes().size())
    return op.emitOpError() << "has " << op.getHaloSizes().size()
                            << " halo sizes that are values, expected "
                            << llvm::count(statics, ShapedType::kDynamic);
  auto dynamics = op.getHaloSizes().begin();
  auto getSize = [&](int64_t size) -> OpFoldResult {
    if (ShapedType::isStatic(size))
      return b.getIndexAttr(size);
    return arith::IndexCastOp::create(b, b.getIndexType(), *dynamics++)
        .getResult();
  };
  SmallVector<HaloDim> halos;
  for (auto [dim, axes] : llvm::enumerate(splits)) {
    if (axes.empty())
      continue;
    FailureOr<AxisGroup> group =
        b.groups.getGroup(op, op.getGridAttr(), axes.asArrayRef());
    if (failed(group))
      return failure();
    HaloDim &halo = halos.emplace_back();
    halo.dim = dim;
    halo.group = *group;
    halo.front = getSize(statics[2 * halos.size() - 2]);
    halo.back = getSize(statics[2 * halos.size() - 1]);
  }
  return halos;
}

/// Verifies that the data between the halos are as many as each halo takes from
/// them, at run time if a size is dynamic.
static LogicalResult verifyFit(Lowering &b, const HaloDim &halo,
                               OpFoldResult own) {
  for (OpFoldResult side : {halo.front, halo.back}) {
    std::optional<int64_t> ownSize = getConstantIntValue(own);
    std::optional<int64_t> sideSize = getConstantIntValue(side);
    if (ownSize && sideSize) {
      if (*sideSize <= *ownSize)
        continue;
      return b.op->emitOpError()
             << "has a halo of size " << *sideSize << " in dimension "
             << halo.dim << " and " << *ownSize
             << " elements between the halos, expected at least as many";
    }
    auto assertThat = [&](arith::CmpIPredicate predicate, OpFoldResult bound) {
      Value condition = arith::CmpIOp::create(b, predicate, b.getIndex(side),
                                              b.getIndex(bound));
      cf::AssertOp::create(
          b, condition,
          "a halo of shard.update_halo is larger than the data between the "
          "halos, or negative");
    };
    assertThat(arith::CmpIPredicate::sle, own);
    if (!sideSize)
      assertThat(arith::CmpIPredicate::sge, b.getIndexAttr(0));
  }
  return success();
}

/// Fills the halo `target` of every rank that has a neighbour at `step` (-1 or
/// +1) with the data `source` of this neighbour. Other ranks keep the halo.
static Value exchange(Lowering &b, const AxisGroup &group, int64_t step,
                      Value tensor, const Box &source, const Box &target) {
  SmallVector<Attribute> pairs;
  for (int64_t receiver = 0; receiver < group.size; ++receiver)
    if (int64_t sender = receiver + step; sender >= 0 && sender < group.size)
      pairs.push_back(b.getDenseI64ArrayAttr({sender, receiver}));
  Value received = b.await(
      comm::PermuteOp::create(b, extract(b, tensor, source), ValueRange(),
                              group.symbol, b.getArrayAttr(pairs)));
  // comm.permute gives zeros to a rank without a neighbour.
  int64_t last = step < 0 ? 0 : group.size - 1;
  Value hasNeighbour =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, b.getRank(group),
                            b.getIndex(b.getIndexAttr(last)));
  Value halo = b.select(hasNeighbour, received, extract(b, tensor, target));
  return insert(b, halo, tensor, target);
}

/// Exchanges the halos from the last dimension to the first, as upstream does:
/// the parts that ranks exchange along a dimension have the halos of later
/// dimensions, so that corners are those of the diagonal neighbour.
static FailureOr<Value> updateHalos(Lowering &b, ArrayRef<HaloDim> halos,
                                    Value tensor) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), tensor);
  Box box{SmallVector<OpFoldResult>(sizes.size(), b.getIndexAttr(0)), sizes};
  for (const HaloDim &halo : halos) {
    box.offsets[halo.dim] = halo.front;
    box.sizes[halo.dim] =
        b.subtract(b.subtract(sizes[halo.dim], halo.front), halo.back);
    if (failed(verifyFit(b, halo, box.sizes[halo.dim])))
      return failure();
  }
  for (const HaloDim &halo : llvm::reverse(halos)) {
    OpFoldResult size = sizes[halo.dim];
    OpFoldResult backOffset = b.subtract(size, halo.back);
    auto getBox = [&](OpFoldResult offset, OpFoldResult length) {
      Box part = box;
      part.offsets[halo.dim] = offset;
      part.sizes[halo.dim] = length;
      return part;
    };
    if (halo.group.symbol && !isZeroInteger(halo.front))
      tensor = exchange(b, halo.group, /*step=*/-1, tensor,
                        getBox(b.subtract(backOffset, halo.front), halo.front),
                        getBox(b.getIndexAttr(0), halo.front));
    if (halo.group.symbol && !isZeroInteger(halo.back))
      tensor = exchange(b, halo.group, /*step=*/1, tensor,
                        getBox(halo.front, halo.back),
                        getBox(backOffset, halo.back));
    box.offsets[halo.dim] = b.getIndexAttr(0);
    box.sizes[halo.dim] = size;
  }
  return tensor;
}

Replacement braid::spmd::lowerUpdateHalo(Lowering &b) {
  auto op = cast<UpdateHaloOp>(b.op);
  Value destination = op.getDestination();
  // Without halos there is nothing to exchange.
  if (op.getStaticHaloSizes().empty())
    return SmallVector<Value>{destination};
  FailureOr<SmallVector<HaloDim>> halos = getHaloDims(b, op);
  if (failed(halos))
    return failure();
  bool isBuffer = isa<MemRefType>(destination.getType());
  FailureOr<Value> updated = updateHalos(
      b, *halos, isBuffer ? b.copyToTensor(destination) : destination);
  if (failed(updated))
    return failure();
  if (!isBuffer)
    return SmallVector<Value>{*updated};
  auto type = cast<MemRefType>(destination.getType());
  Value buffer = bufferization::ToBufferOp::create(
      b, MemRefType::get(type.getShape(), type.getElementType()), *updated);
  memref::CopyOp::create(b, buffer, destination);
  return SmallVector<Value>{destination};
}
