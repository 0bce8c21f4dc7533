//===- Sort.cpp - Kernels of a sorting network ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::kernels;

/// The logarithms of the numbers of elements of the largest and of the smallest
/// tile, and of those that a thread compares in registers.
static constexpr unsigned kLargestTile = 12, kSmallestTile = 8, kUnrolled = 3;
/// The number of blocks that keep a large GPU busy.
static constexpr int64_t kBlocksOfSort = 256;
/// Elements of shared memory behind which one is left out, so that threads with
/// adjacent elements use different banks.
static constexpr int64_t kElementsOfBanks = 16;

namespace {

/// A step of the network: the element of each index is compared with that of
/// the index with `mask` flipped, whose highest bit is `bit`. The smaller one
/// gets the index without that bit.
struct Step {
  unsigned bit;
  int64_t mask;
};

/// A bitonic network. The first step of a level compares mirrored halves, so
/// each comparison puts the smaller element first, and what is behind the end
/// of an array, the largest number, stays there.
class SortingNetwork {
public:
  SortingNetwork(KernelModule &kernels, library::CallOp op)
      : kernels(kernels), op(op), buffer(op.getOutputs().front()) {
    auto type = cast<MemRefType>(buffer.getType());
    length = type.getShape().back();
    rows = type.getNumElements() / std::max<int64_t>(length, 1);
    levels = length > 1 ? llvm::Log2_64_Ceil(length) : 0;
  }

  void emit();

private:
  using Load = llvm::function_ref<Value(Value)>;
  using Store = llvm::function_ref<void(Value, Value)>;

  int64_t getPadded() const { return int64_t(1) << levels; }
  /// The steps of `level` with the bits below `end`.
  static SmallVector<Step> getSteps(unsigned level, unsigned end);
  void chooseTile();

  /// The place of element `index` of the padded arrays in memory, and whether
  /// it is in there: null if it always is.
  std::pair<Value, Value> getPlace(KernelBuilder &builder, Value row,
                                   Value column, bool mayEnd);
  Value loadElement(KernelBuilder &builder, std::pair<Value, Value> place);
  void storeElement(KernelBuilder &builder, std::pair<Value, Value> place,
                    Value value);
  /// Runs adjacent steps on the elements of one thread, number `group`.
  static void emitSteps(KernelBuilder &builder, ArrayRef<Step> steps,
                        Value group, Load load, Store store);

  void emitGlobal(ArrayRef<Step> steps);
  void emitTiles(ArrayRef<Step> steps);

  KernelModule &kernels;
  library::CallOp op;
  Value buffer;
  int64_t rows = 0, length = 0;
  unsigned levels = 0, tile = kLargestTile;
};

} // namespace

SmallVector<Step> SortingNetwork::getSteps(unsigned level, unsigned end) {
  SmallVector<Step> steps;
  for (unsigned bit = std::min(level, end); bit-- > 0;)
    steps.push_back({bit, bit + 1 == level ? (int64_t(1) << level) - 1
                                           : int64_t(1) << bit});
  return steps;
}

void SortingNetwork::chooseTile() {
  unsigned least = std::max(kSmallestTile, std::min(levels, kLargestTile));
  while (tile > least && (rows << levels) < (kBlocksOfSort << tile))
    --tile;
}

std::pair<Value, Value> SortingNetwork::getPlace(KernelBuilder &builder,
                                                 Value row, Value column,
                                                 bool mayEnd) {
  Value isInside;
  if (length != getPadded())
    isInside = builder.isLess(column, length);
  if (mayEnd)
    isInside = builder.both(isInside, builder.isLess(row, rows));
  return {builder.add(builder.multiply(row, length), column), isInside};
}

Value SortingNetwork::loadElement(KernelBuilder &builder,
                                  std::pair<Value, Value> place) {
  auto [address, isInside] = place;
  Value value = builder.loadIf(isInside, builder.getMemory(buffer), address, 1);
  if (!isInside)
    return value;
  Value last = arith::ConstantOp::create(
      builder.b,
      builder.b.getI64IntegerAttr(std::numeric_limits<int64_t>::max()));
  return arith::SelectOp::create(builder.b, isInside, value, last);
}

void SortingNetwork::storeElement(KernelBuilder &builder,
                                  std::pair<Value, Value> place, Value value) {
  builder.emitIf(place.second, [&] {
    builder.store(value, builder.getMemory(buffer), place.first);
  });
}

void SortingNetwork::emitSteps(KernelBuilder &builder, ArrayRef<Step> steps,
                               Value group, Load load, Store store) {
  ImplicitLocOpBuilder &b = builder.b;
  unsigned low = steps.back().bit;
  int64_t below = int64_t(1) << low;
  Value base =
      builder.multiply(builder.divide(group, below), below << steps.size());
  if (low > 0)
    base = builder.add(base, builder.remainder(group, below));
  // Element e has the index in which the masks of the bits of e are flipped.
  SmallVector<int64_t> masks{0};
  for (const Step &step : steps)
    for (size_t i = 0, count = masks.size(); i < count; ++i)
      masks.push_back(masks[i] ^ step.mask);
  SmallVector<Value> indices, values;
  for (int64_t mask : masks) {
    indices.push_back(
        mask ? arith::XOrIOp::create(b, base, builder.constantIndex(mask))
                   .getResult()
             : base);
    values.push_back(load(indices.back()));
  }
  for (auto [number, step] : llvm::enumerate(steps))
    for (size_t i = 0; i < masks.size(); ++i) {
      size_t other = i ^ (size_t(1) << number);
      if ((masks[i] >> step.bit) & 1)
        continue;
      Value first = arith::MinSIOp::create(b, values[i], values[other]);
      values[other] = arith::MaxSIOp::create(b, values[i], values[other]);
      values[i] = first;
    }
  for (auto [index, value] : llvm::zip_equal(indices, values))
    store(index, value);
}

void SortingNetwork::emitGlobal(ArrayRef<Step> steps) {
  KernelBuilder builder(kernels, op, "sort");
  builder.addBuffer(buffer, /*isWritten=*/true);
  builder.setIndexType(rows << levels);
  builder.start(kBlockSize);
  int64_t groups = getPadded() >> steps.size(), threads = rows * groups;
  Value thread = builder.add(builder.multiply(builder.blockId(), kBlockSize),
                             builder.threadId());
  bool isWhole = threads % kBlockSize == 0;
  builder.emitIf(isWhole ? Value() : builder.isLess(thread, threads), [&] {
    Value row = builder.divide(thread, groups);
    SmallVector<std::pair<Value, Value>> places;
    size_t stored = 0;
    emitSteps(
        builder, steps, builder.remainder(thread, groups),
        [&](Value column) {
          places.push_back(getPlace(builder, row, column, /*mayEnd=*/false));
          return loadElement(builder, places.back());
        },
        [&](Value, Value value) {
          storeElement(builder, places[stored++], value);
        });
  });
  builder.launch(llvm::divideCeil(threads, kBlockSize));
}

void SortingNetwork::emitTiles(ArrayRef<Step> steps) {
  KernelBuilder builder(kernels, op, "sort");
  ImplicitLocOpBuilder &b = builder.b;
  int64_t size = int64_t(1) << tile, all = rows << levels;
  int64_t threads = size >> kUnrolled;
  builder.addBuffer(buffer, /*isWritten=*/true);
  builder.setIndexType(all);
  builder.start(threads, builder.getWorkgroupType(
                             size + size / kElementsOfBanks, b.getI64Type()));
  Value thread = builder.threadId(), shared = builder.getWorkgroupMemory(0);
  Value first = builder.multiply(builder.blockId(), size);
  auto getShared = [&](Value index) {
    return builder.add(index, builder.divide(index, kElementsOfBanks));
  };
  auto getGlobal = [&](Value index) {
    Value linear = builder.add(first, index);
    return getPlace(builder, builder.divide(linear, getPadded()),
                    builder.remainder(linear, getPadded()), all % size != 0);
  };
  auto forEach = [&](int64_t count, llvm::function_ref<void(Value)> emit) {
    for (int64_t done = 0; done < count; done += threads)
      emit(builder.addConstant(thread, done));
  };
  forEach(size, [&](Value index) {
    builder.store(loadElement(builder, getGlobal(index)), shared,
                  getShared(index));
  });
  while (!steps.empty()) {
    // Steps of one level whose bits are adjacent.
    size_t count = 1;
    while (count < std::min<size_t>(steps.size(), kUnrolled) &&
           steps[count].bit + 1 == steps[count - 1].bit)
      ++count;
    gpu::BarrierOp::create(b);
    forEach(size >> count, [&](Value group) {
      emitSteps(
          builder, steps.take_front(count), group,
          [&](Value index) {
            return builder.load(shared, getShared(index), 1);
          },
          [&](Value index, Value value) {
            builder.store(value, shared, getShared(index));
          });
    });
    steps = steps.drop_front(count);
  }
  gpu::BarrierOp::create(b);
  forEach(size, [&](Value index) {
    storeElement(builder, getGlobal(index),
                 builder.load(shared, getShared(index), 1));
  });
  builder.launch(llvm::divideCeil(all, size));
}

void SortingNetwork::emit() {
  if (levels == 0 || rows == 0)
    return;
  chooseTile();
  SmallVector<Step> inTile;
  for (unsigned level = 1; level <= std::min(levels, tile); ++level)
    llvm::append_range(inTile, getSteps(level, level));
  emitTiles(inTile);
  for (unsigned level = tile + 1; level <= levels; ++level) {
    SmallVector<Step> steps = getSteps(level, level);
    ArrayRef<Step> rest = ArrayRef(steps).take_front(level - tile);
    while (!rest.empty()) {
      size_t count = std::min<size_t>(rest.size(), kUnrolled);
      emitGlobal(rest.take_front(count));
      rest = rest.drop_front(count);
    }
    emitTiles(getSteps(level, tile));
  }
}

void braid::kernels::emitSort(KernelModule &kernels, library::CallOp op) {
  SortingNetwork(kernels, op).emit();
}
