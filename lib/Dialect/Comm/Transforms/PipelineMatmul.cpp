//===- PipelineMatmul.cpp - The comm-pipeline-matmul pass -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkCollective.h"
#include "SchedulingPass.h"

#include "braid/Analysis/RankUniformity.h"
#include "braid/Analysis/StructuralPass.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/ScheduleIR/ProblemBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMPIPELINEMATMULPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The steps of a search that tells what a number of chunks is worth. The
/// schedule itself comes later.
static constexpr uint64_t kSteps = 300'000;

/// The most chunks of a collective.
static constexpr int64_t kMostChunks = 1024;

/// The most kinds of collectives in a block that are tried, those first whose
/// operands have the most bytes.
static constexpr size_t kMostKinds = 8;

namespace {
/// Collectives of one block that differ in nothing that costs depend on.
using Alike = SmallVector<CollectiveOpInterface>;

/// How often a collective is divided.
using Choice = std::pair<CollectiveOpInterface, int64_t>;

struct CommPipelineMatmulPass
    : StructuralPass<PassWithCosts<
          comm::impl::CommPipelineMatmulPassBase<CommPipelineMatmulPass>>> {
  using StructuralPass::StructuralPass;

  CommunicationRules getRules() const override {
    CommunicationRules rules;
    rules.mayDivide = true;
    return rules;
  }
  LogicalResult transform() override;

private:
  LogicalResult checkOptions();
  LogicalResult pipeline(func::FuncOp function, RankUniformity &uniformity);
  FailureOr<int64_t> predict(func::FuncOp function, Block *block,
                             RankUniformity &uniformity,
                             ArrayRef<Choice> choices);
  FailureOr<SmallVector<Choice>> choose(func::FuncOp function, Block *block,
                                        RankUniformity &uniformity);
};
} // namespace

/// The bits of an element, which may be complex.
static double getElementBits(ShapedType type) {
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2.0 * complex.getElementType().getIntOrFloatBitWidth();
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64.0;
}

/// The collectives of `block` that can be chunked, by kind; kinds with more
/// bytes come first.
static SmallVector<Alike> groupAlike(Block *block) {
  struct Kind {
    Alike starts;
    double bits = 0;
  };
  SmallVector<Kind> kinds;
  llvm::StringMap<size_t> places;
  for (auto start : block->getOps<CollectiveOpInterface>()) {
    std::optional<ChunkableCollective> found = matchChunkableCollective(start);
    if (!found)
      continue;
    std::string key;
    llvm::raw_string_ostream text(key);
    text << start->getName() << start.getGroupAttr() << getLaneName(start)
         << start->getResultTypes() << found->producer->getName();
    for (Type type : found->producer->getOperandTypes())
      text << type << ',';
    size_t place = places.try_emplace(key, kinds.size()).first->second;
    if (place == kinds.size())
      kinds.emplace_back();
    kinds[place].starts.push_back(start);
    auto type = cast<ShapedType>(found->producer->getResult(0).getType());
    double bits = getElementBits(type);
    for (int64_t size : type.getShape())
      bits *= static_cast<double>(size);
    kinds[place].bits += bits;
  }
  SmallVector<size_t> order =
      llvm::to_vector(llvm::seq<size_t>(0, kinds.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-kinds[a].bits, a) < std::pair(-kinds[b].bits, b);
  });
  return llvm::map_to_vector(order,
                             [&](size_t place) { return kinds[place].starts; });
}

static LogicalResult divide(ArrayRef<Choice> choices,
                            const IRMapping *mapping) {
  for (auto [start, count] : choices) {
    Operation *op =
        mapping ? mapping->lookup(start.getOperation()) : start.getOperation();
    std::optional<ChunkableCollective> found =
        matchChunkableCollective(cast<CollectiveOpInterface>(op));
    if (!found || found->size < count)
      continue;
    IRRewriter rewriter(op);
    if (failed(chunkCollective(rewriter, *found, count)))
      return failure();
  }
  return success();
}

/// The makespan of the best order that a short search finds for `block` once
/// `choices` are made.
FailureOr<int64_t> CommPipelineMatmulPass::predict(func::FuncOp function,
                                                   Block *block,
                                                   RankUniformity &uniformity,
                                                   ArrayRef<Choice> choices) {
  // Groups are looked up in the symbol table around the function.
  IRMapping mapping;
  OpBuilder builder(function);
  auto copy = cast<func::FuncOp>(function->clone(mapping));
  uniformity.addCopy(copy, function);
  builder.insert(copy);
  llvm::scope_exit erase([&]() { copy.erase(); });
  if (failed(divide(choices, &mapping)))
    return std::numeric_limits<int64_t>::max();
  FailureOr<CostOptions> costs =
      resolvePassCosts(getOperation(), copy, getCostSettings());
  if (failed(costs))
    return failure();
  CostModel model(*costs);
  CallEffects calls = getCallEffects(getOperation());
  FailureOr<BlockProblem> problem =
      buildSchedulingProblem(*mapping.lookup(block), model, calls, uniformity);
  if (failed(problem))
    return failure();
  SearchOptions options;
  options.maxSteps = kSteps;
  return searchSchedule(problem->problem, options).makespanNs;
}

/// Decides for each kind of collective in turn: all of them, or only the last,
/// which no later work can hide, in 2, 4, ... chunks.
FailureOr<SmallVector<Choice>>
CommPipelineMatmulPass::choose(func::FuncOp function, Block *block,
                               RankUniformity &uniformity) {
  SmallVector<Choice> chosen;
  SmallVector<Alike> kinds = groupAlike(block);
  if (chunks != 0) {
    for (const Alike &alike : kinds)
      for (CollectiveOpInterface start : alike)
        chosen.emplace_back(start, chunks);
    return chosen;
  }
  if (kinds.empty())
    return chosen;
  FailureOr<int64_t> best = predict(function, block, uniformity, {});
  if (failed(best))
    return failure();
  for (const Alike &alike : ArrayRef(kinds).take_front(kMostKinds)) {
    SmallVector<Choice> bestOfKind = chosen;
    // Chunks of the last alone come first: the fewest that may do.
    SmallVector<size_t, 2> numbers = {1};
    if (alike.size() > 1)
      numbers.push_back(alike.size());
    for (size_t numDivided : numbers)
      for (int64_t count = 2; count <= maxChunks; count *= 2) {
        SmallVector<Choice> trial = chosen;
        for (CollectiveOpInterface start :
             ArrayRef(alike).take_back(numDivided))
          trial.emplace_back(start, count);
        FailureOr<int64_t> makespan =
            predict(function, block, uniformity, trial);
        if (failed(makespan))
          return failure();
        // More ops have to pay for themselves.
        if (*makespan >= *best - *best * minGainPercent / 100.0)
          continue;
        best = *makespan;
        bestOfKind = std::move(trial);
      }
    chosen = std::move(bestOfKind);
  }
  return chosen;
}

LogicalResult CommPipelineMatmulPass::pipeline(func::FuncOp function,
                                               RankUniformity &uniformity) {
  SmallVector<Choice> chosen;
  for (const SchedulableBlock &block : findSchedulableBlocks(function)) {
    FailureOr<SmallVector<Choice>> ofBlock =
        choose(function, block, uniformity);
    if (failed(ofBlock))
      return failure();
    chosen.append(*ofBlock);
  }
  numChunked += chosen.size();
  if (succeeded(divide(chosen, nullptr)))
    return success();
  return function.emitError("cannot divide the operand of a collective");
}

LogicalResult CommPipelineMatmulPass::checkOptions() {
  auto fail = [&](StringRef name, auto value, const Twine &expected) {
    return emitError(getOperation().getLoc())
           << "invalid value " << value << " of option '" << name
           << "', expected " << expected;
  };
  if (chunks != 0 && (chunks < 2 || chunks > kMostChunks))
    return fail("chunks", int64_t(chunks),
                "0 or a number from 2 to " + Twine(kMostChunks));
  if (maxChunks < 2 || maxChunks > kMostChunks)
    return fail("max-chunks", int64_t(maxChunks),
                "a number from 2 to " + Twine(kMostChunks));
  if (!(minGainPercent >= 0 && minGainPercent <= 100))
    return fail("min-gain", double(minGainPercent), "a number from 0 to 100");
  return success();
}

LogicalResult CommPipelineMatmulPass::transform() {
  if (failed(checkOptions()))
    return failure();
  RankUniformity uniformity(getOperation());
  for (func::FuncOp function :
       getHostFunctionsCalleesFirst(getOperation(), getAnalysisManager()))
    if (!function.isExternal() && failed(pipeline(function, uniformity)))
      return failure();
  return success();
}
