//===- PipelineMatmul.cpp - The comm-pipeline-matmul pass -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkStarts.h"
#include "ChunkedMatmul.h"
#include "RewritePass.h"

#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <variant>

namespace braid::comm {
#define GEN_PASS_DEF_COMMPIPELINEMATMULPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The most chunks of a collective.
static constexpr int64_t kMostChunks = 1024;

namespace {
struct CommPipelineMatmulPass
    : PartsPass<
          comm::impl::CommPipelineMatmulPassBase<CommPipelineMatmulPass>> {
  using PartsPass::PartsPass;

  CommunicationRules getRules() const override {
    CommunicationRules rules;
    rules.mayDivide = true;
    return rules;
  }
  LogicalResult checkOptions(Location loc) override;
  // With few predictions the first number is the only one.
  SmallVector<int64_t> getParts() const override { return {4, 2, 8}; }
  bool plansParts() const override { return planResources; }
  StringRef getCountName() const override { return "chunked-collectives"; }
  LogicalResult find(Block &block, PartsCandidates &candidates) override;
  FailureOr<bool> rewrite(RewriterBase &rewriter, CollectiveOpInterface start,
                          int64_t numParts) override;
};
} // namespace

namespace {
/// A collective that can be divided together with a matmul before or behind
/// it.
struct Divisible {
  std::variant<ChunkableCollective, ChunkableGather> found;

  int64_t getSize() const {
    return std::visit([](const auto &of) { return of.size; }, found);
  }
  linalg::LinalgOp getMatmul() const {
    if (const auto *gather = std::get_if<ChunkableGather>(&found))
      return gather->matmul;
    return std::get<ChunkableCollective>(found).producer;
  }
  bool isGather() const {
    return std::holds_alternative<ChunkableGather>(found);
  }
  /// The matmul and the elementwise ops that chunks divide.
  llvm::SetVector<Operation *> getDividedOps() const {
    llvm::SetVector<Operation *> ops;
    if (isGather())
      ops.insert(getMatmul());
    else
      collectMatmulChain(getMatmul(), std::get<ChunkableCollective>(found).dim,
                         ops);
    return ops;
  }
  LogicalResult divide(RewriterBase &rewriter, int64_t count) const {
    if (const auto *gather = std::get_if<ChunkableGather>(&found))
      return chunkGather(rewriter, *gather, count);
    return chunkCollective(rewriter, std::get<ChunkableCollective>(found),
                           count);
  }
};
} // namespace

static std::optional<Divisible> matchDivisible(CollectiveOpInterface start) {
  if (std::optional<ChunkableCollective> found =
          matchChunkableCollective(start))
    return Divisible{*found};
  if (std::optional<ChunkableGather> found = matchChunkableGather(start))
    return Divisible{*found};
  return std::nullopt;
}

FailureOr<bool> CommPipelineMatmulPass::rewrite(RewriterBase &rewriter,
                                                CollectiveOpInterface start,
                                                int64_t numParts) {
  // Another collective may have divided the matmul.
  std::optional<Divisible> found = matchDivisible(start);
  if (!found || found->getSize() < numParts)
    return false;
  if (failed(found->divide(rewriter, numParts)))
    return failure();
  return true;
}

/// The chunks that the user wants of `start`; 0 if that is not said. Fails with
/// an error if `start` cannot have them.
static FailureOr<int64_t> getGivenChunks(CollectiveOpInterface start,
                                         bool areReachedTogether) {
  auto given = start->getAttrOfType<IntegerAttr>(CommDialect::kChunksAttrName);
  int64_t count = given ? given.getInt() : 0;
  if (count < 2)
    return count;
  auto fail = [&](const Twine &expected) -> LogicalResult {
    return start->emitOpError() << "has '" << CommDialect::kChunksAttrName
                                << "' " << count << ", expected " << expected;
  };
  if (!areReachedTogether)
    return fail("1 in a block that ranks may reach differently");
  std::optional<Divisible> found = matchDivisible(start);
  if (!found)
    return fail("1, or an all-reduce or reduce-scatter along dimension 0 of a "
                "tensor of static shape that only a matmul before it computes, "
                "or an all-gather that only a matmul behind it reads");
  if (count > found->getSize())
    return fail("at most the " + Twine(found->getSize()) +
                " rows or columns that chunks divide");
  if (count > kMostChunks)
    return fail("at most " + Twine(kMostChunks) + " chunks");
  return count;
}

LogicalResult CommPipelineMatmulPass::find(Block &block,
                                           PartsCandidates &candidates) {
  bool isReachedTogether = areReachedTogether(block);
  SmallVector<std::pair<CollectiveOpInterface, Divisible>> others;
  // What collectives with given chunks divide.
  llvm::SmallDenseSet<Operation *> taken;
  for (auto start : block.getOps<CollectiveOpInterface>()) {
    FailureOr<int64_t> given = getGivenChunks(start, isReachedTogether);
    if (failed(given))
      return failure();
    if (!isReachedTogether)
      continue;
    std::optional<Divisible> found = matchDivisible(start);
    if (!found)
      continue;
    if (*given == 0) {
      others.emplace_back(start, *found);
      continue;
    }
    if (*given == 1)
      continue;
    for (Operation *op : found->getDividedOps())
      if (!taken.insert(op).second)
        return start->emitOpError()
               << "has '" << CommDialect::kChunksAttrName
               << "', expected 1, because chunks of another collective divide "
                  "the same matmul";
    candidates.add(start, *given);
  }
  for (const auto &[start, found] : others)
    if (llvm::none_of(found.getDividedOps(),
                      [&](Operation *op) { return taken.contains(op); }))
      candidates.add(start, chunks);
  return success();
}

LogicalResult CommPipelineMatmulPass::checkOptions(Location loc) {
  if (chunks != 0 && (chunks < 2 || chunks > kMostChunks))
    return emitError(loc) << "invalid value " << int64_t(chunks)
                          << " of option 'chunks', expected 0 or a number from "
                             "2 to "
                          << kMostChunks;
  return success();
}
