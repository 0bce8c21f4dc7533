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
#include "braid/Schedule/Simulation/LoopSimulator.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Predictions
//===----------------------------------------------------------------------===//

RewriteJudge::RewriteJudge(ModuleOp module, Block *block,
                           RankUniformity &uniformity,
                           const CostSettings &settings, bool plansResources,
                           KnownPredictions &known)
    : module(module), function(getFunctionOf(block)), block(block),
      uniformity(uniformity), settings(settings),
      plansResources(plansResources), known(known) {}

std::map<KnownPredictions::Key, BlockPrediction> &
KnownPredictions::getOf(ModuleOp module) {
  OperationFingerPrint present(module);
  if (fingerPrint != present)
    predictions.clear();
  fingerPrint = present;
  return predictions;
}

void KnownPredictions::expect(Key key, const BlockPrediction &prediction) {
  expected.emplace_back(std::move(key), prediction);
}

void KnownPredictions::endPass(ModuleOp module) {
  // A block that is rewritten later may have changed the first one.
  if (expected.size() == 1)
    getOf(module).insert(std::move(expected.front()));
  expected.clear();
}

/// The work of the compute stream of `problem`, where the ops of `opClasses`
/// take their shortest option.
static int64_t getLeastCompute(const SchedulingProblem &problem,
                               ArrayRef<OpClass> opClasses) {
  const ScheduleGraph &graph = problem.graph;
  SmallVector<int64_t> leastOf;
  for (unsigned node = 0, end = graph.size(); node != end; ++node)
    leastOf.push_back(graph[node].cost);
  for (const OpClass &opClass : opClasses) {
    int64_t least = opClass.options.front().costNs;
    for (const ResourceOption &option : opClass.options)
      least = std::min(least, option.costNs);
    for (unsigned node : opClass.ops)
      leastOf[node] = least;
  }
  int64_t total = 0;
  for (auto [node, least] : llvm::enumerate(leastOf))
    if (graph[node].kind == NodeKind::Compute)
      total = addNs(total, least);
  return total;
}

/// The time of the collectives of `problem`, each alone with its launch.
static int64_t getCollectiveTime(const SchedulingProblem &problem) {
  int64_t total = 0;
  for (unsigned start : problem.graph.starts())
    total = addNs(
        total, addNs(problem.graph[start].cost, problem.machine.laneLaunchNs));
  return total;
}

/// Blocks of more ops are long: a final search takes about as long as five
/// trials, and bounds longer than the steps that they save.
static constexpr size_t longBlock = 2'000;

/// What a rewrite of a long block gains where trials decide alone: twice what
/// final searches find at most for such blocks as they are
/// (transformer_steps.py with 60 layers).
static constexpr double clearGain = 0.08;

/// A search that many trials can afford.
static SearchOptions getTrialSearch() {
  SearchOptions search;
  search.maxSteps = 300'000;
  return search;
}

/// A search as that of comm-schedule for one block.
static SearchOptions getFinalSearch(const SchedulingProblem &problem) {
  SearchOptions search;
  constexpr uint64_t fewestSteps = 5'000'000;
  search.maxSteps = std::max(fewestSteps, getStepLimit(problem, search.effort));
  search.minGain = getDefaultMinGain(problem);
  return search;
}

static BlockPlanOptions getTrialPlanOptions(const SchedulingProblem &problem) {
  BlockPlanOptions options;
  options.orders = PlannedOrders::Search;
  options.minGain = getFinalPlanOptions(problem).minGain;
  options.simulatedNodes = 100'000;
  options.search.maxSteps = 20'000 + 5 * problem.graph.size();
  // Plans begin with what the passes give.
  options.search.usePasses = false;
  return options;
}

/// What the block of `problem` takes in `order`.
static BlockPrediction simulatePrediction(const SchedulingProblem &problem,
                                          ArrayRef<unsigned> order,
                                          int64_t leastCompute) {
  LoopSimulation simulation = simulateLoopOrder(problem, order);
  return {simulation.periodNs, getCollectiveTime(problem),
          simulation.iteration.peakBytes, leastCompute};
}

/// True if what an op costs depends on its neighbours.
static bool dependsOnOrder(const ScheduleGraph &graph) {
  return llvm::any_of(graph.starts(), [&](unsigned start) {
    return graph[start].pointToPoint;
  });
}

FailureOr<BlockPrediction>
RewriteJudge::predict(Rewrite rewrite, JudgeEffort effort, int64_t wantedNs) {
  // Groups are looked up in the symbol table around the function.
  IRMapping mapping;
  OpBuilder builder(function);
  auto copy = cast<func::FuncOp>(function->clone(mapping));
  uniformity.addCopy(copy, function);
  builder.insert(copy);
  llvm::scope_exit erase([&]() { copy.erase(); });
  if (failed(rewrite(mapping)))
    return BlockPrediction{anyTimeNs};
  FailureOr<CostOptions> costs = resolvePassCosts(module, copy, settings);
  if (failed(costs))
    return failure();
  std::optional<CostModel> model(*costs);
  CallEffects calls = getCallEffects(module);
  FailureOr<BlockProblem> problem =
      buildSchedulingProblem(*mapping.lookup(block), *model, calls, uniformity);
  if (failed(problem))
    return failure();
  problem->problem.maxMemory = maxMemory;
  OpClasses planned;
  if (plansResources)
    planned = findPlannedOps(*problem, *costs);
  int64_t leastCompute = getLeastCompute(problem->problem, planned.classes);
  if (leastCompute >= wantedNs)
    return BlockPrediction{leastCompute, 0, 0, leastCompute};
  // The schedule itself comes later.
  bool isFinal = effort == JudgeEffort::Final;
  SearchOptions search =
      isFinal ? getFinalSearch(problem->problem) : getTrialSearch();
  if (problem->problem.graph.size() > longBlock)
    search.boundEffort = LowerBoundEffort::Quick;
  if (plansResources) {
    BlockPlanOptions planOptions = isFinal
                                       ? getFinalPlanOptions(problem->problem)
                                       : getTrialPlanOptions(problem->problem);
    if (std::optional<BlockPlan> found =
            planBlock(*problem, std::move(planned), planOptions)) {
      // The order of the plan says enough, unless its search knew less.
      if (!isFinal && !maxMemory && !dependsOnOrder(problem->problem.graph)) {
        applyOptions(problem->problem, found->opClasses.classes,
                     found->options);
        return simulatePrediction(problem->problem, found->order, leastCompute);
      }
      // Starts may have other lanes now, which the search may use.
      applyPlan(*problem, *found, [](Operation *) {});
      applyOrder(*problem, found->order);
      model.emplace(*costs);
      problem = buildSchedulingProblem(*mapping.lookup(block), *model, calls,
                                       uniformity);
      if (failed(problem))
        return failure();
      problem->problem.maxMemory = maxMemory;
      if (!isFinal)
        search = planOptions.search;
    }
  }
  SearchResult found = searchSchedule(problem->problem, search);
  if (found.excess)
    return BlockPrediction{anyTimeNs};
  // What neighbours cost together depends on the order.
  if (std::optional<SchedulingProblem> repriced =
          repriceOrder(*problem, found.order, *model))
    problem->problem = std::move(*repriced);
  return simulatePrediction(problem->problem, found.order, leastCompute);
}

KnownPredictions::Key RewriteJudge::getKey(JudgeEffort effort) const {
  int model = settings.collectiveModel
                  ? static_cast<int>(*settings.collectiveModel)
                  : -1;
  return {block,
          effort,
          plansResources,
          maxMemory,
          settings.machine,
          model,
          settings.linkLatency,
          settings.linkBandwidth,
          settings.ranks,
          settings.ranksPerNode,
          settings.dynamicSize,
          settings.profile,
          settings.cudaGraph};
}

void RewriteJudge::expect(const BlockPrediction &trial) {
  known.expect(getKey(JudgeEffort::Trial), trial);
}

FailureOr<BlockPrediction> RewriteJudge::predictPresent(JudgeEffort effort) {
  KnownPredictions::Key key = getKey(effort);
  auto &predictions = known.getOf(module);
  if (auto found = predictions.find(key); found != predictions.end())
    return found->second;
  FailureOr<BlockPrediction> present =
      predict([](const IRMapping &) { return success(); }, effort);
  if (succeeded(present))
    predictions.emplace(std::move(key), *present);
  return present;
}

FailureOr<bool> RewriteJudge::finallyPays(Rewrite rewrite, int64_t trialNs,
                                          double minGain) {
  if (block->getOperations().size() > longBlock) {
    FailureOr<BlockPrediction> trial = predictPresent();
    if (failed(trial))
      return failure();
    if (trialNs <= lessGain(trial->makespanNs, clearGain))
      return true;
  }
  FailureOr<BlockPrediction> present = predictPresent(JudgeEffort::Final);
  if (failed(present))
    return failure();
  auto pays = [&](int64_t ns) {
    return static_cast<double>(ns) <=
           static_cast<double>(present->makespanNs) * (1 - minGain);
  };
  // A longer search finds nothing longer.
  if (pays(trialNs))
    return true;
  FailureOr<BlockPrediction> changed = predict(rewrite, JudgeEffort::Final);
  if (failed(changed))
    return failure();
  return pays(changed->makespanNs);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

CollectiveOpInterface braid::comm::getStart(const RewriteChoice &choice,
                                            const IRMapping *mapping) {
  CollectiveOpInterface start = choice.first;
  return mapping ? cast<CollectiveOpInterface>(
                       mapping->lookup(start.getOperation()))
                 : start;
}

FailureOr<double> braid::comm::parseRewriteGain(Location loc, StringRef text) {
  FailureOr<std::optional<double>> given = parseMinGain(loc, text);
  if (failed(given))
    return failure();
  constexpr double automatic = 0.005;
  return given->value_or(automatic);
}

bool braid::comm::hasSettings(Operation *start) {
  return llvm::any_of(ArrayRef<StringRef>{CommDialect::kLaneAttrName,
                                          CommDialect::kCtasAttrName,
                                          CommDialect::kTransportAttrName,
                                          CommDialect::kOrderAttrName,
                                          CommDialect::kChunksAttrName},
                      [&](StringRef name) { return start->hasAttr(name); });
}

SmallVector<WaitOp, 1>
braid::comm::findRewritableWaits(CollectiveOpInterface op) {
  auto start = cast<AsyncStartOpInterface>(op.getOperation());
  if (start.isBufferForm() || op.getScale() || hasSettings(op) ||
      op->hasAttr(CommDialect::kCostAttrName))
    return {};
  SmallVector<WaitOp, 1> waits;
  for (auto [token, source] :
       llvm::zip_equal(start.getTokens(), start.getSources())) {
    auto wait =
        token.hasOneUse() ? dyn_cast<WaitOp>(*token.user_begin()) : WaitOp();
    if (!wait || wait->getNumOperands() != 1 ||
        wait->getBlock() != op->getBlock() ||
        !cast<RankedTensorType>(source.getType()).hasStaticShape())
      return {};
    waits.push_back(wait);
  }
  return waits;
}

void braid::comm::labelPart(Operation *part, Operation *start,
                            StringRef suffix) {
  if (StringRef label = getLabel(start); !label.empty())
    part->setAttr(CommDialect::kLabelAttrName,
                  StringAttr::get(part->getContext(), label + "." + suffix));
}

size_t braid::comm::getMostTrials(size_t numOps) {
  constexpr size_t triedOps = 1'000, fewestTrials = 2;
  return std::max(triedOps / std::max<size_t>(1, numOps), fewestTrials);
}

/// The kinds of `starts`, those with the most elements first. Each has the
/// collective first that other work can hide least: a gather that nothing comes
/// before, or a collective of results that nothing comes behind.
static SmallVector<SmallVector<CollectiveOpInterface>>
groupByKind(ArrayRef<CollectiveOpInterface> starts) {
  using Kind = std::tuple<OperationName, Attribute, Type>;
  llvm::MapVector<Kind, SmallVector<CollectiveOpInterface>> kinds;
  for (CollectiveOpInterface start : starts)
    kinds[{start->getName(), start.getGroupAttr(),
           start->getResultTypes().front()}]
        .push_back(start);
  // The elements in flight, and the number of the kind.
  SmallVector<std::pair<double, size_t>> sizes;
  for (auto &[kind, alike] : kinds) {
    if (!isa<AllGatherOp>(alike.front().getOperation()))
      std::reverse(alike.begin(), alike.end());
    auto start = cast<AsyncStartOpInterface>(alike.front().getOperation());
    auto type = cast<ShapedType>(start.getInFlightType(0));
    sizes.emplace_back(-static_cast<double>(type.getNumElements()) *
                           static_cast<double>(alike.size()),
                       sizes.size());
  }
  llvm::sort(sizes);
  return llvm::map_to_vector(sizes, [&](const auto &size) {
    return std::move(kinds.begin()[size.second].second);
  });
}

FailureOr<SmallVector<RewriteChoice>> braid::comm::chooseRewrites(
    ArrayRef<CollectiveOpInterface> starts, ArrayRef<RewriteChoice> fixed,
    const ChoiceOptions &options, RewriteJudge &judge, RewriteParts rewrite) {
  SmallVector<RewriteChoice> chosen(fixed);
  if (starts.empty())
    return chosen;
  auto predict = [&](ArrayRef<RewriteChoice> choices, int64_t wantedNs) {
    return judge.predict(
        [&](const IRMapping &mapping) -> LogicalResult {
          return rewrite(choices, &mapping);
        },
        JudgeEffort::Trial, wantedNs);
  };
  FailureOr<BlockPrediction> present =
      chosen.empty() ? judge.predictPresent() : predict(chosen, anyTimeNs);
  if (failed(present))
    return failure();
  BlockPrediction shortest = *present;
  int64_t least = present->computeNs;
  auto choose = [&](SmallVector<RewriteChoice> choices) {
    if (!choices.empty())
      judge.expect(shortest);
    return choices;
  };
  size_t numTrials = 1;
  for (ArrayRef<CollectiveOpInterface> alike : groupByKind(starts)) {
    SmallVector<RewriteChoice> best = chosen;
    // Try one collective alone first: the fewest ops that may suffice.
    SmallVector<size_t> counts = {1};
    if (alike.size() > 1)
      counts.push_back(alike.size());
    for (size_t count : counts)
      for (int64_t parts : options.parts) {
        // More ops have to pay for themselves.
        int64_t wanted = lessGain(shortest.makespanNs, options.minGain);
        if (numTrials >= options.maxTrials || least >= wanted)
          return choose(std::move(best));
        SmallVector<RewriteChoice> trial = chosen;
        for (CollectiveOpInterface start : alike.take_front(count))
          trial.emplace_back(start, parts);
        ++numTrials;
        FailureOr<BlockPrediction> found = predict(trial, wanted);
        if (failed(found))
          return failure();
        if (found->makespanNs >= wanted)
          continue;
        shortest = *found;
        best = std::move(trial);
      }
    chosen = std::move(best);
  }
  return choose(std::move(chosen));
}
