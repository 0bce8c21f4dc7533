//===- PlanResources.cpp - Multiprocessors and engines of ops -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Profile/Calibration.h"
#include "Schedule/Search/ResourcePlan.h"
#include "SchedulingPass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMPLANRESOURCESPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;
using comm::CollectiveOpInterface;
using comm::CommDialect;

namespace {

/// The attributes that an option gives an op.
using PlannedAttributes = SmallVector<NamedAttribute, 2>;

/// The classes of families.
enum : unsigned { CollectiveClass, ProductClass };

/// Plans the ops of one block.
class BlockPlanner {
public:
  BlockPlanner(Block &block, CostModel &model) : block(block), model(model) {}

  /// Returns the number of ops that got attributes.
  FailureOr<unsigned> run(CallEffects &calls, RankUniformity &uniformity);

private:
  /// The ops of a family, the option and the attributes of each option.
  struct Family {
    ResourceFamily resources;
    std::vector<PlannedAttributes> attributes;
  };

  /// The ways to run `op`, which is how it is by its own option.
  std::vector<PlannedAttributes> getCollectiveOptions(CollectiveOpInterface op);
  std::vector<PlannedAttributes> getProductOptions(Operation *op);
  void addToFamily(Operation *op, unsigned position, unsigned ofClass,
                   ArrayRef<PlannedAttributes> options);
  ResourceOption price(Operation *op, const PlannedAttributes &attributes);

  Block &block;
  CostModel &model;
  /// By class, cost and demand of the ops as they are.
  llvm::MapVector<Attribute, Family> families;
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

std::vector<PlannedAttributes>
BlockPlanner::getCollectiveOptions(CollectiveOpInterface op) {
  std::vector<PlannedAttributes> options(1);
  const Calibration &measured = *model.getOptions().calibration;
  CollectiveCall call = model.describe(op);
  if (call.numNodes > 1 || call.groupSize <= 1)
    return options;
  auto bytes = static_cast<double>(call.getWholeBytes());
  Builder builder(op.getContext());
  auto addTransport = [&](StringRef transport, int64_t ctas) {
    PlannedAttributes attributes;
    if (ctas > 0)
      attributes.push_back(
          getNumber(op.getContext(), CommDialect::kCtasAttrName, ctas));
    if (transport != "default")
      attributes.push_back(builder.getNamedAttr(
          CommDialect::kTransportAttrName, builder.getStringAttr(transport)));
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
  // They are what NCCL's copy engines run.
  if (call.kind == comm::CollectiveKind::all_gather &&
      model.getOptions().hardware->nccl.copyEngineBandwidth > 0)
    addTransport("copy", 0);
  return options;
}

std::vector<PlannedAttributes> BlockPlanner::getProductOptions(Operation *op) {
  std::vector<PlannedAttributes> options(1);
  // What is left to symmetric kernels, and to those of NCCL with a limit.
  int64_t all = model.getOptions().hardware->multiprocessors;
  for (int64_t left : {4, 8, 16, 24})
    if (left < all)
      options.push_back(
          {getNumber(op->getContext(), CommDialect::kMultiprocessorsAttrName,
                     all - left)});
  return options;
}

ResourceOption BlockPlanner::price(Operation *op,
                                   const PlannedAttributes &attributes) {
  for (NamedAttribute attribute : attributes)
    op->setAttr(attribute.getName(), attribute.getValue());
  ResourceOption option{model.getCost(op).ns, model.getDemand(op)};
  for (NamedAttribute attribute : attributes)
    op->removeAttr(attribute.getName());
  return option;
}

void BlockPlanner::addToFamily(Operation *op, unsigned position,
                               unsigned ofClass,
                               ArrayRef<PlannedAttributes> options) {
  if (options.size() < 2)
    return;
  // Ops that cost the same and ask for the same are run alike.
  ResourceOption present = price(op, {});
  SmallVector<int64_t> key = {ofClass,
                              present.costNs,
                              present.demand.arithmeticNs,
                              present.demand.tiles,
                              present.demand.memoryBytes,
                              present.demand.linkBytes,
                              int64_t(options.size())};
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (collective)
    key.push_back(int64_t(collective.getCollectiveKind()));
  Family &family = families[DenseI64ArrayAttr::get(op->getContext(), key)];
  family.resources.ops.push_back(position);
  if (family.resources.ops.size() > 1)
    return;
  family.resources.ofClass = ofClass;
  for (const PlannedAttributes &attributes : options) {
    family.resources.options.push_back(price(op, attributes));
    family.attributes.push_back(attributes);
  }
}

FailureOr<unsigned> BlockPlanner::run(CallEffects &calls,
                                      RankUniformity &uniformity) {
  FailureOr<BlockProblem> problem =
      buildSchedulingProblem(block, model, calls, uniformity);
  if (failed(problem))
    return failure();
  ArrayRef<Operation *> nodes = problem->block.ops;
  for (auto [position, op] : llvm::enumerate(nodes)) {
    if (isPlannedByHand(op) || op->hasAttr(CommDialect::kCostAttrName))
      continue;
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      addToFamily(op, position, CollectiveClass,
                  getCollectiveOptions(collective));
    else if (isa<linalg::LinalgOp>(op) &&
             problem->problem.demands[position].tiles > 0)
      addToFamily(op, position, ProductClass, getProductOptions(op));
  }
  if (families.empty())
    return 0u;

  std::vector<ResourceFamily> list;
  for (auto &[key, family] : families)
    list.push_back(family.resources);
  // Some 10,000 nodes are played in 10 ms.
  constexpr size_t playedNodes = 1'000'000, mostPlays = 1000, fewestPlays = 8;
  size_t plays = std::clamp(playedNodes / std::max<size_t>(1, nodes.size()),
                            fewestPlays, mostPlays);
  ResourcePlan plan =
      planResources(getOpsByNode(problem->problem), problem->problem.machine,
                    list, static_cast<unsigned>(plays));
  unsigned numPlanned = 0;
  for (auto [entry, option] : llvm::zip_equal(families, plan.options)) {
    if (option == 0)
      continue;
    for (unsigned position : entry.second.resources.ops) {
      for (NamedAttribute attribute : entry.second.attributes[option])
        nodes[position]->setAttr(attribute.getName(), attribute.getValue());
      ++numPlanned;
    }
  }
  return numPlanned;
}

/// Emits an error and fails if `op` asks for what `model`'s machine does not
/// have.
static LogicalResult verifyPlan(Operation *op, CostModel &model,
                                SymbolTableCollection &symbols) {
  const Hardware &hardware = *model.getOptions().hardware;
  auto checkCount = [&](StringRef name, int64_t count) -> LogicalResult {
    if (count <= hardware.multiprocessors)
      return success();
    return op->emitOpError()
           << "has '" << name << "' " << count << ", expected at most the "
           << hardware.multiprocessors << " multiprocessors of hardware '"
           << hardware.name << "'";
  };
  if (auto target =
          op->getAttrOfType<IntegerAttr>(CommDialect::kMultiprocessorsAttrName))
    return checkCount(CommDialect::kMultiprocessorsAttrName, target.getInt());
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective)
    return success();
  comm::LaneSettings lane = comm::getLaneSettings(op, symbols);
  if (failed(checkCount(CommDialect::kCtasAttrName, lane.ctas)))
    return failure();
  int64_t numNodes = model.describe(collective).numNodes;
  if (numNodes > 1 &&
      (lane.transport == "symmetric" || lane.transport == "copy"))
    return op->emitOpError()
           << "has '" << CommDialect::kTransportAttrName << "' \""
           << lane.transport << "\" in a group on " << numNodes
           << " nodes, expected \"default\": symmetric memory ends with a node";
  return success();
}

namespace {
struct CommPlanResourcesPass
    : comm::ModuleOrFunctionPass<
          comm::impl::CommPlanResourcesPassBase<CommPlanResourcesPass>> {
  using ModuleOrFunctionPass::ModuleOrFunctionPass;

  void runOnOperation() override {
    Operation *root = getOperation();
    CallEffects calls = comm::getCallEffects(root);
    RankUniformity uniformity(root);
    SymbolTableCollection symbols;
    for (func::FuncOp function :
         comm::getHostFunctionsCalleesFirst(root, getAnalysisManager()))
      if (failed(plan(root, function, calls, uniformity, symbols)))
        return signalPassFailure();
  }

private:
  LogicalResult plan(Operation *root, func::FuncOp function, CallEffects &calls,
                     RankUniformity &uniformity,
                     SymbolTableCollection &symbols) {
    FailureOr<CostOptions> options =
        comm::resolvePassCosts(root, function, getCostSettings());
    if (failed(options))
      return failure();
    CostModel model(*options);
    if (options->hardware->multiprocessors == 0)
      return success();
    WalkResult checked = function.walk([&](Operation *op) {
      return WalkResult(verifyPlan(op, model, symbols));
    });
    if (checked.wasInterrupted())
      return failure();
    bool isQueued = options->hardware->contention.multiprocessorModel ==
                    MultiprocessorModel::Queued;
    bool isMpmd = false;
    for (Operation *parent = function; parent; parent = parent->getParentOp())
      isMpmd |= parent->hasAttr(CommDialect::kMpmdAttrName);
    if (!isQueued || isMpmd || !options->calibration)
      return success();

    // Nested blocks come first: what they take is part of those around them.
    SmallVector<Block *> blocks;
    function.walk<WalkOrder::PostOrder>([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (llvm::any_of(block, [](Operation &inside) {
                return isa<CollectiveOpInterface>(inside);
              }))
            blocks.push_back(&block);
    });
    for (Block *block : blocks) {
      // What is known of bodies may have changed.
      CostModel fresh(*options);
      FailureOr<unsigned> planned =
          BlockPlanner(*block, fresh).run(calls, uniformity);
      if (failed(planned))
        return failure();
      numPlanned += *planned;
    }
    return success();
  }
};
} // namespace
