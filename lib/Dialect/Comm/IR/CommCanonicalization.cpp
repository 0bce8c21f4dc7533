//===- CommCanonicalization.cpp - Canonicalization of comm ops ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace braid::comm;

namespace {

/// `comm.size` of a group whose lists have one length is that length.
struct FoldKnownSize : public OpRewritePattern<SizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SizeOp op,
                                PatternRewriter &rewriter) const override {
    GroupOp group = lookupGroup(op, op.getGroupAttr());
    std::optional<int64_t> size = group ? group.getStaticSize() : std::nullopt;
    if (!size)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, *size);
    return success();
  }
};

/// A collective over a group of one gives its operands back. Its start goes
/// together with all of its waits: no other rank runs it, so none is missed.
struct FoldGroupOfOne : public OpRewritePattern<WaitOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WaitOp wait,
                                PatternRewriter &rewriter) const override {
    AsyncStartOpInterface start = wait.getStart();
    if (!start || start.isBufferForm())
      return failure();
    auto collective = dyn_cast<CollectiveOpInterface>(start.getOperation());
    if (!collective || !collective.isIdentityInGroupOfOne())
      return failure();
    GroupOp group = lookupGroup(start, collective.getGroupAttr());
    if (!group || group.getStaticSize() != 1)
      return failure();

    SmallVector<Value> sources = start.getSources();
    SmallVector<WaitOp> waits;
    for (auto [source, token] : llvm::zip_equal(sources, start.getTokens())) {
      auto only =
          token.hasOneUse() ? dyn_cast<WaitOp>(*token.user_begin()) : WaitOp();
      if (!only || only.getValue().getType() != source.getType())
        return failure();
      waits.push_back(only);
    }
    for (auto [source, only] : llvm::zip_equal(sources, waits))
      rewriter.replaceOp(only, source);
    rewriter.eraseOp(start);
    return success();
  }
};

/// Replaces the buffers of a wait by those of its start, after branches or
/// loops around the two were folded. The wait may name casts of these buffers,
/// or empty buffers in the place of sources of other starts.
struct NameBuffersOfStart : public OpRewritePattern<WaitOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WaitOp wait,
                                PatternRewriter &rewriter) const override {
    AsyncStartOpInterface start = wait.getStart();
    if (!start || !start.isBufferForm())
      return failure();
    SmallVector<Value> sources = start.getSources();
    SmallVector<Value> destinations = start.getDestinations();
    auto isSourceOnly = [&](Value buffer) {
      return llvm::is_contained(sources, buffer) &&
             !llvm::is_contained(destinations, buffer);
    };
    if (llvm::all_of(wait.getReads(), isSourceOnly) &&
        llvm::all_of(wait.getWrites(), [&](Value buffer) {
          return llvm::is_contained(destinations, buffer);
        }))
      return failure();
    // One token of a coalesced launch stands for its own operand.
    size_t own = cast<OpResult>(wait.getToken()).getResultNumber();
    SmallVector<Value> reads, writes;
    if (own < destinations.size())
      writes.push_back(destinations[own]);
    if (own < sources.size() && isSourceOnly(sources[own]))
      reads.push_back(sources[own]);
    rewriter.modifyOpInPlace(wait, [&]() {
      wait.getReadsMutable().assign(reads);
      wait.getWritesMutable().assign(writes);
    });
    return success();
  }
};

} // namespace

void SizeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<FoldKnownSize>(context);
}

void WaitOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<FoldGroupOfOne, NameBuffersOfStart>(context);
}
