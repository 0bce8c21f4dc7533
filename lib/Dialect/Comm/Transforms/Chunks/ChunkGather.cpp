//===- ChunkGather.cpp - All-gathers in chunks ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkStarts.h"
#include "ChunkedMatmul.h"
#include "Slices.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid::comm;

/// The dimensions of `operand` of `matmul` and of its result that belong to
/// one parallel loop, which no other input knows; none if there is no such
/// loop. The dimension that is not `joined` comes first: its chunks stay in one
/// piece.
static std::optional<std::pair<int64_t, int64_t>>
findDividedDims(linalg::LinalgOp matmul, OpOperand &operand, int64_t joined) {
  AffineMap map = matmul.getMatchingIndexingMap(&operand);
  std::optional<std::pair<int64_t, int64_t>> found;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      continue;
    bool isElsewhere =
        llvm::any_of(matmul.getDpsInputOperands(), [&](OpOperand *other) {
          return other != &operand &&
                 matmul.getMatchingIndexingMap(other).isFunctionOfDim(
                     loop.getPosition());
        });
    AffineMap result =
        matmul.getIndexingMapMatchingResult(matmul->getResult(0));
    std::optional<unsigned> resultDim = result.getResultPosition(loop);
    if (isElsewhere || !resultDim || !isParallelResult(matmul, *resultDim))
      continue;
    if (!found || static_cast<int64_t>(dim) != joined)
      found.emplace(dim, *resultDim);
  }
  return found;
}

/// True if the rows of what `matmul` adds to may change their places: it adds
/// to nothing, or to the same everywhere.
static bool hasUniformInit(linalg::LinalgOp matmul) {
  Value init = matmul.getDpsInits()[0];
  return init.getDefiningOp<tensor::EmptyOp>() ||
         init.getDefiningOp<linalg::FillOp>();
}

std::optional<ChunkableGather>
braid::comm::matchChunkableGather(CollectiveOpInterface collective) {
  auto start = cast<AsyncStartOpInterface>(collective.getOperation());
  if (collective.getCollectiveKind() != CollectiveKind::all_gather ||
      start.isBufferForm() || start.getTokens().size() != 1 ||
      start->hasAttr(CommDialect::kOrderAttrName))
    return std::nullopt;
  Value token = start.getTokens()[0];
  auto wait =
      token.hasOneUse() ? dyn_cast<WaitOp>(*token.user_begin()) : WaitOp();
  if (!wait || wait->getNumOperands() != 1 ||
      wait->getBlock() != start->getBlock() || !wait.getValue() ||
      !wait.getValue().hasOneUse())
    return std::nullopt;
  OpOperand &use = *wait.getValue().use_begin();
  auto matmul = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!matmul || matmul->getBlock() != start->getBlock() ||
      matmul->getNumResults() != 1 || !matmul.hasPureTensorSemantics() ||
      !linalg::isaContractionOpInterface(matmul) ||
      llvm::is_contained(matmul.getStaticLoopRanges(), 0) ||
      !matmul.isDpsInput(&use) || !hasUniformInit(matmul))
    return std::nullopt;
  auto part = cast<RankedTensorType>(start.getSources()[0].getType());
  auto whole = cast<RankedTensorType>(wait.getValue().getType());
  if (!part.hasStaticShape() || !whole.hasStaticShape() ||
      !cast<RankedTensorType>(matmul->getResult(0).getType()).hasStaticShape())
    return std::nullopt;
  int64_t joined = collective.getSplitDim();
  auto dims = findDividedDims(matmul, use, joined);
  if (!dims || part.getDimSize(dims->first) < 2)
    return std::nullopt;
  int64_t size = part.getDimSize(dims->first);
  return ChunkableGather{
      collective,  wait,         matmul, use.getOperandNumber(),
      dims->first, dims->second, size,   whole.getDimSize(dims->first) / size};
}

namespace {
/// Replaces an all-gather and its matmul by chunks.
class GatherChunker {
public:
  GatherChunker(RewriterBase &rewriter, const ChunkableGather &gather)
      : rewriter(rewriter), gather(gather),
        whole(cast<RankedTensorType>(gather.matmul->getResult(0).getType())) {}

  LogicalResult run(int64_t count);

private:
  Value startChunk(const Chunk &chunk);
  Value awaitChunk(Value token, const Chunk &chunk);
  /// True if the matmuls of chunks may write to their places of the result.
  bool writesInPlace(ArrayRef<Value> values);
  /// Puts `value`, the result of `chunk`, where it belongs in `result`.
  Value insertChunk(Value value, Value result, const Chunk &chunk);
  Value insertAll(ArrayRef<Value> values, ArrayRef<Chunk> chunks);

  RewriterBase &rewriter;
  ChunkableGather gather;
  RankedTensorType whole;
};
} // namespace

Value GatherChunker::startChunk(const Chunk &chunk) {
  auto start = cast<AsyncStartOpInterface>(gather.start.getOperation());
  Value operand = start.getSources()[0];
  rewriter.setInsertionPoint(start);
  Value part = extractAlong(rewriter, operand, gather.dim,
                            rewriter.getIndexAttr(chunk.offset), chunk.size);
  // Collectives read whole rows of memory: other chunks are copied.
  if (gather.dim != 0) {
    auto type = cast<RankedTensorType>(part.getType());
    Value empty =
        tensor::EmptyOp::create(rewriter, start.getLoc(), type.getShape(),
                                type.getElementType(), type.getEncoding());
    part = linalg::CopyOp::create(rewriter, start.getLoc(), part, empty)
               ->getResult(0);
  }
  IRMapping mapping;
  mapping.map(operand, part);
  Operation *copy = rewriter.clone(*start, mapping);
  auto inFlight = cast<RankedTensorType>(start.getInFlightType(0));
  copy->getResult(0).setType(TokenType::get(
      withSize(inFlight, gather.dim, chunk.size * gather.numParts)));
  copy->removeAttr(CommDialect::kChunksAttrName);
  describeChunk(rewriter, copy, chunk);
  return copy->getResult(0);
}

Value GatherChunker::awaitChunk(Value token, const Chunk &chunk) {
  auto type = cast<RankedTensorType>(gather.wait.getValue().getType());
  auto piece =
      WaitOp::create(rewriter, gather.wait.getLoc(),
                     withSize(type, gather.dim, chunk.size * gather.numParts),
                     token, ValueRange(), ValueRange());
  piece->setDiscardableAttrs(gather.wait->getDiscardableAttrDictionary());
  describeChunk(rewriter, piece, chunk);
  return piece.getValue();
}

Value GatherChunker::insertChunk(Value value, Value result,
                                 const Chunk &chunk) {
  for (int64_t part = 0; part != gather.numParts; ++part) {
    // A chunk has the parts of the members one after the other.
    Value piece = gather.numParts == 1
                      ? value
                      : extractAlong(rewriter, value, gather.resultDim,
                                     rewriter.getIndexAttr(part * chunk.size),
                                     chunk.size);
    result =
        insertAlong(rewriter, value.getLoc(), piece, result, gather.resultDim,
                    rewriter.getIndexAttr(part * gather.size + chunk.offset));
  }
  return result;
}

/// The operand of `matmul`, or of the fill before it, that its result takes
/// the place of.
static OpOperand &getPlace(linalg::LinalgOp matmul) {
  OpOperand &init = matmul.getDpsInitsMutable()[0];
  if (auto fill = init.get().getDefiningOp<linalg::FillOp>())
    return fill.getOutputsMutable()[0];
  return init;
}

bool GatherChunker::writesInPlace(ArrayRef<Value> values) {
  return gather.numParts == 1 && llvm::all_of(values, [](Value value) {
           auto matmul = value.getDefiningOp<linalg::LinalgOp>();
           OpOperand &place = getPlace(matmul);
           bool isOwn =
               place.getOwner() == matmul || place.getOwner()->hasOneUse();
           return isOwn && place.get().getDefiningOp<tensor::EmptyOp>();
         });
}

/// The whole result of the chunks' matmuls.
Value GatherChunker::insertAll(ArrayRef<Value> values, ArrayRef<Chunk> chunks) {
  bool isInPlace = writesInPlace(values);
  auto getFirst = [&](Value value) {
    return getPlace(value.getDefiningOp<linalg::LinalgOp>()).getOwner();
  };
  rewriter.setInsertionPoint(isInPlace ? getFirst(values.front())
                                       : gather.matmul.getOperation());
  Value result = tensor::EmptyOp::create(
      rewriter, gather.matmul.getLoc(), whole.getShape(),
      whole.getElementType(), whole.getEncoding());
  for (auto [value, chunk] : llvm::zip_equal(values, chunks)) {
    rewriter.setInsertionPoint(gather.matmul);
    if (isInPlace) {
      Operation *first = getFirst(value);
      rewriter.setInsertionPoint(first);
      Value slice =
          extractAlong(rewriter, result, gather.resultDim,
                       rewriter.getIndexAttr(chunk.offset), chunk.size);
      OpOperand &place = getPlace(value.getDefiningOp<linalg::LinalgOp>());
      rewriter.modifyOpInPlace(first, [&]() { place.set(slice); });
      rewriter.setInsertionPointAfterValue(value);
    }
    result = insertChunk(value, result, chunk);
    if (isInPlace)
      result.getDefiningOp()->setAttr(CommDialect::kCostAttrName,
                                      rewriter.getI64IntegerAttr(0));
  }
  return result;
}

/// Whether waits may sink from the gather's wait to its matmul: nothing
/// between communicates.
static bool maySinkWaits(const ChunkableGather &gather) {
  auto begin = std::next(gather.wait->getIterator());
  auto end = gather.matmul->getIterator();
  return llvm::all_of(llvm::make_range(begin, end),
                      [](Operation &op) { return isMemoryEffectFree(&op); });
}

LogicalResult GatherChunker::run(int64_t count) {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Chunk> chunks = divideIntoChunks(gather.size, count);
  // The matmul's chunks first: they alone may fail.
  MatmulChunks matmul(rewriter, gather.matmul, gather.resultDim);
  rewriter.setInsertionPoint(gather.matmul);
  SmallVector<Value> values;
  for (const Chunk &chunk : chunks) {
    Chunk rows = {chunk.number, chunk.offset * gather.numParts,
                  chunk.size * gather.numParts, chunk.whole * gather.numParts,
                  chunk.count};
    FailureOr<Value> value = matmul.compute(rows);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  SmallVector<Value> tokens;
  for (const Chunk &chunk : chunks)
    tokens.push_back(startChunk(chunk));
  bool sinks = maySinkWaits(gather);
  for (auto [value, token, chunk] : llvm::zip_equal(values, tokens, chunks)) {
    Operation *op = value.getDefiningOp();
    rewriter.setInsertionPoint(sinks ? op : gather.wait.getOperation());
    Operation *slice = op->getOperand(gather.operand).getDefiningOp();
    Value awaited = awaitChunk(token, chunk);
    rewriter.modifyOpInPlace(
        op, [&]() { op->setOperand(gather.operand, awaited); });
    if (slice != gather.wait && isOpTriviallyDead(slice))
      rewriter.eraseOp(slice);
  }
  Value result = insertAll(values, chunks);
  rewriter.replaceOp(gather.matmul, result);
  rewriter.eraseOp(gather.wait);
  rewriter.eraseOp(gather.start);
  return success();
}

LogicalResult braid::comm::chunkGather(RewriterBase &rewriter,
                                       ChunkableGather gather, int64_t count) {
  return GatherChunker(rewriter, gather).run(count);
}
