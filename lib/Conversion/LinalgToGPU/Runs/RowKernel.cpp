//===- RowKernel.cpp - Kernels of ops on the same rows --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../BufferAddress.h"
#include "../KernelBody.h"
#include "../ThreadGroup.h"
#include "RowRun.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid::kernels;

/// The number of elements of a row for each thread: as many as registers hold
/// if the rows give work to `kManyThreads` threads, which keep a large GPU
/// busy. Fewer elements make more threads.
static constexpr int64_t kManyElements = 32, kFewElements = 16;
static constexpr int64_t kManyThreads = 1 << 17;
/// The number of vectors of a long row that a thread loads at once.
static constexpr int64_t kUnrolledVectors = 4;

namespace {

/// Emits the kernel of a run. A group of threads (a part of a warp, or a block)
/// has one row. A thread has the vectors `part * threads + thread` of the row.
/// Rows that are too long for registers are read in a loop; a run on such rows
/// has no op that computes elements.
class RowKernel {
public:
  RowKernel(KernelModule &kernels, RowRun &run)
      : run(run), builder(kernels, run.ops.back().op, "rows"), b(builder.b) {}

  void emit();

private:
  /// The values of an access in registers: one value, or one for each part.
  struct Known {
    Access access;
    SmallVector<Value> values;
    bool isWritten;
  };

  void chooseShape();
  void findMemoryAccesses();
  SmallVector<Type> getWorkgroupTypes();
  void emitPlace();

  Known *find(const Access &access);
  /// The value of `access` in `op`, of part `part` or of the whole row.
  Value get(const RowOp &op, const Access &access, unsigned part);
  void set(const Access &access, SmallVector<Value> values);
  /// Loads what a thread of the row overwrites, for all threads of the row,
  /// before they wait for each other in a reduction.
  void loadOverwritten();
  SmallVector<Value> getIndices(const RowOp &op, Value column);
  SmallVector<Value> getAsked(const RowOp &op, Value column);
  /// The most elements of a row that one access to memory has.
  int64_t getWidest(const Access &access) const {
    return getAlignedLanes(access, run.ops.front().nest, run.rowSizes.size(),
                           lanes);
  }
  Value loadIf(Value isValid, const RowOp &op, const Access &access,
               Value column);

  void emitElementsOp(RowOp &op);
  /// The results of `op`, a vector each, for the part `part` of the row.
  SmallVector<Value> emitElementsOfPart(RowOp &op, unsigned part);
  void emitRowOp(RowOp &op);
  void emitReduction(RowOp &op);
  SmallVector<Value> reduceParts(RowOp &op);
  SmallVector<Value> reduceLongRow(RowOp &op);
  /// Combines the elements of `op` in the vectors `columns` with
  /// `accumulators`. If `isValid` is given and false, neutral elements replace
  /// the elements.
  SmallVector<Value> takeIn(RowOp &op, ArrayRef<Value> columns, Value isValid,
                            SmallVector<Value> accumulators);
  void emitStores();

  RowRun &run;
  KernelBuilder builder;
  ImplicitLocOpBuilder &b;

  /// Elements of a vector, vectors of a row.
  int64_t lanes = 1, vectors = 0;
  /// Vectors of a thread; 0 if rows are read in a loop.
  int64_t parts = 0;
  /// The threads of a row.
  ThreadGroup row;
  /// The indices of the row, the columns of the parts, and conditions whether
  /// these exist.
  SmallVector<Value> rowIndices, columns, isInside;
  SmallVector<Known> known;
  unsigned nextWorkgroupMemory = 0;
};

/// Keeps the rounding of `value` to its type. Otherwise later passes could fold
/// the truncation to bfloat16 after one op with the extension before the next.
Value keepRounding(ImplicitLocOpBuilder &b, Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  if (!type.isBF16())
    return value;
  Type bits = b.getI16Type();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    bits = vector.cloneWith({}, bits);
  return arith::BitcastOp::create(b, value.getType(),
                                  arith::BitcastOp::create(b, bits, value));
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// True if both accesses have the same element of each row at each position; an
/// access without the loop along rows has one for all positions.
bool haveSameElements(const Access &a, const Access &other) {
  unsigned shared = std::min(a.strides.size(), other.strides.size());
  auto isConstantBehind = [&](const Access &access) {
    return llvm::all_of(ArrayRef(access.strides).drop_front(shared),
                        [](int64_t stride) { return stride == 0; });
  };
  return a.buffer == other.buffer && a.base == other.base &&
         ArrayRef(a.strides).take_front(shared) ==
             ArrayRef(other.strides).take_front(shared) &&
         isConstantBehind(a) && isConstantBehind(other);
}

/// Finds the loads and stores of the run: the first read of each buffer that
/// the run does not compute itself, and the last write of each buffer that is
/// used after the run.
void RowKernel::findMemoryAccesses() {
  SmallVector<const Access *> available;
  auto isAvailable = [&](const Access &access) {
    return llvm::any_of(available, [&](const Access *other) {
      return haveSameElements(*other, access);
    });
  };
  for (RowOp &op : run.ops) {
    for (Access &access : op.nest.inputs)
      if (!access.argument.use_empty() && !isAvailable(access)) {
        builder.addBuffer(access.buffer, /*isWritten=*/false);
        if (parts != 0 || op.kind != RowOp::Reduction)
          available.push_back(&access);
      }
    for (Access &access : op.nest.outputs) {
      bool isRead = op.kind == RowOp::Reduction ||
                    (access.argument && !access.argument.use_empty());
      bool isStored = !run.isDeadBehind(access.buffer);
      if ((isRead && !isAvailable(access)) || isStored)
        builder.addBuffer(access.buffer, isStored);
      available.push_back(&access);
    }
  }
}

void RowKernel::chooseShape() {
  // Those of all reductions of the run.
  lanes = getReductionLanes(
      *llvm::find_if(
          run.ops, [](const RowOp &op) { return op.kind == RowOp::Reduction; }),
      run.rowSizes.size(), run.length);
  vectors = run.length / lanes;
  int64_t manyRows = llvm::divideCeil(kManyThreads * kManyElements,
                                      std::max<int64_t>(run.length, 1));
  int64_t elements =
      run.getNumRows() >= manyRows ? kManyElements : kFewElements;
  int64_t threads = llvm::PowerOf2Ceil(llvm::divideCeil(run.length, elements));
  // If each element is needed once, and rows fill the GPU with small blocks, a
  // loop keeps more loads in flight than one large block, whose threads wait
  // for each other.
  bool isStreamed = run.length > kMaxRowLength &&
                    run.getNumRows() * kBlockSize >= kManyThreads &&
                    llvm::count_if(run.ops, [](const RowOp &op) {
                      return op.kind != RowOp::Row;
                    }) == 1;
  bool isLong = threads > kMaxThreads || isStreamed;
  // Few rows keep a GPU busier with large blocks.
  if (isLong)
    threads = run.getNumRows() * kMaxThreads <= kManyThreads ? kMaxThreads
                                                             : kBlockSize;
  parts = isLong ? 0 : llvm::divideCeil(vectors, threads);
  row.setThreads(threads);
}

SmallVector<Type> RowKernel::getWorkgroupTypes() {
  SmallVector<Type> types;
  for (RowOp &op : run.ops)
    row.addWorkgroupTypes(builder, op.combiners, types);
  return types;
}

/// Emits the position of the thread.
void RowKernel::emitPlace() {
  row.emitPlace(builder, run.getNumRows());
  rowIndices = builder.delinearize(row.group, run.rowSizes);
  for (int64_t part = 0; part < parts; ++part) {
    Value vector = builder.addConstant(row.thread, part * row.threads);
    bool isCertain = (part + 1) * row.threads <= vectors;
    isInside.push_back(isCertain ? Value() : builder.isLess(vector, vectors));
    columns.push_back(builder.multiply(vector, lanes));
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

RowKernel::Known *RowKernel::find(const Access &access) {
  for (Known &entry : known)
    if (haveSameElements(entry.access, access))
      return &entry;
  return nullptr;
}

SmallVector<Value> RowKernel::getIndices(const RowOp &op, Value column) {
  SmallVector<Value> indices = rowIndices;
  if (op.kind != RowOp::Row)
    indices.push_back(column);
  return indices;
}

SmallVector<Value> RowKernel::getAsked(const RowOp &op, Value column) {
  return builder.getAskedIndices(op.nest, getIndices(op, column),
                                 op.kind == RowOp::Row ? 1 : lanes,
                                 run.rowSizes.size());
}

/// Loads the element of `access` at `column`. If `isValid` is given and false,
/// the result is undefined.
Value RowKernel::loadIf(Value isValid, const RowOp &op, const Access &access,
                        Value column) {
  bool isVector = op.kind != RowOp::Row && access.strides.back() != 0;
  // Softmax and layer norm, which write rows, lost up to 10 % of their speed
  // with nontemporal loads on an H200.
  bool isReduced = llvm::none_of(run.ops, [](const RowOp &other) {
    return other.kind == RowOp::Elements;
  });
  return builder.loadIf(
      isVector ? isValid : Value(), builder.getMemory(access.buffer),
      builder.getAddress(access, getIndices(op, column)), isVector ? lanes : 1,
      isReduced && access.isInjective(op.nest.sizes), getWidest(access));
}

Value RowKernel::get(const RowOp &op, const Access &access, unsigned part) {
  Known *entry = find(access);
  if (!entry) {
    bool isVector = op.kind != RowOp::Row && access.strides.back() != 0;
    Known loaded{access, {}, /*isWritten=*/false};
    // All parts at once, so that the loads overlap.
    for (int64_t each = 0; each < (isVector ? parts : 1); ++each)
      loaded.values.push_back(loadIf(isVector ? isInside[each] : Value(), op,
                                     access,
                                     isVector ? columns[each] : Value()));
    known.push_back(loaded);
    entry = &known.back();
  }
  return entry->values.size() == 1 ? entry->values.front()
                                   : entry->values[part];
}

void RowKernel::set(const Access &access, SmallVector<Value> values) {
  for (Value &value : values)
    value = keepRounding(b, value);
  if (Known *entry = find(access)) {
    entry->values = std::move(values);
    entry->isWritten = true;
    return;
  }
  known.push_back({access, std::move(values), /*isWritten=*/true});
}

void RowKernel::loadOverwritten() {
  SmallVector<const Access *> written;
  auto isIn = [](ArrayRef<const Access *> accesses, const Access &access) {
    return llvm::any_of(accesses, [&](const Access *other) {
      return haveSameElements(*other, access);
    });
  };
  SmallVector<const Access *> outputs;
  for (const RowOp &op : run.ops)
    for (const Access &access : op.nest.outputs)
      outputs.push_back(&access);
  for (RowOp &op : run.ops) {
    for (Access *access : op.nest.getAccesses()) {
      bool isOfRow = op.kind == RowOp::Row || access->strides.back() == 0;
      bool isRead = (access->argument && !access->argument.use_empty()) ||
                    (op.kind == RowOp::Reduction && isIn(outputs, *access));
      if (isOfRow && isRead && isIn(outputs, *access) &&
          !isIn(written, *access))
        get(op, *access, 0);
    }
    for (const Access &access : op.nest.outputs)
      written.push_back(&access);
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The elements of `value` at `place`, `width` of them, if it is a vector.
Value takePart(ImplicitLocOpBuilder &b, Value value, int64_t place,
               int64_t width) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type || type.getNumElements() == width)
    return value;
  if (width == 1)
    return vector::ExtractOp::create(b, value, place);
  return vector::ExtractStridedSliceOp::create(b, value, place, width, 1);
}

SmallVector<Value> RowKernel::emitElementsOfPart(RowOp &op, unsigned part) {
  // A body may have the form of narrower vectors only.
  int64_t width = getVectorLanes(op.nest, run.rowSizes.size(), lanes);
  SmallVector<SmallVector<Value>> pieces(op.nest.outputs.size());
  for (int64_t place = 0; place < lanes; place += width) {
    IRMapping mapping;
    builder.mapCaptured(op.nest, mapping);
    for (Access *access : op.nest.getAccesses())
      if (access->argument && !access->argument.use_empty())
        mapping.map(access->argument,
                    takePart(b, get(op, *access, part), place, width));
    Value column = columns[part];
    // A body reads elements of threads without a part, too.
    if (isInside[part] && !isVectorizable(*op.nest.body))
      column = arith::MinUIOp::create(
          b, column, builder.constantIndex(run.length - lanes));
    SmallVector<Value> asked = builder.getAskedIndices(
        op.nest, getIndices(op, builder.addConstant(column, place)), width,
        run.rowSizes.size());
    for (auto [values, value] :
         llvm::zip(pieces, emitBody(b, *op.nest.body, mapping, width, asked)))
      values.push_back(value);
  }
  return llvm::map_to_vector(pieces, [&](ArrayRef<Value> values) -> Value {
    if (values.size() == 1)
      return values.front();
    Type element = getElementTypeOrSelf(values.front().getType());
    auto type = VectorType::get({lanes}, element);
    if (width == 1)
      return vector::FromElementsOp::create(b, type, values);
    Value vector = broadcast(
        b, arith::ConstantOp::create(b, b.getZeroAttr(element)), lanes);
    for (auto [piece, value] : llvm::enumerate(values))
      vector = vector::InsertStridedSliceOp::create(b, value, vector,
                                                    piece * width, 1);
    return vector;
  });
}

void RowKernel::emitElementsOp(RowOp &op) {
  SmallVector<SmallVector<Value>> results(op.nest.outputs.size());
  for (int64_t part = 0; part < parts; ++part)
    for (auto [values, value] :
         llvm::zip(results, emitElementsOfPart(op, part)))
      values.push_back(value);
  for (auto [access, values] : llvm::zip(op.nest.outputs, results))
    set(access, values);
}

void RowKernel::emitRowOp(RowOp &op) {
  IRMapping mapping;
  builder.mapCaptured(op.nest, mapping);
  for (Access *access : op.nest.getAccesses())
    if (access->argument && !access->argument.use_empty())
      mapping.map(access->argument, get(op, *access, 0));
  SmallVector<Value> results =
      emitBody(b, *op.nest.body, mapping, /*lanes=*/1, getAsked(op, Value()));
  for (auto [access, value] : llvm::zip(op.nest.outputs, results))
    set(access, {value});
}

SmallVector<Value> RowKernel::reduceParts(RowOp &op) {
  SmallVector<Value> accumulators(op.combiners.size());
  for (int64_t part = 0; part < parts; ++part) {
    IRMapping mapping;
    builder.mapCaptured(op.nest, mapping);
    for (Access &access : op.nest.inputs)
      if (!access.argument.use_empty())
        mapping.map(access.argument, get(op, access, part));
    takeElements(b, op.nest, op.combiners, mapping, lanes,
                 getAsked(op, columns[part]), isInside[part], accumulators);
  }
  return accumulators;
}

SmallVector<Value> RowKernel::takeIn(RowOp &op, ArrayRef<Value> columns,
                                     Value isValid,
                                     SmallVector<Value> accumulators) {
  SmallVector<IRMapping> mappings(columns.size());
  for (auto [column, mapping] : llvm::zip(columns, mappings)) {
    builder.mapCaptured(op.nest, mapping);
    for (Access &access : op.nest.inputs)
      if (!access.argument.use_empty())
        mapping.map(access.argument, access.strides.back() == 0
                                         ? get(op, access, 0)
                                         : loadIf(isValid, op, access, column));
  }
  for (auto [column, mapping] : llvm::zip(columns, mappings))
    takeElements(b, op.nest, op.combiners, mapping, lanes, getAsked(op, column),
                 isValid, accumulators);
  return accumulators;
}

SmallVector<Value> RowKernel::reduceLongRow(RowOp &op) {
  // What the row has one of is loaded before the loop, if the run does not
  // compute it.
  for (Access &access : op.nest.inputs)
    if (!access.argument.use_empty() && access.strides.back() == 0)
      get(op, access, 0);
  SmallVector<Value> accumulators;
  for (const Combiner &combiner : op.combiners)
    accumulators.push_back(combiner.getNeutral(b, lanes));
  int64_t step = row.threads * kUnrolledVectors;
  int64_t whole = vectors / step * step;
  if (whole != 0) {
    auto loop = scf::ForOp::create(b, builder.constantIndex(0),
                                   builder.constantIndex(whole),
                                   builder.constantIndex(step), accumulators);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value first = builder.add(loop.getInductionVar(), row.thread);
    SmallVector<Value> columns;
    for (int64_t each = 0; each < kUnrolledVectors; ++each)
      columns.push_back(builder.multiply(
          builder.addConstant(first, each * row.threads), lanes));
    scf::YieldOp::create(b,
                         takeIn(op, columns, Value(),
                                SmallVector<Value>(loop.getRegionIterArgs())));
    accumulators.assign(loop.result_begin(), loop.result_end());
  }
  for (int64_t start = whole; start < vectors; start += row.threads) {
    Value vector = builder.addConstant(row.thread, start);
    Value isValid = start + row.threads <= vectors
                        ? Value()
                        : builder.isLess(vector, vectors);
    accumulators =
        takeIn(op, builder.multiply(vector, lanes), isValid, accumulators);
  }
  return accumulators;
}

void RowKernel::emitReduction(RowOp &op) {
  SmallVector<Value> accumulators =
      parts != 0 ? reduceParts(op) : reduceLongRow(op);
  for (auto [access, combiner, accumulator] :
       llvm::zip(op.nest.outputs, op.combiners, accumulators)) {
    Value total =
        row.combine(builder, combiner, combiner.combineLanes(b, accumulator),
                    nextWorkgroupMemory++);
    Value before = combiner.widen(b, get(op, access, 0));
    set(access, {combiner.narrow(b, combiner.combine(b, before, total))});
  }
}

/// Stores the values that are used after the run.
void RowKernel::emitStores() {
  for (Known &entry : known) {
    if (!entry.isWritten || run.isDeadBehind(entry.access.buffer))
      continue;
    Value memory = builder.getMemory(entry.access.buffer);
    bool isVector = entry.access.strides.size() > run.rowSizes.size() &&
                    entry.access.strides.back() != 0;
    for (auto [part, value] : llvm::enumerate(entry.values)) {
      SmallVector<Value> indices = rowIndices;
      if (isVector)
        indices.push_back(columns[part]);
      Value condition = isVector ? builder.both(row.isGroup, isInside[part])
                                 : row.isStoring(builder);
      Value stored = value;
      builder.emitIf(condition, [&] {
        builder.store(isVector ? broadcast(b, stored, lanes) : stored, memory,
                      builder.getAddress(entry.access, indices),
                      getWidest(entry.access));
      });
    }
  }
}

void RowKernel::emit() {
  SmallVector<const LoopNest *> nests;
  for (RowOp &op : run.ops)
    nests.push_back(&op.nest);
  builder.setIndexType(nests);
  // The loads depend on whether rows fit in registers, and this depends on the
  // loads.
  parts = run.length <= kMaxRowLength;
  findMemoryAccesses();
  chooseShape();
  for (RowOp &op : run.ops) {
    for (auto &[value, argument] : op.nest.scalars)
      builder.addScalar(value);
    for (Value value : getCaptured(*op.nest.body))
      builder.addScalar(value);
  }
  builder.start(row.getBlockSize(), getWorkgroupTypes());
  emitPlace();
  loadOverwritten();
  for (RowOp &op : run.ops) {
    if (op.kind == RowOp::Elements)
      emitElementsOp(op);
    else if (op.kind == RowOp::Row)
      emitRowOp(op);
    else
      emitReduction(op);
  }
  emitStores();
  builder.launch(llvm::divideCeil(run.getNumRows(), row.groupsOfBlock));
}

} // namespace

void braid::kernels::emitRowRun(KernelModule &kernels, RewriterBase &rewriter,
                                RowRun &run) {
  RowKernel(kernels, run).emit();
  SmallVector<memref::AllocOp> dead;
  llvm::SmallPtrSet<Operation *, 4> seen;
  for (RowOp &op : run.ops)
    for (Access *access : op.nest.getAccesses())
      if (run.isDeadBehind(access->buffer) &&
          seen.insert(access->buffer.getDefiningOp()).second)
        dead.push_back(access->buffer.getDefiningOp<memref::AllocOp>());
  for (RowOp &op : run.ops)
    rewriter.eraseOp(op.op);
  for (memref::AllocOp alloc : dead) {
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      rewriter.eraseOp(user);
    rewriter.eraseOp(alloc);
  }
}
