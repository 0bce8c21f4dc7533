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

/// What a body of ops adds up to when it is simulated.
struct TimelineTotals {
  int64_t makespanNs = 0;
  int64_t computeNs = 0;
  int64_t communicationNs = 0;
  /// How long the compute stream stands still for communication.
  int64_t exposedNs = 0;
  /// What no order of the body can go below.
  int64_t lowerBoundNs = 0;
  int64_t peakBytes = 0;
};

/// Tells what every op costs, those that stand for a body as well.
///
/// What an `OpCostModel` does not say is asked of the body of the callee, or of
/// the regions. A loop counts its trips; of exclusive regions (the arms of a
/// condition) the longest counts, and the peak memory of the one that needs
/// most. Bodies with collectives are simulated, so that what hides in a loop is
/// free there.
///
/// Answers about bodies are kept: the program may not change while a model is
/// in use.
class CostModel : public OpCostModel {
public:
  explicit CostModel(CostOptions options);
  ~CostModel();

  /// The cost of `op`.
  Cost getCost(mlir::Operation *op);

  /// What the bodies of `op` add up to, if its cost comes from them: the callee
  /// of a call, or the regions of a loop or condition, trip counts included.
  std::optional<TimelineTotals> getBodyTotals(mlir::Operation *op);

  /// The simulated timeline of `region`, worked out once. A body that calls
  /// itself takes no time within itself.
  const Timeline &getTimeline(mlir::Region &region);

private:
  /// What the callee or the regions of `op` add up to; there are some.
  TimelineTotals addBodies(mlir::Operation *op);

  llvm::DenseMap<mlir::Region *, std::unique_ptr<Timeline>> timelines;
};

} // namespace braid

#endif // BRAID_SCHEDULEIR_COSTMODEL_H
