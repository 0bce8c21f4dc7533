//===- SchedulingPass.cpp - Base of the scheduling passes -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchedulingPass.h"

#include "braid/Analysis/Verification/OrderValidation.h"
#include "braid/Dialect/Comm/Transforms/ScheduleVerification.h"
#include "braid/Support/Units.h"
#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SCCIterator.h"

#include <cassert>
#include <functional>
#include <map>

using namespace mlir;
using namespace braid;

SmallVector<func::FuncOp> braid::comm::getHostFunctions(Operation *root) {
  SmallVector<func::FuncOp> functions;
  if (root->getParentOfType<gpu::GPUModuleOp>())
    return functions;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return WalkResult::advance();
    functions.push_back(function);
    return WalkResult::skip();
  });
  return functions;
}

SmallVector<func::FuncOp>
braid::comm::getHostFunctionsCalleesFirst(Operation *root,
                                          AnalysisManager analyses) {
  SmallVector<func::FuncOp> functions = getHostFunctions(root);
  if (functions.size() < 2)
    return functions;
  const auto &calls = analyses.getAnalysis<CallGraph>();
  DenseMap<Operation *, unsigned> place;
  for (auto component = llvm::scc_begin(&calls); !component.isAtEnd();
       ++component)
    for (const CallGraphNode *node : *component)
      if (!node->isExternal())
        place.try_emplace(node->getCallableRegion()->getParentOp(),
                          place.size());
  // Functions in nested symbol tables are not in the call graph.
  for (func::FuncOp function : functions)
    place.try_emplace(function, place.size());
  llvm::sort(functions, [&](func::FuncOp a, func::FuncOp b) {
    return place.at(a) < place.at(b);
  });
  return functions;
}

FailureOr<CostOptions>
braid::comm::resolvePassCosts(Operation *root, func::FuncOp function,
                              const CostSettings &settings) {
  FailureOr<CostOptions> options = resolveCostOptions(function, settings);
  if (failed(options) || isa<ModuleOp>(root))
    return options;
  auto profile = std::move(options->profile);
  options->profile =
      [profile = std::move(profile)](Operation *op) -> std::optional<int64_t> {
    if (isa<CallOpInterface>(op))
      return 0;
    return profile ? profile(op) : std::nullopt;
  };
  return options;
}

FailureOr<std::optional<int64_t>>
braid::comm::parseMemoryOption(Location loc, StringRef text, StringRef option) {
  if (text.empty())
    return std::optional<int64_t>();
  std::optional<int64_t> bytes = parseBytes(text);
  if (!bytes)
    return emitError(loc)
           << "invalid size '" << text << "' in option '" << option
           << "', expected a number of at least 0, with unit B, KB, MB, GB, "
              "TB, KiB, MiB, GiB, TiB or none, such as 80GiB";
  return bytes;
}

void braid::comm::shareLanes(BlockProblem &problem) {
  ScheduleGraph &graph = problem.problem.graph;
  std::optional<int32_t> shared;
  for (unsigned start : graph.starts()) {
    if (graph[start].pointToPoint ||
        !isa<CollectiveOpInterface>(problem.block.ops[start]))
      continue;
    if (!shared)
      shared = graph[start].lane;
    graph.setLane(start, *shared);
  }
}

static constexpr llvm::StringLiteral kMaxMemory = "max-memory";

void braid::comm::setMaxMemoryDefault(ModuleOp module, int64_t bytes) {
  setOptionDefault(module, kMaxMemory,
                   Builder(module.getContext()).getI64IntegerAttr(bytes));
}

LogicalResult braid::comm::checkMaxMemory(Location loc, StringRef text) {
  return parseMemoryOption(loc, text, kMaxMemory);
}

FailureOr<std::optional<int64_t>>
braid::comm::resolveMaxMemory(Operation *op, StringRef text) {
  if (!text.empty())
    return parseMemoryOption(op->getLoc(), text, kMaxMemory);
  if (auto bytes =
          dyn_cast_or_null<IntegerAttr>(getOptionDefault(op, kMaxMemory)))
    return std::optional<int64_t>(bytes.getInt());
  return std::optional<int64_t>();
}

CallEffects braid::comm::getCallEffects(Operation *root) {
  return CallEffects(/*entersBodies=*/isa<ModuleOp>(root));
}

LogicalResult braid::comm::verifyChanges(Operation *root,
                                         ScheduleChanges &changes,
                                         StringRef pass) {
  if (!isScheduleVerified())
    return success();
  CallEffects calls = getCallEffects(root);
  RankUniformity uniformity(root);
  LogicalResult isRight =
      changes.checkBlocks([&](Block &block, ArrayRef<Operation *> before,
                              const OrderClaim &claim, BlockEffects &effects) {
        return validateOrder(block, before, claim, effects, calls, uniformity,
                             pass);
      });
  if (failed(isRight))
    changes.undo();
  return isRight;
}

/// The number of nodes with `isMover` whose number of earlier nodes without
/// `isMover` differs from the program's.
static unsigned countMoved(const ScheduleGraph &graph, ArrayRef<unsigned> order,
                           function_ref<bool(NodeKind)> isMover) {
  std::vector<unsigned> othersBefore(graph.size());
  unsigned numOthers = 0;
  for (unsigned node = 0, end = graph.size(); node != end; ++node) {
    othersBefore[node] = numOthers;
    numOthers += !isMover(graph[node].kind);
  }
  unsigned numMoved = 0;
  numOthers = 0;
  for (unsigned node : order) {
    if (!isMover(graph[node].kind))
      ++numOthers;
    else
      numMoved += othersBefore[node] != numOthers;
  }
  return numMoved;
}

func::FuncOp braid::comm::getFunctionOf(Block *block) {
  Operation *parent = block->getParentOp();
  auto function = dyn_cast<func::FuncOp>(parent);
  return function ? function : parent->getParentOfType<func::FuncOp>();
}

uint64_t braid::comm::countScheduledOps(Operation *root) {
  uint64_t numOps = 0;
  for (func::FuncOp function : getHostFunctions(root))
    for (const SchedulableBlock &block : findSchedulableBlocks(function))
      numOps += block.numOps;
  return numOps;
}

uint64_t braid::comm::getShareOfSteps(const BlockProblem &problem,
                                      uint64_t numOpsInAll,
                                      SearchEffort effort) {
  constexpr uint64_t fewestSteps = 5'000'000;
  uint64_t numOps = problem.block.block->getOperations().size();
  double share = static_cast<double>(numOps) /
                 static_cast<double>(std::max(numOps, numOpsInAll));
  double numSteps =
      share * static_cast<double>(getStepLimit(problem.problem, effort));
  return std::max(fewestSteps, static_cast<uint64_t>(numSteps));
}

FailureOr<unsigned> braid::comm::scheduleFunctions(
    ArrayRef<func::FuncOp> functions, ScheduleChanges &changes,
    function_ref<FailureOr<unsigned>(func::FuncOp)> schedule) {
  unsigned sum = 0;
  for (func::FuncOp function : functions) {
    FailureOr<unsigned> number = schedule(function);
    if (failed(number)) {
      changes.undo();
      return failure();
    }
    sum += *number;
  }
  return sum;
}

/// Applies `order` to the ops of `block`, whose graph is `graph`, and records
/// the old order. Returns the result of `countMoved`.
static unsigned applyRecorded(const BlockGraph &block,
                              const ScheduleGraph &graph,
                              ArrayRef<unsigned> order,
                              function_ref<bool(NodeKind)> isMover,
                              ScheduleChanges &changes) {
  if (isProgramOrder(order))
    return 0;
  changes.applyOrder(block, order);
  return countMoved(graph, order, isMover);
}

FailureOr<unsigned> braid::comm::scheduleGraphs(
    func::FuncOp function, CallEffects &calls, RankUniformity &uniformity,
    CostFunction cost,
    function_ref<ScheduleOrder(const ScheduleGraph &)> algorithm,
    function_ref<bool(NodeKind)> isMover, ScheduleChanges &changes) {
  std::vector<BlockGraph> graphs;
  for (auto [block, numOps] : findSchedulableBlocks(function)) {
    FailureOr<BlockGraph> graph =
        buildBlockGraph(*block, cost, calls, uniformity, numOps);
    if (failed(graph))
      return failure();
    graphs.push_back(std::move(*graph));
  }
  unsigned numMoved = 0;
  for (const BlockGraph &graph : graphs)
    numMoved += applyRecorded(graph, graph.graph, algorithm(graph.graph),
                              isMover, changes);
  return numMoved;
}

/// The number of ops around `block`.
static unsigned getDepth(Block *block) {
  unsigned depth = 0;
  for (Operation *op = block->getParentOp(); op; op = op->getParentOp())
    ++depth;
  return depth;
}

/// `scheduleProblems` of one function.
static FailureOr<unsigned> scheduleFunction(
    func::FuncOp function, CallEffects &calls, RankUniformity &uniformity,
    const CostOptions &costs, ScheduleChanges &changes,
    function_ref<FailureOr<ScheduleOrder>(BlockProblem &, CostModel &)>
        algorithm,
    function_ref<bool(NodeKind)> isMover) {
  std::map<unsigned, SmallVector<Block *>, std::greater<>> blocksByDepth;
  for (Block *block : findSchedulableBlocks(function))
    blocksByDepth[getDepth(block)].push_back(block);

  unsigned numMoved = 0;
  for (auto &[depth, blocks] : blocksByDepth) {
    // A model caches costs of bodies, which scheduling changes.
    CostModel model(costs);
    std::vector<std::pair<BlockProblem, ScheduleOrder>> results;
    for (Block *block : blocks) {
      FailureOr<BlockProblem> problem =
          buildSchedulingProblem(*block, model, calls, uniformity);
      if (failed(problem))
        return failure();
      FailureOr<ScheduleOrder> order = algorithm(*problem, model);
      if (failed(order))
        return failure();
      results.emplace_back(std::move(*problem), std::move(*order));
    }
    for (auto &[problem, order] : results) {
      if (!isProgramOrder(order))
        if (llvm::Error wrong =
                problem.problem.verify(order, /*keepsMaxMemory=*/false))
          return function.emitError("found an order that is no schedule of a "
                                    "block, expected one: ")
                 << llvm::toString(std::move(wrong));
      numMoved += applyRecorded(problem.block, problem.problem.graph, order,
                                isMover, changes);
    }
  }
  return numMoved;
}

FailureOr<unsigned> braid::comm::scheduleProblems(
    Operation *root, AnalysisManager analyses, const CostSettings &settings,
    ScheduleChanges &changes,
    function_ref<FailureOr<ScheduleOrder>(BlockProblem &, CostModel &)>
        algorithm,
    function_ref<bool(NodeKind)> isMover) {
  CallEffects calls = getCallEffects(root);
  RankUniformity uniformity(root);
  return scheduleFunctions(
      getHostFunctionsCalleesFirst(root, analyses), changes,
      [&](func::FuncOp function) -> FailureOr<unsigned> {
        FailureOr<CostOptions> costs =
            resolvePassCosts(root, function, settings);
        if (failed(costs))
          return failure();
        return scheduleFunction(function, calls, uniformity, *costs, changes,
                                algorithm, isMover);
      });
}
