//===- CostModel.h - Time of any op -----------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULEIR_COSTMODEL_H
#define BRAID_SCHEDULEIR_COSTMODEL_H

#include "braid/Cost/IR/OpCostModel.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <optional>

namespace braid {

struct Timeline;

/// The totals of a simulated body.
struct TimelineTotals {
  int64_t makespanNs = 0;
  int64_t computeNs = 0;
  int64_t communicationNs = 0;
  /// The time that the compute stream waits for communication.
  int64_t exposedNs = 0;
  /// A lower bound for the makespan of every order of the body.
  int64_t lowerBoundNs = 0;
  int64_t peakBytes = 0;
};

/// The cost of every op, including ops with bodies.
///
/// If `OpCostModel` has no cost for an op, the body of the callee or the
/// regions give the cost. The cost of a loop is that of its body times the trip
/// count. Of exclusive regions (the arms of a condition) the longest one and
/// the largest peak memory count. Bodies with collectives are simulated, so
/// hidden communication in a loop costs nothing.
///
/// The model caches the totals of bodies, so the program must not change while
/// a model is in use.
class CostModel : public OpCostModel {
public:
  explicit CostModel(CostOptions options);
  ~CostModel();

  /// The cost of `op`.
  Cost getCost(mlir::Operation *op);

  /// The totals of the bodies of `op`, if they give its cost: the callee of a
  /// call, or the regions of a loop or condition, including trip counts.
  std::optional<TimelineTotals> getBodyTotals(mlir::Operation *op);

  /// The simulated timeline of `region`, computed once. A recursive call costs
  /// nothing.
  const Timeline &getTimeline(mlir::Region &region);

private:
  /// The totals of the callee or the regions of `op`, at least one of which
  /// exists.
  TimelineTotals addBodies(mlir::Operation *op);

  llvm::DenseMap<mlir::Region *, std::unique_ptr<Timeline>> timelines;
};

} // namespace braid

#endif // BRAID_SCHEDULEIR_COSTMODEL_H
