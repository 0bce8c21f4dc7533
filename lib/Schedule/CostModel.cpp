//===- CostModel.cpp - Time of any op -------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/CostModel.h"

#include "braid/Schedule/InductorCollectiveModel.h"
#include "braid/Schedule/InductorNewestModel.h"
#include "braid/Schedule/NcclCollectiveModel.h"
#include "braid/Schedule/ProfileSignature.h"
#include "braid/Schedule/Timeline.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace braid;
using namespace mlir;

/// The model that `options` ask for, between ranks whose links carry
/// `bandwidth` bytes per second.
static std::unique_ptr<CollectiveCostModel>
createCollectiveModel(const CostOptions &options, double bandwidth) {
  const Hardware &hardware = *options.hardware;
  switch (options.collectiveModel.value_or(hardware.defaultCollectiveModel)) {
  case CollectiveModelKind::Nccl:
    return std::make_unique<NcclCollectiveModel>(hardware);
  case CollectiveModelKind::Inductor:
    return std::make_unique<InductorCollectiveModel>(
        inductor::getGpuType(hardware));
  case CollectiveModelKind::InductorNewest:
    return std::make_unique<InductorNewestModel>(hardware.generation,
                                                 hardware.ranksPerNode);
  case CollectiveModelKind::Link:
    return std::make_unique<LinkCollectiveModel>(
        options.linkLatencyNs.value_or(hardware.linkLatencyNs),
        options.linkBandwidth.value_or(bandwidth));
  }
  llvm_unreachable("unknown model of collectives");
}

CostModel::CostModel(CostOptions givenOptions)
    : options(std::move(givenOptions)),
      intraNodeModel(
          createCollectiveModel(options, options.hardware->intraNodeBandwidth)),
      interNodeModel(createCollectiveModel(
          options, options.hardware->interNodeBandwidth)) {}

CostModel::~CostModel() = default;

const CollectiveCostModel &
CostModel::getCollectiveModel(int64_t numNodes) const {
  return numNodes > 1 ? *interNodeModel : *intraNodeModel;
}

/// What reports call an estimate of the model of collectives, or of a stand-in.
static StringRef getCollectiveSourceName(CollectiveModelKind kind,
                                         bool isStandIn) {
  switch (kind) {
  case CollectiveModelKind::Nccl:
    return isStandIn ? "collective-model nccl (stand-in)"
                     : "collective-model nccl";
  case CollectiveModelKind::Inductor:
    return isStandIn ? "collective-model inductor (stand-in)"
                     : "collective-model inductor";
  case CollectiveModelKind::InductorNewest:
    return isStandIn ? "collective-model inductor-newest (stand-in)"
                     : "collective-model inductor-newest";
  case CollectiveModelKind::Link:
    return "collective-model link";
  }
  llvm_unreachable("unknown model of collectives");
}

StringRef CostModel::getSourceName(CostSource source) const {
  switch (source) {
  case CostSource::Attribute:
    return "attribute";
  case CostSource::ProfileLabel:
    return "profile label";
  case CostSource::ProfileSignature:
    return "profile signature";
  case CostSource::ProfileInterpolated:
    return "profile interpolated";
  case CostSource::ProfileExtrapolated:
    return "profile extrapolated";
  case CostSource::Profile:
    return "profile";
  case CostSource::Collective:
  case CostSource::StandIn:
    return getCollectiveSourceName(
        options.collectiveModel.value_or(
            options.hardware->defaultCollectiveModel),
        source == CostSource::StandIn);
  case CostSource::Wait:
    return "wait";
  case CostSource::Interface:
    return "interface";
  case CostSource::Roofline:
    return "roofline";
  case CostSource::Callee:
    return "callee";
  case CostSource::Regions:
    return "regions";
  case CostSource::Default:
    return "default";
  }
  llvm_unreachable("unknown source of a cost");
}

/// The nodes that `ranks` are on.
static int64_t countNodes(ArrayRef<int64_t> ranks, int64_t ranksPerNode) {
  llvm::SmallDenseSet<int64_t, 8> nodes;
  for (int64_t rank : ranks)
    nodes.insert(rank / ranksPerNode);
  return static_cast<int64_t>(nodes.size());
}

GroupShape CostModel::getGroupShape(Operation *from, FlatSymbolRefAttr group) {
  int64_t ranksPerNode = options.hardware->ranksPerNode;
  int64_t worldSize = options.worldSize.value_or(ranksPerNode);
  GroupShape world{
      worldSize,
      std::max<int64_t>(1, llvm::divideCeilSigned(worldSize, ranksPerNode))};
  Operation *table = SymbolTable::getNearestSymbolTable(from);
  if (!table)
    return world;
  auto [it, isNew] = groupShapes.try_emplace({table, group}, world);
  if (!isNew)
    return it->second;
  comm::GroupOp groupOp = comm::lookupGroup(from, group, symbolTables);
  if (!groupOp || groupOp.isAll())
    return world;
  GroupShape shape{0, 1};
  for (ArrayRef<int64_t> ranks : groupOp.getRankLists()) {
    shape.size = std::max(shape.size, static_cast<int64_t>(ranks.size()));
    shape.numNodes = std::max(shape.numNodes, countNodes(ranks, ranksPerNode));
  }
  return it->second = shape;
}

CollectiveCall CostModel::describe(comm::CollectiveOpInterface op) {
  auto start = cast<comm::AsyncStartOpInterface>(op.getOperation());
  int64_t dynamicSize = options.sizes.dynamicSize;
  GroupShape group = getGroupShape(op, op.getGroupAttr());
  CollectiveCall call{op.getCollectiveKind(), group.size, 0, 0};
  call.numNodes = group.numNodes;
  call.numOperands = std::max<int64_t>(1, op->getNumResults());
  auto add = [&](uint64_t &sum, Type type) {
    if (type)
      sum = llvm::SaturatingAdd(sum, getTypeBytes(type, dynamicSize));
  };
  for (Value source : start.getSources())
    add(call.inputBytes, source.getType());
  call.reducesFloat8 =
      op.getReductionKind() &&
      llvm::any_of(start.getSources(), [](Value source) {
        Type type = getElementTypeOrSelf(source.getType());
        return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
      });
  if (start.isBufferForm())
    for (Value destination : start.getDestinations())
      add(call.outputBytes, destination.getType());
  else
    for (auto [index, token] : llvm::enumerate(start.getTokens()))
      add(call.outputBytes, start.getInFlightType(index));
  return call;
}

CollectiveTime CostModel::estimateCollective(comm::CollectiveOpInterface op) {
  CollectiveCall call = describe(op);
  return getCollectiveModel(call.numNodes).estimate(call);
}

int64_t CostModel::getTripCount(Operation *op) const {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  return loop ? getStaticTripCount(loop).value_or(options.sizes.tripCount) : 1;
}

Region *CostModel::getCalleeBody(Operation *op) {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call)
    return nullptr;
  auto callable = dyn_cast_if_present<CallableOpInterface>(
      call.resolveCallableInTable(&symbolTables));
  Region *body = callable ? callable.getCallableRegion() : nullptr;
  return body && !body->empty() ? body : nullptr;
}

const Timeline &CostModel::getTimeline(Region &region) {
  static const Timeline nothing;
  auto [it, isNew] = timelines.try_emplace(&region, nullptr);
  if (!isNew)
    return it->second ? *it->second : nothing;
  auto timeline = std::make_unique<Timeline>(simulateRegion(region, *this));
  return *(timelines[&region] = std::move(timeline));
}

/// The sum of two bodies that run one after the other.
static TimelineTotals add(const TimelineTotals &a, const TimelineTotals &b) {
  return {addNs(a.makespanNs, b.makespanNs),
          addNs(a.computeNs, b.computeNs),
          addNs(a.communicationNs, b.communicationNs),
          addNs(a.exposedNs, b.exposedNs),
          addNs(a.lowerBoundNs, b.lowerBoundNs),
          std::max(a.peakBytes, b.peakBytes)};
}

std::optional<TimelineTotals> CostModel::getBodyTotals(Operation *op) {
  if (getOwnCost(op))
    return std::nullopt;
  if (Region *body = getCalleeBody(op)) {
    // The caller counts the arguments and the results.
    TimelineTotals totals = getTimeline(*body).totals;
    uint64_t shared = 0;
    for (Type type : op->getOperandTypes())
      shared = llvm::SaturatingAdd(
          shared, getTypeBytes(type, options.sizes.dynamicSize));
    for (Type type : op->getResultTypes())
      shared = llvm::SaturatingAdd(
          shared, getTypeBytes(type, options.sizes.dynamicSize));
    totals.peakBytes = static_cast<uint64_t>(totals.peakBytes) > shared
                           ? totals.peakBytes - static_cast<int64_t>(shared)
                           : 0;
    return totals;
  }
  if (llvm::all_of(op->getRegions(),
                   [](Region &region) { return region.empty(); }))
    return std::nullopt;

  int64_t tripCount = getTripCount(op);
  bool isExclusive =
      isa<RegionBranchOpInterface>(op) && !isa<LoopLikeOpInterface>(op);
  TimelineTotals totals;
  // Whichever arm runs, its memory has to be there.
  int64_t peakBytes = 0;
  for (Region &region : op->getRegions()) {
    const TimelineTotals &body = getTimeline(region).totals;
    peakBytes = std::max(peakBytes, body.peakBytes);
    if (!isExclusive)
      totals = add(totals, body);
    else if (body.makespanNs > totals.makespanNs)
      totals = body;
  }
  return TimelineTotals{multiplyNs(totals.makespanNs, tripCount),
                        multiplyNs(totals.computeNs, tripCount),
                        multiplyNs(totals.communicationNs, tripCount),
                        multiplyNs(totals.exposedNs, tripCount),
                        multiplyNs(totals.lowerBoundNs, tripCount),
                        peakBytes};
}

static CostSource getSource(ProfileMatch match) {
  switch (match) {
  case ProfileMatch::Label:
    return CostSource::ProfileLabel;
  case ProfileMatch::Signature:
    return CostSource::ProfileSignature;
  case ProfileMatch::Interpolated:
    return CostSource::ProfileInterpolated;
  case ProfileMatch::Extrapolated:
    return CostSource::ProfileExtrapolated;
  }
  llvm_unreachable("unknown match of a profile");
}

/// What `op` costs if that takes no look at a body.
std::optional<Cost> CostModel::getOwnCost(Operation *op) {
  if (auto attr = dyn_cast_if_present<IntegerAttr>(
          op->getDiscardableAttr(comm::CommDialect::kCostAttrName)))
    return Cost{attr.getInt(), CostSource::Attribute};
  if (options.measurements)
    if (std::optional<ProfiledTime> time =
            lookupProfile(*options.measurements, op, *this))
      return Cost{time->ns, getSource(time->match)};
  if (options.profile)
    if (std::optional<int64_t> ns = options.profile(op))
      return Cost{*ns, CostSource::Profile};

  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op)) {
    CollectiveTime time = estimateCollective(collective);
    return Cost{roundToNs(time.ns),
                time.exact ? CostSource::Collective : CostSource::StandIn};
  }
  if (isa<comm::WaitOp>(op))
    return Cost{0, CostSource::Wait};

  if (auto costOp = dyn_cast<comm::CostOpInterface>(op)) {
    if (std::optional<int64_t> ns =
            costOp.getDurationNs(options.hardware->name))
      return Cost{*ns, CostSource::Interface};
    auto compute = dyn_cast<comm::ComputeOp>(op);
    return Cost{roundToNs(estimateRooflineNs(costOp.getWork(options.sizes),
                                             *options.hardware)),
                compute && compute.isOpaque() ? CostSource::Default
                                              : CostSource::Roofline};
  }
  return std::nullopt;
}

Cost CostModel::getCost(Operation *op) {
  if (std::optional<Cost> cost = getOwnCost(op))
    return *cost;
  if (std::optional<TimelineTotals> totals = getBodyTotals(op))
    return {totals->makespanNs, isa<CallOpInterface>(op) ? CostSource::Callee
                                                         : CostSource::Regions};
  return {
      roundToNs(estimateRooflineNs(
          getDefaultWork(op, options.sizes.dynamicSize), *options.hardware)),
      CostSource::Default};
}
