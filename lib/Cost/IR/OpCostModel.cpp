//===- OpCostModel.cpp - Time of an op ------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/IR/OpCostModel.h"

#include "Analysis/Memory/TypeSize.h"
#include "Cost/Profile/Calibration.h"
#include "Cost/Profile/Profile.h"
#include "MessageBatch.h"
#include "ProfileSignature.h"
#include "Roofline.h"
#include "braid/Support/IR/Operations.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace braid;
using namespace mlir;
using comm::Work;

/// Creates the model of collectives of `options`, for links of `bandwidth`
/// bytes per second.
static std::unique_ptr<CollectiveCostModel>
createModel(const CostOptions &options, double bandwidth) {
  const Hardware &hardware = *options.hardware;
  return createCollectiveModel(
      options.collectiveModel.value_or(hardware.defaultCollectiveModel),
      hardware, options.linkLatencyNs.value_or(hardware.linkLatencyNs),
      options.linkBandwidth.value_or(bandwidth));
}

OpCostModel::OpCostModel(CostOptions givenOptions)
    : options(std::move(givenOptions)),
      intraNodeModel(
          createModel(options, options.hardware->intraNodeBandwidth)),
      interNodeModel(
          createModel(options, options.hardware->interNodeBandwidth)) {
  rooflineName = "roofline";
  defaultName = "default";
  if (!options.calibration)
    return;
  measuredName = options.calibration->origin;
  nearbyName = "similar matmuls, " + measuredName;
  for (std::string *name : {&rooflineName, &defaultName})
    *name += ", rates " + measuredName;
}

OpCostModel::~OpCostModel() = default;

const CollectiveCostModel &
OpCostModel::getCollectiveModel(int64_t numNodes) const {
  return numNodes > 1 ? *interNodeModel : *intraNodeModel;
}

/// The name of the model of collectives, or of its stand-in, in reports.
static StringRef getCollectiveSourceName(CollectiveModelKind kind,
                                         bool isStandIn) {
  switch (kind) {
  case CollectiveModelKind::Nccl:
    return isStandIn ? "collective-model nccl (stand-in)"
                     : "collective-model nccl";
  case CollectiveModelKind::Inductor:
    return isStandIn ? "collective-model inductor (stand-in)"
                     : "collective-model inductor";
  case CollectiveModelKind::Link:
    return "collective-model link";
  }
  llvm_unreachable("unknown model of collectives");
}

StringRef OpCostModel::getSourceName(CostSource source) const {
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
  case CostSource::Measured:
    return measuredName;
  case CostSource::MeasuredNearby:
    return nearbyName;
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
    return rooflineName;
  case CostSource::Callee:
    return "callee";
  case CostSource::Regions:
    return "regions";
  case CostSource::Default:
    return defaultName;
  }
  llvm_unreachable("unknown source of a cost");
}

GroupShape OpCostModel::getGroupShape(Operation *from,
                                      FlatSymbolRefAttr group) {
  const Hardware &hardware = *options.hardware;
  GroupShape world = placeStridedRanks(
      hardware, options.ranks.value_or(hardware.ranksPerNode), /*stride=*/1);
  Operation *table = SymbolTable::getNearestSymbolTable(from);
  if (!table)
    return world;
  auto [it, isNew] = groupShapes.try_emplace({table, group}, world);
  if (!isNew)
    return it->second;
  comm::GroupOp groupOp = comm::lookupGroup(from, group, symbolTables);
  if (!groupOp || groupOp.isAll())
    return world;
  GroupShape shape{0, 1, 1, 0};
  std::optional<int64_t> firstNode;
  for (ArrayRef<int64_t> ranks : groupOp.getRankLists()) {
    GroupShape placed = placeRanks(hardware, ranks);
    shape.size = std::max(shape.size, placed.size);
    shape.numNodes = std::max(shape.numNodes, placed.numNodes);
    shape.numLeaves = std::max(shape.numLeaves, placed.numLeaves);
    if (ranks.size() < 2)
      continue;
    if (!firstNode) {
      firstNode = ranks[0] / hardware.ranksPerNode;
      shape.stride = std::abs(ranks[1] - ranks[0]);
    }
    shape.groupsPerNode += ranks[0] / hardware.ranksPerNode == *firstNode;
  }
  shape.groupsPerNode = std::max<int64_t>(1, shape.groupsPerNode);
  return it->second = shape;
}

CollectiveCall OpCostModel::describe(comm::CollectiveOpInterface op) {
  auto start = cast<comm::AsyncStartOpInterface>(op.getOperation());
  GroupShape group = getGroupShape(op, op.getGroupAttr());
  CollectiveCall call{op.getCollectiveKind(), group.size, 0, 0};
  call.numNodes = group.numNodes;
  call.groupsPerNode = group.groupsPerNode;
  call.stride = group.stride;
  call.network = getNetworkShare(*options.hardware, call.kind, group);
  call.numOperands = std::max<int64_t>(1, op->getNumResults());
  comm::LaneSettings lane = comm::getLaneSettings(op, symbolTables);
  call.maxCtas = lane.ctas;
  call.usesCopyEngine = lane.transport == "copy";
  auto add = [&](uint64_t &sum, Type type) {
    if (type)
      sum = llvm::SaturatingAdd(sum, getTypeBytes(type, options.sizes));
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

CollectiveTime OpCostModel::estimateCollective(comm::CollectiveOpInterface op) {
  CollectiveCall call = describe(op);
  return getCollectiveModel(call.numNodes).estimate(call);
}

Cost OpCostModel::getBatchCost(comm::CollectiveOpInterface message) {
  CostSource source = estimateCollective(message).exact ? CostSource::Collective
                                                        : CostSource::StandIn;
  // What is sent and received, in bytes and by the model.
  double bytes[2] = {}, ns[2] = {};
  for (comm::CollectiveOpInterface one : getMessageBatch(message))
    for (auto [side, other] : {std::pair(0, comm::CollectiveKind::recv),
                               std::pair(1, comm::CollectiveKind::send)})
      if (one.getCollectiveKind() != other) {
        bytes[side] += static_cast<double>(describe(one).getWholeBytes());
        ns[side] += estimateCollective(one).ns;
      }
  if (std::optional<double> measured =
          getMeasuredNs(message, std::max(bytes[0], bytes[1])))
    return Cost{roundToNs(*measured), CostSource::Measured};
  return Cost{roundToNs(std::max(ns[0], ns[1])), source};
}

std::optional<double> OpCostModel::getMeasuredNs(comm::CollectiveOpInterface op,
                                                 double bytes) {
  // An explicitly chosen model takes precedence.
  if (!options.calibration || options.collectiveModel)
    return std::nullopt;
  CollectiveCall call = describe(op);
  if (call.numNodes > 1)
    return std::nullopt;
  comm::LaneSettings lane = comm::getLaneSettings(op, symbolTables);
  auto transport = lane.transport == "symmetric" ? LaneTransport::Symmetric
                   : lane.transport == "copy"    ? LaneTransport::Copy
                                                 : LaneTransport::Default;
  return options.calibration->estimateCollectiveNs(
      comm::stringifyCollectiveKind(call.kind), call.groupSize, bytes,
      transport, lane.ctas, call.groupsPerNode, call.stride, options.inGraph);
}

std::optional<Cost> OpCostModel::getMeasuredMatmulCost(Operation *op,
                                                       const Work &work) {
  if (!options.calibration || work.matmuls.size() != 1)
    return std::nullopt;
  const comm::Matmul &matmul = work.matmuls.front();
  uint64_t depth =
      matmul.operations /
      std::max<uint64_t>(1, 2 * matmul.rows * matmul.columns * matmul.batch);
  if (matmul.batch != 1)
    return std::nullopt;
  ElementClass element = classifyElementType(matmul.elementType);
  // In TF32 a matmul takes as long as one of bf16 with as many bytes: twice the
  // depth at twice the rate.
  if (isa<FloatTF32Type>(matmul.elementType) &&
      options.hardware->generation >= GpuGeneration::Ampere) {
    element = ElementClass::BF16;
    depth *= 2;
  }
  MatmulShape shape{
      static_cast<int64_t>(matmul.rows), static_cast<int64_t>(matmul.columns),
      static_cast<int64_t>(depth), element,
      getTransposedOperands(matmul.isLeftTransposed, matmul.isRightTransposed)};
  int64_t multiprocessors = getMultiprocessors(op);
  MatmulKey key(shape.rows, shape.columns, shape.depth, int(shape.element),
                int(shape.transposed), multiprocessors);
  auto [known, isNew] = matmulCosts.try_emplace(key);
  if (isNew)
    if (std::optional<MatmulEstimate> time =
            options.calibration->estimateMatmul(shape, multiprocessors))
      known->second = Cost{roundToNs(time->ns),
                           time->isMeasured ? CostSource::Measured
                                            : CostSource::MeasuredNearby};
  return known->second;
}

int64_t OpCostModel::getMultiprocessors(Operation *op) {
  if (auto costOp = dyn_cast<comm::CostOpInterface>(op))
    return costOp.getMultiprocessors();
  return comm::getMultiprocessorsAttr(op);
}

int64_t OpCostModel::getTripCount(Operation *op) const {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  return loop ? getStaticTripCount(loop).value_or(options.sizes.tripCount) : 1;
}

Region *OpCostModel::getCalleeBody(Operation *op) {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call)
    return nullptr;
  auto callable = dyn_cast_if_present<CallableOpInterface>(
      call.resolveCallableInTable(&symbolTables));
  Region *body = callable ? callable.getCallableRegion() : nullptr;
  return body && !body->empty() ? body : nullptr;
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

/// The cost of `op` if it does not depend on a body.
std::optional<Cost> OpCostModel::getOwnCost(Operation *op) {
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
    if (collective.isPointToPoint())
      return getBatchCost(collective);
    CollectiveCall call = describe(collective);
    if (std::optional<double> ns = getMeasuredNs(
            collective, static_cast<double>(call.getWholeBytes())))
      return Cost{roundToNs(*ns + getCollectiveModel(call.numNodes)
                                      .getFurtherOperandsNs(call)),
                  CostSource::Measured};
    CollectiveTime time = estimateCollective(collective);
    return Cost{roundToNs(time.ns),
                time.exact ? CostSource::Collective : CostSource::StandIn};
  }
  if (isa<comm::WaitOp>(op))
    return Cost{0, CostSource::Wait};

  if (auto costOp = dyn_cast<comm::CostOpInterface>(op))
    if (std::optional<int64_t> ns =
            costOp.getDurationNs(options.hardware->name))
      return Cost{*ns, CostSource::Interface};
  if (std::optional<Work> work = comm::getKnownWork(op, options.sizes)) {
    auto compute = dyn_cast<comm::ComputeOp>(op);
    if (std::optional<Cost> cost = getMeasuredMatmulCost(op, *work))
      return *cost;
    return Cost{roundToNs(estimateRooflineNs(*work, *options.hardware,
                                             getMultiprocessors(op))),
                compute && compute.isOpaque() ? CostSource::Default
                                              : CostSource::Roofline};
  }
  return std::nullopt;
}

std::optional<Cost> OpCostModel::getOpCost(Operation *op) {
  if (std::optional<Cost> cost = getOwnCost(op))
    return *cost;
  bool hasRegions = !llvm::all_of(
      op->getRegions(), [](Region &region) { return region.empty(); });
  if (hasRegions || getCalleeBody(op))
    return std::nullopt;
  return Cost{roundToNs(estimateRooflineNs(getDefaultWork(op, options.sizes),
                                           *options.hardware)),
              CostSource::Default};
}
