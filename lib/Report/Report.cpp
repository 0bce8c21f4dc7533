//===- Report.cpp - Reports of the timelines of a program -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Report/Report.h"

#include "Analysis/Memory/TypeSize.h"
#include "Analysis/Tokens/AwaitedTokens.h"
#include "Cost/IR/ProfileSignature.h"
#include "braid/Analysis/Memory/OpEffects.h"
#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Simulation/ExposureReasons.h"
#include "braid/ScheduleIR/CostModel.h"
#include "braid/ScheduleIR/ProblemBuilder.h"
#include "braid/Support/Units.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>

using namespace braid;
using namespace mlir;

namespace {

/// Explains exposed communication by comparing the blocks of a program with
/// other orders. Analyses each block once, at its first query.
class ExposureExplainer {
public:
  /// Orders that need more than `memoryLimit` bytes do not count.
  ExposureExplainer(ModuleOp module, CostModel &model,
                    std::optional<int64_t> memoryLimit);

  /// The reason why the operation of `start` is exposed: a sentence without a
  /// full stop. Empty if the operation is not exposed, or if `buildBlockGraph`
  /// fails for the block.
  std::string getReason(Operation *start);

  /// Replaces the lower bound of `totals`, the totals of `region`, by the best
  /// lower bound, and sets `kind` to its name. Does nothing for regions of
  /// several blocks.
  void improveLowerBound(Region &region, TimelineTotals &totals,
                         std::string &kind);

private:
  /// The problem of `block`; null if it has none.
  const BlockProblem *getProblem(Block &block);
  void explain(Block &block);

  CostModel &model;
  std::optional<int64_t> memoryLimit;
  CallEffects calls;
  RankUniformity uniformity;
  DenseMap<Block *, std::unique_ptr<BlockProblem>> problems;
  /// Blocks whose starts have reasons.
  DenseSet<Block *> explained;
  DenseMap<Operation *, std::string> reasons;
};

} // namespace

ExposureExplainer::ExposureExplainer(ModuleOp module, CostModel &model,
                                     std::optional<int64_t> memoryLimit)
    : model(model), memoryLimit(memoryLimit), calls(/*entersBodies=*/true),
      uniformity(module) {}

const BlockProblem *ExposureExplainer::getProblem(Block &block) {
  auto [it, isNew] = problems.try_emplace(&block, nullptr);
  if (!isNew)
    return it->second.get();
  // A block that contradicts its `comm.order` still has a timeline, so a report
  // must not fail.
  ScopedDiagnosticHandler handler(block.getParentOp()->getContext(),
                                  [](Diagnostic &) { return success(); });
  FailureOr<BlockProblem> problem =
      buildSchedulingProblem(block, model, calls, uniformity);
  if (failed(problem))
    return nullptr;
  problem->problem.maxMemory = memoryLimit;
  auto owned = std::make_unique<BlockProblem>(std::move(*problem));
  return (problems[&block] = std::move(owned)).get();
}

void ExposureExplainer::explain(Block &block) {
  const BlockProblem *problem = getProblem(block);
  if (!problem)
    return;
  ArrayRef<Operation *> ops = problem->block.ops;
  auto getName = [&](unsigned node) {
    StringRef label = comm::getLabel(ops[node]);
    if (auto compute = dyn_cast<comm::ComputeOp>(ops[node]);
        label.empty() && compute)
      label = compute.getKernel();
    return label.empty() ? ops[node]->getName().getStringRef().str()
                         : "\"" + llvm::json::fixUTF8(label) + "\"";
  };
  for (const ExposureReason &reason : getExposureReasons(
           problem->problem, getProgramOrder(problem->problem.graph)))
    reasons[ops[reason.start]] = describeExposureReason(reason, getName);
}

std::string ExposureExplainer::getReason(Operation *start) {
  if (explained.insert(start->getBlock()).second)
    explain(*start->getBlock());
  return reasons.lookup(start);
}

void ExposureExplainer::improveLowerBound(Region &region,
                                          TimelineTotals &totals,
                                          std::string &kind) {
  if (!region.hasOneBlock() || totals.makespanNs == 0)
    return;
  const BlockProblem *problem = getProblem(region.front());
  if (!problem)
    return;
  LowerBounds bounds = computeLowerBounds(problem->problem, totals.makespanNs);
  totals.lowerBoundNs =
      std::min(totals.makespanNs, std::max(totals.lowerBoundNs, bounds.best()));
  if (bounds.best() == totals.lowerBoundNs)
    kind = stringifyLowerBoundKind(bounds.bestKind()).str();
}

void braid::numberStarts(Operation *root) {
  Builder builder(root->getContext());
  int64_t number = 0;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (comm::getAsyncStart(op))
      op->setAttr(comm::CommDialect::kReportNumberAttrName,
                  builder.getI64IntegerAttr(number++));
  });
}

std::vector<ReportedSum> braid::listReorderedSums(ModuleOp module) {
  std::vector<ReportedSum> sums;
  for (const ReorderedSum &sum : findReorderedSums(module)) {
    ReportedSum reported{sum.operation, "", sum.divided};
    if (auto place = sum.loc->findInstanceOf<FileLineColLoc>())
      llvm::raw_string_ostream(reported.site)
          << place.getFilename().getValue() << ":" << place.getLine() << ":"
          << place.getColumn();
    if (!sum.planned.empty())
      reported.reason += (reported.reason.empty() ? "" : "; ") + sum.planned;
    sums.push_back(std::move(reported));
  }
  return sums;
}

std::string braid::describeNumerics(const Report &report) {
  if (report.reorderedSums.empty())
    return "same bits as the program as written";
  std::string text = "same terms as the program as written, sums in another "
                     "order: ";
  for (auto [index, sum] : llvm::enumerate(report.reorderedSums))
    text += (index == 0 ? "" : ", ") + sum.operation +
            (sum.site.empty() ? "" : " at " + sum.site) + " (" + sum.reason +
            ")";
  return text;
}

/// The name of `op`: its label, or the kernel of a `comm.compute`, or the name
/// of the start of a wait.
static std::string getName(Operation *op) {
  // Attributes may contain any bytes; reports contain text.
  StringRef label = comm::getLabel(op);
  if (!label.empty())
    return llvm::json::fixUTF8(label);
  if (auto compute = dyn_cast<comm::ComputeOp>(op))
    return llvm::json::fixUTF8(compute.getKernel());
  if (auto wait = dyn_cast<comm::WaitOp>(op)) {
    SmallVector<Operation *, 1> starts =
        getTokenOrigins(wait.getToken(), *op->getParentRegion()).starts;
    if (starts.size() == 1)
      return getName(starts.front());
  }
  return "";
}

/// The types of the values of `op`: its results, or the values of its tokens,
/// or the buffers that its operation writes.
static SmallVector<Type> getValueTypes(Operation *op) {
  SmallVector<Type> types;
  if (comm::AsyncStartOpInterface start = comm::getAsyncStart(op)) {
    if (start.isBufferForm())
      for (Value destination : start.getDestinations())
        types.push_back(destination.getType());
    else
      for (auto [index, token] : llvm::enumerate(start.getTokens()))
        if (Type type = start.getInFlightType(index))
          types.push_back(type);
  } else {
    llvm::append_range(types, op->getResultTypes());
  }
  return types;
}

/// The number of elements of `types`, dynamic dimensions counted as
/// `dynamicSize`.
static uint64_t countElements(ArrayRef<Type> types, int64_t dynamicSize) {
  uint64_t total = 0;
  for (Type type : types) {
    auto shaped = dyn_cast_if_present<ShapedType>(type);
    uint64_t elements = 1;
    if (shaped && shaped.hasRank())
      for (int64_t size : shaped.getShape())
        elements = llvm::SaturatingMultiply<uint64_t>(
            elements, ShapedType::isDynamic(size) ? dynamicSize : size);
    total = llvm::SaturatingAdd(total, elements);
  }
  return total;
}

/// The ranks of the communicator of `group` with rank 0, or of its first
/// communicator. Kineto's field has at most 30 ranks.
static std::string getGroupRanksText(comm::GroupOp group, int64_t groupSize) {
  constexpr size_t maxShown = 30;
  SmallVector<int64_t> ranks;
  if (group && !group.isAll()) {
    SmallVector<ArrayRef<int64_t>> lists = group.getRankLists();
    auto *it = llvm::find_if(lists, [](ArrayRef<int64_t> list) {
      return llvm::is_contained(list, 0);
    });
    if (it != lists.end())
      llvm::append_range(ranks, *it);
    else if (!lists.empty())
      llvm::append_range(ranks, lists.front());
  } else {
    int64_t shown = std::min<int64_t>(groupSize, maxShown + 1);
    llvm::append_range(ranks, llvm::seq<int64_t>(0, shown));
  }
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(ArrayRef(ranks).take_front(maxShown), os);
  os << (ranks.size() > maxShown ? ", ...]" : "]");
  return text;
}

namespace {
/// Reports a module and its nested modules.
class Reporter {
public:
  Reporter(ModuleOp module, CostModel &model,
           std::optional<int64_t> memoryLimit)
      : model(model), explainer(module, model, memoryLimit) {}

  ReportedProgram report(ModuleOp module);

private:
  void collectFunctions(ModuleOp module);
  ReportedNode reportNode(const TimelineNode &node);
  std::vector<ReportedNode> reportNodes(const Timeline &timeline);
  std::vector<ReportedBody> reportBodies(const TimelineNode &node);
  void describeCollective(comm::CollectiveOpInterface collective,
                          ReportedNode &reported);

  CostModel &model;
  ExposureExplainer explainer;
  SmallVector<FunctionOpInterface> functions;
  /// Positions in `functions`, by body.
  DenseMap<Region *, size_t> positions;
  SymbolTableCollection symbolTables;
};
} // namespace

std::vector<ReportedBody> Reporter::reportBodies(const TimelineNode &node) {
  std::vector<ReportedBody> bodies;
  Operation *op = node.op;
  bool isExclusive =
      isa<RegionBranchOpInterface>(op) && !isa<LoopLikeOpInterface>(op);
  for (Region &region : op->getRegions()) {
    const Timeline &timeline = model.getTimeline(region);
    if (!timeline.nodes.empty())
      bodies.push_back({region.getRegionNumber(), model.getTripCount(op),
                        /*counts=*/!isExclusive, timeline.totals,
                        reportNodes(timeline)});
  }
  if (isExclusive && !bodies.empty())
    llvm::max_element(bodies, [](const ReportedBody &a, const ReportedBody &b) {
      return a.totals.makespanNs < b.totals.makespanNs;
    })->counts = true;
  return bodies;
}

void Reporter::describeCollective(comm::CollectiveOpInterface collective,
                                  ReportedNode &reported) {
  CollectiveCall call = model.describe(collective);
  reported.kind = comm::stringifyCollectiveKind(call.kind).str();
  reported.group = collective.getGroupAttr().getValue().str();
  reported.groupSize = call.groupSize;
  reported.bytes = call.getWholeBytes();
  reported.groupRanks = getGroupRanksText(
      comm::lookupGroup(collective, collective.getGroupAttr(), symbolTables),
      call.groupSize);
  if (std::optional<comm::ReductionKind> kind = collective.getReductionKind())
    reported.reduction = comm::stringifyReductionKind(*kind).str();

  auto start = cast<comm::AsyncStartOpInterface>(collective.getOperation());
  SmallVector<Type> inputs, outputs = getValueTypes(start);
  for (Value source : start.getSources())
    inputs.push_back(source.getType());
  int64_t dynamicSize = model.getOptions().sizes.dynamicSize;
  reported.inputElements = countElements(inputs, dynamicSize);
  reported.outputElements = countElements(outputs, dynamicSize);
  if (!inputs.empty() || !outputs.empty())
    llvm::raw_string_ostream(reported.elementType) << getElementTypeOrSelf(
        inputs.empty() ? outputs.front() : inputs.front());
}

static std::string nameMatmul(Operation *op, const comm::SizeDefaults &sizes) {
  std::optional<comm::Work> work = comm::getKnownWork(op, sizes);
  if (!work || work->matmuls.size() != 1)
    return "";
  const comm::Matmul &matmul = work->matmuls.front();
  uint64_t results =
      std::max<uint64_t>(1, matmul.batch * matmul.rows * matmul.columns);
  std::string name;
  llvm::raw_string_ostream stream(name);
  if (matmul.batch != 1)
    stream << matmul.batch << "x";
  stream << matmul.rows << "x" << matmul.columns << "x"
         << matmul.operations / (2 * results) << " "
         << getElementTypeOrSelf(op->getOperand(0).getType());
  return name;
}

ReportedNode Reporter::reportNode(const TimelineNode &node) {
  Operation *op = node.op;
  ReportedNode reported;
  reported.label = getName(op);
  reported.op = op->getName().getStringRef().str();
  SmallVector<Type> types = getValueTypes(op);
  llvm::raw_string_ostream typeStream(reported.type);
  llvm::interleaveComma(types, typeStream);
  for (Type type : types)
    reported.valueBytes = llvm::SaturatingAdd(
        reported.valueBytes, getTypeBytes(type, model.getOptions().sizes));
  reported.role = node.role;
  reported.costNs = node.cost.ns;
  reported.costSource = model.getSourceName(node.cost.source).str();
  reported.signature = getProfileSignature(op, model);
  reported.matmul = nameMatmul(op, model.getOptions().sizes);
  reported.hidden = node.hidden;
  reported.times = node.times;
  reported.lane = node.role == StreamRole::Start ? node.lane : "compute";
  reported.awaits.assign(node.awaits.begin(), node.awaits.end());
  reported.carriedAwaits.assign(node.carriedAwaits.begin(),
                                node.carriedAwaits.end());
  if (auto number = op->getAttrOfType<IntegerAttr>(
          comm::CommDialect::kReportNumberAttrName))
    reported.number = number.getInt();

  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op)) {
    describeCollective(collective, reported);
    if (node.times.exposedNs > 0)
      reported.reason = explainer.getReason(op);
    return reported;
  }
  switch (node.role) {
  case StreamRole::Start:
    reported.kind = "async_compute";
    break;
  case StreamRole::Wait:
    reported.kind = "wait";
    break;
  case StreamRole::Compute:
    reported.kind = "compute";
    // The report has callees as functions of their own.
    if (node.cost.source == CostSource::Regions)
      reported.bodies = reportBodies(node);
    else if (node.cost.source == CostSource::Callee)
      if (auto it = positions.find(model.getCalleeBody(op));
          it != positions.end())
        reported.callee = it->second;
    break;
  }
  return reported;
}

std::vector<ReportedNode> Reporter::reportNodes(const Timeline &timeline) {
  std::vector<ReportedNode> nodes;
  nodes.reserve(timeline.nodes.size());
  for (const TimelineNode &node : timeline.nodes)
    nodes.push_back(reportNode(node));
  return nodes;
}

void Reporter::collectFunctions(ModuleOp module) {
  for (Operation &op : module.getBody()->getOperations()) {
    if (auto nested = dyn_cast<ModuleOp>(op))
      collectFunctions(nested);
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function || function.isExternal())
      continue;
    positions[&function.getFunctionBody()] = functions.size();
    functions.push_back(function);
  }
}

ReportedProgram Reporter::report(ModuleOp module) {
  collectFunctions(module);
  ReportedProgram program;
  for (FunctionOpInterface function : functions) {
    const Timeline &timeline = model.getTimeline(function.getFunctionBody());
    ReportedFunction reported;
    reported.name = function.getName().str();
    reported.totals = timeline.totals;
    reported.nodes = reportNodes(timeline);
    reported.memoryCurve = timeline.memoryCurve;
    explainer.improveLowerBound(function.getFunctionBody(), reported.totals,
                                reported.lowerBoundKind);
    program.push_back(std::move(reported));
  }
  measureHiddenFractions(program);
  return program;
}

ReportedProgram braid::reportProgram(ModuleOp module, CostModel &model,
                                     std::optional<int64_t> memoryLimit) {
  return Reporter(module, model, memoryLimit).report(module);
}

std::vector<MemoryExcessInterval>
braid::getMemoryExcess(const ReportedFunction &function, int64_t limit) {
  std::vector<MemoryExcessInterval> intervals;
  bool isOver = false;
  for (const MemorySample &sample : function.memoryCurve) {
    if (isOver)
      intervals.back().endNs = sample.ns;
    if (sample.bytes > limit && !isOver)
      intervals.push_back({sample.ns, sample.ns, sample.bytes});
    isOver = sample.bytes > limit;
    if (isOver)
      intervals.back().peakBytes =
          std::max(intervals.back().peakBytes, sample.bytes);
  }
  if (isOver)
    intervals.back().endNs =
        std::max(intervals.back().endNs, function.totals.makespanNs);
  return intervals;
}

static void appendCollectives(const std::vector<ReportedNode> &nodes,
                              int64_t runs,
                              std::vector<ReportedCollective> &collectives) {
  for (const ReportedNode &node : nodes) {
    if (node.role == StreamRole::Start)
      collectives.push_back(
          {&node, runs, multiplyNs(node.times.exposedNs, runs), std::nullopt});
    for (const ReportedBody &body : node.bodies)
      appendCollectives(body.nodes, multiplyNs(runs, body.tripCount),
                        collectives);
  }
}

std::vector<ReportedCollective>
braid::listCollectives(const ReportedFunction &function,
                       const ReportedProgram *before) {
  std::vector<ReportedCollective> collectives;
  appendCollectives(function.nodes, 1, collectives);
  if (!before)
    return collectives;
  // Inlining moves starts between functions, so search all functions.
  std::vector<ReportedCollective> earlier;
  for (const ReportedFunction &other : *before)
    appendCollectives(other.nodes, 1, earlier);
  llvm::DenseMap<int64_t, int64_t> exposedByNumber;
  for (const ReportedCollective &collective : earlier)
    exposedByNumber[collective.node->number] = collective.exposedNs;
  for (ReportedCollective &collective : collectives) {
    auto it = exposedByNumber.find(collective.node->number);
    if (collective.node->number < 0 || it == exposedByNumber.end())
      continue;
    collective.exposedBeforeNs = it->second;
    exposedByNumber.erase(it);
  }
  return collectives;
}

const ReportedFunction *braid::findFunction(const ReportedProgram &program,
                                            StringRef name) {
  const auto it = llvm::find_if(
      program, [&](const ReportedFunction &f) { return f.name == name; });
  return it == program.end() ? nullptr : &*it;
}
