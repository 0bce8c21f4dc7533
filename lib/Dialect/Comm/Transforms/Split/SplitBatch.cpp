//===- SplitBatch.cpp - The comm-split-batch pass -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BatchParts.h"
#include "Dialect/Comm/Transforms/Chunks/RewritePass.h"

#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Support/IR/Remarks.h"
#include "braid/Support/Units.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

namespace braid::comm {
#define GEN_PASS_DEF_COMMSPLITBATCHPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// A way to split a block, and what that splits.
struct BatchCandidate {
  BatchPropagation batch;
  /// The collectives that are split, and the dimensions of their operands.
  SmallVector<std::pair<Operation *, int64_t>> starts;
  /// The time of the collectives that are split.
  int64_t costNs = 0;
};

/// A candidate, and the parts as shares of the batch.
using BatchChoice = std::pair<const BatchCandidate *, ArrayRef<int64_t>>;

struct CommSplitBatchPass
    : StructuralRewritePass<
          comm::impl::CommSplitBatchPassBase<CommSplitBatchPass>> {
  using RewritePass::RewritePass;

  LogicalResult checkOptions(Location loc) override {
    return success(succeeded(parseShares(loc)) &&
                   succeeded(parseArguments(loc)));
  }
  std::optional<StringRef> getMaxMemory() const override { return maxMemory; }
  CommunicationRules getRules() const override {
    CommunicationRules rules;
    rules.mayDivide = rules.mayKeepParts = true;
    return rules;
  }
  LogicalResult transform() override;

private:
  LogicalResult parseShares(Location loc);
  LogicalResult parseArguments(Location loc);
  LogicalResult splitIn(func::FuncOp function);
  FailureOr<SmallVector<ValueDim>> getGivenSeeds(func::FuncOp function);
  std::vector<BatchCandidate> findCandidates(const SchedulableBlock &block,
                                             CostModel &model);
  FailureOr<std::optional<BatchChoice>>
  choose(const SchedulableBlock &block, ArrayRef<BatchCandidate> candidates);
  void splitCopy(const BatchChoice &choice, Block *block,
                 const IRMapping &mapping);
  void remark(Operation *op, StringRef name, StringRef reason);
  void remarkBatch(func::FuncOp function, const BatchPropagation &batch,
                   ArrayRef<int64_t> cut);
  BatchOptions getOptions(ArrayRef<int64_t> parts) const {
    return {static_cast<int64_t>(parts.size()), numerics == Numerics::Exact};
  }

  /// The values of the options: the parts as shares of the batch, of which the
  /// first ways are tried first, and numbers of arguments with their
  /// dimensions.
  SmallVector<SmallVector<int64_t>> shares;
  SmallVector<std::pair<unsigned, int64_t>> givenArguments;
};
} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult CommSplitBatchPass::parseShares(Location loc) {
  constexpr int64_t mostParts = 64;
  if (numParts != 0 && (numParts < 2 || numParts > mostParts))
    return emitError(loc) << "invalid value " << int64_t(numParts)
                          << " of option 'parts', expected 0 or a number from "
                             "2 to "
                          << mostParts;
  shares.clear();
  if (percentages.empty() && numParts != 0)
    shares.push_back(SmallVector<int64_t>(numParts, 1));
  else if (percentages.empty())
    // Halves show whether parts pay. The last part of a batch has the fewest
    // ops that hide its collectives, the first one the fewest that wait for it.
    shares = {{1, 1}, {1, 1, 1}, {3, 2}, {2, 3}, {1, 1, 1, 1}};
  if (percentages.empty())
    return success();
  SmallVector<int64_t> given(percentages.begin(), percentages.end());
  bool arePositive = llvm::all_of(given, [](int64_t n) { return n > 0; });
  int64_t sum = std::accumulate(given.begin(), given.end(), int64_t(0));
  if (given.size() < 2 || !arePositive || sum != 100) {
    InFlightDiagnostic diagnostic = emitError(loc) << "invalid value '";
    llvm::interleaveComma(given, diagnostic);
    return diagnostic << "' of option 'percentages', expected two or more "
                         "positive numbers whose sum is 100, such as 40,60";
  }
  shares.push_back(std::move(given));
  return success();
}

LogicalResult CommSplitBatchPass::parseArguments(Location loc) {
  givenArguments.clear();
  for (const std::string &text : batchArguments) {
    auto [number, dim] = StringRef(text).split(':');
    std::pair<unsigned, int64_t> argument;
    if (number.getAsInteger(10, argument.first) ||
        dim.getAsInteger(10, argument.second) || argument.second < 0)
      return emitError(loc)
             << "invalid value '" << text
             << "' in option 'batch', expected the number of an argument "
                "and a dimension of it, such as 0:0";
    givenArguments.push_back(argument);
  }
  return success();
}

/// The arguments of `function` that the option names. Emits an error and fails
/// if it has no such argument.
FailureOr<SmallVector<ValueDim>>
CommSplitBatchPass::getGivenSeeds(func::FuncOp function) {
  SmallVector<ValueDim> seeds;
  for (const auto &argument : givenArguments) {
    auto complain = [&](const Twine &expected) -> LogicalResult {
      return function.emitError() << "found " << argument.first << ":"
                                  << argument.second << " in option 'batch' of "
                                  << getArgument() << ", expected " << expected;
    };
    auto [number, dim] = argument;
    if (number >= function.getNumArguments())
      return complain("one of its " + Twine(function.getNumArguments()) +
                      " arguments");
    Value value = function.getArgument(number);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || dim >= type.getRank() || type.isDynamicDim(dim) ||
        type.getDimSize(dim) < getOptions(shares.front()).numParts)
      return complain("a dimension with a static size of at least " +
                      Twine(shares.front().size()));
    seeds.push_back({value, dim});
  }
  return seeds;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

static BatchCandidate makeCandidate(BatchPropagation batch, CostModel &model) {
  BatchCandidate candidate{std::move(batch)};
  for (const auto &entry : candidate.batch.getOps())
    if (getAsyncStart(entry.first)) {
      std::optional<ValueDim> dim =
          candidate.batch.getDim(entry.first->getOperand(0));
      candidate.starts.emplace_back(entry.first, dim ? dim->dim : 0);
      candidate.costNs = addNs(candidate.costNs, model.getCost(entry.first).ns);
    }
  return candidate;
}

/// What `first` splits, together with what has parts with it. Each round visits
/// the ops of `block`, and takes them from `visitsLeft`.
static BatchCandidate grow(const SchedulableBlock &block,
                           const BatchCandidate &first,
                           const BatchOptions &options, CostModel &model,
                           size_t &visitsLeft) {
  BatchCandidate best = first;
  SmallVector<ValueDim> seeds(first.batch.getSeeds());
  constexpr unsigned mostRounds = 4;
  for (unsigned round = 0; round != mostRounds; ++round) {
    size_t numSeeds = seeds.size();
    for (ValueDim further : findSeeds(best.batch.getSliced(), &best.batch))
      if (llvm::none_of(seeds, [&](const ValueDim &known) {
            return known.value == further.value;
          }))
        seeds.push_back(further);
    if (seeds.size() == numSeeds || visitsLeft < block.numOps)
      break;
    visitsLeft -= block.numOps;
    BatchCandidate more =
        makeCandidate(BatchPropagation(*block.block, seeds, options), model);
    if (more.costNs < best.costNs ||
        more.batch.getWholeOps().size() > best.batch.getWholeOps().size())
      break;
    best = std::move(more);
  }
  return best;
}

/// The ways to split collectives of `block`. Those come first that split the
/// longest collectives.
std::vector<BatchCandidate>
CommSplitBatchPass::findCandidates(const SchedulableBlock &block,
                                   CostModel &model) {
  auto isBefore = [](const BatchCandidate &a, const BatchCandidate &b) {
    return std::make_tuple(-a.costNs, a.batch.countJoins()) <
           std::make_tuple(-b.costNs, b.batch.countJoins());
  };
  BatchOptions options = getOptions(shares.front());
  SmallVector<AsyncStartOpInterface> starts(
      block.block->getOps<AsyncStartOpInterface>());
  llvm::DenseMap<Operation *, int64_t> costs;
  for (AsyncStartOpInterface start : starts)
    costs[start] = model.getCost(start).ns;
  llvm::sort(starts, [&](Operation *a, Operation *b) {
    return costs[a] != costs[b] ? costs[a] > costs[b] : a->isBeforeInBlock(b);
  });
  SmallVector<ValueDim> sources;
  for (AsyncStartOpInterface start : starts)
    for (const SplitAxis &axis : getSplitAxes(start))
      for (auto [operand, dim] :
           llvm::zip_equal(start->getOperands(), axis.operands))
        if (dim)
          sources.push_back({operand, *dim});
  std::vector<BatchCandidate> candidates;
  // Each candidate reads the whole block.
  constexpr size_t mostVisits = 400'000;
  size_t visitsLeft = mostVisits;
  for (const ValueDim &source : sources) {
    if (visitsLeft < block.numOps)
      break;
    bool isKnown = llvm::any_of(candidates, [&](const BatchCandidate &known) {
      std::optional<ValueDim> dim = known.batch.getDim(source.value);
      return dim && dim->dim == source.dim;
    });
    SmallVector<ValueDim> seeds = findSeeds(source);
    if (seeds.empty())
      continue;
    visitsLeft -= block.numOps;
    // Of those that split the same collectives alike the best one stays.
    auto add = [&](BatchCandidate found) {
      auto other = llvm::find_if(candidates, [&](const BatchCandidate &known) {
        return known.starts == found.starts;
      });
      bool hasOther = other != candidates.end();
      if (found.starts.empty() || (hasOther && !isBefore(found, *other)))
        return;
      if (hasOther)
        candidates.erase(other);
      candidates.insert(llvm::upper_bound(candidates, found, isBefore),
                        std::move(found));
    };
    BatchCandidate alone =
        makeCandidate(BatchPropagation(*block.block, seeds, options), model);
    if (!isKnown) {
      BatchCandidate grown = grow(block, alone, options, model, visitsLeft);
      if (grown.batch.getSeeds().size() != seeds.size())
        add(std::move(grown));
    }
    add(std::move(alone));
  }
  return candidates;
}

/// Splits `batch`, or the copy of its block.
static void splitInto(ArrayRef<int64_t> shares, const BatchPropagation &batch,
                      MLIRContext *context) {
  IRRewriter rewriter(context);
  splitBatch(rewriter, batch,
             divideBatch(batch.getSize(), batch.getUnit(), shares));
}

/// Splits the copy of `block` in `mapping`.
void CommSplitBatchPass::splitCopy(const BatchChoice &choice, Block *block,
                                   const IRMapping &mapping) {
  SmallVector<ValueDim> seeds(choice.first->batch.getSeeds());
  for (ValueDim &seed : seeds)
    seed.value = mapping.lookup(seed.value);
  BatchPropagation copy(*mapping.lookup(block), seeds,
                        getOptions(choice.second));
  splitInto(choice.second, copy, &getContext());
}

/// The way that makes `block` the shortest, if it is shorter by the least gain;
/// none if no way is.
FailureOr<std::optional<BatchChoice>>
CommSplitBatchPass::choose(const SchedulableBlock &block,
                           ArrayRef<BatchCandidate> candidates) {
  if (all)
    return std::optional(BatchChoice(&candidates.front(), shares.front()));
  RewriteJudge judge = getJudge(block.block, planResources);
  std::optional<BatchChoice> best;
  auto splitByChoice = [&](const BatchChoice &choice) {
    return [&](const IRMapping &mapping) {
      splitCopy(choice, block.block, mapping);
      return success();
    };
  };
  FailureOr<BlockPrediction> present = judge.predictPresent();
  if (failed(present))
    return failure();
  int64_t wantedNs = lessGain(present->makespanNs, leastGain);
  // No split makes the ops themselves shorter.
  if (present->computeNs >= wantedNs)
    return best;
  // The fewer, the longer each takes.
  constexpr size_t triedOps = 4'000, fewestTrials = 2, mostTrials = 16;
  size_t maxTrials = std::clamp(triedOps / getTrialOps(block.numOps),
                                fewestTrials, mostTrials);
  SmallVector<std::pair<BlockPrediction, const BatchCandidate *>> tried;
  for (const BatchCandidate &candidate : candidates.take_front(maxTrials)) {
    BatchChoice choice(&candidate, shares.front());
    FailureOr<BlockPrediction> found =
        judge.predict(splitByChoice(choice), JudgeEffort::Trial, wantedNs);
    if (failed(found))
      return failure();
    if (found->makespanNs < wantedNs)
      tried.emplace_back(*found, &candidate);
  }
  if (tried.empty())
    return best;
  // Of equal times the first candidate comes first.
  llvm::sort(tried, [](const auto &a, const auto &b) {
    return std::pair(a.first.makespanNs, a.second) <
           std::pair(b.first.makespanNs, b.second);
  });
  BlockPrediction shortest = tried.front().first;
  best = BatchChoice(tried.front().second, shares.front());
  // Other parts may be best for the second best way. Of a long block it is
  // three parts alone that are tried.
  bool isLong = maxTrials == fewestTrials;
  size_t mostWays = isLong ? 1 : 2, mostCuts = isLong ? 1 : maxTrials;
  for (const auto &way : ArrayRef(tried).take_front(mostWays))
    for (ArrayRef<int64_t> cut :
         ArrayRef(shares).drop_front().take_front(mostCuts)) {
      const BatchPropagation &batch = way.second->batch;
      if (batch.getSize() / batch.getUnit() < getOptions(cut).numParts)
        continue;
      BatchChoice choice(way.second, cut);
      // More parts have to pay for themselves.
      int64_t wanted = lessGain(shortest.makespanNs, leastGain);
      FailureOr<BlockPrediction> found =
          judge.predict(splitByChoice(choice), JudgeEffort::Trial, wanted);
      if (failed(found))
        return failure();
      if (found->makespanNs >= wanted)
        continue;
      shortest = *found;
      best = choice;
    }
  FailureOr<bool> pays =
      judge.finallyPays(splitByChoice(*best), shortest.makespanNs, leastGain);
  if (failed(pays))
    return failure();
  if (!*pays)
    return std::optional<BatchChoice>();
  judge.expect(shortest);
  return best;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void CommSplitBatchPass::remark(Operation *op, StringRef name,
                                StringRef reason) {
  emitPassedRemark(op, getArgument(), name, [&](auto &remark) {
    remark << remark::metric("Reason", reason);
  });
}

void CommSplitBatchPass::remarkBatch(func::FuncOp function,
                                     const BatchPropagation &batch,
                                     ArrayRef<int64_t> cut) {
  emitPassedRemark(function, getArgument(), "batch", [&](auto &remark) {
    std::string text, sizes;
    for (const ValueDim &seed : batch.getSeeds())
      if (auto argument = dyn_cast<BlockArgument>(seed.value))
        text += (text.empty() ? "" : ",") +
                std::to_string(argument.getArgNumber()) + ":" +
                std::to_string(seed.dim);
    for (const Chunk &part : divideBatch(batch.getSize(), batch.getUnit(), cut))
      sizes += (sizes.empty() ? "" : ",") + std::to_string(part.size);
    remark << remark::metric("Arguments", text)
           << remark::metric("Size", batch.getSize())
           << remark::metric("Parts", sizes);
  });
}

LogicalResult CommSplitBatchPass::splitIn(func::FuncOp function) {
  FailureOr<CostOptions> costs = resolveCosts(function);
  if (failed(costs))
    return failure();
  CostModel model(*costs);
  int64_t numSplit = 0;
  for (const SchedulableBlock &block : findSchedulableBlocks(function)) {
    if (!areReachedTogether(*block.block))
      continue;
    std::vector<BatchCandidate> candidates;
    if (givenArguments.empty()) {
      candidates = findCandidates(block, model);
    } else if (block.block == &function.getBody().front()) {
      FailureOr<SmallVector<ValueDim>> seeds = getGivenSeeds(function);
      if (failed(seeds))
        return failure();
      candidates.push_back(makeCandidate(
          BatchPropagation(*block.block, *seeds, getOptions(shares.front())),
          model));
    }
    if (candidates.empty())
      continue;
    for (const WholeOp &whole : candidates.front().batch.getWholeOps())
      remark(whole.op, "whole-op",
             ("'" + whole.op->getName().getStringRef() + "' " + whole.reason)
                 .str());
    if (candidates.front().starts.empty()) {
      remark(function, "whole-block", "no collective has a part of the batch");
      continue;
    }
    FailureOr<std::optional<BatchChoice>> chosen = choose(block, candidates);
    if (failed(chosen))
      return failure();
    if (!*chosen) {
      remark(function, "whole-block", "the block becomes no shorter");
      continue;
    }
    const BatchCandidate *candidate = (*chosen)->first;
    ArrayRef<int64_t> cut = (*chosen)->second;
    BatchPropagation batch(*block.block, candidate->batch.getSeeds(),
                           getOptions(cut));
    numSplit += static_cast<int64_t>(makeCandidate(batch, model).starts.size());
    remarkBatch(function, batch, cut);
    splitInto(cut, batch, &getContext());
  }
  emitCountRemark(function, getArgument(), "split-collectives", numSplit);
  return success();
}

LogicalResult CommSplitBatchPass::transform() {
  return rewriteFunctions(
      [&](func::FuncOp function) { return splitIn(function); });
}
