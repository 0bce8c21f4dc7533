//===- CostModel.cpp - Time of any op -------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/CostModel.h"

#include "Analysis/Memory/TypeSize.h"
#include "braid/ScheduleIR/Timeline.h"
#include "braid/Support/Units.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace braid;
using namespace mlir;

CostModel::CostModel(CostOptions options) : OpCostModel(std::move(options)) {}

CostModel::~CostModel() = default;

const Timeline &CostModel::getTimeline(Region &region) {
  static const Timeline nothing;
  auto [it, isNew] = timelines.try_emplace(&region, nullptr);
  if (!isNew)
    return it->second ? *it->second : nothing;
  auto timeline = std::make_unique<Timeline>(simulateRegion(region, *this));
  return *(timelines[&region] = std::move(timeline));
}

/// The totals of two bodies that run one after the other.
static TimelineTotals add(const TimelineTotals &a, const TimelineTotals &b) {
  return {addNs(a.makespanNs, b.makespanNs),
          addNs(a.computeNs, b.computeNs),
          addNs(a.communicationNs, b.communicationNs),
          addNs(a.exposedNs, b.exposedNs),
          addNs(a.lowerBoundNs, b.lowerBoundNs),
          std::max(a.peakBytes, b.peakBytes)};
}

TimelineTotals CostModel::addBodies(Operation *op) {
  if (Region *body = getCalleeBody(op)) {
    // The caller counts the arguments and the results.
    TimelineTotals totals = getTimeline(*body).totals;
    uint64_t shared = 0;
    for (Type type : op->getOperandTypes())
      shared =
          llvm::SaturatingAdd(shared, getTypeBytes(type, getOptions().sizes));
    for (Type type : op->getResultTypes())
      shared =
          llvm::SaturatingAdd(shared, getTypeBytes(type, getOptions().sizes));
    totals.peakBytes = static_cast<uint64_t>(totals.peakBytes) > shared
                           ? totals.peakBytes - static_cast<int64_t>(shared)
                           : 0;
    return totals;
  }
  int64_t tripCount = getTripCount(op);
  bool isExclusive =
      isa<RegionBranchOpInterface>(op) && !isa<LoopLikeOpInterface>(op);
  TimelineTotals totals;
  // The memory must suffice for any arm.
  int64_t peakBytes = 0;
  for (Region &region : op->getRegions()) {
    const TimelineTotals &body = getTimeline(region).totals;
    peakBytes = std::max(peakBytes, body.peakBytes);
    if (!isExclusive)
      totals = add(totals, body);
    else if (body.makespanNs > totals.makespanNs)
      totals = body;
  }
  return {multiplyNs(totals.makespanNs, tripCount),
          multiplyNs(totals.computeNs, tripCount),
          multiplyNs(totals.communicationNs, tripCount),
          multiplyNs(totals.exposedNs, tripCount),
          multiplyNs(totals.lowerBoundNs, tripCount),
          peakBytes};
}

std::optional<TimelineTotals> CostModel::getBodyTotals(Operation *op) {
  if (getOpCost(op))
    return std::nullopt;
  return addBodies(op);
}

Cost CostModel::getCost(Operation *op) {
  if (std::optional<Cost> cost = getOpCost(op))
    return *cost;
  return {addBodies(op).makespanNs,
          isa<CallOpInterface>(op) ? CostSource::Callee : CostSource::Regions};
}
