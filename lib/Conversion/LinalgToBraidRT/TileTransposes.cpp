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
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace braid {
#define GEN_PASS_DEF_TILETRANSPOSESPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

/// The side of a tile. Smaller tiles take longer for their loops than they
/// save.
static constexpr int64_t kSide = 32;

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

/// The loop other than the innermost one of `op` whose iterations access
/// adjacent elements of an operand that the innermost one drops from the cache.
static std::optional<unsigned> getTransposedLoop(linalg::LinalgOp op) {
  unsigned last = op.getNumLoops() - 1;
  for (OpOperand &operand : op->getOpOperands()) {
    auto buffer = dyn_cast<MemRefType>(operand.get().getType());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!buffer || !map.isFunctionOfDim(last))
      continue;
    for (unsigned dim = 0; dim < last; ++dim)
      if (braid::isAdjacent(buffer, map, dim) && leavesCache(op, buffer, map))
        return dim;
  }
  return std::nullopt;
}

/// The sizes of tiles of `op`; none if it stays as it is.
static SmallVector<int64_t> getTileSizes(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() < 2 ||
      op.getNumParallelLoops() != op.getNumLoops())
    return {};
  std::optional<unsigned> transposed = getTransposedLoop(op);
  if (!transposed)
    return {};
  SmallVector<int64_t> tiles(op.getNumLoops(), 1);
  tiles[*transposed] = tiles.back() = kSide;
  return tiles;
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
      SmallVector<int64_t> tiles = getTileSizes(op);
      if (tiles.empty())
        continue;
      rewriter.setInsertionPoint(op);
      auto options = linalg::LinalgTilingOptions().setTileSizes(tiles);
      if (succeeded(linalg::tileLinalgOp(rewriter, op, options)))
        rewriter.eraseOp(op);
    }
    return success();
  }
};

} // namespace
