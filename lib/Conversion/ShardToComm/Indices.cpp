//===- Indices.cpp - Indices of devices and sizes of grids and shards -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using namespace braid::spmd;
using namespace mlir::shard;

/// The axes that an op names; all axes of the grid if it names none.
static SmallVector<int16_t> getAxesOrAll(ArrayRef<int16_t> axes, size_t rank) {
  if (axes.empty())
    return llvm::to_vector(llvm::seq<int16_t>(0, rank));
  return llvm::to_vector(axes);
}

/// The number of linear indices from one device to the next along `axis`.
static int64_t getStride(ArrayRef<int64_t> shape, int64_t axis) {
  int64_t stride = 1;
  for (int64_t size : shape.drop_front(axis + 1))
    stride *= size;
  return stride;
}

static Replacement lowerOnGrid(Lowering &b, GridShapeOp op,
                               ArrayRef<int64_t> shape) {
  SmallVector<Value> sizes;
  for (int16_t axis : getAxesOrAll(op.getAxes(), shape.size()))
    sizes.push_back(b.getIndex(b.getIndexAttr(shape[axis])));
  return sizes;
}

static Replacement lowerOnGrid(Lowering &b, ProcessLinearIndexOp op,
                               ArrayRef<int64_t>) {
  FailureOr<AxisGroup> world = b.groups.getWorld(op, op.getGridAttr());
  if (failed(world))
    return failure();
  return SmallVector<Value>{b.getRank(*world)};
}

static Replacement lowerOnGrid(Lowering &b, ProcessMultiIndexOp op,
                               ArrayRef<int64_t> shape) {
  FailureOr<AxisGroup> world = b.groups.getWorld(op, op.getGridAttr());
  if (failed(world))
    return failure();
  Value rank = b.getRank(*world);
  SmallVector<Value> indices;
  for (int16_t axis : getAxesOrAll(op.getAxes(), shape.size())) {
    if (shape[axis] == 1) {
      indices.push_back(b.getIndex(b.getIndexAttr(0)));
      continue;
    }
    OpFoldResult index = b.divide(rank, b.getIndexAttr(getStride(shape, axis)));
    // No axis of more than one device is further out.
    bool isOutermost =
        llvm::all_of(shape.take_front(axis), [](int64_t n) { return n == 1; });
    indices.push_back(
        isOutermost
            ? b.getIndex(index)
            : arith::RemSIOp::create(b, b.getIndex(index),
                                     b.getIndex(b.getIndexAttr(shape[axis]))));
  }
  return indices;
}

static Replacement lowerOnGrid(Lowering &b, NeighborsLinearIndicesOp op,
                               ArrayRef<int64_t> shape) {
  ArrayRef<int16_t> axes = op.getSplitAxes();
  if (axes.size() != 1)
    return op.emitOpError()
           << "has " << axes.size() << " split axes, expected one";
  int16_t axis = axes.front();
  if (failed(b.groups.getSizes(op, op.getGridAttr(), axes)))
    return failure();
  if (op.getDevice().size() != shape.size())
    return op.emitOpError() << "has a device of " << op.getDevice().size()
                            << " indices, expected " << shape.size();
  Value device =
      b.getIndex(b.linearize(getAsOpFoldResult(op.getDevice()), shape));
  Value stride = b.getIndex(b.getIndexAttr(getStride(shape, axis)));
  Value none = b.getIndex(b.getIndexAttr(-1));
  auto choose = [&](arith::CmpIPredicate predicate, int64_t bound,
                    Value neighbour) -> Value {
    Value exists = arith::CmpIOp::create(b, predicate, op.getDevice()[axis],
                                         b.getIndex(b.getIndexAttr(bound)));
    return arith::SelectOp::create(b, exists, neighbour, none);
  };
  Value down = choose(arith::CmpIPredicate::sgt, 0,
                      arith::SubIOp::create(b, device, stride));
  Value up = choose(arith::CmpIPredicate::slt, shape[axis] - 1,
                    arith::AddIOp::create(b, device, stride));
  return SmallVector<Value>{down, up};
}

//===----------------------------------------------------------------------===//
// Sizes of shards
//===----------------------------------------------------------------------===//

/// The offset at `position`. The offsets are constants, or values of type i64.
static Value getOffset(Lowering &b, ArrayRef<OpFoldResult> offsets,
                       OpFoldResult position) {
  SmallVector<Value> elements;
  for (OpFoldResult offset : offsets) {
    auto value = dyn_cast<Value>(offset);
    elements.push_back(
        value ? arith::IndexCastOp::create(b, b.getIndexType(), value)
              : b.getIndex(offset));
  }
  Value table = tensor::FromElementsOp::create(b, elements);
  return tensor::ExtractOp::create(b, table, b.getIndex(position));
}

/// The size of the shard of a dimension that is split between `count` devices:
/// the last devices get one element more if the size is no multiple.
static Value splitEvenly(Lowering &b, OpFoldResult size, int64_t count,
                         OpFoldResult position) {
  Value total = b.getIndex(size), parts = b.getIndex(b.getIndexAttr(count));
  Value quotient = arith::DivSIOp::create(b, total, parts);
  Value remainder = arith::RemSIOp::create(b, total, parts);
  Value firstLonger = arith::SubIOp::create(b, parts, remainder);
  Value isLonger = arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                         b.getIndex(position), firstLonger);
  Value longer =
      arith::AddIOp::create(b, quotient, b.getIndex(b.getIndexAttr(1)));
  return arith::SelectOp::create(b, isLonger, longer, quotient);
}

/// The sizes of the tensor, constants and values.
static FailureOr<SmallVector<OpFoldResult>> getDims(Lowering &b,
                                                    ShardShapeOp op) {
  if (op.getNumResults() != op.getDims().size())
    return op.emitOpError()
           << "has " << op.getNumResults() << " results, expected "
           << op.getDims().size() << ", one for each dimension";
  size_t numDynamic = llvm::count(op.getDims(), ShapedType::kDynamic);
  if (numDynamic != op.getDimsDynamic().size())
    return op.emitOpError()
           << "has " << op.getDimsDynamic().size()
           << " dimensions that are values, expected " << numDynamic;
  return getMixedValues(op.getDims(), op.getDimsDynamic(), b.getContext());
}

static Replacement lowerShardShape(Lowering &b, ShardShapeOp op) {
  auto sharding = op.getSharding().getDefiningOp<ShardingOp>();
  if (!sharding)
    return op.emitOpError() << "has a sharding that no shard.sharding defines, "
                               "expected one";
  FlatSymbolRefAttr grid = sharding.getGridAttr();
  FailureOr<ArrayRef<int64_t>> shape = b.groups.getShape(op, grid);
  FailureOr<SmallVector<OpFoldResult>> dims = getDims(b, op);
  if (failed(shape) || failed(dims))
    return failure();
  FailureOr<SmallVector<OpFoldResult>> device =
      b.getMultiIndex(*shape, op.getDevice(), op.getDeviceDynamic(), "device");
  if (failed(device))
    return failure();
  SmallVector<OpFoldResult> offsets =
      getMixedValues(sharding.getStaticShardedDimsOffsets(),
                     sharding.getDynamicShardedDimsOffsets(), b.getContext());
  ArrayRef<GridAxesAttr> splits = sharding.getSplitAxes().getAxes();
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(*dims)) {
    if (dim >= splits.size() || splits[dim].empty()) {
      sizes.push_back(b.getIndex(size));
      continue;
    }
    ArrayRef<int16_t> axes = splits[dim].asArrayRef();
    FailureOr<SmallVector<int64_t>> counts = b.groups.getSizes(op, grid, axes);
    if (failed(counts))
      return failure();
    SmallVector<OpFoldResult> indices;
    for (int16_t axis : axes)
      indices.push_back((*device)[axis]);
    OpFoldResult position = b.linearize(indices, *counts);
    size_t count = llvm::product_of(*counts);
    if (offsets.empty()) {
      sizes.push_back(splitEvenly(b, size, count, position));
      continue;
    }
    // The verifier of shard.sharding counts the offsets.
    auto own = ArrayRef(offsets).take_front(count + 1);
    Value begin = getOffset(b, own, position);
    Value end = getOffset(b, own, b.add(position, b.getIndexAttr(1)));
    sizes.push_back(arith::SubIOp::create(b, end, begin));
    offsets.erase(offsets.begin(), offsets.begin() + own.size());
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

bool braid::spmd::isIndices(Operation *op) {
  return isa<GridShapeOp, ProcessLinearIndexOp, ProcessMultiIndexOp,
             NeighborsLinearIndicesOp, ShardShapeOp>(op);
}

Replacement braid::spmd::lowerIndices(Lowering &b) {
  if (auto op = dyn_cast<ShardShapeOp>(b.op))
    return lowerShardShape(b, op);
  return llvm::TypeSwitch<Operation *, Replacement>(b.op)
      .Case<GridShapeOp, ProcessLinearIndexOp, ProcessMultiIndexOp,
            NeighborsLinearIndicesOp>([&](auto op) -> Replacement {
        FailureOr<ArrayRef<int64_t>> shape =
            b.groups.getShape(op, op.getGridAttr());
        if (failed(shape))
          return failure();
        return lowerOnGrid(b, op, *shape);
      });
}
