//===- ChunkCollective.cpp - Collectives in chunks ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkCollective.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// Adds `op` and the elementwise ops before it, up to products, to `chain`, if
/// each has no other user. Returns whether a product is among them.
static bool collectChain(linalg::LinalgOp op,
                         llvm::SetVector<Operation *> &chain) {
  chain.insert(op);
  if (linalg::isaContractionOpInterface(op))
    return true;
  if (!linalg::isElementwise(op))
    return false;
  bool found = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto producer = input->get().getDefiningOp<linalg::LinalgOp>();
    if (!producer || !producer->hasOneUse() || chain.contains(producer) ||
        !producer.hasPureTensorSemantics())
      continue;
    llvm::SetVector<Operation *> before;
    if (!collectChain(producer, before))
      continue;
    chain.insert_range(before);
    found = true;
  }
  return found;
}

/// Whether dimension `dim` of the only result of `op` is that of a parallel
/// loop.
static bool isParallel(linalg::LinalgOp op, int64_t dim) {
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(0));
  if (dim >= map.getNumResults())
    return false;
  auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
  return loop && op.getIteratorTypesArray()[loop.getPosition()] ==
                     utils::IteratorType::parallel;
}

std::optional<ChunkableCollective>
braid::comm::matchChunkableCollective(CollectiveOpInterface collective) {
  auto start = cast<AsyncStartOpInterface>(collective.getOperation());
  CollectiveKind kind = collective.getCollectiveKind();
  bool scatters =
      kind == CollectiveKind::reduce_scatter && collective.getSplitDim() == 0;
  if ((kind != CollectiveKind::all_reduce && !scatters) ||
      start.isBufferForm() || start.getTokens().size() != 1 ||
      start->hasAttr(CommDialect::kOrderAttrName))
    return std::nullopt;
  Value token = start.getTokens()[0], operand = start.getSources()[0];
  auto wait =
      token.hasOneUse() ? dyn_cast<WaitOp>(*token.user_begin()) : WaitOp();
  auto producer = operand.getDefiningOp<linalg::LinalgOp>();
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t dim = scatters ? 1 : 0;
  if (!wait || wait->getNumOperands() != 1 ||
      wait->getBlock() != start->getBlock() || !producer ||
      producer->getNumResults() != 1 || !operand.hasOneUse() ||
      !producer.hasPureTensorSemantics() || !type.hasStaticShape() ||
      type.getRank() <= dim || type.getDimSize(dim) < 2 ||
      !isParallel(producer, dim))
    return std::nullopt;
  llvm::SetVector<Operation *> chain;
  if (!collectChain(producer, chain))
    return std::nullopt;
  return ChunkableCollective{collective, wait, producer, dim,
                             type.getDimSize(dim)};
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// Where a chunk begins, and its size.
struct Chunk {
  int64_t number, count, offset, size;
};

/// Computes the chunks of an operand.
class OperandChunks {
public:
  OperandChunks(RewriterBase &rewriter, linalg::LinalgOp producer)
      : rewriter(rewriter), producer(producer) {
    collectChain(producer, chain);
  }

  FailureOr<Value> compute(int64_t dim, const Chunk &chunk);
  /// Erases what nothing uses any more.
  void eraseDead();

private:
  FailureOr<Value> tile(OpResult result, ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes, const Chunk &chunk);
  FailureOr<Value> tileSource(tensor::ExtractSliceOp slice, bool isInit,
                              const Chunk &chunk);

  RewriterBase &rewriter;
  linalg::LinalgOp producer;
  llvm::SetVector<Operation *> chain;
};
} // namespace

/// What the first `number` of `count` equal parts of `whole` have of it.
static int64_t getPart(int64_t whole, int64_t number, int64_t count) {
  // The product of the whole and the number may overflow.
  return whole / count * number + whole % count * number / count;
}

/// Gives `op`, a chunk of an op, its share of the cost and a label of its own.
static void describeChunk(RewriterBase &rewriter, Operation *op,
                          const Chunk &chunk) {
  if (auto cost = op->getAttrOfType<IntegerAttr>(CommDialect::kCostAttrName)) {
    // Shares add up to the whole.
    int64_t ns = cost.getInt();
    int64_t share = getPart(ns, chunk.number + 1, chunk.count) -
                    getPart(ns, chunk.number, chunk.count);
    op->setAttr(CommDialect::kCostAttrName,
                rewriter.getIntegerAttr(cost.getType(), share));
  }
  if (StringRef label = getLabel(op); !label.empty())
    op->setAttr(CommDialect::kLabelAttrName,
                rewriter.getStringAttr(label + "." + Twine(chunk.number)));
}

/// The chunk of what `slice` is taken from, where that is an op of the chain,
/// a fill or empty; else `slice`.
FailureOr<Value> OperandChunks::tileSource(tensor::ExtractSliceOp slice,
                                           bool isInit, const Chunk &chunk) {
  Operation *source = slice.getSource().getDefiningOp();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(slice);
  if (isa_and_nonnull<tensor::EmptyOp>(source)) {
    Value empty =
        tensor::EmptyOp::create(rewriter, slice.getLoc(), slice.getMixedSizes(),
                                slice.getType().getElementType());
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

FailureOr<Value> OperandChunks::tile(OpResult result,
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

FailureOr<Value> OperandChunks::compute(int64_t dim, const Chunk &chunk) {
  auto type = cast<RankedTensorType>(producer->getResult(0).getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
  offsets[dim] = rewriter.getIndexAttr(chunk.offset);
  sizes[dim] = rewriter.getIndexAttr(chunk.size);
  return tile(producer->getResult(0), offsets, sizes, chunk);
}

void OperandChunks::eraseDead() {
  // Users come before producers in the chain.
  for (Operation *op : chain)
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
}

static SmallVector<Chunk> divide(int64_t size, int64_t numChunks) {
  constexpr int64_t tile = 128;
  int64_t unit = size / numChunks >= tile ? tile : 1;
  SmallVector<Chunk> chunks;
  int64_t begin = 0;
  for (int64_t number = 0; number < numChunks; ++number) {
    int64_t end = getPart(size, number + 1, numChunks);
    if (number + 1 < numChunks)
      end = end / unit * unit + (end % unit * 2 >= unit ? unit : 0);
    chunks.push_back({number, numChunks, begin, end - begin});
    begin = end;
  }
  return chunks;
}

/// `type` with `size` elements along dimension `dim`.
static RankedTensorType withSize(RankedTensorType type, int64_t dim,
                                 int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}

LogicalResult braid::comm::chunkCollective(RewriterBase &rewriter,
                                           ChunkableCollective collective,
                                           int64_t numChunks) {
  auto start = cast<AsyncStartOpInterface>(collective.start.getOperation());
  WaitOp wait = collective.wait;
  Location loc = start.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Chunk> chunks = divide(collective.size, numChunks);

  // The operand's chunks first: they alone may fail.
  OperandChunks operand(rewriter, collective.producer);
  rewriter.setInsertionPoint(start);
  SmallVector<Value> values;
  for (const Chunk &chunk : chunks) {
    FailureOr<Value> value = operand.compute(collective.dim, chunk);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }

  auto inFlight = cast<RankedTensorType>(start.getInFlightType(0));
  auto whole = cast<RankedTensorType>(wait.getValue().getType());
  SmallVector<Value> tokens;
  for (auto [value, chunk] : llvm::zip_equal(values, chunks)) {
    rewriter.setInsertionPointAfterValue(value);
    IRMapping mapping;
    mapping.map(start.getSources()[0], value);
    Operation *copy = rewriter.clone(*start, mapping);
    copy->getResult(0).setType(
        TokenType::get(withSize(inFlight, collective.dim, chunk.size)));
    copy->removeAttr(CommDialect::kChunksAttrName);
    describeChunk(rewriter, copy, chunk);
    tokens.push_back(copy->getResult(0));
  }

  rewriter.setInsertionPoint(wait);
  Value result = tensor::EmptyOp::create(rewriter, loc, whole.getShape(),
                                         whole.getElementType());
  SmallVector<OpFoldResult> strides(whole.getRank(), rewriter.getIndexAttr(1));
  for (auto [token, chunk] : llvm::zip_equal(tokens, chunks)) {
    RankedTensorType type = withSize(whole, collective.dim, chunk.size);
    auto piece = WaitOp::create(rewriter, wait.getLoc(), type, token,
                                ValueRange(), ValueRange());
    piece->setDiscardableAttrs(wait->getDiscardableAttrDictionary());
    SmallVector<OpFoldResult> offsets(whole.getRank(),
                                      rewriter.getIndexAttr(0));
    offsets[collective.dim] = rewriter.getIndexAttr(chunk.offset);
    auto insertion = tensor::InsertSliceOp::create(
        rewriter, loc, piece.getValue(), result, offsets,
        getAsIndexOpFoldResult(rewriter.getContext(), type.getShape()),
        strides);
    // comm-bufferize computes rows in their place of the result.
    if (collective.dim == 0)
      insertion->setAttr(CommDialect::kCostAttrName,
                         rewriter.getI64IntegerAttr(0));
    result = insertion;
  }
  rewriter.replaceOp(wait, result);
  rewriter.eraseOp(start);
  operand.eraseDead();
  return success();
}
