//===- Matmul.cpp - Small matmuls with tensor cores -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../LinalgToBraidRT/MatmulMatch.h"
#include "BufferAddress.h"
#include "Kernels.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <array>
#include <limits>

using namespace mlir;
using namespace braid;
using namespace braid::kernels;

/// The instruction multiplies 16 x 8 by 8 x 8 elements; a thread loads vectors
/// of four elements, and two instructions share the 16 terms of a step.
static constexpr int64_t kRows = 16, kColumns = 8, kTermsOfThread = 4,
                         kTerms = 16;
/// The instructions side by side of a block, and elements of shared memory
/// behind a row, so that threads use different banks.
static constexpr int64_t kTilesOfColumns = 4, kPadding = 4;
/// Larger matmuls, by all products and by the terms of one result, take less
/// time by the library, whose blocks share what they load: measured on an H200
/// with matmuls of 64 x 64 x 64 (1.5 us, the library 3.0) to 128 x 512 x 784
/// (4.9 us, 5.8). Vectors along the columns of a transposed left matrix need
/// more rows a block.
static constexpr int64_t kMostProductsOfKernel = int64_t(13) << 22,
                         kMostTerms = 1024;
static constexpr int64_t kMostProductsTransposed = int64_t(1) << 24,
                         kMostTermsTransposed = 256;
/// Without vectors there are more loads; the library has no tensor cores then.
static constexpr int64_t kMostProductsByElements = int64_t(1) << 22;
/// Smaller ones leave most of an instruction unused.
static constexpr int64_t kFewestRows = 8, kFewestTerms = 16;
static constexpr int64_t kMostWarps = 16, kMostWarpsTransposed = 8;

namespace {

/// One of the matrices of a matmul in memory, in elements: its strides along
/// rows of the result (or columns, of the right matrix), along the terms of
/// sums (columns, of the result), and along the batch.
struct FactorMatrix {
  Value buffer;
  int64_t outer = 0, inner = 0, batch = 0;
  /// Whether vectors of four elements are loaded or stored whole.
  bool hasVectors = false;
};

/// Emits the kernel of a matmul of f32 in TF32. Each warp of a block adds up
/// other terms of the block's results, directly from the caches: no two warps
/// load the same element. Finally the block adds the results of its warps, in a
/// fixed order.
class MatmulKernel {
public:
  explicit MatmulKernel(linalg::LinalgOp op) : op(op) {}

  /// Reads the op. Returns false if it has no such kernel.
  bool match();
  void emit(KernelModule &kernels);

private:
  using Accumulators = SmallVector<Value>;

  std::optional<FactorMatrix> getMatrix(Value buffer, AffineMap map,
                                        unsigned outer, unsigned inner) const;
  bool loadsAlongTerms(const FactorMatrix &matrix) const {
    return matrix.inner == 1;
  }
  int64_t getTileRows() const { return kRows * rowTiles; }
  static int64_t getTileColumns() { return kColumns * kTilesOfColumns; }

  /// The address of an element in the batch of the block.
  Value getAddress(KernelBuilder &builder, const FactorMatrix &matrix,
                   Value outer, Value inner) const {
    Value address = builder.add(builder.multiply(outer, matrix.outer),
                                builder.multiply(inner, matrix.inner));
    return matrix.batch
               ? builder.add(address, builder.multiply(batch, matrix.batch))
               : address;
  }
  Value loadElements(KernelBuilder &builder, const FactorMatrix &matrix,
                     int64_t extent, Value row, Value term);
  SmallVector<Value> loadStep(KernelBuilder &builder,
                              const FactorMatrix &matrix, int64_t extent,
                              int64_t count, Value first, Value term);
  Accumulators addStep(KernelBuilder &builder, Value term, bool isMasked,
                       const Accumulators &sums);
  void emitSums(KernelBuilder &builder);
  void emitResult(KernelBuilder &builder, Value row, Value column, Value sum);
  void emitResults(KernelBuilder &builder);

  linalg::LinalgOp op;
  std::optional<MatmulMatch> found;
  FactorMatrix left, right, result;
  Value bias;
  int64_t rows = 0, columns = 0, terms = 0, batches = 1;
  int64_t rowTiles = 1, warps = 1;
  /// The place of the block in the batch, its first row and column; and of the
  /// thread: its warp, and its group of four and the number in there.
  Value batch, firstRow, firstColumn, warp, group, member;
};

} // namespace

std::optional<FactorMatrix> MatmulKernel::getMatrix(Value buffer, AffineMap map,
                                                    unsigned outer,
                                                    unsigned inner) const {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (!type.getElementType().isF32() || !type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      // A dynamic stride is the least number.
      llvm::any_of(strides, [](int64_t stride) {
        return stride < 0 || stride > std::numeric_limits<int32_t>::max();
      }))
    return std::nullopt;
  FactorMatrix matrix{buffer};
  matrix.hasVectors = getAlignment(buffer) >= kAccessBytes &&
                      type.getShape().back() % kTermsOfThread == 0;
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    unsigned loop = map.getDimPosition(dim);
    (loop == outer   ? matrix.outer
     : loop == inner ? matrix.inner
                     : matrix.batch) = stride;
    matrix.hasVectors &= stride == 1 || stride % kTermsOfThread == 0;
  }
  return matrix;
}

bool MatmulKernel::match() {
  found = matchMatmul(op);
  if (!found || !op->hasAttr(kPrecisionAttrName) ||
      op->hasAttr(comm::CommDialect::kMultiprocessorsAttrName) ||
      !hasContiguousRows(op))
    return false;
  if (auto name = op->getAttrOfType<StringAttr>(kEpilogueAttrName);
      name && name != "relu")
    return false;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (llvm::any_of(sizes, [](int64_t size) {
        return ShapedType::isDynamic(size) || size > kMostProductsOfKernel;
      }))
    return false;
  rows = sizes[found->m];
  columns = sizes[found->n];
  terms = sizes[found->k];
  if (found->batch)
    batches = sizes[*found->batch];
  if (rows < kFewestRows || columns < kFewestRows || terms < kFewestTerms ||
      batches < 1)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto get = [&](unsigned input, unsigned outer) {
    return getMatrix(op.getDpsInputs()[input], maps[input], outer, found->k);
  };
  std::optional<FactorMatrix> a = get(found->left, found->m),
                              b = get(found->right, found->n),
                              c = getMatrix(op.getDpsInits()[0], maps.back(),
                                            found->m, found->n);
  if (!a || !b || !c || c->inner != 1)
    return false;
  left = *a;
  right = *b;
  result = *c;
  if (found->hasBias) {
    bias = op.getDpsInputs()[2];
    if (!getElementTypeOrSelf(bias.getType()).isF32())
      return false;
    result.hasVectors &= getAlignment(bias) >= kAccessBytes;
  }
  // Terms behind the last one are zeros of their own.
  bool isWhole = terms % kTermsOfThread == 0;
  left.hasVectors &= isWhole;
  right.hasVectors &= isWhole;
  bool isTransposed = !loadsAlongTerms(left);
  int64_t most = isTransposed ? kMostProductsTransposed : kMostProductsOfKernel;
  if (!left.hasVectors || !right.hasVectors || !result.hasVectors)
    most = kMostProductsByElements;
  // No product overflows: each factor is at most 2^26.
  if (rows * columns > most || rows * columns * terms > most ||
      rows * columns * terms * batches > most ||
      terms > (isTransposed ? kMostTermsTransposed : kMostTerms))
    return false;
  rowTiles = isTransposed ? 2 : 1;
  warps = std::min<int64_t>(
      isTransposed ? kMostWarpsTransposed : kMostWarps,
      llvm::bit_floor<uint64_t>(llvm::divideCeil(terms, kTerms)));
  return true;
}

/// Loads four elements of `matrix` from `row` and `term` on, along the terms or
/// along rows: those of the last row where `extent` rows end, zeros where the
/// terms end.
Value MatmulKernel::loadElements(KernelBuilder &builder,
                                 const FactorMatrix &matrix, int64_t extent,
                                 Value row, Value term) {
  ImplicitLocOpBuilder &b = builder.b;
  bool alongTerms = loadsAlongTerms(matrix);
  SmallVector<Value> elements;
  for (int64_t each = 0; each < kTermsOfThread; ++each) {
    Value at = alongTerms ? builder.addConstant(term, each) : term;
    Value place = arith::MinUIOp::create(
        b, alongTerms ? row : builder.addConstant(row, each),
        builder.constantIndex(extent - 1));
    Value isTerm = builder.isLess(at, terms);
    at = arith::MinUIOp::create(b, at, builder.constantIndex(terms - 1));
    Value element = builder.load(builder.getMemory(matrix.buffer),
                                 getAddress(builder, matrix, place, at), 1);
    Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    elements.push_back(
        arith::SelectOp::create(b, isTerm, element, zero).getResult());
  }
  return vector::FromElementsOp::create(
      b, VectorType::get({kTermsOfThread}, b.getF32Type()), elements);
}

/// Loads what a thread needs of `matrix` for the step at `term`: vectors along
/// the terms of `count` rows, or vectors of adjacent rows for each of its
/// terms. Rows behind `extent` are those at the end.
SmallVector<Value> MatmulKernel::loadStep(KernelBuilder &builder,
                                          const FactorMatrix &matrix,
                                          int64_t extent, int64_t count,
                                          Value first, Value term) {
  bool alongTerms = loadsAlongTerms(matrix);
  SmallVector<Value> loaded;
  auto load = [&](Value row, Value at) {
    loaded.push_back(matrix.hasVectors
                         ? builder.load(builder.getMemory(matrix.buffer),
                                        getAddress(builder, matrix, row, at),
                                        kTermsOfThread)
                         : loadElements(builder, matrix, extent, row, at));
  };
  int64_t step = alongTerms ? kColumns : kColumns * kTermsOfThread;
  for (int64_t start = 0; start < count; start += step) {
    Value row = builder.add(
        builder.addConstant(first, start),
        alongTerms ? group : builder.multiply(group, kTermsOfThread));
    if (extent % count != 0 && matrix.hasVectors)
      row = arith::MinUIOp::create(
          builder.b, row,
          builder.constantIndex(alongTerms ? extent - 1
                                           : extent - kTermsOfThread));
    if (alongTerms)
      load(row, term);
    else
      for (int64_t each = 0; each < kTermsOfThread; ++each)
        load(row, builder.addConstant(term, each));
  }
  return loaded;
}

/// Element `row` of 8 * tiles rows and `term` of four terms of what `loadStep`
/// has loaded; a thread has one of 8 adjacent rows, or four.
static Value getFactor(ImplicitLocOpBuilder &b, ArrayRef<Value> loaded,
                       bool alongTerms, int64_t row, int64_t term) {
  if (alongTerms)
    return vector::ExtractOp::create(b, loaded[row], term);
  return vector::ExtractOp::create(
      b, loaded[row / kTermsOfThread * kTermsOfThread + term],
      row % kTermsOfThread);
}

MatmulKernel::Accumulators MatmulKernel::addStep(KernelBuilder &builder,
                                                 Value term, bool isMasked,
                                                 const Accumulators &sums) {
  ImplicitLocOpBuilder &b = builder.b;
  auto loadBoth = [&] {
    SmallVector<Value> loaded =
        loadStep(builder, left, rows, getTileRows(), firstRow, term);
    llvm::append_range(loaded, loadStep(builder, right, columns,
                                        getTileColumns(), firstColumn, term));
    return loaded;
  };
  SmallVector<Value> loaded;
  if (isMasked) {
    auto type = VectorType::get({kTermsOfThread}, b.getF32Type());
    SmallVector<Type> types(2 * rowTiles + kTilesOfColumns, type);
    auto branch = scf::IfOp::create(b, types, builder.isLess(term, terms),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loadBoth());
    b.setInsertionPointToStart(branch.elseBlock());
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    scf::YieldOp::create(b, SmallVector<Value>(types.size(), zero));
    llvm::append_range(loaded, branch.getResults());
  } else {
    loaded = loadBoth();
  }
  auto ofLeft = ArrayRef(loaded).take_front(2 * rowTiles),
       ofRight = ArrayRef(loaded).drop_front(2 * rowTiles);
  auto convert = [&](ArrayRef<Value> vectors, const FactorMatrix &matrix,
                     int64_t row, int64_t each) -> Value {
    return NVVM::ConvertFloatToTF32Op::create(
        b, b.getI32Type(),
        getFactor(b, vectors, loadsAlongTerms(matrix), row, each),
        NVVM::FPRoundingMode::RNA);
  };
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(4, b.getF32Type()));
  Accumulators next = sums;
  for (int64_t half = 0; half < 2; ++half) {
    SmallVector<std::array<Value, 2>> factors;
    for (int64_t tile = 0; tile < kTilesOfColumns; ++tile)
      factors.push_back({convert(ofRight, right, tile, 2 * half),
                         convert(ofRight, right, tile, 2 * half + 1)});
    for (int64_t tile = 0; tile < rowTiles; ++tile) {
      SmallVector<Value> a;
      for (int64_t each = 0; each < 2; ++each)
        for (int64_t row = 0; row < 2; ++row)
          a.push_back(convert(ofLeft, left, 2 * tile + row, 2 * half + each));
      for (int64_t other = 0; other < kTilesOfColumns; ++other) {
        auto sum = MutableArrayRef(next).slice(
            4 * (tile * kTilesOfColumns + other), 4);
        Value product = NVVM::MmaOp::create(
            b, type, a, factors[other], ValueRange(sum),
            ArrayRef<int64_t>{kRows, kColumns, kColumns}, std::nullopt,
            std::nullopt,
            std::array{NVVM::MMATypes::tf32, NVVM::MMATypes::tf32},
            std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
        for (int64_t each = 0; each < 4; ++each)
          sum[each] = LLVM::ExtractValueOp::create(b, product, each);
      }
    }
  }
  return next;
}

/// Adds up the terms of the warp, and puts the sums into shared memory.
void MatmulKernel::emitSums(KernelBuilder &builder) {
  ImplicitLocOpBuilder &b = builder.b;
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  Accumulators sums(4 * rowTiles * kTilesOfColumns, zero);
  Value term = builder.add(builder.multiply(warp, kTerms),
                           builder.multiply(member, kTermsOfThread));
  int64_t step = kTerms * warps, whole = terms / step;
  if (whole > 1) {
    auto loop = scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0),
                                   arith::ConstantIndexOp::create(b, whole),
                                   arith::ConstantIndexOp::create(b, 1), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value number = arith::IndexCastUIOp::create(b, builder.getIndexType(),
                                                loop.getInductionVar());
    Value at = builder.add(builder.multiply(number, step), term);
    Accumulators next = addStep(builder, at, /*isMasked=*/false,
                                Accumulators(loop.getRegionIterArgs()));
    scf::YieldOp::create(b, next);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  } else if (whole == 1) {
    sums = addStep(builder, term, /*isMasked=*/false, sums);
  }
  if (terms % step != 0)
    sums = addStep(builder, builder.addConstant(term, whole * step),
                   /*isMasked=*/true, sums);

  Value shared = builder.getWorkgroupMemory(0);
  int64_t width = getTileColumns() + kPadding;
  // The place of row `row` of 8 * tiles rows of which a thread has some.
  auto getPlace = [&](const FactorMatrix &matrix, int64_t row, Value of) {
    return loadsAlongTerms(matrix)
               ? builder.addConstant(of, kColumns * row)
               : builder.addConstant(builder.multiply(of, kTermsOfThread),
                                     row / kTermsOfThread * kTermsOfThread *
                                             kColumns +
                                         row % kTermsOfThread);
  };
  Value base = builder.multiply(warp, getTileRows() * width);
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    for (int64_t other = 0; other < kTilesOfColumns; ++other)
      for (int64_t each = 0; each < 4; ++each) {
        Value row = getPlace(left, 2 * tile + each / 2, group);
        Value of = builder.addConstant(builder.multiply(member, 2), each % 2);
        Value column = getPlace(right, other, of);
        Value address = builder.add(
            builder.add(base, builder.multiply(row, width)), column);
        builder.store(sums[4 * (tile * kTilesOfColumns + other) + each], shared,
                      address);
      }
}

/// Stores results in a row, a vector or a scalar, of which `sum` are the sums.
void MatmulKernel::emitResult(KernelBuilder &builder, Value row, Value column,
                              Value sum) {
  ImplicitLocOpBuilder &b = builder.b;
  auto type = dyn_cast<VectorType>(sum.getType());
  int64_t lanes = type ? type.getNumElements() : 1;
  Value memory = builder.getMemory(result.buffer);
  Value address = getAddress(builder, result, row, column);
  if (!op->hasAttr(kOverwritesAttrName))
    sum = arith::AddFOp::create(b, builder.load(memory, address, lanes), sum);
  if (bias)
    sum = arith::AddFOp::create(
        b, sum, builder.load(builder.getMemory(bias), column, lanes));
  if (op->hasAttr(kEpilogueAttrName))
    sum = arith::MaximumFOp::create(
        b, sum, arith::ConstantOp::create(b, b.getZeroAttr(sum.getType())));
  builder.store(sum, memory, address);
}

/// Adds the sums of the warps, and stores the results of the block.
void MatmulKernel::emitResults(KernelBuilder &builder) {
  ImplicitLocOpBuilder &b = builder.b;
  int64_t width = getTileColumns() + kPadding, threads = warps * kWarpSize;
  int64_t vectorsOfRow = getTileColumns() / kTermsOfThread,
          vectors = getTileRows() * vectorsOfRow;
  Value shared = builder.getWorkgroupMemory(0), thread = builder.threadId();
  auto emit = [&](Value number) {
    Value row = builder.divide(number, vectorsOfRow);
    Value column = builder.multiply(builder.remainder(number, vectorsOfRow),
                                    kTermsOfThread);
    Value place = builder.add(builder.multiply(row, width), column), sum;
    for (int64_t each = 0; each < warps; ++each) {
      Value part = builder.load(
          shared, builder.addConstant(place, each * getTileRows() * width),
          kTermsOfThread);
      sum = sum ? arith::AddFOp::create(b, sum, part).getResult() : part;
    }
    row = builder.add(row, firstRow);
    column = builder.add(column, firstColumn);
    Value isInside;
    if (rows % getTileRows() != 0)
      isInside = builder.isLess(row, rows);
    if (columns % getTileColumns() != 0)
      isInside = builder.both(isInside, builder.isLess(column, columns));
    builder.emitIf(isInside, [&] {
      if (result.hasVectors)
        return emitResult(builder, row, column, sum);
      for (int64_t each = 0; each < kTermsOfThread; ++each) {
        Value place = builder.addConstant(column, each);
        builder.emitIf(builder.isLess(place, columns), [&] {
          emitResult(builder, row, place,
                     vector::ExtractOp::create(b, sum, each));
        });
      }
    });
  };
  for (int64_t done = 0; done < vectors; done += threads) {
    Value number = builder.addConstant(thread, done);
    builder.emitIf(done + threads > vectors ? builder.isLess(number, vectors)
                                            : Value(),
                   [&] { emit(number); });
  }
}

void MatmulKernel::emit(KernelModule &kernels) {
  KernelBuilder builder(kernels, op, "matmul");
  ImplicitLocOpBuilder &b = builder.b;
  builder.addBuffer(left.buffer, /*isWritten=*/false);
  builder.addBuffer(right.buffer, /*isWritten=*/false);
  if (bias)
    builder.addBuffer(bias, /*isWritten=*/false);
  builder.addBuffer(result.buffer, /*isWritten=*/true);
  int64_t end = 0;
  for (const FactorMatrix &matrix : {left, right, result})
    end = std::max(end, matrix.batch * batches +
                            matrix.outer * std::max(rows, columns) +
                            matrix.inner * std::max(terms, columns));
  builder.setIndexType(end);
  int64_t tiles[] = {batches, llvm::divideCeilSigned(rows, getTileRows()),
                     llvm::divideCeilSigned(columns, getTileColumns())};
  builder.start(warps * kWarpSize,
                builder.getWorkgroupType(warps * getTileRows() *
                                             (getTileColumns() + kPadding),
                                         b.getF32Type()));
  SmallVector<Value> place = builder.delinearize(builder.blockId(), tiles);
  batch = place[0];
  firstRow = builder.multiply(place[1], getTileRows());
  firstColumn = builder.multiply(place[2], getTileColumns());
  Value thread = builder.threadId();
  warp = builder.divide(thread, kWarpSize);
  Value lane = builder.remainder(thread, kWarpSize);
  group = builder.divide(lane, kTermsOfThread);
  member = builder.remainder(lane, kTermsOfThread);
  emitSums(builder);
  gpu::BarrierOp::create(b);
  emitResults(builder);
  builder.launch(tiles[0] * tiles[1] * tiles[2]);
}

bool braid::kernels::emitMatmul(KernelModule &kernels, linalg::LinalgOp op) {
  MatmulKernel kernel(op);
  if (!kernel.match())
    return false;
  kernel.emit(kernels);
  return true;
}
