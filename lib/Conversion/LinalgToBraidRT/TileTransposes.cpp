//===- TileTransposes.cpp - Transposed accesses in tiles ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combiners.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace braid {
#define GEN_PASS_DEF_TILETRANSPOSESPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

/// The side of a tile. Smaller tiles take longer for their loops than they
/// save.
static constexpr int64_t kSide = 32;

/// The most lanes of a vector of a transposition, and its bits.
static constexpr int64_t kMostLanes = 16, kVectorBits = 512;

/// A cache line, and a second-level cache of 16 ways, in bytes.
static constexpr int64_t kLineBytes = 64, kCacheBytes = 1 << 20;

/// True if the lines of `op`'s accesses of `buffer` by `map` along the
/// innermost loop do not stay in a cache until another iteration of the next
/// loop uses them. Rows that are multiples of a power of two bytes share its
/// sets.
static bool leavesCache(linalg::LinalgOp op, MemRefType buffer, AffineMap map) {
  unsigned last = op.getNumLoops() - 1;
  auto [strides, offset] = buffer.getStridesAndOffset();
  int64_t size = op.getStaticLoopRanges()[last], stride = 0;
  for (auto [result, step] : llvm::zip_equal(map.getResults(), strides))
    if (result == getAffineDimExpr(last, op.getContext()))
      stride = step;
  if (stride == 0 || ShapedType::isDynamic(stride) ||
      ShapedType::isDynamic(size) || !buffer.getElementType().isIntOrFloat())
    return false;
  int64_t bytes = llvm::divideCeil(
      stride * buffer.getElementType().getIntOrFloatBitWidth(), 8);
  int64_t sharing = std::max(kLineBytes, bytes & -bytes);
  return size > kCacheBytes / sharing;
}

/// True if `operand` of `op` is an access whose elements are adjacent along
/// loop `dim`, and leave the cache along the innermost one.
static bool crossesLines(linalg::LinalgOp op, OpOperand &operand,
                         unsigned dim) {
  auto buffer = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  return buffer && map.isFunctionOfDim(op.getNumLoops() - 1) &&
         braid::isAdjacent(buffer, map, dim) && leavesCache(op, buffer, map);
}

/// The loop other than the innermost one of `op` whose iterations access
/// adjacent elements of an operand that the innermost one drops from the cache.
static std::optional<unsigned> getTransposedLoop(linalg::LinalgOp op) {
  for (OpOperand &operand : op->getOpOperands())
    for (unsigned dim = 0; dim + 1 < op.getNumLoops(); ++dim)
      if (crossesLines(op, operand, dim))
        return dim;
  return std::nullopt;
}

/// True if every operand of `op` that depends on the loops `outer` and the
/// innermost one does so by one index for each.
static bool hasPlainTiles(linalg::LinalgOp op, unsigned outer) {
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::all_of(
        ArrayRef<unsigned>{outer, op.getNumLoops() - 1}, [&](unsigned dim) {
          AffineExpr whole = getAffineDimExpr(dim, op.getContext());
          int64_t uses = llvm::count_if(map.getResults(), [&](AffineExpr use) {
            return use.isFunctionOfDim(dim);
          });
          return uses <= llvm::count(map.getResults(), whole) && uses <= 1;
        });
  });
}

/// The lanes of vectors that transpose elements of `type`; 0 for a type that
/// memory does not hold as vectors do.
static int64_t getSquareLanes(Type type) {
  if (!type.isIntOrFloat())
    return 0;
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return 0;
  return std::min<int64_t>(kMostLanes, kVectorBits / bits);
}

/// Stores the transpose of the tile of kSide x kSide elements at the start of
/// `source` in `target`, squares of vectors at a time. `row` and `column` are
/// the dimensions of `source` that the tile has.
static void transposeTile(OpBuilder &builder, Location loc, Value source,
                          unsigned row, unsigned column, Value target) {
  auto type = cast<MemRefType>(source.getType());
  int64_t lanes = getSquareLanes(type.getElementType());
  auto vector = VectorType::get(lanes, type.getElementType());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  SmallVector<Value, 2> begins(2, constant(0)), ends(2, constant(kSide)),
      steps(2, constant(lanes));
  auto emit = [&](OpBuilder &b, Location loc, ValueRange square) {
    auto after = [&](Value begin, int64_t count) -> Value {
      return b.createOrFold<affine::AffineApplyOp>(
          loc, b.getAffineDimExpr(0) + count, begin);
    };
    SmallVector<Value> rows, position(type.getRank(), begins[0]);
    position[column] = square[1];
    for (int64_t i = 0; i < lanes; ++i) {
      position[row] = after(square[0], i);
      rows.push_back(vector::LoadOp::create(b, loc, vector, source, position));
    }
    // Each step interleaves the rows of one half with those of the other.
    SmallVector<int64_t> lower, upper;
    for (int64_t i = 0; i < lanes / 2; ++i) {
      lower.append({i, lanes + i});
      upper.append({lanes / 2 + i, lanes + lanes / 2 + i});
    }
    for (int64_t step = 1; step < lanes; step *= 2) {
      SmallVector<Value> next;
      for (int64_t i = 0; i < lanes / 2; ++i)
        for (ArrayRef<int64_t> mask : {lower, upper})
          next.push_back(vector::ShuffleOp::create(b, loc, rows[i],
                                                   rows[i + lanes / 2], mask));
      rows = std::move(next);
    }
    for (auto [i, value] : llvm::enumerate(rows))
      vector::StoreOp::create(b, loc, value, target,
                              ValueRange{after(square[1], i), square[0]});
  };
  scf::buildLoopNest(builder, loc, begins, ends, steps, emit);
}

/// The part of `buffer` in a whole tile, which its indices `map` read.
static Value getWholeTile(OpBuilder &builder, Location loc, Value buffer,
                          AffineMap map, unsigned outer, unsigned last) {
  unsigned rank = map.getNumResults();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)),
      strides(rank, builder.getIndexAttr(1)),
      sizes = memref::getMixedSizes(builder, loc, buffer);
  for (auto [result, size] : llvm::zip_equal(map.getResults(), sizes))
    if (result.isFunctionOfDim(outer) || result.isFunctionOfDim(last))
      size = builder.getIndexAttr(kSide);
  return memref::SubViewOp::create(builder, loc, buffer, offsets, sizes,
                                   strides);
}

/// Lets whole tiles of `op` read transposes of the inputs `numbers`, whose
/// vectors are along loop `outer`.
static void transposeInputs(linalg::GenericOp op, ArrayRef<unsigned> numbers,
                            unsigned outer) {
  IRRewriter rewriter(op);
  Location loc = op.getLoc();
  unsigned last = op.getNumLoops() - 1;
  auto function = op->getParentOfType<func::FuncOp>();
  SmallVector<Range> ranges =
      cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(rewriter, loc);
  Value isWhole;
  for (unsigned dim : {outer, last}) {
    if (getConstantIntValue(ranges[dim].size) == kSide)
      continue;
    Value size =
        getValueOrCreateConstantIndexOp(rewriter, loc, ranges[dim].size);
    Value side = arith::ConstantIndexOp::create(rewriter, loc, kSide);
    Value isSide = arith::CmpIOp::create(rewriter, loc,
                                         arith::CmpIPredicate::eq, size, side);
    isWhole = isWhole ? arith::AndIOp::create(rewriter, loc, isWhole, isSide)
                      : isSide;
  }
  auto whole = op;
  if (isWhole) {
    auto branch = scf::IfOp::create(rewriter, loc, isWhole, /*hasElse=*/true);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    whole = cast<linalg::GenericOp>(rewriter.clone(*op));
    rewriter.moveOpBefore(op, branch.elseYield());
    rewriter.setInsertionPoint(whole);
  }
  SmallVector<AffineMap> maps = whole.getIndexingMapsArray();
  for (OpOperand &operand : whole->getOpOperands()) {
    AffineMap &map = maps[operand.getOperandNumber()];
    if (!map.isFunctionOfDim(outer) && !map.isFunctionOfDim(last))
      continue;
    Value tile = getWholeTile(rewriter, loc, operand.get(), map, outer, last);
    if (llvm::is_contained(numbers, operand.getOperandNumber())) {
      auto type = MemRefType::get(
          {kSide, kSide}, cast<MemRefType>(tile.getType()).getElementType());
      Value transposed;
      {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPointToStart(&function.front());
        transposed = memref::AllocaOp::create(rewriter, loc, type);
      }
      auto find = [&](unsigned dim) -> unsigned {
        return *map.getResultPosition(rewriter.getAffineDimExpr(dim));
      };
      transposeTile(rewriter, loc, tile, find(last), find(outer), transposed);
      tile = transposed;
      map = AffineMap::getMultiDimMapWithTargets(
          map.getNumDims(), {outer, last}, rewriter.getContext());
    }
    operand.set(tile);
  }
  whole.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
}

namespace {

struct TileTransposesPass
    : public braid::StructuralPass<
          braid::impl::TileTransposesPassBase<TileTransposesPass>> {
  LogicalResult transform() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      if (!op.hasPureBufferSemantics() || op.getNumLoops() < 2 ||
          op.getNumParallelLoops() != op.getNumLoops())
        continue;
      std::optional<unsigned> outer = getTransposedLoop(op);
      if (!outer)
        continue;
      SmallVector<unsigned> inputs;
      if (hasPlainTiles(op, *outer))
        for (OpOperand *input : op.getDpsInputOperands())
          if (crossesLines(op, *input, *outer) &&
              getSquareLanes(getElementTypeOrSelf(input->get())) > 0)
            inputs.push_back(input->getOperandNumber());
      SmallVector<int64_t> tiles(op.getNumLoops(), 1);
      tiles[*outer] = tiles.back() = kSide;
      rewriter.setInsertionPoint(op);
      auto options = linalg::LinalgTilingOptions().setTileSizes(tiles);
      FailureOr<linalg::TiledLinalgOp> tiled =
          linalg::tileLinalgOp(rewriter, op, options);
      if (failed(tiled))
        continue;
      rewriter.eraseOp(op);
      if (inputs.empty())
        continue;
      rewriter.setInsertionPoint(tiled->op);
      FailureOr<linalg::GenericOp> generic =
          isa<linalg::GenericOp>(tiled->op.getOperation())
              ? FailureOr(cast<linalg::GenericOp>(tiled->op.getOperation()))
              : linalg::generalizeNamedOp(rewriter, tiled->op);
      if (succeeded(generic))
        transposeInputs(*generic, inputs, *outer);
    }
    return success();
  }
};

} // namespace
