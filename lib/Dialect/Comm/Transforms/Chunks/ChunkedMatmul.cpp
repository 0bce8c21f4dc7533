//===- ChunkedMatmul.cpp - Chunks of a matmul -----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkedMatmul.h"

#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace braid::comm;

bool braid::comm::collectMatmulChain(linalg::LinalgOp op, int64_t dim,
                                     llvm::SetVector<Operation *> &chain) {
  // MLIR takes a tile of size 0 for one that is not wanted.
  if (!isParallelResult(op, dim) ||
      llvm::is_contained(op.getStaticLoopRanges(), 0))
    return false;
  chain.insert(op);
  if (linalg::isaContractionOpInterface(op))
    return true;
  if (!linalg::isElementwise(op))
    return false;
  bool found = false;
  AffineExpr divided =
      op.getIndexingMapMatchingResult(op->getResult(0)).getResult(dim);
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto producer = input->get().getDefiningOp<linalg::LinalgOp>();
    // All chunks read the whole of an input that the loop does not reach.
    std::optional<unsigned> inputDim =
        op.getMatchingIndexingMap(input).getResultPosition(divided);
    if (!producer || !inputDim || !producer->hasOneUse() ||
        producer->getBlock() != op->getBlock() || chain.contains(producer) ||
        producer->getNumResults() != 1 || !producer.hasPureTensorSemantics())
      continue;
    llvm::SetVector<Operation *> before;
    if (!collectMatmulChain(producer, *inputDim, before))
      continue;
    chain.insert_range(before);
    found = true;
  }
  return found;
}

bool braid::comm::isParallelResult(linalg::LinalgOp op, int64_t dim) {
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(0));
  if (dim >= map.getNumResults())
    return false;
  auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
  return loop && op.getIteratorTypesArray()[loop.getPosition()] ==
                     utils::IteratorType::parallel;
}

/// What `part` of `total` makes of `whole`.
static int64_t getPart(int64_t whole, int64_t part, int64_t total) {
  // The product of the whole and the part may need more than 64 bits.
  APInt matmul = APInt(128, whole) * APInt(128, part);
  return matmul.udiv(APInt(128, total)).getSExtValue();
}

void braid::comm::describeChunk(RewriterBase &rewriter, Operation *op,
                                const Chunk &chunk) {
  if (auto cost = op->getAttrOfType<IntegerAttr>(CommDialect::kCostAttrName)) {
    // Shares add up to the whole.
    int64_t ns = cost.getInt();
    int64_t share = getPart(ns, chunk.offset + chunk.size, chunk.whole) -
                    getPart(ns, chunk.offset, chunk.whole);
    op->setAttr(CommDialect::kCostAttrName,
                rewriter.getIntegerAttr(cost.getType(), share));
  }
  if (StringRef label = getLabel(op); !label.empty())
    op->setAttr(CommDialect::kLabelAttrName,
                rewriter.getStringAttr(label + "." + Twine(chunk.number)));
  recordDivision(op, "in " + Twine(chunk.count) + " chunks");
}

/// The chunk of what `slice` is taken from, where that is an op of the chain,
/// a fill or empty; else `slice`.
FailureOr<Value> MatmulChunks::tileSource(tensor::ExtractSliceOp slice,
                                          bool isInit, const Chunk &chunk) {
  Operation *source = slice.getSource().getDefiningOp();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(slice);
  if (isa_and_nonnull<tensor::EmptyOp>(source)) {
    Value empty = tensor::EmptyOp::create(
        rewriter, slice.getLoc(), slice.getMixedSizes(),
        slice.getType().getElementType(), slice.getType().getEncoding());
    rewriter.replaceOp(slice, empty);
    return empty;
  }
  bool isTiled = source && (chain.contains(source) ||
                            (isInit && isa<linalg::FillOp>(source)));
  if (!isTiled)
    return slice.getResult();
  FailureOr<Value> value =
      tile(cast<OpResult>(slice.getSource()), slice.getMixedOffsets(),
           slice.getMixedSizes(), chunk);
  if (succeeded(value))
    rewriter.replaceOp(slice, *value);
  return value;
}

FailureOr<Value> MatmulChunks::tile(OpResult result,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes,
                                    const Chunk &chunk) {
  auto op = dyn_cast<TilingInterface>(result.getOwner());
  if (!op)
    return failure();
  FailureOr<TilingResult> tiled = op.generateResultTileValue(
      rewriter, result.getResultNumber(), offsets, sizes);
  if (failed(tiled))
    return failure();
  for (Operation *tiledOp : tiled->tiledOps)
    describeChunk(rewriter, tiledOp, chunk);
  Value value = tiled->tiledValues[0];
  for (Operation *generated : tiled->generatedSlices) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(generated);
    if (!slice || !slice->hasOneUse())
      continue;
    auto user = dyn_cast<linalg::LinalgOp>(*slice->user_begin());
    bool isInit = user && user.isDpsInit(&*slice->use_begin());
    if (failed(tileSource(slice, isInit, chunk)))
      return failure();
  }
  return value;
}

FailureOr<Value> MatmulChunks::compute(const Chunk &chunk) {
  auto type = cast<RankedTensorType>(producer->getResult(0).getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
  offsets[dim] = rewriter.getIndexAttr(chunk.offset);
  sizes[dim] = rewriter.getIndexAttr(chunk.size);
  return tile(producer->getResult(0), offsets, sizes, chunk);
}

void MatmulChunks::eraseDead() {
  // Users come before producers in the chain.
  for (Operation *op : chain)
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
}

SmallVector<Chunk> braid::comm::divideIntoChunks(int64_t size, int64_t count) {
  constexpr int64_t tile = 128;
  int64_t unit = size / count >= tile ? tile : 1;
  SmallVector<Chunk> chunks;
  int64_t begin = 0;
  for (int64_t number = 0; number != count; ++number) {
    int64_t end = getPart(size, number + 1, count);
    if (number + 1 != count)
      end = end / unit * unit + (end % unit * 2 >= unit ? unit : 0);
    chunks.push_back({number, begin, end - begin, size, count});
    begin = end;
  }
  return chunks;
}

RankedTensorType braid::comm::withSize(RankedTensorType type, int64_t dim,
                                       int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}
