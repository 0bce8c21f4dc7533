//===- BlockPlan.cpp - Order and resources of a block ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockPlan.h"
#include "Dialect/Comm/Transforms/Schedule/SchedulingPass.h"

#include "Cost/Profile/Calibration.h"
#include "Schedule/Search/LeastMemory.h"
#include "braid/Analysis/Structure/ReorderedSums.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/IR/CommCostInterface.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"

using namespace braid;
using namespace mlir;
using comm::CollectiveOpInterface;
using comm::CommDialect;
using comm::OpClasses;
using comm::ResourceAttributes;

namespace {

/// The kinds of classes.
enum : unsigned { CollectiveOps, MatmulOps };

class ClassBuilder {
public:
  ClassBuilder(const BlockProblem &problem, CostModel &model)
      : problem(problem), model(model) {}

  OpClasses build(bool plansCollectives);

private:
  /// The variants of `op`, which is how it is by its own option.
  std::vector<ResourceAttributes>
  getCollectiveOptions(CollectiveOpInterface op);
  std::vector<ResourceAttributes> getMatmulOptions(Operation *op);
  void addToClass(unsigned node, unsigned kind,
                  ArrayRef<ResourceAttributes> options);
  ResourceOption price(Operation *op, const ResourceAttributes &attributes);

  const BlockProblem &problem;
  CostModel &model;
  /// The number of the class by kind, cost and demand of the ops as they are.
  DenseMap<Attribute, size_t> numbers;
  OpClasses found;
};

} // namespace

static bool isPlannedByHand(Operation *op) {
  return llvm::any_of(
      ArrayRef<StringRef>{CommDialect::kLaneAttrName,
                          CommDialect::kCtasAttrName,
                          CommDialect::kTransportAttrName,
                          CommDialect::kMultiprocessorsAttrName},
      [&](StringRef name) { return op->hasAttr(name); });
}

static NamedAttribute getNumber(MLIRContext *context, StringRef name,
                                int64_t value) {
  Builder builder(context);
  return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
}

/// True if NCCL has symmetric kernels for what `op` reduces, if anything
/// (src/sym_kernels.cc: sums of f32, f16 and bf16); what they do not know runs
/// by rings, on as few blocks.
static bool hasSymmetricKernels(CollectiveOpInterface op) {
  std::optional<comm::ReductionKind> kind = op.getReductionKind();
  if (!kind)
    return true;
  auto start = cast<comm::AsyncStartOpInterface>(op.getOperation());
  return *kind == comm::ReductionKind::sum &&
         llvm::all_of(start.getSources(), [](Value source) {
           Type type = getElementTypeOrSelf(source.getType());
           return type.isF32() || type.isF16() || type.isBF16();
         });
}

std::vector<ResourceAttributes>
ClassBuilder::getCollectiveOptions(CollectiveOpInterface op) {
  std::vector<ResourceAttributes> options(1);
  const Calibration &measured = *model.getOptions().calibration;
  CollectiveCall call = model.describe(op);
  if (call.numNodes > 1 || call.groupSize <= 1)
    return options;
  auto bytes = static_cast<double>(call.getWholeBytes());
  Builder builder(op.getContext());
  auto addTransport = [&](StringRef transport, int64_t ctas) {
    ResourceAttributes attributes;
    if (ctas > 0)
      attributes.push_back(
          getNumber(op.getContext(), CommDialect::kCtasAttrName, ctas));
    if (transport != "default")
      attributes.push_back(builder.getNamedAttr(
          CommDialect::kTransportAttrName, builder.getStringAttr(transport)));
    // Several curves differ in their groups alone.
    if (!llvm::is_contained(options, attributes))
      options.push_back(std::move(attributes));
  };
  for (const CollectiveCurve &curve : measured.collectives)
    if (curve.kind == comm::stringifyCollectiveKind(call.kind) &&
        curve.ranks == call.groupSize && curve.saysSomethingOf(bytes) &&
        (curve.transport == LaneTransport::Symmetric ? hasSymmetricKernels(op)
                                                     : curve.ctas > 0))
      addTransport(curve.transport == LaneTransport::Symmetric ? "symmetric"
                                                               : "default",
                   curve.ctas);
  // NCCL gathers by copy engines, and has no other collective of that kind.
  if (call.kind == comm::CollectiveKind::all_gather &&
      model.getOptions().hardware->nccl.copyEngineBandwidth > 0)
    addTransport("copy", 0);
  return options;
}

std::vector<ResourceAttributes> ClassBuilder::getMatmulOptions(Operation *op) {
  std::vector<ResourceAttributes> options(1);
  // What is left to symmetric kernels, and to those of NCCL with a limit.
  int64_t all = model.getOptions().hardware->multiprocessors;
  for (int64_t left : {4, 8, 12, 16, 24})
    if (left < all)
      options.push_back(
          {getNumber(op->getContext(), CommDialect::kMultiprocessorsAttrName,
                     all - left)});
  return options;
}

ResourceOption ClassBuilder::price(Operation *op,
                                   const ResourceAttributes &attributes) {
  for (NamedAttribute attribute : attributes)
    op->setAttr(attribute.getName(), attribute.getValue());
  Cost cost = model.getCost(op);
  ResourceOption option{cost.ns, model.getDemand(op, cost)};
  for (NamedAttribute attribute : attributes)
    op->removeAttr(attribute.getName());
  return option;
}

void ClassBuilder::addToClass(unsigned node, unsigned kind,
                              ArrayRef<ResourceAttributes> options) {
  if (options.size() < 2)
    return;
  Operation *op = problem.block.ops[node];
  // Ops that cost the same and ask for the same are run alike.
  ResourceOption present{problem.problem.graph[node].cost,
                         problem.problem.demands[node]};
  SmallVector<int64_t> key = {kind,
                              present.costNs,
                              present.demand.arithmeticNs,
                              present.demand.tiles,
                              present.demand.memoryBytes,
                              present.demand.linkBytes,
                              int64_t(options.size())};
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (collective)
    key.push_back(int64_t(collective.getCollectiveKind()));
  auto [place, isNew] = numbers.try_emplace(
      DenseI64ArrayAttr::get(op->getContext(), key), found.classes.size());
  if (!isNew) {
    found.classes[place->second].ops.push_back(node);
    return;
  }
  OpClass &opClass = found.classes.emplace_back();
  opClass.ops = {node};
  opClass.kind = kind;
  opClass.options = {present};
  for (const ResourceAttributes &attributes : drop_begin(options))
    opClass.options.push_back(price(op, attributes));
  found.attributes.emplace_back(options);
}

/// True if `comm.multiprocessors` may bound the multiprocessors of `op`.
static bool canLimitMultiprocessors(Operation *op) {
  auto cost = dyn_cast<comm::CostOpInterface>(op);
  return isa<linalg::LinalgOp>(op) || (cost && cost.canLimitMultiprocessors());
}

OpClasses ClassBuilder::build(bool plansCollectives) {
  for (auto [node, op] : llvm::enumerate(problem.block.ops)) {
    if (isPlannedByHand(op) || op->hasAttr(CommDialect::kCostAttrName))
      continue;
    if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      if (plansCollectives)
        addToClass(node, CollectiveOps, getCollectiveOptions(collective));
    } else if (canLimitMultiprocessors(op) &&
               problem.problem.demands[node].tiles > 0) {
      addToClass(node, MatmulOps, getMatmulOptions(op));
    }
  }
  return std::move(found);
}

OpClasses braid::comm::findOpClasses(const BlockProblem &problem,
                                     CostModel &model, bool plansCollectives) {
  return ClassBuilder(problem, model).build(plansCollectives);
}

bool braid::comm::canPlanResources(const CostOptions &options) {
  const Hardware &hardware = *options.hardware;
  return hardware.multiprocessors > 0 && options.calibration &&
         hardware.contention.multiprocessorModel == MultiprocessorModel::Queued;
}

comm::BlockPlanOptions
braid::comm::getFinalPlanOptions(const SchedulingProblem &problem) {
  BlockPlanOptions options;
  options.orders = PlannedOrders::Search;
  // Smaller predicted gains were losses (docs/design/planning.md).
  options.minGain = 0.02;
  options.search.effort = SearchEffort::Low;
  // Searches begin with the orders of the passes, and comm-schedule goes on.
  options.search.usePasses = false;
  // comm-schedule gives up gains for memory, once all is planned; several steps
  // that did so here made plans up to 3 % longer.
  constexpr double share = 0.2;
  options.search.minGain = share * getDefaultMinGain(problem);
  options.search.maxSteps = 50'000 + 20 * problem.graph.size();
  return options;
}

/// True if ranks run programs of their own, which could come to different
/// plans.
static bool isMpmd(Operation *op) {
  for (; op; op = op->getParentOp())
    if (op->hasAttr(comm::CommDialect::kMpmdAttrName))
      return true;
  return false;
}

/// A plan in which all ops keep their first options.
static RefinedPlan takeOrderAlone(const ResourcePlan &plan,
                                  ArrayRef<OpClass> opClasses) {
  RefinedPlan taken;
  for (const OpClass &opClass : opClasses)
    taken.options.emplace_back(opClass.ops.size(), 0);
  taken.order = plan.order;
  taken.beforeNs = plan.beforeNs;
  taken.afterNs = plan.afterNs;
  return taken;
}

/// The plan that `options` ask for: the shortest one with plans of single ops,
/// unless the order alone is about as short, or an alternative to it.
/// Alternatives may become the same; those with the same options count once.
static RefinedPlan findPlan(const SchedulingProblem &problem,
                            ArrayRef<OpClass> opClasses,
                            const comm::BlockPlanOptions &options,
                            unsigned maxSimulations) {
  // What classes gain counts for more than what single ops gain.
  constexpr unsigned refinedShare = 2;
  ConcurrentOps concurrent(problem);
  auto refine = [&](const ResourcePlan &plan, RefinedOps ops) {
    return refinePlan(problem, opClasses, plan, concurrent,
                      maxSimulations / refinedShare, ops);
  };
  if (options.orders == comm::PlannedOrders::Program)
    return refine(planResources(problem, opClasses, maxSimulations),
                  RefinedOps::All);
  SearchedPlans plans =
      searchPlans(problem, opClasses, options.search, maxSimulations,
                  /*findsAlternatives=*/options.planNumber != 0);
  std::vector<RefinedPlan> refined;
  for (const ResourcePlan &plan : plans.compared)
    refined.push_back(refine(plan, RefinedOps::All));
  RefinedPlan best =
      chooseRefinedPlan(problem, refined, options.search.minGain);
  std::vector<std::vector<ResourceChoice>> known = {best.options};
  RefinedPlan simple = takeOrderAlone(plans.orderAlone, opClasses);
  if (best.options != simple.options &&
      !gainsEnough(simple.afterNs, best.afterNs, options.minGain)) {
    if (options.planNumber == 1)
      return best;
    best = simple;
    known.push_back(simple.options);
  }
  for (const ResourcePlan &plan : plans.alternatives) {
    RefinedPlan other = refine(plan, RefinedOps::Alone);
    if (llvm::is_contained(known, other.options))
      continue;
    known.push_back(other.options);
    if (known.size() > options.planNumber)
      return other;
  }
  return best;
}

comm::OpClasses braid::comm::findPlannedOps(const BlockProblem &problem,
                                            const CostOptions &costs) {
  if (!canPlanResources(costs) || isMpmd(problem.block.block->getParentOp()))
    return {};
  CostModel model(costs);
  // Collectives that match others of the module are run as these are.
  return findOpClasses(problem, model, !problem.problem.keepOrderOfStarts);
}

std::optional<comm::BlockPlan>
braid::comm::planBlock(BlockProblem &problem, OpClasses opClasses,
                       const BlockPlanOptions &options) {
  if (opClasses.classes.empty())
    return std::nullopt;
  SchedulingProblem &limited = problem.problem;
  limited.keepOrderOfStarts |= options.keepOrder;
  limited.maxInFlight = options.maxInFlight;
  if (options.lanes == LaneSharing::Shared)
    shareLanes(problem);

  constexpr size_t mostSimulations = 1000, fewestSimulations = 8;
  auto maxSimulations = static_cast<unsigned>(std::clamp(
      options.simulatedNodes / std::max<size_t>(1, limited.graph.size()),
      fewestSimulations, mostSimulations));
  RefinedPlan plan =
      findPlan(limited, opClasses.classes, options, maxSimulations);
  BlockPlan found;
  found.opClasses = std::move(opClasses);
  found.options = std::move(plan.options);
  found.order = std::move(plan.order);
  found.beforeNs = plan.beforeNs;
  found.afterNs = plan.afterNs;
  return found;
}

void braid::comm::applyPlan(const BlockProblem &problem, const BlockPlan &plan,
                            function_ref<void(Operation *)> beforeChange) {
  for (auto [opClass, attributes, options] : llvm::zip_equal(
           plan.opClasses.classes, plan.opClasses.attributes, plan.options))
    for (auto [node, option] : llvm::zip_equal(opClass.ops, options)) {
      if (option == 0)
        continue;
      Operation *op = problem.block.ops[node];
      beforeChange(op);
      for (NamedAttribute attribute : attributes[option])
        op->setAttr(attribute.getName(), attribute.getValue());
      recordPlan(op, attributes[option]);
    }
}
