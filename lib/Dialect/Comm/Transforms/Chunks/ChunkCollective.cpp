//===- ChunkCollective.cpp - Collectives in chunks ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkStarts.h"
#include "ChunkedMatmul.h"
#include "Slices.h"

using namespace mlir;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

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
      producer->getBlock() != start->getBlock() ||
      !producer.hasPureTensorSemantics() || !type.hasStaticShape() ||
      type.getRank() <= dim || type.getDimSize(dim) < 2)
    return std::nullopt;
  llvm::SetVector<Operation *> chain;
  if (!collectMatmulChain(producer, dim, chain))
    return std::nullopt;
  return ChunkableCollective{collective, wait, producer, dim,
                             type.getDimSize(dim)};
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

LogicalResult braid::comm::chunkCollective(RewriterBase &rewriter,
                                           ChunkableCollective collective,
                                           int64_t count) {
  auto start = cast<AsyncStartOpInterface>(collective.start.getOperation());
  WaitOp wait = collective.wait;
  Location loc = start.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<Chunk> chunks = divideIntoChunks(collective.size, count);

  // The operand's chunks first: they alone may fail.
  MatmulChunks operand(rewriter, collective.producer, collective.dim);
  rewriter.setInsertionPoint(start);
  SmallVector<Value> values;
  for (const Chunk &chunk : chunks) {
    FailureOr<Value> value = operand.compute(chunk);
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
  Value result =
      tensor::EmptyOp::create(rewriter, loc, whole.getShape(),
                              whole.getElementType(), whole.getEncoding());
  for (auto [token, chunk] : llvm::zip_equal(tokens, chunks)) {
    RankedTensorType type = withSize(whole, collective.dim, chunk.size);
    auto piece = WaitOp::create(rewriter, wait.getLoc(), type, token,
                                ValueRange(), ValueRange());
    piece->setDiscardableAttrs(wait->getDiscardableAttrDictionary());
    describeChunk(rewriter, piece, chunk);
    auto insertion =
        insertAlong(rewriter, loc, piece.getValue(), result, collective.dim,
                    rewriter.getIndexAttr(chunk.offset));
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
