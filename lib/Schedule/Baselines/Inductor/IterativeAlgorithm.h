//===- IterativeAlgorithm.h - What both iterative ones share ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BASELINES_INDUCTOR_ITERATIVEALGORITHM_H
#define BRAID_LIB_SCHEDULE_BASELINES_INDUCTOR_ITERATIVEALGORITHM_H

#include "braid/Schedule/Baselines/Inductor/IterativeOverlap.h"

namespace braid {

/// An order in which one node after the other moves, with what it drags along,
/// and what is known about it. The two algorithms move in opposite directions,
/// and each knows what it costs to drag a node along, or to pass it.
class IterativeAlgorithm {
public:
  virtual ~IterativeAlgorithm() = default;

protected:
  enum class Direction { Left, Right };

  IterativeAlgorithm(const SchedulingProblem &problem,
                     llvm::ArrayRef<unsigned> order,
                     const IterativeOptions &options, Direction direction);

  /// Moves the node of `statistics` as far as it goes, and says what holds it.
  void moveNode(MoveStatistics &statistics);

  /// True for nodes that are not dragged along, whatever the options.
  virtual bool isNeverDragged(unsigned /*node*/) const { return false; }
  /// `candidate` has just joined the group.
  virtual void noteDragged(unsigned candidate) = 0;
  /// Says what stands against passing `candidate`; true if nothing does but
  /// memory.
  virtual bool mayPass(unsigned candidate, MoveStatistics &statistics) = 0;
  /// The group has just passed `candidate`.
  virtual void notePassed(unsigned candidate, MoveStatistics &statistics) = 0;

  bool isStart(unsigned node) const { return time.isStart(node); }

  /// Completes `statistics` with the compute beside `start`, if there is one.
  void describeOverlap(unsigned start, MoveStatistics &statistics) const;

  /// Ends the run.
  IterativeResult finish(std::vector<MoveStatistics> statistics) const;

  const SchedulingProblem &problem;
  const IterativeOptions &options;
  llvm::ArrayRef<unsigned> initialOrder;
  MovableOrder order;
  ExposedTime time;
  /// Steps beyond those of `order`.
  uint64_t numSteps = 0;

private:
  bool isMatmul(unsigned node) const {
    return !options.isMatmul.empty() && options.isMatmul[node];
  }
  bool hasStepsLeft() const {
    return numSteps + order.getNumSteps() < maxSteps;
  }
  bool isHidden(const MoveStatistics &statistics) const;
  bool mayDrag(unsigned candidate, MoveStatistics &statistics) const;
  bool pass(unsigned candidate, MoveStatistics &statistics);

  Direction direction;
  int64_t initialPeakBytes, limitBytes;
  uint64_t maxSteps;
};

/// The exposed part of an operation of `commNs` beside `compNs` of compute.
inline double getExposedNs(double commNs, double compNs) {
  return std::max(0.0, commNs - compNs);
}

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BASELINES_INDUCTOR_ITERATIVEALGORITHM_H
