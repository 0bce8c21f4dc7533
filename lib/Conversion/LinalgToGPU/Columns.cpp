//===- Columns.cpp - Reductions along outer dimensions --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAddress.h"
#include "KernelBody.h"
#include "Kernels.h"
#include "ThreadGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace braid::kernels;

/// The numbers of blocks that keep a large GPU busy if each has `kBlockSize`
/// threads, or `kMaxThreads`, and that suffice then.
static constexpr int64_t kSmallBlocks = 512, kManyBlocks = 128,
                         kEnoughBlocks = 64;
/// The number of contiguous bytes of a row that a block reads: a line of the
/// cache, or the smallest number for an efficient access.
static constexpr int64_t kLineOfBytes = 128, kMinRunOfBytes = 64;
/// The same number of what is in the caches: a sector of a line. Inputs of so
/// many bytes mostly are, as the kernel before has written them.
static constexpr int64_t kSectorOfBytes = 32, kCachedBytes = int64_t(8) << 20;
/// The number of rows that a thread loads at once. More pay for whole lines.
/// The registers of a large block hold fewer beside several accumulators.
static constexpr int64_t kUnrolledRows = 4, kUnrollOfLines = 8, kFewRows = 2;
/// Threads that each have columns of their own need not combine their results:
/// the most rows of such a thread, and the number of threads that suffices.
static constexpr int64_t kMostRowsOfThread = 32, kThreadsApart = 1 << 15;

namespace {

/// Emits the kernel of a reduction for which adjacent elements of an input
/// belong to different results. A block has `width` vectors of adjacent
/// columns. Its threads share the rows and finally combine their partial
/// results in a fixed order. Where there are enough columns with few rows, as
/// in the windows of a pooling, each thread has a vector of columns for itself.
class ColumnKernel {
public:
  ColumnKernel(KernelModule &kernels, Operation *op, LoopNest &nest)
      : nest(nest), builder(kernels, op, "columns"), b(builder.b) {}

  bool emit();

private:
  bool orderLoops();
  void chooseShape();
  /// The widest access of `access`, in elements up to `lanes`.
  int64_t getWidest(const Access &access, int64_t lanes) const;
  int64_t getNumBlocks() const {
    return isApart ? llvm::divideCeil(outer * vectors, kBlockSize)
                   : outer * llvm::divideCeil(vectors, width);
  }
  void emitPlace();
  void emitPlaceOfThread();
  /// The sizes of the loops over columns.
  ArrayRef<int64_t> getColumnSizes() const {
    return ArrayRef(nest.sizes).slice(first, inner + 1 - first);
  }
  /// The indices of the elements of `column` in `row`, or in all rows.
  SmallVector<Value> getIndices(Value row, Value column);
  SmallVector<Value> getIndices(Value row) { return getIndices(row, column); }
  /// True if `access` has the same elements in all rows.
  bool isOfAllRows(const Access &access) const {
    return llvm::all_of(ArrayRef(access.strides).drop_front(inner + 1),
                        [](int64_t stride) { return stride == 0; });
  }
  /// True if the elements of all columns of a row have one stride.
  bool isRun(const Access &access) const {
    return llvm::all_of(llvm::seq(first, inner), [&](unsigned loop) {
      return access.strides[loop] ==
             access.strides[loop + 1] * nest.sizes[loop + 1];
    });
  }
  Value load(const Access &access, ArrayRef<Value> indices);
  SmallVector<Value> takeIn(ArrayRef<Value> rows, Value isValid,
                            SmallVector<Value> accumulators);
  SmallVector<Value> startAccumulators();
  SmallVector<Value> reduceRows();
  SmallVector<Value> reduceRowsOfThread();
  void emitResultsOfThread(ArrayRef<Value> accumulators);
  void combineWarps(ArrayRef<Value> accumulators, Value thread);
  void emitResults(ArrayRef<Value> accumulators);
  /// Combines the elements of output `output` at `indices` with `total`, a
  /// scalar or a vector, and stores them.
  void storeResult(unsigned output, ArrayRef<Value> indices, Value total);

  LoopNest &nest;
  KernelBuilder builder;
  ImplicitLocOpBuilder &b;
  SmallVector<Combiner> combiners;
  /// The first and the last of the loops over columns. Outer loops are
  /// parallel, inner loops are reductions.
  unsigned first = 0, inner = 0;
  int64_t outer = 1, columns = 1, rows = 1;
  /// Whether adjacent rows, and not adjacent columns, are adjacent in an input.
  bool hasStridedInput = false;
  /// Whether each thread has all rows of its columns.
  bool isApart = false;
  /// Elements of a vector, vectors in all columns, vectors of a block, threads
  /// of a column.
  int64_t lanes = 1, vectors = 0, width = 0, height = 0;
  /// The number of rows that a thread loads at once.
  int64_t unroll = kUnrolledRows;
  /// The position of the thread in the block, and whether it has a column.
  Value x, y, isColumn;
  SmallVector<Value> outerIndices;
  Value column;
  /// The elements, by their arguments of the body, that all rows share.
  IRMapping shared;
};

/// True if `access` of `nest` reads other elements in other rows.
static bool dependsOnRow(const LoopNest &nest, const Access &access) {
  return llvm::any_of(llvm::zip(nest.isReduction, access.strides),
                      [](auto loop) {
                        auto [isReduction, stride] = loop;
                        return isReduction && stride != 0;
                      });
}

/// The loop over columns that contains the `columns` iterations of the loop
/// `inner`, and of those that it contains: no input that depends on the row
/// tells these loops from one. None if a row of `inner` fills a line, or if
/// there is no such loop.
static std::optional<unsigned>
findOuterColumns(const LoopNest &nest, unsigned inner, int64_t columns) {
  int64_t bytes = 0;
  for (const Access &access : nest.inputs)
    if (dependsOnRow(nest, access) && access.strides[inner] == 1)
      bytes = std::max(bytes, columns * getByteSize(access.elementType));
  if (bytes == 0 || bytes >= kLineOfBytes || nest.usesIndices)
    return std::nullopt;
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (!nest.isReduction[loop] && loop != inner &&
        llvm::all_of(nest.inputs, [&](const Access &access) {
          return !dependsOnRow(nest, access) ||
                 access.strides[loop] == access.strides[inner] * columns;
        }))
      return loop;
  return std::nullopt;
}

/// The loops over adjacent columns, the innermost one, `adjacent`, first.
static SmallVector<unsigned> findLoopsOfColumns(const LoopNest &nest,
                                                unsigned adjacent) {
  SmallVector<unsigned> loops = {adjacent};
  int64_t columns = nest.sizes[adjacent];
  while (std::optional<unsigned> loop =
             findOuterColumns(nest, adjacent, columns)) {
    loops.push_back(*loop);
    columns *= nest.sizes[*loop];
  }
  return loops;
}

bool ColumnKernel::orderLoops() {
  std::optional<unsigned> adjacent = findColumnLoop(nest);
  if (!adjacent)
    return false;
  hasStridedInput = findStridedInput(nest, *adjacent);
  SmallVector<unsigned> order, together = findLoopsOfColumns(nest, *adjacent),
                               reductions;
  for (unsigned loop : together)
    columns *= nest.sizes[loop];
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop) {
    if (nest.isReduction[loop])
      reductions.push_back(loop);
    else if (!llvm::is_contained(together, loop))
      order.push_back(loop);
  }
  llvm::append_range(order, llvm::reverse(together));
  llvm::append_range(order, reductions);
  nest.permute(order);
  nest.collapse();
  // Loops that are one for all accesses are one now.
  inner = llvm::count(nest.isReduction, false) - 1;
  first = inner;
  int64_t wanted = columns;
  for (columns = nest.sizes[inner]; columns < wanted;)
    columns *= nest.sizes[--first];
  return true;
}

int64_t ColumnKernel::getWidest(const Access &access, int64_t lanes) const {
  // The addresses of a row, all columns of which are one loop.
  Access row = access;
  std::fill(row.strides.begin() + first, row.strides.begin() + inner, 0);
  return getAlignedLanes(row, nest, inner, lanes);
}

void ColumnKernel::chooseShape() {
  lanes = isVectorizable(*nest.body) ? 8 : 1;
  int64_t size = 1, vectorInputs = 0;
  for (Access &access : nest.inputs) {
    if (access.strides[inner] == 0 || !isRun(access))
      continue;
    ++vectorInputs;
    int64_t bytes = getByteSize(access.elementType);
    int64_t aligned = std::min(lanes, kAccessBytes / bytes);
    if (!access.elementType.isInteger(1) && access.strides[inner] == 1)
      aligned = getWidest(access, aligned);
    // A thread loads what all rows share once, in several accesses if it has
    // to.
    if (isOfAllRows(access) && aligned == kAccessBytes / bytes)
      continue;
    size = std::max(size, bytes);
    lanes = aligned;
  }
  while (columns % lanes != 0)
    lanes /= 2;
  vectors = columns / lanes;
  for (unsigned loop = 0; loop < first; ++loop)
    outer *= nest.sizes[loop];
  for (unsigned loop = inner + 1; loop < nest.getNumLoops(); ++loop)
    rows *= nest.sizes[loop];
  isApart = rows <= kMostRowsOfThread && !hasStridedInput &&
            outer * vectors >= kThreadsApart;
  if (isApart)
    return;
  width = std::min<int64_t>(kWarpSize, llvm::PowerOf2Ceil(vectors));
  auto halveUntil = [&](int64_t bytes, int64_t blocks) {
    while (width > 1 && width * lanes * size > bytes && getNumBlocks() < blocks)
      width /= 2;
  };
  halveUntil(kLineOfBytes, kSmallBlocks);
  // More threads of a warp then read adjacent rows, at once, of a strided
  // input.
  halveUntil(kMinRunOfBytes, hasStridedInput
                                 ? std::numeric_limits<int64_t>::max()
                                 : kEnoughBlocks);
  if (!hasStridedInput && outer * columns * rows * size <= kCachedBytes)
    halveUntil(kSectorOfBytes, kEnoughBlocks);
  int64_t threads = getNumBlocks() < 2 * kManyBlocks ? kMaxThreads : kBlockSize;
  height = std::min<int64_t>(threads / width, llvm::PowerOf2Ceil(rows));
  height = std::max(height, kWarpSize / width);
  int64_t bytes = 0;
  for (const Combiner &combiner : combiners)
    bytes += getByteSize(combiner.type);
  while (height * width > kWarpSize &&
         height * width / kWarpSize * width * lanes * bytes >
             kMaxWorkgroupBytes)
    height /= 2;
  if (height * width != kMaxThreads)
    return;
  if (combiners.size() > 1)
    unroll = kFewRows;
  else if (width * lanes * size >= kLineOfBytes && vectorInputs == 1)
    unroll = kUnrollOfLines;
}

void ColumnKernel::emitPlace() {
  Value block = builder.blockId(), thread = builder.threadId();
  int64_t columnBlocks = llvm::divideCeil(vectors, width);
  Value columnBlock = block;
  ArrayRef<int64_t> outerSizes = ArrayRef(nest.sizes).take_front(first);
  if (outer != 1) {
    columnBlock = builder.remainder(block, columnBlocks);
    outerIndices =
        builder.delinearize(builder.divide(block, columnBlocks), outerSizes);
  }
  x = width == 1 ? builder.constantIndex(0) : builder.remainder(thread, width);
  y = builder.divide(thread, width);
  Value vector = builder.add(builder.multiply(columnBlock, width), x);
  if (vectors % width != 0) {
    // Shuffles need whole warps, so threads beyond the last column compute the
    // last column, too.
    isColumn = builder.isLess(vector, vectors);
    vector =
        arith::MinUIOp::create(b, vector, builder.constantIndex(vectors - 1));
  }
  column = builder.multiply(vector, lanes);
}

void ColumnKernel::emitPlaceOfThread() {
  int64_t threads = outer * vectors;
  Value thread = builder.add(builder.multiply(builder.blockId(), kBlockSize),
                             builder.threadId());
  if (threads % kBlockSize != 0) {
    isColumn = builder.isLess(thread, threads);
    thread =
        arith::MinUIOp::create(b, thread, builder.constantIndex(threads - 1));
  }
  Value vector = thread;
  if (outer != 1) {
    vector = builder.remainder(thread, vectors);
    outerIndices = builder.delinearize(builder.divide(thread, vectors),
                                       ArrayRef(nest.sizes).take_front(first));
  }
  column = builder.multiply(vector, lanes);
}

SmallVector<Value> ColumnKernel::getIndices(Value row, Value column) {
  SmallVector<Value> indices = outerIndices;
  indices.resize(first);
  llvm::append_range(indices, builder.delinearize(column, getColumnSizes()));
  SmallVector<int64_t> rowSizes(nest.sizes.begin() + inner + 1,
                                nest.sizes.end());
  if (row)
    llvm::append_range(indices, builder.delinearize(row, rowSizes));
  else
    indices.resize(nest.getNumLoops());
  return indices;
}

Value ColumnKernel::load(const Access &access, ArrayRef<Value> indices) {
  Value memory = builder.getMemory(access.buffer);
  int64_t stride = access.strides[inner];
  bool isOneRun = isRun(access);
  bool isOneElement =
      stride == 0 && (isOneRun || nest.sizes[inner] % lanes == 0);
  Value start = builder.getAddress(access, indices);
  if (lanes == 1 || isOneElement || (isOneRun && stride == 1))
    return builder.load(memory, start, stride == 1 ? lanes : 1,
                        access.isInjective(nest.sizes),
                        getWidest(access, lanes));
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    // All rows share what is no run.
    Value place =
        isOneRun ? builder.addConstant(start, lane * stride)
                 : builder.getAddress(
                       access,
                       getIndices(Value(), builder.addConstant(column, lane)));
    elements.push_back(builder.load(memory, place, /*lanes=*/1));
  }
  return vector::FromElementsOp::create(
      b, VectorType::get({lanes}, access.elementType), elements);
}

/// Combines the elements of `rows` with `accumulators`. If `isValid` is given
/// and false, neutral elements replace the elements.
SmallVector<Value> ColumnKernel::takeIn(ArrayRef<Value> rows, Value isValid,
                                        SmallVector<Value> accumulators) {
  SmallVector<IRMapping> mappings(rows.size());
  SmallVector<SmallVector<Value>> indices;
  for (auto [row, mapping] : llvm::zip(rows, mappings)) {
    // Do not read beyond the last row.
    Value readable = row;
    if (isValid)
      readable =
          arith::MinUIOp::create(b, row, builder.constantIndex(this->rows - 1));
    indices.push_back(getIndices(readable));
    mapping = shared;
    for (Access &access : nest.inputs)
      if (!access.argument.use_empty() && !isOfAllRows(access))
        mapping.map(access.argument, load(access, indices.back()));
  }
  for (auto [place, mapping] : llvm::zip(indices, mappings))
    takeElements(b, nest, combiners, mapping, lanes,
                 builder.getAskedIndices(nest, place, lanes, inner), isValid,
                 accumulators);
  return accumulators;
}

/// Loads what all rows share, and returns the accumulators before all rows.
SmallVector<Value> ColumnKernel::startAccumulators() {
  builder.mapCaptured(nest, shared);
  for (Access &access : nest.inputs)
    if (!access.argument.use_empty() && isOfAllRows(access))
      shared.map(access.argument, load(access, getIndices(Value())));
  return llvm::map_to_vector(combiners, [&](const Combiner &combiner) {
    return combiner.getNeutral(b, lanes);
  });
}

SmallVector<Value> ColumnKernel::reduceRowsOfThread() {
  SmallVector<Value> accumulators = startAccumulators();
  for (int64_t begin = 0; begin < rows; begin += kUnrollOfLines) {
    SmallVector<Value> loaded;
    for (int64_t row = begin; row < std::min(rows, begin + kUnrollOfLines);
         ++row)
      loaded.push_back(builder.constantIndex(row));
    accumulators = takeIn(loaded, Value(), std::move(accumulators));
  }
  return accumulators;
}

void ColumnKernel::storeResult(unsigned output, ArrayRef<Value> indices,
                               Value total) {
  const Combiner &combiner = combiners[output];
  const Access &access = nest.outputs[output];
  auto type = dyn_cast<VectorType>(total.getType());
  Value before =
      combiner.widen(b, broadcast(b, builder.getInitial(nest, output, indices),
                                  type ? type.getNumElements() : 1));
  builder.store(combiner.narrow(b, combiner.combine(b, before, total)),
                builder.getMemory(access.buffer),
                builder.getAddress(access, indices), getWidest(access, lanes));
}

/// Stores the results of the columns of the thread.
void ColumnKernel::emitResultsOfThread(ArrayRef<Value> accumulators) {
  builder.emitIf(isColumn, [&] {
    for (auto [output, access] : llvm::enumerate(nest.outputs)) {
      bool isVector = lanes > 1 && nest.fills[output] &&
                      access.strides[inner] == 1 && isRun(access) &&
                      getAlignedLanes(access, nest, inner, lanes) == lanes;
      int64_t width = isVector ? lanes : 1;
      for (int64_t lane = 0; lane < lanes; lane += width) {
        Value total = accumulators[output];
        if (width != lanes)
          total = vector::ExtractOp::create(b, total, lane);
        storeResult(output,
                    getIndices(Value(), builder.addConstant(column, lane)),
                    total);
      }
    }
  });
}

SmallVector<Value> ColumnKernel::reduceRows() {
  return takeInTurns(
      builder, rows, y, height, unroll, startAccumulators(),
      [&](ArrayRef<Value> rows, Value isValid, SmallVector<Value> values) {
        return takeIn(rows, isValid, std::move(values));
      });
}

/// Combines the partial results of the threads of a warp for each column, and
/// stores them in shared memory. Each thread stores a part of the columns of
/// its vector.
void ColumnKernel::combineWarps(ArrayRef<Value> accumulators, Value thread) {
  int64_t warps = height * width / kWarpSize;
  int64_t group = kWarpSize / width, sharers = std::min(group, lanes);
  Value warp = builder.divide(thread, kWarpSize);
  Value inWarp = builder.remainder(thread, kWarpSize);
  Value inGroup = builder.divide(inWarp, width);
  SmallVector<SmallVector<Value>> parts;
  for (auto [combiner, accumulator] : llvm::zip(combiners, accumulators)) {
    SmallVector<Value> values;
    for (int64_t lane = 0; lane < lanes; ++lane)
      values.push_back(
          lanes == 1 ? accumulator
                     : Value(vector::ExtractOp::create(b, accumulator, lane)));
    parts.push_back(combiner.reduceScatterThreads(
        b, std::move(values), group, width, [&](int64_t threads) {
          return builder.isLess(builder.remainder(inGroup, threads),
                                threads / 2);
        }));
  }
  // Of the threads with the same part the first one stores it.
  int64_t perSharer = group / sharers;
  Value isStoring =
      perSharer == 1 ? Value()
                     : builder.isLess(builder.remainder(inGroup, perSharer), 1);
  Value part = builder.divide(inGroup, perSharer);
  int64_t owned = lanes / sharers;
  builder.emitIf(isStoring, [&] {
    for (int64_t each = 0; each < owned; ++each) {
      Value lane = builder.addConstant(builder.multiply(part, owned), each);
      Value place = builder.add(
          builder.multiply(builder.add(builder.multiply(lane, warps), warp),
                           width),
          x);
      for (auto [output, values] : llvm::enumerate(parts))
        memref::StoreOp::create(b, values[each],
                                builder.getWorkgroupMemory(output),
                                builder.toIndex(place));
    }
  });
}

/// Combines the partial results of the threads of each column, and stores them.
void ColumnKernel::emitResults(ArrayRef<Value> accumulators) {
  int64_t warps = height * width / kWarpSize;
  Value thread = builder.add(builder.multiply(y, width), x);
  combineWarps(accumulators, thread);
  gpu::BarrierOp::create(b);

  // Now each thread has one column; neighbours are `lanes` columns apart.
  int64_t blockColumns = width * lanes;
  for (int64_t start = 0; start < blockColumns; start += height * width) {
    Value place = builder.addConstant(thread, start);
    Value lane = builder.divide(place, width);
    // Whether the thread has a column.
    Value condition =
        builder.both(builder.isLess(place, blockColumns), isColumn);
    auto isActive = scf::IfOp::create(b, condition);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(isActive.thenBlock());
    SmallVector<Value> indices = getIndices(Value(), builder.add(column, lane));
    for (auto [output, combiner] : llvm::enumerate(combiners)) {
      Value total;
      for (int64_t each = 0; each < warps; ++each) {
        Value address = builder.add(
            builder.multiply(
                builder.addConstant(builder.multiply(lane, warps), each),
                width),
            x);
        Value value = memref::LoadOp::create(
            b, builder.getWorkgroupMemory(output), builder.toIndex(address));
        total = total ? combiner.combine(b, total, value) : value;
      }
      storeResult(output, indices, total);
    }
  }
}

bool ColumnKernel::emit() {
  std::optional<SmallVector<Combiner>> matched = matchCombiners(nest);
  if (!matched || !isElementwise(*nest.body) || !orderLoops())
    return false;
  combiners = std::move(*matched);
  chooseShape();
  builder.addOperands(nest);
  builder.setIndexType(nest);
  if (isApart) {
    builder.start(kBlockSize);
    emitPlaceOfThread();
    emitResultsOfThread(reduceRowsOfThread());
    builder.launch(getNumBlocks());
    return true;
  }
  SmallVector<Type> types;
  for (const Combiner &combiner : combiners)
    types.push_back(builder.getWorkgroupType(
        height * width / kWarpSize * width * lanes, combiner.type));
  builder.start(height * width, types);
  // By default ptxas leaves registers to a second block, and a thread of a
  // large block has too few for the rows that it loads at once.
  if (height * width == kMaxThreads)
    b.getInsertionBlock()->getParentOp()->setDiscardableAttr(
        NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
  emitPlace();
  emitResults(reduceRows());
  builder.launch(getNumBlocks());
  return true;
}

} // namespace

int64_t braid::kernels::countAdjacentColumns(const LoopNest &nest) {
  int64_t columns = 1;
  if (std::optional<unsigned> adjacent = findColumnLoop(nest))
    for (unsigned loop : findLoopsOfColumns(nest, *adjacent))
      columns *= nest.sizes[loop];
  return columns;
}

bool braid::kernels::emitColumns(KernelModule &kernels, Operation *op,
                                 LoopNest nest) {
  return ColumnKernel(kernels, op, nest).emit();
}
