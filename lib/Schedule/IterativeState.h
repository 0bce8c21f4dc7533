//===- IterativeState.h - What the iterative algorithms share ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_ITERATIVESTATE_H
#define BRAID_LIB_SCHEDULE_ITERATIVESTATE_H

#include "braid/Schedule/IterativeOverlap.h"

namespace braid {

/// An order that is being changed, and what is known about it.
struct IterativeState {
  IterativeState(const SchedulingProblem &problem,
                 llvm::ArrayRef<unsigned> order,
                 const IterativeOptions &options);

  bool isStart(unsigned node) const { return time.isStart(node); }
  bool isMatmul(unsigned node) const {
    return !options.isMatmul.empty() && options.isMatmul[node];
  }
  bool hasStepsLeft() const {
    return numSteps + order.getNumSteps() < maxSteps;
  }
  /// True if `statistics` says that the operation is hidden and the options
  /// make that count.
  bool isHidden(const MoveStatistics &statistics) const;

  /// Tries to move the group past `candidate`, its neighbour to the left or to
  /// the right. Returns false, and says why, if that is not possible.
  bool move(bool left, unsigned candidate, MoveStatistics &statistics);

  /// Completes `statistics` with the compute beside `start`, if there is one.
  void describeOverlap(unsigned start, MoveStatistics &statistics) const;

  /// Ends the run.
  IterativeResult finish(std::vector<MoveStatistics> statistics) const;

  const SchedulingProblem &problem;
  const IterativeOptions &options;
  MovableOrder order;
  ExposedTime time;
  int64_t initialPeakBytes, limitBytes;
  /// Steps beyond those of `order`.
  uint64_t numSteps = 0;
  uint64_t maxSteps;
};

/// The exposed part of an operation of `commNs` beside `compNs` of compute.
inline double getExposedNs(double commNs, double compNs) {
  return std::max(0.0, commNs - compNs);
}

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_ITERATIVESTATE_H
