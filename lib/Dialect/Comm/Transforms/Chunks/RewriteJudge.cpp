//===- RewriteJudge.cpp - What a rewrite of a block is worth --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RewriteJudge.h"
#include "Dialect/Comm/Transforms/Schedule/SchedulingPass.h"

#include "braid/Schedule/Search/SearchSchedule.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Predictions
//===----------------------------------------------------------------------===//

RewriteJudge::RewriteJudge(ModuleOp module, func::FuncOp function, Block *block,
                           RankUniformity &uniformity,
                           const CostSettings &settings, bool plansResources)
    : module(module), function(function), block(block), uniformity(uniformity),
      settings(settings), plansResources(plansResources) {}

/// The work of the compute stream of `problem`, where the ops of `families`
/// take their shortest option.
static int64_t getLeastCompute(const SchedulingProblem &problem,
                               ArrayRef<ResourceFamily> families) {
  const ScheduleGraph &graph = problem.graph;
  int64_t total = 0;
  for (unsigned node = 0, end = graph.size(); node != end; ++node)
    if (graph[node].kind == NodeKind::Compute)
      total += graph[node].cost;
  for (const ResourceFamily &family : families) {
    int64_t least = family.options.front().costNs;
    for (const ResourceOption &option : family.options)
      least = std::min(least, option.costNs);
    for (unsigned node : family.ops)
      if (graph[node].kind == NodeKind::Compute)
        total += least - graph[node].cost;
  }
  return total;
}

FailureOr<BlockPrediction> RewriteJudge::predict(Rewrite rewrite) {
  // Groups are looked up in the symbol table around the function.
  IRMapping mapping;
  OpBuilder builder(function);
  auto copy = cast<func::FuncOp>(function->clone(mapping));
  uniformity.addCopy(copy, function);
  builder.insert(copy);
  llvm::scope_exit erase([&]() { copy.erase(); });
  if (failed(rewrite(mapping)))
    return BlockPrediction{std::numeric_limits<int64_t>::max(), 0};
  FailureOr<CostOptions> costs = resolvePassCosts(module, copy, settings);
  if (failed(costs))
    return failure();
  CostModel model(*costs);
  CallEffects calls = getCallEffects(module);
  FailureOr<BlockProblem> problem =
      buildSchedulingProblem(*mapping.lookup(block), model, calls, uniformity);
  if (failed(problem))
    return failure();
  int64_t leastCompute = getLeastCompute(problem->problem, {});
  // The schedule itself comes later.
  SearchOptions search;
  search.maxSteps = 300'000;
  if (plansResources) {
    BlockPlanOptions planOptions;
    planOptions.orders = PlannedOrders::Search;
    planOptions.playedNodes = 100'000;
    planOptions.search = search;
    planOptions.search.maxSteps = 20'000 + 5 * problem->problem.graph.size();
    // Plans begin with what the passes give.
    planOptions.search.usePasses = false;
    if (std::optional<BlockPlan> found =
            planBlock(*problem, *costs, planOptions)) {
      leastCompute =
          getLeastCompute(problem->problem, found->families.families);
      // Starts may have other lanes now, which the search may use.
      applyPlan(*problem, *found, [](Operation *) {});
      applyOrder(*problem, found->order);
      CostModel planned(*costs);
      problem = buildSchedulingProblem(*mapping.lookup(block), planned, calls,
                                       uniformity);
      if (failed(problem))
        return failure();
      search = planOptions.search;
    }
  }
  return BlockPrediction{searchSchedule(problem->problem, search).makespanNs,
                         leastCompute};
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

void CollectiveKinds::add(CollectiveOpInterface start, StringRef key,
                          double bits, ArrayRef<RewriteWay> ways,
                          HardestToHide hardestToHide) {
  size_t place = places.try_emplace(key, kinds.size()).first->second;
  if (place == kinds.size()) {
    AlikeCollectives &alike = kinds.emplace_back().alike;
    alike.ways.assign(ways.begin(), ways.end());
    alike.hardestToHide = hardestToHide;
  }
  kinds[place].alike.starts.push_back(start);
  kinds[place].bits += bits;
}

SmallVector<AlikeCollectives> CollectiveKinds::take() {
  SmallVector<size_t> order =
      llvm::to_vector(llvm::seq<size_t>(0, kinds.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-kinds[a].bits, a) < std::pair(-kinds[b].bits, b);
  });
  return llvm::map_to_vector(
      order, [&](size_t place) { return std::move(kinds[place].alike); });
}

LogicalResult braid::comm::verifyMinGain(Location loc, double minGainPercent) {
  if (minGainPercent >= 0 && minGainPercent <= 100)
    return success();
  return emitError(loc) << "invalid value " << minGainPercent
                        << " of option 'min-gain', expected a number from 0 to "
                           "100";
}

size_t braid::comm::getMostTrials(size_t numOps) {
  constexpr size_t triedOps = 1'000, mostTrials = 20, fewestTrials = 2;
  return std::clamp(triedOps / std::max<size_t>(1, numOps), fewestTrials,
                    mostTrials);
}

namespace {
/// A search for choices.
class RewriteChooser {
public:
  using Predict =
      llvm::function_ref<FailureOr<BlockPrediction>(ArrayRef<RewriteChoice>)>;

  RewriteChooser(ArrayRef<RewriteChoice> fixed, const ChoiceOptions &options,
                 Predict predict)
      : options(options), predict(predict), chosen(fixed) {}

  LogicalResult begin();
  LogicalResult chooseForKind(const AlikeCollectives &alike);
  LogicalResult chooseForEach(const AlikeCollectives &alike);
  SmallVector<RewriteChoice> take() { return std::move(chosen); }

private:
  /// The choices with `way` for `starts`.
  SmallVector<RewriteChoice> replace(ArrayRef<CollectiveOpInterface> starts,
                                     const RewriteWay &way) const;
  /// Keeps `trial` in `best` if it is worth it. Without trials left, does
  /// nothing.
  LogicalResult consider(SmallVector<RewriteChoice> trial,
                         SmallVector<RewriteChoice> &best);

  const ChoiceOptions &options;
  Predict predict;
  SmallVector<RewriteChoice> chosen;
  int64_t shortest = 0, least = 0;
  size_t numTrials = 0;
};
} // namespace

LogicalResult RewriteChooser::begin() {
  FailureOr<BlockPrediction> found = predict(chosen);
  if (failed(found))
    return failure();
  shortest = found->makespanNs;
  least = found->computeNs;
  ++numTrials;
  return success();
}

SmallVector<RewriteChoice>
RewriteChooser::replace(ArrayRef<CollectiveOpInterface> starts,
                        const RewriteWay &way) const {
  SmallVector<RewriteChoice> choices;
  for (const RewriteChoice &choice : chosen)
    if (!llvm::is_contained(starts, choice.first))
      choices.push_back(choice);
  if (way.size() > 1)
    for (CollectiveOpInterface start : starts)
      choices.emplace_back(start, way);
  return choices;
}

LogicalResult RewriteChooser::consider(SmallVector<RewriteChoice> trial,
                                       SmallVector<RewriteChoice> &best) {
  // More ops have to pay for themselves.
  double wanted = shortest - shortest * options.minGainPercent / 100.0;
  if (numTrials >= options.maxTrials || least >= wanted)
    return success();
  ++numTrials;
  FailureOr<BlockPrediction> found = predict(trial);
  if (failed(found))
    return failure();
  if (found->makespanNs >= wanted)
    return success();
  shortest = found->makespanNs;
  best = std::move(trial);
  return success();
}

LogicalResult RewriteChooser::chooseForKind(const AlikeCollectives &alike) {
  SmallVector<RewriteChoice> best = chosen;
  // One alone comes first: the fewest ops that may do.
  ArrayRef<CollectiveOpInterface> one(alike.starts);
  one = alike.hardestToHide == HardestToHide::First ? one.take_front()
                                                    : one.take_back();
  for (const RewriteWay &way : alike.ways)
    if (failed(consider(replace(one, way), best)))
      return failure();
  if (alike.starts.size() > 1)
    for (const RewriteWay &way : alike.ways)
      if (llvm::all_equal(way) &&
          failed(consider(replace(alike.starts, way), best)))
        return failure();
  chosen = std::move(best);
  return success();
}

LogicalResult RewriteChooser::chooseForEach(const AlikeCollectives &alike) {
  if (alike.starts.size() < 2)
    return success();
  const RewriteWay whole = {1};
  SmallVector<RewriteWay> ways = {whole};
  ways.append(alike.ways);
  SmallVector<CollectiveOpInterface> starts = alike.starts;
  if (alike.hardestToHide == HardestToHide::Last)
    std::reverse(starts.begin(), starts.end());
  for (CollectiveOpInterface start : starts) {
    SmallVector<RewriteChoice> best = chosen;
    const auto *present =
        llvm::find_if(chosen, [&](const RewriteChoice &choice) {
          return choice.first == start;
        });
    RewriteWay presentWay = present == chosen.end() ? whole : present->second;
    for (const RewriteWay &way : ways)
      if (way != presentWay && failed(consider(replace(start, way), best)))
        return failure();
    chosen = std::move(best);
  }
  return success();
}

FailureOr<SmallVector<RewriteChoice>> braid::comm::chooseRewrites(
    ArrayRef<AlikeCollectives> kinds, ArrayRef<RewriteChoice> fixed,
    const ChoiceOptions &options,
    llvm::function_ref<FailureOr<BlockPrediction>(ArrayRef<RewriteChoice>)>
        predict) {
  RewriteChooser chooser(fixed, options, predict);
  if (kinds.empty())
    return chooser.take();
  if (failed(chooser.begin()))
    return failure();
  for (const AlikeCollectives &alike : kinds)
    if (failed(chooser.chooseForKind(alike)))
      return failure();
  for (const AlikeCollectives &alike : kinds)
    if (failed(chooser.chooseForEach(alike)))
      return failure();
  return chooser.take();
}
